/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests login links and sessions of dxp-web; a link works once, in time, and with the fabric
 * key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/web/login.h"

#define NOW 1000000u

static const uint8_t key[FABRIC_KEY_BYTES] = {1, 2, 3};

struct rig {
	struct rng rng;
	struct web_login login;
	char token[WEB_TOKEN_TEXT], session[WEB_SESSION_TEXT];
};

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->login.started_s = NOW;
	memcpy(r->login.key, key, sizeof(key));
	r->login.entropy = rng_entropy_rng;
	r->login.entropy_context = &r->rng;
	*state = r;
	return 0;
}

static int rig_close(void **state)
{
	free(*state);
	return 0;
}

static void token_make(struct rig *r, uint64_t now_s)
{
	assert_true(web_token_make(key, now_s, rng_entropy_rng, &r->rng, r->token));
}

/* `why`: in the reason of the rejection; NULL: success. */
static void try_at(struct rig *r, uint64_t now_s, const char *why)
{
	const char *reason = web_login_begin(&r->login, r->token, now_s, r->session);

	if (!why) {
		assert_null(reason);
		assert_true(web_login_valid(&r->login, r->session, now_s));
	} else {
		assert_non_null(reason);
		assert_non_null(strstr(reason, why));
	}
}

static void web_login__once(void **state)
{
	struct rig *r = *state;

	token_make(r, NOW);
	try_at(r, NOW, NULL);
	try_at(r, NOW, "used before");
	try_at(r, NOW + WEB_TOKEN_S, "used before");
	try_at(r, NOW + WEB_TOKEN_S + 1, "too old");
}

static void web_login__time(void **state)
{
	struct rig *r = *state;

	token_make(r, NOW);
	try_at(r, NOW + WEB_TOKEN_S, NULL);
	token_make(r, NOW);
	try_at(r, NOW + WEB_TOKEN_S + 1, "too old");
	/* an earlier run may have used it */
	token_make(r, NOW - 1);
	try_at(r, NOW, "too old");
	token_make(r, NOW + WEB_SKEW_S);
	try_at(r, NOW, NULL);
	token_make(r, NOW + WEB_SKEW_S + 1);
	try_at(r, NOW, "clock");
	token_make(r, UINT64_MAX);
	try_at(r, NOW, "clock");
}

static void web_login__forged(void **state)
{
	static const uint8_t other[FABRIC_KEY_BYTES] = {1, 2, 4};
	struct rig *r = *state;
	char whole[WEB_TOKEN_TEXT];

	token_make(r, NOW);
	memcpy(whole, r->token, sizeof(whole));
	for (unsigned i = 0; i < WEB_TOKEN_TEXT - 1; i++) {
		memcpy(r->token, whole, sizeof(whole));
		r->token[i] = (char)(r->token[i] == '0' ? '1' : '0');
		try_at(r, NOW, "no login link");
		r->token[i] = 'G';
		try_at(r, NOW, "no login link");
		r->token[i] = '\0';
		try_at(r, NOW, "no login link");
	}
	assert_true(web_token_make(other, NOW, rng_entropy_rng, &r->rng, r->token));
	try_at(r, NOW, "no login link");
	assert_non_null(web_login_begin(&r->login, "", NOW, r->session));
	memcpy(r->token, whole, sizeof(whole));
	try_at(r, NOW, NULL);
}

/* Numbers of used links are kept; without space a link is rejected, until others expire. */
static void web_login__many(void **state)
{
	struct rig *r = *state;

	for (unsigned i = 0; i < WEB_TOKENS; i++) {
		token_make(r, NOW);
		try_at(r, NOW, NULL);
	}
	token_make(r, NOW);
	try_at(r, NOW, "used before");
	token_make(r, NOW + WEB_TOKEN_S + 1);
	try_at(r, NOW + WEB_TOKEN_S + 1, NULL);
}

static void web_login__sessions(void **state)
{
	struct rig *r = *state;
	char first[WEB_SESSION_TEXT], second[WEB_SESSION_TEXT];

	token_make(r, NOW);
	try_at(r, NOW, NULL);
	memcpy(first, r->session, sizeof(first));
	token_make(r, NOW + 1);
	try_at(r, NOW + 1, NULL);
	memcpy(second, r->session, sizeof(second));
	assert_true(web_login_valid(&r->login, first, NOW + WEB_SESSION_S));
	assert_false(web_login_valid(&r->login, first, NOW + WEB_SESSION_S + 1));
	assert_false(web_login_valid(&r->login, NULL, NOW));
	assert_false(web_login_valid(&r->login, "", NOW));
	/* the last replaces the oldest session */
	for (unsigned i = 0; i < WEB_SESSIONS - 1; i++) {
		token_make(r, NOW + 2);
		try_at(r, NOW + 2, NULL);
	}
	assert_false(web_login_valid(&r->login, first, NOW + 2));
	assert_true(web_login_valid(&r->login, second, NOW + 2));
	second[0] = (char)(second[0] == 'a' ? 'b' : 'a');
	assert_false(web_login_valid(&r->login, second, NOW + 2));
}

/* Empty entries of the table contain zeros. */
static void web_login__no_session(void **state)
{
	struct rig *r = *state;
	char zeros[WEB_SESSION_TEXT];

	memset(zeros, '0', sizeof(zeros) - 1);
	zeros[sizeof(zeros) - 1] = '\0';
	assert_false(web_login_valid(&r->login, zeros, NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(web_login__once, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_login__time, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_login__forged, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_login__many, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_login__sessions, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(web_login__no_session, rig_open, rig_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
