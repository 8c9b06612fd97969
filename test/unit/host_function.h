/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of NIC functions: expected successes and failures, and an exchange of
 * data. */
#ifndef TEST_UNIT_HOST_FUNCTION_H
#define TEST_UNIT_HOST_FUNCTION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/function.h>

#include "base/util.h"

#define PATIENCE_NS (120 * S_NS)
#define NEVER_SPIN  UINT32_MAX

UNUSED static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_function_error());
}

/* The message must contain `part`. */
UNUSED static void fails(int status, int wanted, const char *part)
{
	if (status != wanted || !strstr(dxp_function_error(), part))
		fail_msg("%s: '%s' and not %s with '%s'", dxp_status_name(status),
			 dxp_function_error(), dxp_status_name(wanted), part);
}

UNUSED static struct dxp_target target_of(const struct dxp_function *f, uint8_t qp)
{
	struct dxp_target t;

	ok(dxp_function_target(f, qp, &t));
	return t;
}

UNUSED static void posted(struct dxp_function *f, int status)
{
	ok(status);
	dxp_function_kick(f);
}

UNUSED static struct dxp_nic_event completion(struct dxp_function *f)
{
	struct dxp_nic_event event;

	while (!dxp_sent_dequeue(dxp_function_window(f), &event))
		ok(dxp_function_wait(f, PATIENCE_NS));
	return event;
}

UNUSED static void done(struct dxp_function *f)
{
	assert_int_equal(completion(f).status, DXP_OK);
}

UNUSED static const struct dxp_nic_event *received(struct dxp_function *f)
{
	const struct dxp_nic_event *event;

	while (!(event = dxp_received_peek(dxp_function_window(f))))
		ok(dxp_function_wait(f, PATIENCE_NS));
	return event;
}

/* A NAP, a PUT with an event, a GET and a fetch-and-add from `a` to `b`. */
UNUSED static void talk(struct dxp_function *a, struct dxp_function *b)
{
	struct dxp_window *w = dxp_function_window(a), *v = dxp_function_window(b);
	const struct dxp_target to = target_of(b, 2);
	struct dxp_memory here, there;

	ok(dxp_memory_create(a, 8192, DXP_LOCAL, &here));
	ok(dxp_memory_create(b, 4096, DXP_REMOTE_READ | DXP_REMOTE_WRITE | DXP_REMOTE_ATOMIC,
			     &there));
	posted(a, dxp_post_nap(w, 1, &to, "hello", 6, 7, 1));
	const struct dxp_nic_event *event = received(b);
	assert_int_equal(event->type, DXP_EVENT_NAP);
	assert_int_equal(event->imm, 7);
	assert_int_equal(event->peer_qp, target_of(a, 1).function << 8 | 1);
	assert_string_equal((const char *)dxp_received_data(v, event), "hello");
	dxp_received_release(v);
	done(a);

	const struct dxp_entry own = {0, 4096, here.key}, theirs = {0, 4096, there.key};
	const struct dxp_entry back = {4096, 4096, here.key}, word = {8, 8, there.key};
	memset(here.base, 0x5a, 4096);
	posted(a, dxp_post_put(w, 1, &to, &own, &theirs, DXP_FLAG_NOTIFY, 9, 2));
	event = received(b);
	assert_int_equal(event->type, DXP_EVENT_PUT);
	assert_int_equal(event->bytes, 4096);
	assert_int_equal(event->imm, 9);
	dxp_received_release(v);
	done(a);
	assert_memory_equal(here.base, there.base, 4096);

	posted(a, dxp_post_get(w, 1, &to, &theirs, &back, 3));
	done(a);
	assert_memory_equal((uint8_t *)here.base + 4096, there.base, 4096);

	uint64_t before = 0x5a5a5a5a5a5a5a5aull, after;
	posted(a, dxp_post_atomic(w, 1, &to, DXP_OP_FETCH_ADD, &word, 3, 0, 4));
	struct dxp_nic_event end = completion(a);
	assert_int_equal(end.status, DXP_OK);
	assert_true(end.imm == before);
	memcpy(&after, (uint8_t *)there.base + 8, 8);
	assert_true(after == before + 3);
	dxp_memory_destroy(a, &here);
	dxp_memory_destroy(b, &there);
}

#endif
