/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp web open`: makes a login link for dxp-web. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/program.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"
#include "cmd/web/limits.h"
#include "cmd/web/token.h"
#include "host/config.h"

#define DEFAULT_URL "http://127.0.0.1:4795/"

static bool url_valid(const char *url)
{
	const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
			   : strncmp(url, "https://", 8) == 0 ? url + 8
							      : "";

	return *host && strcspn(host, "?# \"'<>") == strlen(host);
}

static int link_print(const struct dxp_fabric_options *fabric, const char *url, bool json)
{
	char token[WEB_TOKEN_TEXT];
	struct config config;
	size_t length = strlen(url);

	if (config_resolve(fabric, &config) != DXP_OK)
		return session_fail();
	const bool made =
		web_token_make(config.key, (uint64_t)time(NULL), rng_entropy_kernel, NULL, token);
	keys_erase(&config, sizeof(config));
	if (!made)
		return print_fail("out of memory");
	while (length > 0 && url[length - 1] == '/')
		length--;
	if (json)
		return print_json_text(
			json_pack("{s:o, s:i}", "url",
				  json_sprintf("%.*s/login?token=%s", (int)length, url, token),
				  "valid_s", WEB_TOKEN_S));
	printf("%.*s/login?token=%s\n", (int)length, url, token);
	return program_output_check() ? EXIT_DONE : EXIT_FAILED;
}

int command_web(int argc, char **argv)
{
	struct session_options o = {0};
	const char *url = DEFAULT_URL;
	const struct option_row rows[] = {
		{"url", "URL", "where dxp-web listens, as it prints (default " DEFAULT_URL ")",
		 OPTION_TEXT, &url, 0, 0},
		MANAGER_ROWS(o),
		JSON_ROW(o.json),
	};
	const struct usage usage = {
		"web", "open",
		"Prints a link that logs a browser in to dxp-web: once, within two minutes. The "
		"link is sealed with the\n"
		"fabric key, so any machine that has the key can make one.",
		ACCEPTS(rows, 0, 1)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (args.count != 1 || strcmp(args.at[0], "open") != 0) {
		print_fail("the only command is `dxp web open`; see `dxp web --help`");
		return EXIT_USAGE;
	}
	if (!url_valid(url)) {
		print_fail("--url is such as https://10.0.0.1:4795/, not '%s'", url);
		return EXIT_USAGE;
	}
	return link_print(&o.fabric, url, o.json);
}
