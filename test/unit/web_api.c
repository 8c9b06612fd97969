/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the answers of dxp-web: paths, methods, access, documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/web/api.h"
#include "web_rig.h"

#define NOW 1000000u

static const uint8_t key[FABRIC_KEY_BYTES] = {1, 2, 3};

struct rig {
	struct rng rng;
	struct web_state *state;
	struct web_login login;
	struct web_api *open, *closed; /* without a login; with one */
};

static int rig_open(void **state)
{
	static const struct web_rig_node nodes[] = {{.id = 1, .name = "xpu1", .published_s = 1},
						    {.id = 2, .name = "xpu2", .dead = true}};
	struct rig *r = calloc(1, sizeof(*r));

	r->state = web_rig_state(nodes, ARRAY_COUNT(nodes));
	r->login.started_s = NOW;
	memcpy(r->login.key, key, sizeof(key));
	r->login.entropy = rng_entropy_rng;
	r->login.entropy_context = &r->rng;
	struct web_api_options options = {.state = r->state};
	r->open = web_api_create(&options);
	options.login = &r->login;
	options.secure = true;
	options.scrape_token = "0123456789abcdef";
	r->closed = web_api_create(&options);
	*state = r;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	web_api_destroy(r->open);
	web_api_destroy(r->closed);
	web_state_destroy(r->state);
	free(r);
	return 0;
}

/* Sends a GET as a browser on this machine would, without a login. */
static struct web_answer get(struct rig *r, const char *path)
{
	const struct web_request request = {.method = "GET", .path = path, .host = "localhost"};
	struct web_answer a;

	web_api_answer(r->open, &request, NOW, NOW, &a);
	return a;
}

static void web_api__paths(void **state)
{
	static const struct {
		const char *path;
		unsigned status;
	} rows[] = {
		{"/", 200},
		{"/app.js", 200},
		{"/api/v1/overview", 200},
		{"/api/v1/nodes", 200},
		{"/api/v1/nodes/xpu1", 200},
		{"/api/v1/events", 200},
		{"/api/v1/openapi.json", 200},
		{"/metrics", 200},
		{"/login", 303},
		{"/api/v1/bridges", 503}, /* not read yet */
		{"/api/v1/nodes/xpu9", 404},
		{"/api/v1/nodes/", 400},
		/* ".." could be a node's name */
		{"/api/v1/nodes/..", 404},
		{"/api/v1/nodes/../../etc/passwd", 400},
		{"/api/v1/nodes/xpu1/", 400},
		{"/api/v1/nodes/%78pu1", 400},
		{"/api/v1/nodes/0123456789012345678901234567890", 404},
		{"/api/v1/nodes/01234567890123456789012345678901", 400},
		{"", 404},
		{"//", 404},
		{"/../app.js", 404},
		{"/app.js/", 404},
		{"/APP.JS", 404},
		{"/index.html", 404},
		{"/etc/passwd", 404},
		{"/api/v1/", 404},
		{"/api/v2/nodes", 404},
		{"/metrics2", 404},
		{"http://localhost/metrics", 404},
		{"\xff\x01", 404},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct web_answer a = get(*state, rows[i].path);
		if (a.status != rows[i].status)
			fail_msg("%s: %u, not %u", rows[i].path, a.status, rows[i].status);
		assert_non_null(a.type);
		if (a.status >= 400)
			assert_non_null(strstr(a.text->data, "{\"error\":\""));
		web_text_release(a.text);
	}
}

static void web_api__methods(void **state)
{
	static const char *const methods[] = {"POST",  "PUT",     "DELETE", "PATCH", "OPTIONS",
					      "TRACE", "CONNECT", "get",    "",      "GETX"};
	struct rig *r = *state;
	struct web_request request = {.path = "/api/v1/nodes", .host = "localhost"};
	struct web_answer a;

	for (size_t i = 0; i < ARRAY_COUNT(methods); i++) {
		request.method = methods[i];
		web_api_answer(r->open, &request, NOW, NOW, &a);
		assert_int_equal(a.status, 405);
		web_text_release(a.text);
	}
	request.method = "HEAD";
	web_api_answer(r->open, &request, NOW, NOW, &a);
	assert_int_equal(a.status, 200);
	web_text_release(a.text);
}

/* Only known host names: a page of another site could read data by a name of this machine (DNS
 * rebinding). */
static void web_api__hosts(void **state)
{
	static const struct {
		const char *host;
		unsigned status;
	} rows[] = {
		{"localhost", 200},
		{"localhost:4795", 200},
		{"127.0.0.1:1", 200},
		{"[::1]:4795", 200},
		{"[::1]", 200},
		{NULL, 421},
		{"", 421},
		{"evil.example", 421},
		{"localhost.evil.example", 421},
		{"127.0.0.1.evil", 421},
		{"10.0.0.1", 421},
		{"xlocalhost", 421},
	};
	struct rig *r = *state;
	struct web_request request = {.method = "GET", .path = "/api/v1/nodes"};
	struct web_answer a;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		request.host = rows[i].host;
		web_api_answer(r->open, &request, NOW, NOW, &a);
		assert_int_equal(a.status, rows[i].status);
		web_text_release(a.text);
	}
}

/* If the server requires a login, requests without one get an answer only for /login, and the page
 * with instructions. */
