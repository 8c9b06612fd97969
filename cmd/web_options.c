/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web_options.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "cmd/dxp/session.h"
#include "cmd/web/limits.h"

#define DEFAULT_LISTEN "127.0.0.1:4795"
#define FD_MAX         (1 << 20)
#define NO_FD          UINT64_MAX
#define INTERVAL_MIN   250
#define INTERVAL_MAX   60000
#define WRONG          2 /* exit code */

/* The values of the options, as the rows set them. */
static struct {
	struct session_options session;
	struct udp_address listen;
	struct option_list switches;
	const char *certificate, *certificate_key, *scrape_token;
	uint64_t interval_ms, ready_fd;
	bool listen_given, login, verbose;
} a = {.interval_ms = 1000, .ready_fd = NO_FD};

static const char *listen_parse(const char *text, void *to)
{
	a.listen_given = address_parse(text, WEB_PORT, to) == DXP_OK;
	return a.listen_given ? NULL : "needs an address such as 127.0.0.1:4795 or [::1]:4795";
}

static const struct option_row rows[] = {
	{"listen", "ADDR[:PORT]",
	 "address of the web server, default " DEFAULT_LISTEN
	 "; port 0 lets the system choose; any other address than loopback has TLS and needs a "
	 "login",
	 OPTION_PARSED, &a.listen, .parse = listen_parse, .initial = DEFAULT_LISTEN},
	{"login", NULL, "also a browser on this machine needs a login", OPTION_FLAG, &a.login},
	{"certificate", "FILE",
	 "certificate chain for TLS, as PEM; default: one made at each start, whose fingerprint is "
	 "printed",
	 OPTION_TEXT, &a.certificate},
	{"certificate-key", "FILE", "key of the certificate, as PEM", OPTION_TEXT,
	 &a.certificate_key},
	{"scrape-token", "FILE",
	 "a line of 16 to 256 characters, with which Prometheus reads /metrics without a login "
	 "(Authorization: Bearer)",
	 OPTION_TEXT, &a.scrape_token},
	{"switch", "ADDRESS",
	 "also show this switch and all above it; may be repeated, at most 16 times", OPTION_LIST,
	 &a.switches},
	{"interval", "MS", "interval between two readings of the fabric (default 1000)",
	 OPTION_NUMBER, &a.interval_ms, INTERVAL_MIN, INTERVAL_MAX},
	MANAGER_ROWS(a.session),
	BIND_ROW(a.session),
	COMMON_ROW("name", "NAME", "own name as a host that reads bridges (default: dxp-web-PID)",
		   a.session.fabric.name),
	{"ready-fd", "N",
	 "when ready, write the URL and a newline to file descriptor N and close it; without this "
	 "option, print \"listening on URL\" to standard output",
	 OPTION_NUMBER, &a.ready_fd, 0, FD_MAX},
	{"verbose", NULL, "log each step; same as DXP_LOG=info", OPTION_FLAG, &a.verbose,
	 .letter = 'v'},
};

const struct usage web_usage = {
	.name = "dxp-web",
	.arguments = "",
	.text = "Shows the fabric in a browser: health, traffic, bridges, functions, switches, "
		"grants, events. It only reads.\n"
		"It has a JSON API (/api/v1/openapi.json), a stream of events, and /metrics for "
		"Prometheus.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.version = DXP_VERSION,
	.notes = "`dxp web open` prints a login link, which is good once.\n"
		 "Each option is also a key of section [dxp-web] in /etc/dxp/dxp.conf, and an "
		 "environment variable such as\n"
		 "DXP_WEB_LISTEN; flags override variables, and these the file "
		 "(docs/guide/configure.md).\n"
		 "\n"
		 "SIGTERM and SIGINT stop it.\n"
		 "Exit status: 0 stopped by a signal, 1 other failure, 2 wrong usage, 3 address in "
		 "use, 4 key, certificate\n"
		 "or token unusable.",
};

static int usage_fail(const char *text)
{
	fprintf(stderr, "dxp-web: error: %s; see `dxp-web --help`\n", text);
	return WRONG;
}

int web_options_parse(int argc, char **argv, struct web_arguments *out)
{
	struct arguments args;

	if (!options_read(argc, argv, &web_usage, &args))
		return args.status;
	if (!a.certificate != !a.certificate_key)
		return usage_fail("--certificate and --certificate-key belong together");
	if (a.switches.count > WEB_SWITCHES)
		return usage_fail("at most 16 times --switch");
	*out = (struct web_arguments){
		.fabric = a.session.fabric,
		.listen = a.listen_given ? a.listen : address_v4(0x7f000001, WEB_PORT),
		.switches = a.switches,
		.certificate = a.certificate,
		.certificate_key = a.certificate_key,
		.scrape_token = a.scrape_token,
		.interval_ms = a.interval_ms,
		.login = a.login,
		.verbose = a.verbose,
		.ready_fd = a.ready_fd == NO_FD ? -1 : (int)a.ready_fd,
	};
	return -1;
}
