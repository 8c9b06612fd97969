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
static uint32_t gone; /* owner of the host that has left; 0: none */
/* network: the last message, not completed yet */
static int full;
static uint32_t sent, failures, failed_owner;
static int failed_status;
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

static uint64_t now(void *context)
{
	return now_ns;
}

static bool is_needed(void *context, const struct notice_host *host)
{
	assert_int_equal(host->node, HOST);
	return host->owner != gone;
}

static void failed(void *context, const struct notice_host *host, uint16_t node, int status)
{
	assert_int_equal(node, PEER);
	assert_int_equal(host->node, HOST);
	failed_owner = host->owner;
	failed_status = status;
	failures++;
}

static const struct notices_hooks hooks = {find, send, now, is_needed, failed};

static int setup(void **state)
{
	now_ns = 1000;
	found = full = DXP_OK;
	magic = 77;
	gone = sent = failures = 0;
	done = NULL;
	return notices_create(&hooks, NULL, &notices);
}

static int teardown(void **state)
{
	notices_destroy(notices);
	return 0;
}

static void post_of(uint32_t owner, uint64_t number)
{
	const struct command_event e = {.event = number, .status = DXP_OK};

	notice_send(notices, &(struct notice_host){HOST, owner}, PEER, &e);
}

static void post(void)
{
	post_of(OWNER, 42);
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
	assert_true(notices_deadline(notices) != UINT64_MAX);
	now_ns = notices_deadline(notices);
	notices_advance(notices);
}

static void idle(void)
{
	now_ns += XPU_NOTICE_NS;
	notices_advance(notices);
	assert_true(notices_deadline(notices) == UINT64_MAX);
	assert_null(done);
}

static void lost__event_is_sent_again(void **state)
{
	static const int losses[] = {DXP_EPEERRESET, DXP_ETIMEDOUT, DXP_EPEERLOST};

	post();
	for (uint32_t i = 0; i < 3; i++) {
		complete(losses[i]);
		assert_int_equal(notices_deadline(notices), now_ns + XPU_NOTICE_AGAIN_NS);
		assert_int_equal(notices_advance(notices), 0);
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

/* Lost events are sent again in the order of their losses. */
static void lost__events_keep_their_order(void **state)
{
	found = DXP_EPEERLOST;
	for (uint64_t number = 1; number <= 3; number++) {
		post_of(OWNER, number);
		now_ns++;
	}
	found = DXP_OK;
	for (uint64_t number = 1; number <= 3; number++) {
		step();
		assert_int_equal(event.event, number);
		complete(DXP_OK);
	}
	idle();
}

static void unreachable__xpu_fails_the_host_in_time(void **state)
{
	const uint64_t begin_ns = now_ns;

	post();
	while (failures == 0) {
		assert_true(now_ns <= begin_ns + XPU_NOTICE_NS + XPU_NOTICE_AGAIN_NS);
		if (done)
			complete(DXP_ETIMEDOUT);
		now_ns += XPU_NOTICE_AGAIN_NS;
		notices_advance(notices);
	}
	assert_int_equal(failures, 1);
	assert_int_equal(failed_status, DXP_ETIMEDOUT);
	idle();
}

static void dead__xpu_fails_no_host(void **state)
{
	found = DXP_EPEERLOST;
	post();
	for (int i = 0; i < 3; i++) {
		notices_advance(notices);
		now_ns += XPU_NOTICE_NS;
	}
	idle();
	assert_int_equal(sent, 0);
	assert_int_equal(failures, 0);
}

/* The other xPU is alive, so its commands would wait for ever. */
static void forbidden__xpu_fails_the_host_in_time(void **state)
{
	found = DXP_EACCESS;
	post();
	while (failures == 0)
		step();
	assert_int_equal(failed_status, DXP_EACCESS);
	assert_int_equal(sent, 0);
	idle();
}

/* An xPU that has just joined may not be in the table yet. The time counts from the first search
 * without a row. Then commands of the xPU may wait for ever. */
static void unknown__xpu_fails_the_host_in_time(void **state)
{
	const uint64_t ready_ns = XPU_NOTICE_NS - 2 * XPU_NOTICE_AGAIN_NS, begin_ns = now_ns;

	found = DXP_EPEERLOST;
	post();
	while (now_ns - begin_ns < ready_ns)
		step();
	found = DXP_ENOENT;
	step();
	const uint64_t first_ns = now_ns;
	while (failures == 0)
		step();
	assert_in_range(now_ns - first_ns, ready_ns, XPU_NOTICE_NS);
	assert_int_equal(failed_status, DXP_ENOENT);
	assert_int_equal(sent, 0);
	idle();
}

static void late__row_gets_its_event(void **state)
{
	const uint64_t begin_ns = now_ns;

	found = DXP_ENOENT;
	post();
	while (now_ns - begin_ns < XPU_NOTICE_NS - 2 * XPU_NOTICE_AGAIN_NS)
		step();
	assert_int_equal(failures, 0);
	found = DXP_OK;
	step();
	assert_int_equal(sent, 1);
	complete(DXP_OK);
	idle();
	assert_int_equal(failures, 0);
}

/* When an xPU leaves, its row is removed, but its commands have ended. If it comes back, it is like
 * any other. */
static void left__xpu_fails_no_host(void **state)
{
	notices_left(notices, PEER);
	found = DXP_ENOENT;
	post();
	while (notices_deadline(notices) != UINT64_MAX)
		step();
	assert_int_equal(sent, 0);
	assert_int_equal(failures, 0);
	found = DXP_OK;
	post();
	complete(DXP_ETIMEDOUT);
	found = DXP_ENOENT;
	while (failures == 0)
		step();
	assert_int_equal(failed_status, DXP_ENOENT);
	idle();
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
	gone = OWNER;
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

/* Only the host with the most lost events fails, even if another host's event exceeds the limit. */
static void many__lost_events_fail_their_host(void **state)
{
	found = DXP_EPEERLOST;
	for (uint32_t owner = 1; owner < OWNER; owner++, now_ns++)
		post_of(owner, owner);
	for (uint32_t i = OWNER - 1; i < XPU_NOTICES_MAX; i++)
		post();
	assert_int_equal(notices_advance(notices), 0);
	assert_int_equal(failures, 0);
	now_ns++;
	post_of(1, OWNER);
	assert_int_equal(notices_deadline(notices), 0);
	notices_advance(notices);
	assert_int_equal(failures, 1);
	assert_int_equal(failed_owner, OWNER);
	assert_int_equal(failed_status, DXP_EBUSY);
	found = DXP_OK;
	for (uint64_t number = 1; number <= OWNER; number++) {
		step();
		assert_int_equal(event.event, number);
		complete(DXP_OK);
	}
	idle();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lost__event_is_sent_again),
		TEST(lost__events_keep_their_order),
		TEST(dead__xpu_gets_its_event_when_it_is_back),
		TEST(unreachable__xpu_fails_the_host_in_time),
		TEST(dead__xpu_fails_no_host),
		TEST(forbidden__xpu_fails_the_host_in_time),
		TEST(unknown__xpu_fails_the_host_in_time),
		TEST(late__row_gets_its_event),
		TEST(left__xpu_fails_no_host),
		TEST(restarted__xpu_gets_no_old_event),
		TEST(gone__host_needs_no_event),
		TEST(ended__xpu_leaves_no_event),
		TEST(wrong__xpu_gets_nothing),
		TEST(many__lost_events_fail_their_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
