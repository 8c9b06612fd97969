/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that an event for another xPU arrives although the session between the two fails, and that
 * the host fails if the event cannot arrive. The test is the network and the node table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "xpu/limits.h"
#include "xpu/notices.h"

#define HOST  9
#define OWNER 5
#define PEER  4

static struct notices *notices;
static uint64_t now_ns;
/* table */
static int found;
static uint32_t magic;
static bool needed;
/* network: the last message, not completed yet */
static int full;
static uint32_t sent, failures;
static outbox_done done;
static void *done_context;
static struct command_event event;

static int find(void *context, uint16_t node, uint32_t *out)
{
	assert_int_equal(node, PEER);
	*out = magic;
	return found;
}

static int send(void *context, uint16_t node, uint32_t to_magic, const struct command_event *e,
		outbox_done ended, void *ended_context)
{
	assert_int_equal(node, PEER);
	assert_int_equal(to_magic, magic);
	assert_null(done);
	if (full != DXP_OK)
		return full;
	event = *e;
	done = ended;
	done_context = ended_context;
	sent++;
	return DXP_OK;
}

static bool is_needed(void *context, const struct notice_host *host)
{
	assert_int_equal(host->node, HOST);
	assert_int_equal(host->owner, OWNER);
	return needed;
}

static void failed(void *context, const struct notice_host *host, uint16_t node)
{
	assert_int_equal(node, PEER);
	assert_int_equal(host->node, HOST);
	failures++;
}

static const struct notices_hooks hooks = {find, send, is_needed, failed};

static int setup(void **state)
{
	now_ns = 1000;
	found = full = DXP_OK;
	magic = 77;
	needed = true;
	sent = failures = 0;
	done = NULL;
	return notices_create(&hooks, NULL, &notices);
}

static int teardown(void **state)
{
	notices_destroy(notices);
	return 0;
}

static void post(void)
{
	const struct command_event e = {.event = 42, .status = DXP_OK};

	notice_send(notices, &(struct notice_host){HOST, OWNER}, PEER, &e, now_ns);
}

static void complete(int status)
{
	outbox_done ended = done;

	assert_non_null(ended);
	done = NULL;
	ended(done_context, status);
}

/* Advances to the next time at which an event is due. */
static void step(void)
{
	notices_advance(notices, now_ns);
	assert_true(notices_deadline(notices) != UINT64_MAX);
	now_ns = notices_deadline(notices);
	notices_advance(notices, now_ns);
}

static void idle(void)
{
	notices_advance(notices, now_ns + XPU_NOTICE_NS);
	assert_true(notices_deadline(notices) == UINT64_MAX);
	assert_null(done);
}

static void lost__event_is_sent_again(void **state)
{
	static const int losses[] = {DXP_EPEERRESET, DXP_ETIMEDOUT, DXP_EPEERLOST};

	post();
	for (uint32_t i = 0; i < 3; i++) {
		complete(losses[i]);
		assert_int_equal(notices_deadline(notices), 0);
		step();
		assert_int_equal(sent, i + 2);
		assert_int_equal(event.event, 42);
	}
	complete(DXP_OK);
	idle();
	assert_int_equal(failures, 0);
}

/* The table of this node may be older than that of the host. */
static void dead__xpu_gets_its_event_when_it_is_back(void **state)
{
	found = DXP_EPEERLOST;
	post();
	step();
	assert_int_equal(sent, 0);
	found = DXP_OK;
	full = DXP_ENOMEM;
	step();
	full = DXP_OK;
	step();
	assert_int_equal(sent, 1);
	complete(DXP_OK);
	idle();
	assert_int_equal(failures, 0);
}

static void unreachable__xpu_fails_the_host_in_time(void **state)
{
	const uint64_t begin_ns = now_ns;

	post();
	while (failures == 0) {
		assert_true(now_ns <= begin_ns + XPU_NOTICE_NS + XPU_NOTICE_AGAIN_NS);
		if (done)
			complete(DXP_ETIMEDOUT);
		notices_advance(notices, now_ns);
		now_ns += XPU_NOTICE_AGAIN_NS;
		notices_advance(notices, now_ns);
	}
	assert_int_equal(failures, 1);
	idle();
}

static void dead__xpu_fails_no_host(void **state)
{
	found = DXP_EPEERLOST;
	post();
	for (int i = 0; i < 3; i++) {
		notices_advance(notices, now_ns);
		now_ns += XPU_NOTICE_NS;
	}
	idle();
	assert_int_equal(sent, 0);
	assert_int_equal(failures, 0);
}

static void restarted__xpu_gets_no_old_event(void **state)
{
	post();
	complete(DXP_EPEERRESET);
	magic++;
	step();
	assert_int_equal(sent, 1);
	idle();
}

static void gone__host_needs_no_event(void **state)
{
	post();
	complete(DXP_EPEERRESET);
	needed = false;
	step();
	assert_int_equal(sent, 1);
	idle();
	assert_int_equal(failures, 0);
}

/* Tests with sanitizers find an event that teardown() does not free. */
static void ended__xpu_leaves_no_event(void **state)
{
	post();
	complete(DXP_ECLOSED);
	assert_int_equal(sent, 1);
}

static void wrong__xpu_gets_nothing(void **state)
{
	found = DXP_EINVAL;
	post();
	idle();
	assert_int_equal(sent, 0);
}

static void many__lost_events_fail_the_host(void **state)
{
	found = DXP_EPEERLOST;
	for (uint32_t i = 0; i < XPU_NOTICES_MAX; i++)
		post();
	assert_int_equal(failures, 0);
	post();
	assert_int_equal(failures, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lost__event_is_sent_again),
		TEST(dead__xpu_gets_its_event_when_it_is_back),
		TEST(unreachable__xpu_fails_the_host_in_time),
		TEST(dead__xpu_fails_no_host),
		TEST(restarted__xpu_gets_no_old_event),
		TEST(gone__host_needs_no_event),
		TEST(ended__xpu_leaves_no_event),
		TEST(wrong__xpu_gets_nothing),
		TEST(many__lost_events_fail_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
