/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cmd/web/documents.h"
#include "wire/manage.h"

#define JSON        "application/json"
#define METRICS     "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define NODE_PREFIX "/api/v1/nodes/"
#define DIGITS_MAX  19 /* digits of an event's id, so that it fits 64 bits */

/* A document of the last snapshot. It is built once, so that many browsers cost as much as one. */
struct cached {
	uint64_t sequence;
	struct web_text *text;
};

struct web_api {
	struct web_api_options options;
	struct cached nodes, metrics;
};

struct web_api *web_api_create(const struct web_api_options *options)
{
	struct web_api *a = calloc(1, sizeof(*a));

	if (a)
		a->options = *options;
	return a;
}

void web_api_destroy(struct web_api *a)
{
	if (!a)
		return;
	web_text_release(a->nodes.text);
	web_text_release(a->metrics.text);
	free(a);
}

void web_api_fail(struct web_answer *out, unsigned status, const char *text)
{
	*out = (struct web_answer){
		.status = status,
		.type = JSON,
		.text = web_text_json(json_pack("{s:s}", "error", text)),
	};
}

/* ---- access ---- */

/* Returns whether the Host header names this machine. Otherwise another site could point its own
 * name at this address, and its page could read the API (DNS rebinding). */
static bool host_local(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; host && i < ARRAY_COUNT(names); i++) {
		const size_t length = strlen(names[i]);
		if (strncmp(host, names[i], length) == 0 &&
		    (host[length] == '\0' || host[length] == ':'))
			return true;
	}
	return false;
}

static bool scrape_permitted(const struct web_api *a, const struct web_request *r)
{
	static const char bearer[] = "Bearer ";
	const char *token = a->options.scrape_token, *given = r->authorization;

	if (!token || !given || strncmp(given, bearer, sizeof(bearer) - 1) != 0)
		return false;
	given += sizeof(bearer) - 1;
	const size_t length = strlen(token);
	if (strlen(given) != length)
		return false;
	uint8_t difference = 0;
	for (size_t i = 0; i < length; i++)
		difference |= (uint8_t)(token[i] ^ given[i]);
	return difference == 0;
}

static void redirect(struct web_answer *out)
{
	*out = (struct web_answer){.status = 303, .type = JSON, .location = "/"};
}

static void login(struct web_api *a, const struct web_request *r, uint64_t now_s,
		  struct web_answer *out)
{
	char session[WEB_SESSION_TEXT];

	if (!a->options.login) {
		redirect(out);
		return;
	}
	/* A HEAD request, for example for the preview of a chat program, must not use up the
	 * link. */
	if (strcmp(r->method, "GET") != 0) {
		web_api_fail(out, 405, "open the link with GET; it is still good");
		return;
	}
	const char *why =
		web_login_begin(a->options.login, r->token ? r->token : "", now_s, session);
	if (why) {
		web_api_fail(out, 403, why);
		return;
	}
	redirect(out);
	snprintf(out->cookie, sizeof(out->cookie),
		 WEB_COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", session,
		 WEB_SESSION_S, a->options.secure ? "; Secure" : "");
}

/* Returns whether the request has permission to read; otherwise sets the answer. */
static bool permitted(const struct web_api *a, const struct web_request *r, uint64_t now_s,
		      struct web_answer *out)
{
	if (!a->options.login) {
		if (host_local(r->host))
			return true;
		web_api_fail(out, 421,
			     "without a login, dxp-web only answers to localhost, 127.0.0.1 and "
			     "[::1]; start it with --login for other names");
		return false;
	}
	if (web_login_valid(a->options.login, r->session, now_s))
		return true;
	if (strcmp(r->path, "/metrics") == 0 && scrape_permitted(a, r))
		return true;
	if (strcmp(r->path, "/") == 0)
		*out = (struct web_answer){
			.status = 401, .type = web_page_login.type, .page = &web_page_login};
	else
		web_api_fail(out, 401, "no login; make a link with `dxp web open`");
	return false;
}

/* ---- documents ---- */

static void answer_text(struct web_answer *out, const char *type, struct web_text *text)
{
	if (text)
		*out = (struct web_answer){.status = 200, .type = type, .text = text};
	else
		web_api_fail(out, 503, "no reading yet; try again in a second");
}

static void answer_nodes(struct web_api *a, struct web_answer *out)
{
	struct web_snapshot *s = web_state_snapshot(a->options.state);
	struct cached *c = &a->nodes;

	if (s && c->sequence != s->sequence) {
		web_text_release(c->text);
		c->text = web_document_nodes(s);
		c->sequence = s->sequence;
	}
	answer_text(out, JSON, s ? web_text_hold(c->text) : NULL);
	web_snapshot_release(s);
}

