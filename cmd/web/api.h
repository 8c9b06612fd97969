/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to HTTP requests, as values: no sockets and no HTTP library, so that tests and the fuzzer
 * can call it. For one thread. */
#ifndef CMD_WEB_API_H
#define CMD_WEB_API_H

#include "cmd/web/login.h"
#include "cmd/web/page.h"
#include "cmd/web/state.h"

struct web_api;

struct web_api_options {
	struct web_state *state;
	struct web_login *login;  /* NULL: no login; then only requests to this machine's names */
	const char *scrape_token; /* also permits /metrics; NULL: none */
	bool secure;              /* cookies only over TLS */
};

/* Any text may be NULL, except method and path. Nothing has been checked or decoded. */
struct web_request {
	const char *method, *path;
	const char *host, *authorization;
	const char *session;       /* cookie */
	const char *token, *after; /* query */
};

#define WEB_COOKIE       "dxp_web"
#define WEB_COOKIE_BYTES 192

struct web_answer {
	unsigned status; /* of HTTP */
	const char *type;
	struct web_text *text;         /* body; the caller releases it */
	const struct web_page *page;   /* body, if `text` is NULL */
	const char *location;          /* NULL: no redirection */
	char cookie[WEB_COOKIE_BYTES]; /* empty: none */
	bool stream;                   /* the body is a stream of events */
};

/* NULL if out of memory. */
struct web_api *web_api_create(const struct web_api_options *options);
void web_api_destroy(struct web_api *a);

/* Sets *out. now_s: since 1970; now_ns: monotonic. */
void web_api_answer(struct web_api *a, const struct web_request *r, uint64_t now_s, uint64_t now_ns,
		    struct web_answer *out);

/* Fills the answer with {"error": text}. Also for errors that the HTTP layer detects. */
void web_api_fail(struct web_answer *out, unsigned status, const char *text);

#endif
