/* SPDX-License-Identifier: BSD-3-Clause */
/* dxp/async.h against a real manager and real nodes with toy devices. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/async.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/util.h"
#include "link/udp.h"
#include "test/support/fake_xpu.h"

#define WAIT_NS    (20 * S_NS)
#define DATA_BYTES (9u << 20)

struct world {
	struct fake_fabric *fake;
	struct dxp_fabric *fabric;
	struct dxp_xpu *one, *two; /* BRIDGED and DIRECT */
	struct dxp_program *program, *program_two;
	uint8_t *from, *to;
};

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static void says(const char *part)
{
	if (!strstr(dxp_fabric_error(NULL), part))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), part);
}

static int world_open(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rng rng = {11};

	w->fake = fake_fabric_open(2);
	fake_xpu_direct(w->fake, 1);
	const struct dxp_fabric_options options = {.directory = fake_fabric_folder(w->fake),
						   .name = "tester"};
	ok(dxp_fabric_open(&options, &w->fabric));
	ok(dxp_xpu_open(w->fabric, "xpu1", &w->one));
	ok(dxp_xpu_open(w->fabric, "xpu2", &w->two));
	ok(dxp_program_build(w->one, "k", NULL, &w->program));
	ok(dxp_program_build(w->two, "k", NULL, &w->program_two));
	w->from = malloc(DATA_BYTES + 8);
	w->to = malloc(DATA_BYTES + 8);
	assert_true(w->from && w->to);
	for (uint32_t i = 0; i < DATA_BYTES + 8; i++)
		w->from[i] = (uint8_t)rng_next(&rng);
	*state = w;
	return 0;
}

static int world_close(void **state)
{
	struct world *w = *state;

	dxp_program_release(w->program);
	dxp_program_release(w->program_two);
	dxp_xpu_close(w->one);
	dxp_xpu_close(w->two);
	dxp_fabric_close(w->fabric);
	fake_fabric_close(w->fake);
	free(w->from);
	free(w->to);
	free(w);
	return 0;
}

static struct dxp_waits after(const dxp_event *events, uint32_t count)
{
	return (struct dxp_waits){.events = events, .count = count};
}

static int ended(struct world *w, dxp_event event)
{
	return dxp_event_wait(w->fabric, event, WAIT_NS, NULL);
}

static dxp_event run_after(struct world *w, struct dxp_xpu *x, const char *kernel,
			   const dxp_event *waits, uint32_t count)
{
	const struct dxp_launch launch = {.program = x == w->one ? w->program : w->program_two,
					  .kernel = kernel,
					  .dimensions = 1,
					  .global = {1},
					  .wait = waits,
					  .wait_count = count};
	dxp_event event = 0;

	ok(dxp_run(x, &launch, &event));
	assert_true(event != 0);
	return event;
}

static uint8_t *memory_of(struct world *w, const struct dxp_xpu *x)
{
	return fake_xpu_memory(w->fake, x == w->two);
}

/* ---- user events ---- */

