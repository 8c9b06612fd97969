/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/async.h: notifications, space for commands, and completion of all that is outstanding
 * at a loss or close. */
#include "test/unit/host_async_rig.h"

#include <poll.h>

#include "base/clock.h"
#include "host/internal.h"
#include "host/wakeup.h"
#include "wire/command.h"

/* ---- completions ---- */

static void completions__report_each_end_once(void **state)
{
	struct world *w = *state;
	enum { MANY = 1000 };
	static bool reported[MANY];
	struct dxp_completion dequeued[7];
	dxp_event user, event;
	int count = 0;

	memset(reported, 0, sizeof(reported));
	ok(dxp_event_create(w->fabric, &user));
	for (uint64_t i = 0; i < MANY; i++) {
		event = i % 5 == 0 ? run_after(w, w->one, "fail", NULL, 0)
				   : run_after(w, i % 2 ? w->two : w->one, "ok", &user, i % 3 == 1);
		ok(dxp_event_notify(w->fabric, event, i));
		if (i == 0)
			assert_int_equal(dxp_event_notify(w->fabric, event, 1), DXP_EINVAL);
		dxp_event_forget(w->fabric, event);
	}
	ok(dxp_event_set(w->fabric, user, DXP_OK));
	while (count < MANY) {
		int n = dxp_completions(w->fabric, dequeued, ARRAY_COUNT(dequeued), WAIT_NS);
		assert_in_range(n, 1, ARRAY_COUNT(dequeued));
		for (int i = 0; i < n; i++, count++) {
			assert_false(reported[dequeued[i].cookie]);
			reported[dequeued[i].cookie] = true;
			assert_int_equal(dequeued[i].status,
					 dequeued[i].cookie % 5 == 0 ? DXP_EDEVICE : DXP_OK);
			assert_int_equal(dequeued[i].native,
					 dequeued[i].cookie % 5 == 0 ? FAKE_NATIVE : 0);
			assert_true(dequeued[i].times.ended_ns);
		}
	}
	assert_int_equal(dxp_completions(w->fabric, dequeued, 1, MS_NS), 0);
	/* also if the event completed before the request */
	ok(dxp_event_notify(w->fabric, user, 77));
	assert_int_equal(dxp_completions(w->fabric, dequeued, 1, 0), 1);
	assert_int_equal(dequeued[0].cookie, 77);
	assert_true(dequeued[0].event == user);
	dxp_event_forget(w->fabric, user);
	assert_int_equal(dxp_event_notify(w->fabric, user, 1), DXP_ENOENT);
}

/* A long command reports its start, then its completion. */
static void completions__begun(void **state)
{
	struct world *w = *state;
	struct dxp_completion c;

	for (int wanted = 0; wanted < 2; wanted++) {
		dxp_event user, event;
		ok(dxp_event_create(w->fabric, &user));
		event = run_after(w, w->one, "long", &user, 1);
		dxp_completions_begun(w->fabric, wanted);
		ok(dxp_event_notify(w->fabric, event, 5));
		ok(dxp_event_set(w->fabric, user, DXP_OK));
		for (int i = !wanted; i < 2; i++) {
			assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 1);
			assert_int_equal(c.begun, i == 0);
			assert_int_equal(c.cookie, 5);
			assert_true(c.event == event);
			assert_int_equal(c.status, DXP_OK);
		}
		dxp_event_forget(w->fabric, event);
		dxp_event_forget(w->fabric, user);
	}
	dxp_completions_begun(w->fabric, false);
	assert_int_equal(dxp_completions(w->fabric, &c, 1, MS_NS), 0);
}