static void answer_metrics(struct web_api *a, struct web_answer *out)
{
	struct web_snapshot *s = web_state_snapshot(a->options.state);
	struct cached *c = &a->metrics;

	if (s && c->sequence != s->sequence) {
		struct web_text *services = web_state_text(a->options.state, WEB_SERVICE_METRICS);
		web_text_release(c->text);
		c->text = web_document_metrics(s, services);
		c->sequence = s->sequence;
		web_text_release(services);
	}
	answer_text(out, METRICS, s ? web_text_hold(c->text) : NULL);
	web_snapshot_release(s);
}

static void answer_node(struct web_api *a, const char *name, uint64_t now_ns,
			struct web_answer *out)
{
	if (!manage_name_valid(name)) {
		web_api_fail(out, 400, "a node's name is 1 to 31 of A-Z a-z 0-9 . _ -");
		return;
	}
	struct web_snapshot *s = web_state_snapshot(a->options.state);
	const struct web_node *n = s ? web_snapshot_find(s, name) : NULL;
	if (n) {
		struct web_text *detail = web_state_watch(a->options.state, name, now_ns);
		answer_text(out, JSON, web_document_node(n, detail));
		web_text_release(detail);
	} else if (s) {
		web_api_fail(out, 404, "no node of this fabric has this name; see /api/v1/nodes");
	} else {
		answer_text(out, JSON, NULL);
	}
	web_snapshot_release(s);
}

/* Parses a decimal number. NULL counts as 0. */
static bool number_parse(const char *text, uint64_t *out)
{
	*out = 0;
	if (!text)
		return true;
	const size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > DIGITS_MAX || text[digits])
		return false;
	*out = strtoull(text, NULL, 10);
	return true;
}

static void answer_events(struct web_api *a, const struct web_request *r, struct web_answer *out)
{
	uint64_t after;

	if (number_parse(r->after, &after))
		answer_text(out, JSON,
			    web_text_json(web_state_events(a->options.state, after, WEB_PAGE)));
	else
		web_api_fail(out, 400, "`after` is the id of an event: decimal digits");
}

static bool answer_document(struct web_api *a, const char *path, struct web_answer *out)
{
	static const struct {
		const char *path;
		enum web_document which;
	} rows[] = {
		{"/api/v1/bridges", WEB_BRIDGES},        {"/api/v1/functions", WEB_FUNCTIONS},
		{"/api/v1/grants", WEB_GRANTS},          {"/api/v1/services", WEB_SERVICES},
		{"/api/v1/switches", WEB_SWITCHES_READ}, {"/api/v1/paths", WEB_PATHS},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (strcmp(rows[i].path, path) != 0)
			continue;
		answer_text(out, JSON, web_state_text(a->options.state, rows[i].which));
		return true;
	}
	return false;
}

static void answer_get(struct web_api *a, const struct web_request *r, uint64_t now_ns,
		       struct web_answer *out)
{
	const struct web_page *page = web_page_find(r->path);

	if (page)
		*out = (struct web_answer){.status = 200, .type = page->type, .page = page};
	else if (strcmp(r->path, "/api/v1/overview") == 0)
		answer_text(out, JSON, web_document_overview(a->options.state));
	else if (strcmp(r->path, "/api/v1/nodes") == 0)
		answer_nodes(a, out);
	else if (strncmp(r->path, NODE_PREFIX, sizeof(NODE_PREFIX) - 1) == 0)
		answer_node(a, r->path + sizeof(NODE_PREFIX) - 1, now_ns, out);
	else if (strcmp(r->path, "/api/v1/events") == 0)
		answer_events(a, r, out);
	else if (strcmp(r->path, "/api/v1/stream") == 0)
		*out = (struct web_answer){
			.status = 200, .type = "text/event-stream", .stream = true};
	else if (strcmp(r->path, "/metrics") == 0)
		answer_metrics(a, out);
	else if (!answer_document(a, r->path, out))
		web_api_fail(out, 404, "nothing there; /api/v1/openapi.json lists the paths");
}

void web_api_answer(struct web_api *a, const struct web_request *r, uint64_t now_s, uint64_t now_ns,
		    struct web_answer *out)
{
	if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
		web_api_fail(out, 405, "dxp-web only reads: use GET or HEAD");
	else if (strcmp(r->path, "/login") == 0)
		login(a, r, now_s, out);
	else if (permitted(a, r, now_s, out))
		answer_get(a, r, now_ns, out);
}