static void event_set__releases_who_waits(void **state)
{
	struct world *w = *state;
	dxp_event user;

	ok(dxp_event_create(w->fabric, &user));
	assert_int_equal(dxp_event_done(w->fabric, user), 0);
	dxp_event one = run_after(w, w->one, "ok", &user, 1);
	dxp_event two = run_after(w, w->two, "ok", &user, 1);
	dxp_event chained = run_after(w, w->two, "ok", &one, 1);
	assert_int_equal(dxp_event_wait(w->fabric, one, 20 * MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(dxp_event_done(w->fabric, two), 0);
	ok(dxp_event_set(w->fabric, user, DXP_OK));
	ok(ended(w, chained));
	ok(ended(w, two));
	ok(ended(w, one));
	/* Those that have ended are not waited for. */
	ok(ended(w, run_after(w, w->one, "ok", &user, 1)));
	assert_int_equal(dxp_event_set(w->fabric, user, DXP_OK), DXP_EINVAL);
	says("ended already");
	ok(ended(w, user));
	assert_int_equal(dxp_event_set(w->fabric, user, DXP_OK), DXP_ENOENT);
}

static void event_set__failure_cancels(void **state)
{
	struct world *w = *state;
	dxp_event user;

	ok(dxp_event_create(w->fabric, &user));
	dxp_event one = run_after(w, w->one, "ok", &user, 1);
	dxp_event two = run_after(w, w->two, "ok", &one, 1);
	ok(dxp_event_set(w->fabric, user, DXP_EDEVICE));
	assert_int_equal(ended(w, two), DXP_ECANCELED);
	assert_int_equal(ended(w, one), DXP_ECANCELED);
	assert_int_equal(ended(w, run_after(w, w->one, "ok", &user, 1)), DXP_ECANCELED);
	assert_int_equal(ended(w, user), DXP_EDEVICE);
	assert_int_equal(dxp_event_set(w->fabric, user, 1), DXP_EINVAL);
	assert_int_equal(dxp_event_set(w->fabric, user, -1000), DXP_EINVAL);
}

static void event_set__refuses_ends_of_commands(void **state)
{
	struct world *w = *state;
	dxp_event e = run_after(w, w->one, "ok", NULL, 0);

	assert_int_equal(dxp_event_set(w->fabric, e, DXP_OK), DXP_EINVAL);
	says("dxp_event_create");
	ok(ended(w, e));
}

/* ---- writes and reads ---- */

static const uint64_t sizes[] = {
	0, 1, 1792, 1793, 4096, 65537, (256 << 10) + 1, (1u << 20) + 1, DATA_BYTES - 5};

static void there_and_back(struct world *w, struct dxp_xpu *x, uint64_t bytes,
			   const dxp_event *before, uint32_t count)
{
	const struct dxp_waits waits = after(before, count);
	dxp_event written, read;

	memset(w->to, 0xa5, DATA_BYTES + 8);
	ok(dxp_write(x, 12345, w->from + 3, bytes, &waits, &written));
	const struct dxp_waits then = after(&written, 1);
	ok(dxp_read(x, w->to + 1, 12345, bytes, &then, &read));
	ok(ended(w, read));
	ok(ended(w, written));
	assert_memory_equal(memory_of(w, x) + 12345, w->from + 3, bytes);
	assert_memory_equal(w->to + 1, w->from + 3, bytes);
	assert_int_equal(w->to[0], 0xa5);
	assert_int_equal(w->to[bytes + 1], 0xa5);
}

static void write_read__every_size(void **state)
{
	struct world *w = *state;

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++) {
		there_and_back(w, w->one, sizes[s], NULL, 0);
		there_and_back(w, w->two, sizes[s], NULL, 0);
	}
}

/* Behind a command that has not ended the xPU fetches; behind the program's own word we send. */
static void write_read__behind_others(void **state)
{
	struct world *w = *state;

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++) {
		dxp_event user, waits[2];
		dxp_event written;
		ok(dxp_event_create(w->fabric, &user));
		waits[0] = user;
		waits[1] = run_after(w, w->two, "ok", &user, 1);
		memset(memory_of(w, w->two) + 12345, 0, sizes[s]);
		const struct dxp_waits both = after(waits, 2), own = after(&user, 1);
		ok(dxp_write(w->two, 12345, w->from + 3, sizes[s], &both, &written));
		memset(w->to, 0xa5, DATA_BYTES + 8);
		const struct dxp_waits then = after(&written, 1);
		dxp_event read, later;
		ok(dxp_read(w->two, w->to + 1, 12345, sizes[s], &then, &read));
		ok(dxp_write(w->one, 99, w->from, sizes[s], &own, &later));
		assert_int_equal(dxp_event_wait(w->fabric, read, MS_NS, NULL), DXP_ETIMEDOUT);
		assert_int_equal(dxp_event_done(w->fabric, later), 0);
		ok(dxp_event_set(w->fabric, user, DXP_OK));
		ok(ended(w, read));
		ok(ended(w, written));
		ok(ended(w, waits[1]));
		ok(ended(w, later));
		assert_memory_equal(w->to + 1, w->from + 3, sizes[s]);
		assert_int_equal(w->to[sizes[s] + 1], 0xa5);
		assert_memory_equal(memory_of(w, w->one) + 99, w->from, sizes[s]);
		dxp_event_forget(w->fabric, user);
	}
}