/* A start before the request is reported once. */
static void completions__begun_before_the_request(void **state)
{
	struct world *w = *state;
	struct dxp_completion c;

	for (int wanted = 0; wanted < 2; wanted++) {
		dxp_completions_begun(w->fabric, wanted);
		dxp_event event = run_after(w, w->one, "endless", NULL, 0);
		/* The xPU reports the completion of "ok" only after it reported the start of
		 * "endless". */
		ok(ended(w, run_after(w, w->one, "ok", NULL, 0)));
		ok(dxp_event_notify(w->fabric, event, 6));
		assert_int_equal(dxp_completions(w->fabric, &c, 1, 0), wanted);
		if (wanted) {
			assert_true(c.begun);
			assert_int_equal(c.cookie, 6);
			assert_true(c.event == event);
		}
		dxp_event_forget(w->fabric, event);
	}
	/* only once */
	assert_int_equal(dxp_completions(w->fabric, &c, 1, MS_NS), 0);
}

/* The report of the start came earlier, so dxp_event_notify() itself wakes a thread that waits for
 * the network. */
static void completions__begun_wakes_a_sleeping_thread(void **state)
{
	struct world *w = *state;
	struct dxp_fabric *f = w->fabric;

	dxp_completions_begun(f, true);
	dxp_event event = run_after(w, w->one, "endless", NULL, 0);
	ok(ended(w, run_after(w, w->one, "ok", NULL, 0)));
	struct pollfd wakeup = {.fd = f->leader_wakeup, .events = POLLIN};
	assert_int_equal(poll(&wakeup, 1, 0), 0);
	host_fabric_enter(f);
	f->leader_polls = true; /* as if a thread slept in its poll */
	host_fabric_leave(f);
	ok(dxp_event_notify(f, event, 7));
	assert_int_equal(poll(&wakeup, 1, 0), 1);
	host_fabric_enter(f);
	f->leader_polls = false;
	wakeup_clear(f->leader_wakeup);
	host_fabric_leave(f);
	dxp_event_forget(f, event);
}

static void *wake_later(void *context)
{
	usleep(20000);
	dxp_completions_wake(context);
	return NULL;
}

static void completions__woken(void **state)
{
	struct world *w = *state;
	struct dxp_completion c;
	pthread_t thread;

	dxp_completions_wake(w->fabric);
	assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake_later, w->fabric), 0);
	uint64_t begin = clock_now_ns();
	assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 0);
	assert_in_range(clock_now_ns() - begin, 10 * MS_NS, 5 * S_NS);
	pthread_join(thread, NULL);
}

/* The node may report the completion of a lazy command late. If a thread waits for it, the host
 * sends one HURRY, so that the node reports soon. */
