/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/async.h with a real manager, and nodes with fake devices. */
#include "host/internal.h"
#include "base/clock.h"
#include "test/unit/host_async_rig.h"

/* ---- user events ---- */

static void event_set__releases_waiting_threads(void **state)
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
	ok(ended(w, run_after(w, w->one, "ok", &user, 1)));
	assert_int_equal(dxp_event_set(w->fabric, user, DXP_OK), DXP_EINVAL);
	has_text("already complete");
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

static void event_set__rejects_ends_of_commands(void **state)
{
	struct world *w = *state;
	dxp_event e = run_after(w, w->one, "ok", NULL, 0);

	assert_int_equal(dxp_event_set(w->fabric, e, DXP_OK), DXP_EINVAL);
	has_text("dxp_event_create");
	ok(ended(w, e));
}

/* ---- writes and reads ---- */

static const uint64_t sizes[] = {
	0, 1, 1792, 1793, 4096, 65537, (256 << 10) + 1, (1u << 20) + 1, DATA_BYTES - 5};

static void write_read__every_size(void **state)
{
	struct world *w = *state;

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++) {
		there_and_back(w, w->one, sizes[s], NULL, 0);
		there_and_back(w, w->two, sizes[s], NULL, 0);
	}
}

/* Behind a command, the xPU fetches the bytes; behind a user event only, this host sends them. */
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

/* Overlapping writes wait for each other, so they take effect in order. */
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
	/* 199 % 3 is 1, so the last write is to offset 1000. */
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

static void write_read__rejected(void **state)
{
	struct world *w = *state;
	dxp_event e, unknown = 0x0001000200000fffull;
	const struct dxp_waits waits = after(&unknown, 1);

	assert_int_equal(dxp_write(w->one, FAKE_MEMORY_BYTES - 3, w->from, 4, NULL, &e),
			 DXP_ERANGE);
	has_text("has 67108864 bytes");
	assert_int_equal(dxp_read(w->one, w->to, UINT64_MAX, 2, NULL, &e), DXP_ERANGE);
	assert_int_equal(dxp_write(w->one, 0, NULL, 4, NULL, &e), DXP_EINVAL);
	assert_int_equal(dxp_read(w->one, NULL, 0, 4000, NULL, &e), DXP_EINVAL);
	assert_int_equal(dxp_write(w->one, 0, w->from, 4000, &waits, &e), DXP_ENOENT);
	assert_int_equal(dxp_write(w->one, 0, w->from, 4, &waits, &e), DXP_ENOENT);
}

/* With `late`, a write reads the program's bytes only after its waits have completed, even if the
 * bytes are few. */
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

/* ---- rectangles ---- */

static void copy_fill__rects(void **state)
{
	struct world *w = *state;
	uint8_t *memory = memory_of(w, w->one);
	const struct dxp_rect rect = {.row_bytes = 6,
				      .rows = 3,
				      .slices = 2,
				      .from_row_pitch = 10,
				      .from_slice_pitch = 100,
				      .to_row_pitch = 8};
	dxp_event filled, copied;

	memset(memory, 0, 4096);
	ok(dxp_fill(w->one, 1000, "ab", 2, &rect, NULL, &filled));
	const struct dxp_waits waits = after(&filled, 1);
	memcpy(memory, w->from, 300);
	ok(dxp_copy(w->one, 0, 2000, &rect, &waits, &copied));
	ok(ended(w, copied));
	ok(ended(w, filled));
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++) {
			assert_memory_equal(memory + 1000 + 24 * s + 8 * r, "ababab\0", 7);
			assert_memory_equal(memory + 2000 + 24 * s + 8 * r,
					    w->from + 100 * s + 10 * r, 6);
		}
	struct dxp_rect bad = rect;
	bad.rows = 0;
	assert_int_equal(dxp_copy(w->one, 0, 2000, &bad, NULL, &copied), DXP_EINVAL);
	bad = rect;
	bad.from_row_pitch = 5;
	assert_int_equal(dxp_copy(w->one, 0, 2000, &bad, NULL, &copied), DXP_EINVAL);
	has_text("from side");
	assert_int_equal(dxp_copy(w->one, 0, FAKE_MEMORY_BYTES - 45, &rect, NULL, &copied),
			 DXP_ERANGE);
	assert_int_equal(dxp_fill(w->one, 0, "abcd", 4, &rect, NULL, &filled), DXP_EINVAL);
	assert_int_equal(dxp_fill(w->one, 0, NULL, 1, &rect, NULL, &filled), DXP_EINVAL);
	assert_int_equal(dxp_fill(w->one, 0, "a", 0, &rect, NULL, &filled), DXP_EINVAL);
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

/* ---- space ---- */

/* The call itself sends its command to an idle xPU; the progress thread would use a CPU core for a
 * moment each time. */
static void run__an_idle_one_is_not_kept_waiting(void **state)
{
	struct world *w = *state;

	for (int round = 0; round < 40; round++) {
		dxp_event events[2] = {run_after(w, w->one, "ok", NULL, 0),
				       run_after(w, w->two, "ok", NULL, 0)};
		host_fabric_enter(w->fabric);
		bool unsent = w->fabric->unsent, looks = w->fabric->progress_sends;
		host_fabric_leave(w->fabric);
		assert_false(unsent || looks);
		ok(ended(w, events[0]));
		ok(ended(w, events[1]));
	}
}

/* The command is sent before the write completes, and reads no partial write. */
static void write__command_behind_it(void **state)
{
	struct world *w = *state;
	const struct dxp_rect rect = {.row_bytes = 300000, .rows = 1, .slices = 1};

	for (uint32_t i = 0; i < 60; i++) {
		struct dxp_rect all = rect;
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
	has_text("input 0");
	s.options = "error";
	assert_int_equal(dxp_program_create(w->one, &s, &failed), DXP_EBUILD);
	assert_non_null(strstr(dxp_program_log(failed), "not like this"));
	dxp_program_release(failed);
	s.file_count = 1;
	s.files = files;
	assert_int_equal(dxp_program_create(w->one, &s, &failed), DXP_EINVAL);
	has_text("linking");
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
	uint64_t before = clock_now_ns();
	ok(dxp_xpu_clock(w->two, &clock));
	assert_in_range(clock.host_ns, before, clock_now_ns());
	int64_t off = (int64_t)(clock.node_ns - clock.host_ns - FAKE_CLOCK_NS);
	assert_true((uint64_t)llabs(off) <= clock.error_ns);
}

static char printed[64];

static void dequeue_print(void *context, uint16_t node, const char *text, size_t bytes)
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
	dxp_fabric_print(w->fabric, dequeue_print, &node);
	ok(ended(w, run_after(w, w->one, "print", NULL, 0)));
	assert_string_equal(printed, "printed\n");
	assert_true(node != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(event_set__releases_waiting_threads),
		TEST(event_set__failure_cancels),
		TEST(event_set__rejects_ends_of_commands),
		TEST(write_read__every_size),
		TEST(write_read__behind_others),
		TEST(write__many),
		TEST(write__failure_before_it),
		TEST(write_read__rejected),
		TEST(write__late_bytes),
		TEST(copy_fill__rects),
		TEST(waits__any_number),
		TEST(run__an_idle_one_is_not_kept_waiting),
		TEST(write__command_behind_it),
		TEST(program_create__kinds_and_records),
		TEST(xpu_about__and_clock),
		TEST(print__before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