/* Many under way at once, beside each other and over each other, in the order of their waits. */
static void write__many(void **state)
{
	struct world *w = *state;
	static dxp_event events[200];
	dxp_event before = 0;

	for (uint32_t i = 0; i < 200; i++) {
		const struct dxp_waits waits = after(&before, 1);
		uint64_t bytes = 1793 + 997 * (i % 70);
		ok(dxp_write(w->two, i % 3 ? 1000 : 40000ull * i, w->from + i, bytes, &waits,
			     &events[i]));
		before = events[i];
	}
	dxp_event last = run_after(w, w->two, "ok", &before, 1);
	ok(ended(w, last));
	/* 199 % 3 is 1: the last one lies at 1000. */
	assert_memory_equal(memory_of(w, w->two) + 1000, w->from + 199, 1793 + 997 * (199 % 70));
	for (uint32_t i = 0; i < 200; i++)
		ok(ended(w, events[i]));
}

static void write__failure_before_it(void **state)
{
	struct world *w = *state;
	dxp_event user, written, read, failed;

	memset(memory_of(w, w->one), 0, 4096);
	ok(dxp_event_create(w->fabric, &user));
	const struct dxp_waits waits = after(&user, 1);
	ok(dxp_write(w->one, 0, w->from, 4096, &waits, &written));
	const struct dxp_waits then = after(&written, 1);
	ok(dxp_read(w->one, w->to, 0, 4096, &then, &read));
	ok(dxp_event_set(w->fabric, user, DXP_EDEVICE));
	assert_int_equal(ended(w, read), DXP_ECANCELED);
	assert_int_equal(ended(w, written), DXP_ECANCELED);
	failed = run_after(w, w->one, "fail", NULL, 0);
	const struct dxp_waits behind = after(&failed, 1);
	ok(dxp_write(w->one, 0, w->from, 4096, &behind, &written));
	assert_int_equal(ended(w, written), DXP_ECANCELED);
	assert_int_equal(ended(w, failed), DXP_EDEVICE);
	for (int i = 0; i < 4096; i++)
		assert_int_equal(memory_of(w, w->one)[i], 0);
	ok(ended(w, run_after(w, w->one, "ok", NULL, 0)));
}

static void write_read__refused(void **state)
{
	struct world *w = *state;
	dxp_event e, unknown = 0x0001000200000fffull;
	const struct dxp_waits waits = after(&unknown, 1);

	assert_int_equal(dxp_write(w->one, FAKE_MEMORY_BYTES - 3, w->from, 4, NULL, &e),
			 DXP_ERANGE);
	says("has 67108864 bytes");
	assert_int_equal(dxp_read(w->one, w->to, UINT64_MAX, 2, NULL, &e), DXP_ERANGE);
	assert_int_equal(dxp_write(w->one, 0, NULL, 4, NULL, &e), DXP_EINVAL);
	assert_int_equal(dxp_read(w->one, NULL, 0, 4000, NULL, &e), DXP_EINVAL);
	assert_int_equal(dxp_write(w->one, 0, w->from, 4000, &waits, &e), DXP_ENOENT);
	assert_int_equal(dxp_write(w->one, 0, w->from, 4, &waits, &e), DXP_ENOENT);
}

/* The bytes come only when the waits have ended, however few. */
static void write__late_bytes(void **state)
{
	struct world *w = *state;
	dxp_event user, first, later;

	for (uint32_t i = 0; i < 2; i++) {
		ok(dxp_event_create(w->fabric, &user));
		const struct dxp_waits own = {.events = &user, .count = 1, .late = true};
		ok(dxp_write(w->two, 500000, w->from, i ? 100000 : 10, NULL, &first));
		w->to[0] = 1;
		ok(dxp_write(w->two, 7, w->to, 1, &own, &later));
		w->to[0] = 2;
		ok(dxp_event_set(w->fabric, user, DXP_OK));
		ok(ended(w, later));
		assert_int_equal(memory_of(w, w->two)[7], 2);
		ok(ended(w, first));
		dxp_event kernel = run_after(w, w->two, "ok", NULL, 0);
		const struct dxp_waits there = {.events = &kernel, .count = 1, .late = true};
		ok(dxp_write(w->two, 9, w->to, 1, &there, &later));
		ok(ended(w, later));
		assert_int_equal(memory_of(w, w->two)[9], 2);
		dxp_event_forget(w->fabric, user);
	}
}

/* ---- boxes ---- */