static void web_api__login(void **state)
{
	static const char *const paths[] = {
		"/", "/app.js", "/api/v1/nodes", "/api/v1/stream", "/metrics", "/nothing"};
	struct rig *r = *state;
	struct web_request request = {.method = "GET", .host = "localhost"};
	char token[WEB_TOKEN_TEXT], session[WEB_SESSION_TEXT];
	struct web_answer a;

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		request.path = paths[i];
		web_api_answer(r->closed, &request, NOW, NOW, &a);
		assert_int_equal(a.status, 401);
		assert_false(a.stream);
		web_text_release(a.text);
	}
	request.path = "/login";
	web_api_answer(r->closed, &request, NOW, NOW, &a);
	assert_int_equal(a.status, 403);
	web_text_release(a.text);
	assert_true(web_token_make(key, NOW, rng_entropy_rng, &r->rng, token));
	request.token = token;
	web_api_answer(r->closed, &request, NOW, NOW, &a);
	assert_int_equal(a.status, 303);
	assert_string_equal(a.location, "/");
	assert_non_null(strstr(a.cookie, "; HttpOnly; SameSite=Strict; Secure"));
	assert_int_equal(sscanf(a.cookie, WEB_COOKIE "=%64[0-9a-f];", session), 1);
	request = (struct web_request){
		.method = "GET", .path = "/api/v1/nodes", .session = session, .host = "any.name"};
	web_api_answer(r->closed, &request, NOW, NOW, &a);
	assert_int_equal(a.status, 200);
	web_text_release(a.text);
}

static void web_api__scrape(void **state)
{
	static const struct {
		const char *path, *authorization;
		unsigned status;
	} rows[] = {
		{"/metrics", "Bearer 0123456789abcdef", 200},
		{"/metrics", "Bearer 0123456789abcdee", 401},
		{"/metrics", "Bearer 0123456789abcdef0", 401},
		{"/metrics", "Bearer ", 401},
		{"/metrics", "0123456789abcdef", 401},
		{"/metrics", "bearer 0123456789abcdef", 401},
		{"/api/v1/nodes", "Bearer 0123456789abcdef", 401},
	};
	struct rig *r = *state;
	struct web_answer a;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		const struct web_request request = {.method = "GET",
						    .path = rows[i].path,
						    .authorization = rows[i].authorization};
		web_api_answer(r->closed, &request, NOW, NOW, &a);
		assert_int_equal(a.status, rows[i].status);
		web_text_release(a.text);
	}
}

static void web_api__after(void **state)
{
	static const struct {
		const char *after;
		unsigned status;
	} rows[] = {{"0", 200},
		    {"9999999999999999999", 200},
		    {"99999999999999999999", 400},
		    {"", 400},
		    {"-1", 400},
		    {"1x", 400},
		    {" 1", 400}};
	struct rig *r = *state;
	struct web_answer a;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		const struct web_request request = {.method = "GET",
						    .path = "/api/v1/events",
						    .host = "localhost",
						    .after = rows[i].after};
		web_api_answer(r->open, &request, NOW, NOW, &a);
		assert_int_equal(a.status, rows[i].status);
		web_text_release(a.text);
	}
}

static void web_api__documents(void **state)
{
	struct rig *r = *state;
	struct web_answer a = get(r, "/api/v1/nodes"), again = get(r, "/api/v1/nodes");

	assert_ptr_equal(a.text, again.text); /* built once per reading */
	web_text_release(again.text);
	json_t *document = json_loads(a.text->data, 0, NULL);
	json_t *nodes = json_object_get(document, "nodes");
	assert_int_equal(json_array_size(nodes), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(nodes, 1), "health")),
			    "dead");
	json_decref(document);
	web_text_release(a.text);
	a = get(r, "/metrics");
	assert_non_null(strstr(a.text->data, "\ndxp_node_up{node=\"xpu2\",address=\"\"} 0\n"));
	assert_non_null(strstr(a.text->data, "\ndxp_manager_up 1\n"));
	assert_string_equal(a.text->data + a.text->bytes - 7, "\n# EOF\n");
	web_text_release(a.text);
	a = get(r, "/api/v1/openapi.json");
	json_t *openapi = json_loads(a.page->data, 0, NULL);
	assert_non_null(openapi);
	assert_non_null(json_object_get(json_object_get(openapi, "paths"), "/api/v1/stream"));
	json_decref(openapi);
	a = get(r, "/api/v1/stream");
	assert_true(a.stream);
}

/* Details of a node come with a later reading, and only for as many nodes as the server reads in
 * detail. */
static void web_api__details(void **state)
{
	struct rig *r = *state;
	char names[WEB_WATCHED][FABRIC_NAME_BYTES];
	struct web_answer a = get(r, "/api/v1/nodes/xpu1");

	assert_non_null(strstr(a.text->data, "\"detail\":null}"));
	web_text_release(a.text);
	assert_int_equal(web_state_watched(r->state, names, NOW), 1);
	assert_string_equal(names[0], "xpu1");
	web_state_detail(r->state, "xpu1", web_text_create("{\"x\":1}", 7));
	web_state_detail(r->state, "other", web_text_create("{}", 2));
	a = get(r, "/api/v1/nodes/xpu1");
	assert_non_null(strstr(a.text->data, "\"detail\":{\"x\":1}}"));
	web_text_release(a.text);
	for (unsigned i = 0; i < 2 * WEB_WATCHED; i++) {
		char name[16];
		snprintf(name, sizeof(name), "n%u", i);
		assert_null(web_state_watch(r->state, name, NOW));
	}
	assert_int_equal(web_state_watched(r->state, names, NOW), WEB_WATCHED);
	assert_int_equal(web_state_watched(r->state, names, NOW + WEB_WATCH_S * S_NS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(web_api__paths, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__methods, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__hosts, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__login, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__scrape, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__after, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__documents, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_api__details, rig_open, rig_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
