/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the order of kernels and marks of an xPU: a command waits for the events of its list only,
 * and kernels that are ready run in the order of their posts. Skipped without OpenCL. */
#include "test/unit/slot_rig.h"

static void words_set(uint64_t address, uint32_t value)
{
	ok(dxp_mem_write(w.one, address, &value, sizeof(value)));
}

/* Waits until xPU `one` has the completion of the event. */
static void event_known(dxp_event event)
{
	const struct dxp_waits waits = {.events = &event, .count = 1};
	dxp_event mark;

	ok(dxp_mark(w.one, &waits, &mark));
	ok(wait_for(mark));
}

/* A mark with an event of another xPU does not wait for a kernel that was posted before the mark,
 * unless it is in its list. */
static void mark__does_not_wait_for_other_kernels(void **state)
{
	const uint64_t a = allocate(w.one, 64), b = allocate(w.one, 64), c = allocate(w.two, 64);
	dxp_event gate, mark;

	words_set(a, 0);
	words_set(b, 0);
	ok(dxp_event_create(w.fabric, &gate));
	const dxp_event first = run(w.one, "hold", a, 1, NULL);
	const dxp_event second = run(w.one, "hold", b, 1, NULL);
	const dxp_event far = run(w.two, "add", c, 1, &gate);
	const dxp_event list[] = {first, far};
	const struct dxp_waits waits = {.events = list, .count = 2};
	ok(dxp_mark(w.one, &waits, &mark));
	ok(dxp_event_set(w.fabric, gate, DXP_OK));
	event_known(far);
	assert_int_equal(dxp_event_done(w.fabric, mark), 0);
	words_set(a, 1);
	ok(wait_for(mark));
	assert_int_equal(dxp_event_done(w.fabric, second), 0);
	words_set(b, 1);
	ok(wait_for(second));
	dxp_event_forget(w.fabric, gate);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.one, b));
	ok(dxp_mem_free(w.two, c));
}

/* Its list has only a kernel of the same xPU. */
static void mark__does_not_wait_for_earlier_kernels(void **state)
{
	enum { OTHERS = 6 };
	const uint64_t a = allocate(w.one, 64), b = allocate(w.one, 64);
	dxp_event mark, posted, last = 0;

	words_set(a, 0);
	words_set(b, 0);
	const dxp_event first = run(w.one, "hold", a, 1, NULL);
	for (int i = 0; i < OTHERS; i++)
		last = run(w.one, "hold", b, 1, NULL);
	const struct dxp_waits waits = {.events = &first, .count = 1};
	ok(dxp_mark(w.one, &waits, &mark));
	/* Its completion shows that the xPU has looked at the mark above. */
	ok(dxp_mark(w.one, NULL, &posted));
	ok(wait_for(posted));
	assert_int_equal(dxp_event_done(w.fabric, mark), 0);
	words_set(a, 1);
	const int status = wait_for(mark);
	assert_int_equal(dxp_event_done(w.fabric, last), 0);
	words_set(b, 1);
	ok(wait_for(last));
	ok(status);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.one, b));
}

static uint64_t start_of(dxp_event event)
{
	struct dxp_event_times times;

	ok(dxp_event_wait(w.fabric, event, WAIT_NS, &times));
	return times.started_ns;
}

/* A kernel that becomes ready late starts before kernels that were posted after it, although these
 * were ready first. Long kernels are not queued in the worker. */
static void run__earlier_kernels_first(void **state)
{
	enum { LATER = 6, LONG = 2000000 };
	const uint64_t a = allocate(w.one, 64), b = allocate(w.one, 64);
	dxp_event gate, mark, later[LATER];

	words_set(a, 0);
	for (int i = 0; i < LATER; i++)
		ok(wait_for(run(w.one, "slow", b, LONG, NULL)));
	ok(dxp_event_create(w.fabric, &gate));
	const dxp_event early = run(w.one, "add", b, 1, &gate);
	const dxp_event hold = run(w.one, "hold", a, 1, NULL);
	for (int i = 0; i < LATER; i++)
		later[i] = run(w.one, "slow", b, LONG, NULL);
	/* Its completion shows that the xPU has looked at all commands above. */
	ok(dxp_mark(w.one, NULL, &mark));
	ok(wait_for(mark));
	ok(dxp_event_set(w.fabric, gate, DXP_OK));
	event_known(gate);
	words_set(a, 1);
	ok(wait_for(hold));
	assert_true(start_of(early) < start_of(later[LATER - 1]));
	dxp_event_forget(w.fabric, gate);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.one, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mark__does_not_wait_for_other_kernels),
		cmocka_unit_test(mark__does_not_wait_for_earlier_kernels),
		cmocka_unit_test(run__earlier_kernels_first),
	};

	if (world_missing())
		return 77;
	return cmocka_run_group_tests(tests, world_open, world_close);
}
