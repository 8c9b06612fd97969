/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers HTTP requests. Requests and answers are plain values, without sockets and without an HTTP
 * library, so that tests and the fuzzer can call these functions. Only one thread may use them. */
#ifndef CMD_WEB_API_H
#define CMD_WEB_API_H

#include "cmd/web/login.h"
#include "cmd/web/page.h"
#include "cmd/web/state.h"

struct web_api;

struct web_api_options {
	struct web_state *state;
	/* NULL: no login; then only requests to names of this machine are permitted */
	struct web_login *login;
	const char *scrape_token; /* a request with this token may also read /metrics; NULL: none */
	bool secure;              /* the server uses TLS, so cookies are sent only over TLS */
};

/* Fields of an HTTP request, neither checked nor decoded. Any of them may be NULL, except method
 * and path. */
struct web_request {
	const char *method, *path;
	const char *host, *authorization;
	const char *session;       /* value of the cookie */
	const char *token, *after; /* parameters of the query */
};

#define WEB_COOKIE       "dxp_web"
#define WEB_COOKIE_BYTES 192

struct web_answer {
	unsigned status; /* HTTP status */
	const char *type;
	struct web_text *text;         /* body; the caller releases it */
	const struct web_page *page;   /* body, if `text` is NULL */
	const char *location;          /* NULL: no redirection */
	char cookie[WEB_COOKIE_BYTES]; /* empty: none */
	bool stream;                   /* the body is a stream of events */
};

/* Returns NULL if out of memory. */
struct web_api *web_api_create(const struct web_api_options *options);
void web_api_destroy(struct web_api *a);

/* Sets *out. now_s is the time since 1970; now_ns is monotonic. */
void web_api_answer(struct web_api *a, const struct web_request *r, uint64_t now_s, uint64_t now_ns,
		    struct web_answer *out);

/* Fills the answer with {"error": text}. The HTTP server also calls it for errors that it
 * detects. */
void web_api_fail(struct web_answer *out, unsigned status, const char *text);

#endif
