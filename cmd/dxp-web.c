/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxp-web: command line, pollers and exit codes around cmd/web. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/program.h"
#include "base/service.h"
#include "cmd/web/certificate.h"
#include "cmd/web/http.h"
#include "cmd/web/poller.h"
#include "cmd/web/sources.h"
#include "cmd/web_options.h"
#include "host/config.h"

enum exit_code { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_BUSY = 3, EXIT_KEY = 4 };

#define CERTIFICATE_DAYS 90   /* days; validity of a certificate that dxp-web makes at its start */
#define SLOW_MS          2000 /* ms; interval of readings of data that rarely changes */
#define POLLERS          8
#define URL_BYTES        (UDP_ADDRESS_TEXT_BYTES + 16)

struct program {
	struct web_arguments arguments;
	struct web_state *state;
	struct web_api *api;
	struct web_login login;
	bool secure;
	struct web_certificate certificate;
	char scrape_token[WEB_SCRAPE_MAX + 1];
	struct web_http *http;
	struct web_nodes nodes;
	struct web_bridges bridges;
	struct web_grants grants;
	struct web_event_log event_log;
	struct web_paths paths;
	struct web_switches switches;
	struct web_services services;
	struct web_poller *pollers[POLLERS];
};

/* ---- preparation ---- */

/* Reads the first line of the file of --scrape-token. */
static bool scrape_token_read(struct program *p)
{
	const char *path = p->arguments.scrape_token;
	char line[WEB_SCRAPE_MAX + 2] = "";

	if (!path)
		return true;
	FILE *f = descriptor_fopen(path, "re");
	bool good = f && fgets(line, sizeof(line), f);
	if (f)
		fclose(f);
	line[strcspn(line, "\r\n")] = '\0';
	const size_t length = strlen(line);
	if (!good || length < WEB_SCRAPE_MIN || length > WEB_SCRAPE_MAX) {
		log_error("--scrape-token: %s needs one line of %d to %d characters", path,
			  WEB_SCRAPE_MIN, WEB_SCRAPE_MAX);
		return false;
	}
	memcpy(p->scrape_token, line, length + 1);
	return true;
}

static bool certificate_get(struct program *p)
{
	const struct web_arguments *a = &p->arguments;

	if (!p->secure)
		return true;
	if (a->certificate)
		return web_certificate_read(a->certificate, a->certificate_key, &p->certificate) ==
		       DXP_OK;
	return web_certificate_make(CERTIFICATE_DAYS, &p->certificate) == DXP_OK;
}

/* Reads the fabric's key, with which login links are sealed. The server needs it before the first
 * request. */
static bool login_get(struct program *p, struct config *config)
{
	if (config_resolve(&p->arguments.fabric, config) != DXP_OK) {
		log_error("%s", dxp_fabric_error(NULL));
		return false;
	}
	memcpy(p->login.key, config->key, sizeof(p->login.key));
	p->login.started_s = web_poller_time_ms() / 1000;
	p->login.entropy = rng_entropy_kernel;
	return true;
}

static int prepare(struct program *p)
{
	const struct web_arguments *a = &p->arguments;
	const bool local = address_loopback(&a->listen);
	struct config config;

	p->secure = !local || a->certificate;
	if (!login_get(p, &config) || !scrape_token_read(p) || !certificate_get(p))
		return EXIT_KEY;
	p->state = web_state_create(a->interval_ms, &config.manager);
	const struct web_api_options options = {.state = p->state,
						.login = !local || a->login ? &p->login : NULL,
						.scrape_token =
							a->scrape_token ? p->scrape_token : NULL,
						.secure = p->secure};
	if (p->state)
		p->api = web_api_create(&options);
	if (p->api)
		return EXIT_GOOD;
	log_error("not enough memory");
	return EXIT_FAILED;
}

/* ---- running ---- */