static void copy_fill__boxes(void **state)
{
	struct world *w = *state;
	uint8_t *memory = memory_of(w, w->one);
	const struct dxp_box box = {.row_bytes = 6,
				    .rows = 3,
				    .slices = 2,
				    .from_row_pitch = 10,
				    .from_slice_pitch = 100,
				    .to_row_pitch = 8};
	dxp_event filled, copied;

	memset(memory, 0, 4096);
	ok(dxp_fill(w->one, 1000, "ab", 2, &box, NULL, &filled));
	const struct dxp_waits waits = after(&filled, 1);
	memcpy(memory, w->from, 300);
	ok(dxp_copy(w->one, 0, 2000, &box, &waits, &copied));
	ok(ended(w, copied));
	ok(ended(w, filled));
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++) {
			assert_memory_equal(memory + 1000 + 24 * s + 8 * r, "ababab\0", 7);
			assert_memory_equal(memory + 2000 + 24 * s + 8 * r,
					    w->from + 100 * s + 10 * r, 6);
		}
	struct dxp_box bad = box;
	bad.rows = 0;
	assert_int_equal(dxp_copy(w->one, 0, 2000, &bad, NULL, &copied), DXP_EINVAL);
	bad = box;
	bad.from_row_pitch = 5;
	assert_int_equal(dxp_copy(w->one, 0, 2000, &bad, NULL, &copied), DXP_EINVAL);
	says("from side");
	assert_int_equal(dxp_copy(w->one, 0, FAKE_MEMORY_BYTES - 45, &box, NULL, &copied),
			 DXP_ERANGE);
	assert_int_equal(dxp_fill(w->one, 0, "abcd", 4, &box, NULL, &filled), DXP_EINVAL);
	assert_int_equal(dxp_fill(w->one, 0, NULL, 1, &box, NULL, &filled), DXP_EINVAL);
	assert_int_equal(dxp_fill(w->one, 0, "a", 0, &box, NULL, &filled), DXP_EINVAL);
}

/* ---- wait lists ---- */

static void waits__any_number(void **state)
{
	struct world *w = *state;
	enum { MANY = 500 };
	static dxp_event events[2 * MANY + 2];
	dxp_event user, marked;

	ok(dxp_event_create(w->fabric, &user));
	for (int i = 0; i < MANY; i++) {
		events[2 * i] = run_after(w, w->one, "ok", &user, 1);
		events[2 * i + 1] = run_after(w, w->two, "ok", &user, 1);
	}
	events[2 * MANY] = user;
	events[2 * MANY + 1] = 0;
	const struct dxp_waits waits = after(events, 2 * MANY + 2);
	ok(dxp_mark(w->one, &waits, &marked));
	assert_int_equal(dxp_event_wait(w->fabric, marked, 20 * MS_NS, NULL), DXP_ETIMEDOUT);
	ok(dxp_event_set(w->fabric, user, DXP_OK));
	ok(ended(w, marked));
	for (int i = 0; i < 2 * MANY; i++) {
		assert_int_equal(dxp_event_done(w->fabric, events[i]), 1);
		ok(ended(w, events[i]));
	}
}

/* ---- completions ---- */

static void completions__tell_each_end_once(void **state)
{
	struct world *w = *state;
	enum { MANY = 1000 };
	static bool told[MANY];
	struct dxp_completion taken[7];
	dxp_event user, event;
	int count = 0;

	memset(told, 0, sizeof(told));
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
		int n = dxp_completions(w->fabric, taken, ARRAY_COUNT(taken), WAIT_NS);
		assert_in_range(n, 1, ARRAY_COUNT(taken));
		for (int i = 0; i < n; i++, count++) {
			assert_false(told[taken[i].cookie]);
			told[taken[i].cookie] = true;
			assert_int_equal(taken[i].status,
					 taken[i].cookie % 5 == 0 ? DXP_EDEVICE : DXP_OK);
			assert_int_equal(taken[i].native,
					 taken[i].cookie % 5 == 0 ? FAKE_NATIVE : 0);
			assert_true(taken[i].times.ended_ns);
		}
	}
	assert_int_equal(dxp_completions(w->fabric, taken, 1, MS_NS), 0);
	/* Also of what has ended already. */
	ok(dxp_event_notify(w->fabric, user, 77));
	assert_int_equal(dxp_completions(w->fabric, taken, 1, 0), 1);
	assert_int_equal(taken[0].cookie, 77);
	assert_true(taken[0].event == user);
	dxp_event_forget(w->fabric, user);
	assert_int_equal(dxp_event_notify(w->fabric, user, 1), DXP_ENOENT);
}

/* What runs for long is told of twice, where that is wanted. */
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
	uint64_t begin = link_now_ns();
	assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 0);
	assert_in_range(link_now_ns() - begin, 10 * MS_NS, 5 * S_NS);
	pthread_join(thread, NULL);
}