static void completions__hurry_lazy_ones(void **state)
{
	struct world *w = *state;
	struct dxp_launch launch = {.program = w->program,
				    .kernel = "never",
				    .dimensions = 1,
				    .global = {1},
				    .lazy = true};
	struct dxp_completion c;
	dxp_event e;

	ok(dxp_run(w->one, &launch, &e));
	ok(dxp_event_notify(w->fabric, e, 1));
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 0);
	assert_int_equal(dxp_completions(w->fabric, &c, 1, 50 * MS_NS), 0);
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 1);
	assert_int_equal(dxp_completions(w->fabric, &c, 1, 50 * MS_NS), 0);
	assert_int_equal(dxp_event_wait(w->fabric, e, MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 1);
	dxp_event_forget(w->fabric, e);
	ok(dxp_run(w->one, &launch, &e));
	assert_int_equal(dxp_event_wait(w->fabric, e, 20 * MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 2);
}

/* ---- space ---- */

/* Calls wait for space, which completed events that are never forgotten do not use. */
static void run__more_than_there_is_space_for(void **state)
{
	struct world *w = *state;
	dxp_event first = run_after(w, w->two, "ok", NULL, 0), last = first;

	for (int i = 0; i < 200000; i++) {
		if (i % 1000)
			dxp_event_forget(w->fabric, last);
		last = run_after(w, w->two, "ok", NULL, 0);
	}
	ok(ended(w, last));
	assert_int_equal(dxp_event_done(w->fabric, first), 1);
	ok(ended(w, first));
}

static void run__no_space_for_ever(void **state)
{
	struct world *w = *state;
	const struct dxp_launch launch = {
		.program = w->program, .kernel = "never", .dimensions = 1, .global = {1}};
	dxp_event user, last = 0;
	int status = DXP_OK;

	const uint32_t most = HOST_COMMANDS_BYTES / COMMAND_KEPT_BYTES(1);
	uint32_t count = 0;

	ok(dxp_event_create(w->fabric, &user));
	for (; count <= most && status == DXP_OK; count++)
		status = dxp_run(w->one, &launch, &last);
	assert_int_equal(status, DXP_EAGAIN);
	assert_true(count > 50000);
	has_text("set the events");
}

/* The progress thread's timer sends the last command of a batch. Without it, the next poll would be
 * as early in 3 of 200 rounds; a busy machine is slow, but not in all. */
static void run__the_last_leaves_without_a_call(void **state)
{
	struct world *w = *state;
	unsigned soon = 0;

	for (int round = 0; round < 400 && soon < 20; round++) {
		unsigned before = fake_xpu_commands(w->fake, 0);
		dxp_event events[5];
		for (int i = 0; i < 5; i++)
			events[i] = run_after(w, w->one, "ok", NULL, 0);
		uint64_t begin = clock_now_ns();
		while (fake_xpu_commands(w->fake, 0) != before + 5)
			assert_true(clock_now_ns() - begin < WAIT_NS);
		soon += clock_now_ns() - begin <= HOST_FRESH_NS;
		for (int i = 0; i < 5; i++)
			ok(ended(w, events[i]));
	}
	assert_int_equal(soon, 20);
}

/* ---- loss ---- */

static void lost__everything_ends(void **state)
{
	struct world *w = *state;
	struct dxp_completion c;
	dxp_event user, events[5];
	const dxp_event never = run_after(w, w->one, "never", NULL, 0);
	const struct dxp_waits waits = after(&never, 1);

	ok(dxp_event_create(w->fabric, &user));
	const struct dxp_waits own = after(&user, 1);
	/* PULLED: the xPU fetches */
	ok(dxp_write(w->one, 0, w->from, 100000, &waits, &events[0]));
	/* WAITING: this host sends the bytes after the event */
	ok(dxp_write(w->one, 0, w->from, 100000, &own, &events[1]));
	ok(dxp_write(w->one, 0, w->from, 100, &own, &events[2]));
	events[3] = run_after(w, w->one, "never", NULL, 0);
	fake_xpu_freeze(w->fake, 0);
	/* RUNNING: this host is sending */
	ok(dxp_write(w->one, 0, w->from, DATA_BYTES, NULL, &events[4]));
	for (uint64_t i = 0; i < 5; i++)
		ok(dxp_event_notify(w->fabric, events[i], i));
	for (int i = 0; i < 5; i++) {
		assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 1);
		assert_int_equal(c.status, DXP_EPEERLOST);
		assert_in_range(c.cookie, 0, 4);
	}
	assert_int_equal(ended(w, never), DXP_EPEERLOST);
	there_and_back(w, w->two, 70000, NULL, 0);
	ok(dxp_event_set(w->fabric, user, DXP_OK));
	assert_int_equal(dxp_mark(w->one, NULL, &user), DXP_EPEERLOST);
}

static void close__everything_ends(void **state)
{
	struct world *w = *state;
	dxp_event user, waiting, pulled, running, e;
	struct dxp_xpu *x;

	ok(dxp_event_create(w->fabric, &user));
	dxp_program_release(w->program);
	w->program = NULL;
	const struct dxp_waits own = after(&user, 1);
	ok(dxp_mark(w->one, &own, &e));
	const struct dxp_waits there = after(&e, 1);
	ok(dxp_write(w->one, 0, w->from, 100000, &own, &waiting));
	ok(dxp_read(w->one, w->to, 0, 100000, &there, &pulled));
	ok(dxp_write(w->one, 0, w->from, DATA_BYTES, NULL, &running));
	x = w->one;
	w->one = NULL;
	dxp_xpu_close(x);
	assert_int_equal(ended(w, waiting), DXP_ECLOSED);
	int status = ended(w, running);
	assert_true(status == DXP_OK || status == DXP_ECLOSED);
	assert_int_equal(ended(w, pulled), DXP_ENOENT);
	ok(dxp_event_set(w->fabric, user, DXP_OK));
}