static int http_start(struct program *p)
{
	const struct web_http_options options = {.listen = p->arguments.listen,
						 .api = p->api,
						 .state = p->state,
						 .certificate = p->certificate.chain,
						 .certificate_key = p->certificate.key};

	switch (web_http_start(&options, &p->http)) {
	case DXP_OK: return EXIT_GOOD;
	case DXP_EBUSY: return EXIT_BUSY;
	default: return EXIT_FAILED;
	}
}

static bool pollers_start(struct program *p)
{
	const struct web_arguments *a = &p->arguments;

	p->nodes = (struct web_nodes){.fabric = &a->fabric, .state = p->state};
	p->bridges = (struct web_bridges){.fabric = &a->fabric, .state = p->state};
	p->grants = (struct web_grants){.fabric = &a->fabric, .state = p->state};
	p->event_log = (struct web_event_log){.fabric = &a->fabric, .state = p->state};
	p->paths = (struct web_paths){.fabric = &a->fabric, .state = p->state};
	p->switches = (struct web_switches){
		.state = p->state, .addresses = a->switches.values, .count = a->switches.count};
	p->services = (struct web_services){.fabric = &a->fabric,
					    .state = p->state,
					    .switches = a->switches.values,
					    .count = a->switches.count};
	const struct {
		void (*poll)(void *context);
		void *context;
		uint64_t interval_ms;
	} rows[POLLERS] = {
		{web_nodes_poll, &p->nodes, a->interval_ms},
		{web_bridges_poll, &p->bridges, a->interval_ms},
		{web_functions_poll, p->state, SLOW_MS},
		{web_grants_poll, &p->grants, SLOW_MS},
		{web_event_log_poll, &p->event_log, a->interval_ms},
		{web_paths_poll, &p->paths, SLOW_MS},
		{web_switches_poll, &p->switches, SLOW_MS},
		{web_services_poll, &p->services, SLOW_MS},
	};
	int status = DXP_OK;

	for (unsigned i = 0; i < POLLERS && status == DXP_OK; i++)
		status = web_poller_start(rows[i].poll, rows[i].context, rows[i].interval_ms,
					  &p->pollers[i]);
	return status == DXP_OK;
}

static void ready_report(const struct program *p)
{
	struct udp_address address = p->arguments.listen;
	char text[UDP_ADDRESS_TEXT_BYTES], url[URL_BYTES], print[WEB_FINGERPRINT_BYTES];

	address.port = web_http_port(p->http);
	snprintf(url, sizeof(url), "http%s://%s/\n", p->secure ? "s" : "",
		 address_format(&address, text));
	if (p->arguments.ready_fd < 0) {
		printf("listening on %s", url);
		if (p->secure) {
			web_certificate_fingerprint(&p->certificate, print);
			printf("SHA-256 of the certificate: %s\n", print);
		}
		program_output_check();
	}
	service_ready(p->arguments.ready_fd, url);
}

static int serve(struct program *p, const sigset_t *signals)
{
	int number, code = http_start(p);

	if (code != EXIT_GOOD)
		return code;
	if (!pollers_start(p)) {
		log_error("cannot start a thread: not enough memory");
		return EXIT_FAILED;
	}
	ready_report(p);
	sigwait(signals, &number);
	return EXIT_GOOD;
}

static void end(struct program *p)
{
	for (size_t i = 0; i < ARRAY_COUNT(p->pollers); i++)
		web_poller_stop(p->pollers[i]);
	web_http_stop(p->http);
	web_bridges_close(&p->bridges);
	web_nodes_close(&p->nodes);
	web_api_destroy(p->api);
	web_state_destroy(p->state);
	web_certificate_free(&p->certificate);
}

int main(int argc, char **argv)
{
	static struct program p;
	sigset_t signals;

	program_begin("dxp-web");
	int code = web_options_parse(argc, argv, &p.arguments);
	if (code >= 0)
		return code;
	if (p.arguments.verbose)
		log_level_set(LOG_LEVEL_INFO);
	/* All threads inherit the signal mask, so only sigwait() receives these signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	code = prepare(&p);
	if (code == EXIT_GOOD)
		code = serve(&p, &signals);
	end(&p);
	return code;
}