/* Who waits for what may be told late says so to the node. */
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
	/* Once is enough. */
	assert_int_equal(dxp_completions(w->fabric, &c, 1, 50 * MS_NS), 0);
	assert_int_equal(dxp_event_wait(w->fabric, e, MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 1);
	dxp_event_forget(w->fabric, e);
	ok(dxp_run(w->one, &launch, &e));
	assert_int_equal(dxp_event_wait(w->fabric, e, 20 * MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(fake_xpu_hurries(w->fake, 0), 2);
}

/* ---- room ---- */

/* More commands than there is room for: calls wait for room, and events that are kept for ever
 * take none of it. */
static void run__more_than_there_is_room_for(void **state)
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

/* Where only the program itself could make room, it is told. */
static void run__no_room_for_ever(void **state)
{
	struct world *w = *state;
	const struct dxp_launch launch = {
		.program = w->program, .kernel = "never", .dimensions = 1, .global = {1}};
	dxp_event user, last = 0;
	int status = DXP_OK;

	ok(dxp_event_create(w->fabric, &user));
	for (int i = 0; i < HOST_COMMANDS_MAX + 1 && status == DXP_OK; i++)
		status = dxp_run(w->one, &launch, &last);
	assert_int_equal(status, DXP_EAGAIN);
	says("set the events");
}

/* Commands in a row leave together; the last of them also when no call follows. */
static void run__the_last_leaves_without_a_call(void **state)
{
	struct world *w = *state;
	unsigned slow = 0;

	for (int round = 0; round < 40; round++) {
		unsigned before = fake_xpu_commands(w->fake, 0);
		dxp_event events[5];
		for (int i = 0; i < 5; i++)
			events[i] = run_after(w, w->one, "ok", NULL, 0);
		uint64_t begin = link_now_ns();
		while (fake_xpu_commands(w->fake, 0) != before + 5)
			assert_true(link_now_ns() - begin < S_NS);
		slow += link_now_ns() - begin > HOST_FRESH_NS;
		for (int i = 0; i < 5; i++)
			ok(ended(w, events[i]));
	}
	/* By the keeper's clock for trains, not by its next look. */
	assert_in_range(slow, 0, 20);
}

/* A command behind a write needs no round trip, and never sees it half done. */
static void write__command_behind_it(void **state)
{
	struct world *w = *state;
	const struct dxp_box box = {.row_bytes = 300000, .rows = 1, .slices = 1};

	for (uint32_t i = 0; i < 60; i++) {
		struct dxp_box all = box;
		dxp_event written, copied;
		all.row_bytes = 2000 + 5000ull * i;
		memset(memory_of(w, w->two) + 2000000, 0, 300000);
		ok(dxp_write(w->two, 0, w->from + i, all.row_bytes, NULL, &written));
		const struct dxp_waits waits = after(&written, 1);
		ok(dxp_copy(w->two, 0, 2000000, &all, &waits, &copied));
		ok(ended(w, copied));
		ok(ended(w, written));
		assert_memory_equal(memory_of(w, w->two) + 2000000, w->from + i, all.row_bytes);
	}
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
	ok(dxp_write(w->one, 0, w->from, 100000, &waits, &events[0])); /* PULLED */
	ok(dxp_write(w->one, 0, w->from, 100000, &own, &events[1]));   /* WAITING */
	ok(dxp_write(w->one, 0, w->from, 100, &own, &events[2]));
	events[3] = run_after(w, w->one, "never", NULL, 0);
	fake_xpu_freeze(w->fake, 0);
	ok(dxp_write(w->one, 0, w->from, DATA_BYTES, NULL, &events[4])); /* RUNNING */
	for (uint64_t i = 0; i < 5; i++)
		ok(dxp_event_notify(w->fabric, events[i], i));
	for (int i = 0; i < 5; i++) {
		assert_int_equal(dxp_completions(w->fabric, &c, 1, WAIT_NS), 1);
		assert_int_equal(c.status, DXP_EPEERLOST);
		assert_in_range(c.cookie, 0, 4);
	}
	assert_int_equal(ended(w, never), DXP_EPEERLOST);
	/* The other one works on. */
	there_and_back(w, w->two, 70000, NULL, 0);
	ok(dxp_event_set(w->fabric, user, DXP_OK));
	assert_int_equal(dxp_mark(w->one, NULL, &user), DXP_EPEERLOST);
}

/* Closing ends what is under way, in every state. */
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

/* ---- programs, devices ---- */

static void program_create__kinds_and_records(void **state)
{
	struct world *w = *state;
	static char source[20000];
	const struct dxp_file files[] = {{"main", source, sizeof(source)}, {"a/b.h", "x", 1}};
	struct dxp_program_source s = {
		.kind = DXP_PROGRAM_COMPILE, .files = files, .file_count = 2};
	struct dxp_program *long_one, *linked, *failed;
	const uint8_t *about;
	size_t bytes;
	void *binary;

	memset(source, ' ', sizeof(source));
	ok(dxp_program_create(w->one, &s, &long_one));
	about = dxp_program_about(long_one, &bytes);
	assert_int_equal(bytes, 100 << 10);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(about[i], (uint8_t)(i * 7));
	ok(dxp_program_binary(long_one, &binary, &bytes));
	assert_int_equal(bytes, 100 << 10);
	assert_int_equal(((uint8_t *)binary)[99999], (uint8_t)(99999 * 7));
	free(binary);
	const struct dxp_program *inputs[] = {long_one, w->program};
	s = (struct dxp_program_source){
		.kind = DXP_PROGRAM_LINK, .inputs = inputs, .input_count = 2};
	ok(dxp_program_create(w->one, &s, &linked));
	about = dxp_program_about(linked, &bytes);
	assert_int_equal(bytes, 5);
	assert_memory_equal(about, "about", 5);
	assert_int_equal(dxp_program_create(w->two, &s, &failed), DXP_EINVAL);
	says("input 0");
	s.options = "error";
	assert_int_equal(dxp_program_create(w->one, &s, &failed), DXP_EBUILD);
	assert_non_null(strstr(dxp_program_log(failed), "not like this"));
	dxp_program_release(failed);
	s.file_count = 1;
	s.files = files;
	assert_int_equal(dxp_program_create(w->one, &s, &failed), DXP_EINVAL);
	says("linking");
	dxp_program_release(linked);
	dxp_program_release(long_one);
}

static void xpu_about__and_clock(void **state)
{
	struct world *w = *state;
	struct dxp_clock clock;
	void *about;
	size_t bytes;

	ok(dxp_xpu_about(w->two, &about, &bytes));
	assert_int_equal(bytes, 100 << 10);
	assert_int_equal(((uint8_t *)about)[4097], (uint8_t)(4097 * 7));
	free(about);
	uint64_t before = link_now_ns();
	ok(dxp_xpu_clock(w->two, &clock));
	assert_in_range(clock.host_ns, before, link_now_ns());
	int64_t off = (int64_t)(clock.node_ns - clock.host_ns - FAKE_CLOCK_NS);
	assert_true((uint64_t)llabs(off) <= clock.error_ns);
}

static char printed[64];

static void take_print(void *context, uint16_t node, const char *text, size_t bytes)
{
	assert_true(bytes < sizeof(printed));
	memcpy(printed, text, bytes);
	*(uint16_t *)context = node;
}

static void print__before_the_end(void **state)
{
	struct world *w = *state;
	uint16_t node = 0;

	memset(printed, 0, sizeof(printed));
	dxp_fabric_print(w->fabric, take_print, &node);
	ok(ended(w, run_after(w, w->one, "print", NULL, 0)));
	assert_string_equal(printed, "printed\n");
	assert_true(node != 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(event_set__releases_who_waits),
		TEST(event_set__failure_cancels),
		TEST(event_set__refuses_ends_of_commands),
		TEST(write_read__every_size),
		TEST(write_read__behind_others),
		TEST(write__many),
		TEST(write__failure_before_it),
		TEST(write_read__refused),
		TEST(write__late_bytes),
		TEST(copy_fill__boxes),
		TEST(waits__any_number),
		TEST(completions__tell_each_end_once),
		TEST(completions__begun),
		TEST(completions__woken),
		TEST(completions__hurry_lazy_ones),
		TEST(run__more_than_there_is_room_for),
		TEST(run__no_room_for_ever),
		TEST(run__the_last_leaves_without_a_call),
		TEST(write__command_behind_it),
		TEST(lost__everything_ends),
		TEST(close__everything_ends),
		TEST(program_create__kinds_and_records),
		TEST(xpu_about__and_clock),
		TEST(print__before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