/* The error text and dxp_event_failure contain the xPU's sentence. */
static void event_failure__sentence(void **state)
{
	struct world *w = *state;
	char text[DXP_FAILURE_BYTES];
	dxp_event first = 0, event = 0;

	for (int i = 0; i < HOST_FAILURES + 1; i++) {
		event = run_after(w, w->one, "why", NULL, 0);
		first = i == 0 ? event : first;
		assert_int_equal(ended(w, event), DXP_EDEVICE);
		has_text("xPU 'xpu1': " FAKE_SENTENCE);
		assert_int_equal(dxp_event_failure(w->fabric, event, text), strlen(FAKE_SENTENCE));
		assert_string_equal(text, FAKE_SENTENCE);
	}
	/* The oldest of HOST_FAILURES sentences was dropped. */
	assert_int_equal(dxp_event_failure(w->fabric, first, text), 0);
	assert_string_equal(text, "");
	event = run_after(w, w->one, "fail", NULL, 0);
	assert_int_equal(ended(w, event), DXP_EDEVICE);
	has_text("command: ");
	assert_int_equal(dxp_event_failure(w->fabric, event, text), 0);
	event = run_after(w, w->one, "ok", NULL, 0);
	ok(ended(w, event));
	assert_int_equal(dxp_event_failure(w->fabric, event, text), 0);
	assert_int_equal(dxp_event_failure(w->fabric, 0, text), 0);
}

/* The cycles of all events, and of the last HOST_CYCLES launches, are kept. */
static void event_cycles__of_launches(void **state)
{
	struct world *w = *state;
	struct dxp_event_cycles c;
	dxp_event burst[3 * HOST_CYCLES], first = 0, event = 0;

	event = run_after(w, w->one, "ok", NULL, 0);
	ok(ended(w, event));
	assert_int_equal(dxp_event_cycles(w->fabric, event, &c), DXP_ENOENT);
	for (int i = 0; i < HOST_CYCLES + 1; i++) {
		event = run_after(w, w->one, "timed", NULL, 0);
		first = i == 0 ? event : first;
		ok(ended(w, event));
		ok(dxp_event_cycles(w->fabric, event, &c));
		assert_int_equal(c.cycles, event & UINT16_MAX);
		assert_int_equal(c.clock_mhz, 200);
	}
	assert_int_equal(dxp_event_cycles(w->fabric, first, &c), DXP_ENOENT);
	assert_int_equal(dxp_event_cycles(w->fabric, 0, &c), DXP_ENOENT);
	for (size_t i = 0; i < ARRAY_COUNT(burst); i++)
		burst[i] = run_after(w, w->one, "timed", NULL, 0);
	ok(ended(w, run_after(w, w->one, "ok", NULL, 0)));
	for (size_t i = 0; i < ARRAY_COUNT(burst); i++) {
		ok(dxp_event_cycles(w->fabric, burst[i], &c));
		assert_int_equal(c.cycles, burst[i] & UINT16_MAX);
		ok(ended(w, burst[i]));
	}
	assert_int_equal(dxp_event_cycles(w->fabric, burst[0], &c), DXP_ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(completions__report_each_end_once),
		TEST(completions__begun),
		TEST(completions__begun_before_the_request),
		TEST(completions__begun_wakes_a_sleeping_thread),
		TEST(completions__woken),
		TEST(completions__hurry_lazy_ones),
		TEST(run__more_than_there_is_space_for),
		TEST(run__no_space_for_ever),
		TEST(run__the_last_leaves_without_a_call),
		TEST(lost__everything_ends),
		TEST(close__everything_ends),
		TEST(event_failure__sentence),
		TEST(event_cycles__of_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
