/* SPDX-License-Identifier: BSD-3-Clause */
/* The board: every kind of DMA at odd places and lengths, order, bounds, faults and resets. What a
 * board is slower than is tested, never what it is faster than: this machine may be busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "link/udp.h"
#include "xpu/engine_board.h"

#define MEMORY   (8u << 20)
#define HOST     (1u << 20)
#define SMALL    300            /* lengths 1 .. SMALL are all tried */
#define LONGEST  (60 * S_NS)    /* a wait that takes so long has failed */
#define ENDS_MAX BOARD_ENDS_MAX /* that one take gives */

static struct engine *board;
static char file_name[64];
static uint8_t *source, *sink; /* HOST bytes each */
static _Atomic uint64_t interrupts;
static uint64_t next_id;

static void interrupted(void *context)
{
	atomic_fetch_add((_Atomic uint64_t *)context, 1);
}

static struct engine *open_named(const char *name)
{
	struct engine_options options = {.name = name,
					 .memory_bytes = MEMORY,
					 .interrupt = interrupted,
					 .interrupt_context = &interrupts};
	struct engine *e = NULL;

	assert_int_equal(engine_open(&options, &e), DXP_OK);
	return e;
}

/* A board that a file with these lines describes. */
static struct engine *open_lines(const char *lines)
{
	char name[80];
	FILE *file = fopen(file_name, "w");

	assert_non_null(file);
	assert_true(fputs(lines, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(name, sizeof(name), "board:%s", file_name);
	return open_named(name);
}

static int setup(void **state)
{
	board = open_lines("preset = fast\ncompute = none\n");
	for (uint32_t i = 0; i < HOST; i++) {
		source[i] = (uint8_t)(i * 7 + i / 251);
		sink[i] = 0xee;
	}
	atomic_store(&interrupts, 0);
	return 0;
}

static int teardown(void **state)
{
	engine_close(board);
	board = NULL;
	return 0;
}

/* Another board than setup's. */
static void reopen(const char *lines)
{
	engine_close(board);
	board = open_lines(lines);
}

static struct engine_dma dma_in(uint64_t to, const void *from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_IN, .to = to, .source = from, .bytes = bytes};
}

static struct engine_dma dma_out(void *to, uint64_t from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_OUT, .from = from, .sink = to, .bytes = bytes};
}

static struct engine_dma dma_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_COPY, .from = from, .to = to, .bytes = bytes};
}

static struct engine_dma dma_through(void *to, const void *from, uint64_t bytes)
{
	return (struct engine_dma){.id = ++next_id,
				   .kind = ENGINE_DMA_THROUGH,
				   .source = from,
				   .sink = to,
				   .bytes = bytes,
				   .first = true};
}

/* Waits for one end; the next one in whatever order they come. */
static struct engine_dma_end end_wait(void)
{
	struct engine_dma_end end;
	uint64_t until_ns = link_now_ns() + LONGEST;

	while (engine_dma_take(board, &end, 1) == 0) {
		assert_true(link_now_ns() < until_ns);
		usleep(50);
	}
	return end;
}

static void start(const struct engine_dma *dma)
{
	assert_int_equal(engine_dma_start(board, dma), DXP_OK);
}

static int run(const struct engine_dma *dma)
{
	start(dma);
	struct engine_dma_end end = end_wait();
	assert_int_equal(end.id, dma->id);
	return end.status;
}

#define RUN(dma)                                         \
	do {                                             \
		struct engine_dma run_dma = (dma);       \
		assert_int_equal(run(&run_dma), DXP_OK); \
	} while (0)

/* Source to the device and back to sink by another way, and nothing beside it touched. */
static void round_trip(uint64_t address, uint32_t offset, uint64_t bytes)
{
	memset(sink, 0xee, offset + bytes + 64);
	RUN(dma_in(address, source + offset, bytes));
	RUN(dma_copy(address + bytes + 3, address, bytes));
	RUN(dma_out(sink + offset, address + bytes + 3, bytes));
	assert_memory_equal(sink + offset, source + offset, bytes);
	for (uint32_t i = 0; i < offset; i++)
		assert_int_equal(sink[i], 0xee);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(sink[offset + bytes + i], 0xee);
}

static void engine_dma__all_kinds_at_odd_places(void **state)
{
	for (uint32_t bytes = 1; bytes <= SMALL; bytes++)
		round_trip(bytes * 11 % 977, bytes * 5 % 67, bytes);
	round_trip(1, 1, BOARD_SLICE_BYTES - 1);
	round_trip(4095, 3, BOARD_SLICE_BYTES);
	round_trip(2, 5, BOARD_SLICE_BYTES + 1);
	round_trip(77, 7, 7 * BOARD_SLICE_BYTES + 5);
}

static void engine_dma__through_passes(void **state)
{
	for (uint32_t bytes = 1; bytes <= SMALL; bytes++) {
		memset(sink, 0xee, 2 * SMALL);
		RUN(dma_through(sink + bytes % 13, source + bytes % 7, bytes));
		assert_memory_equal(sink + bytes % 13, source + bytes % 7, bytes);
		assert_int_equal(sink[bytes % 13 + bytes], 0xee);
	}
	RUN(dma_through(sink, source + 1, 9 * BOARD_SLICE_BYTES + 1));
	assert_memory_equal(sink, source + 1, 9 * BOARD_SLICE_BYTES + 1);
}

static void engine_dma__copy_onto_itself(void **state)
{
	const uint64_t bytes = 5 * BOARD_SLICE_BYTES + 3;
	static const int64_t shifts[] = {-100000, -4096, -1, 0, 1, 63, 4097, 100000};

	for (size_t i = 0; i < ARRAY_COUNT(shifts); i++) {
		RUN(dma_in(200000, source, bytes));
		RUN(dma_copy((uint64_t)(200000 + shifts[i]), 200000, bytes));
		RUN(dma_out(sink, (uint64_t)(200000 + shifts[i]), bytes));
		assert_memory_equal(sink, source, bytes);
	}
}

static void engine_dma__bounds(void **state)
{
	struct engine_dma wrong[] = {
		dma_in(MEMORY, source, 1),     dma_in(MEMORY - 9, source, 10),
		dma_in(UINT64_MAX, source, 2), dma_in(0, source, MEMORY + 1),
		dma_out(sink, MEMORY, 1),      dma_out(sink, MEMORY - 9, 10),
		dma_out(sink, 5, UINT64_MAX),  dma_copy(0, MEMORY - 9, 10),
		dma_copy(MEMORY - 9, 0, 10),
	};
	struct engine_dma none = dma_in(0, source, 0);
	struct engine_dma_end end;

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(engine_dma_start(board, &wrong[i]), DXP_ERANGE);
	assert_int_equal(engine_dma_start(board, &none), DXP_EINVAL);
	none = dma_in(0, source, 1);
	none.kind = ENGINE_DMA_COPY + 1;
	assert_int_equal(engine_dma_start(board, &none), DXP_EINVAL);
	assert_int_equal(engine_dma_take(board, &end, 1), 0);
	RUN(dma_in(MEMORY - 10, source, 10));
	RUN(dma_copy(MEMORY - 20, MEMORY - 10, 10));
	RUN(dma_out(sink, MEMORY - 20, 10));
	assert_memory_equal(sink, source, 10);
}

/* ---- order and queues ---- */

/* Each controller in its own order, whatever the other one does. */
static void engine_dma__in_order(void **state)
{
	struct rng rng = {.state = 7};
	uint64_t last[2] = {0, 0}, started = 0, ended = 0;

	while (ended < 3000) {
		bool out = rng_below(&rng, 2);
		uint64_t bytes = 1 + rng_below(&rng, 5000);
		struct engine_dma d = out ? dma_out(sink, 0, bytes) : dma_in(9000, source, bytes);
		d.id = d.id << 1 | out;
		if (engine_dma_start(board, &d) == DXP_OK)
			started++;
		struct engine_dma_end ends[3];
		uint32_t count = engine_dma_take(board, ends, 3);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(ends[i].status, DXP_OK);
			assert_true(ends[i].id > last[ends[i].id & 1]);
			last[ends[i].id & 1] = ends[i].id;
		}
		ended += count;
	}
	while (ended < started) {
		end_wait();
		ended++;
	}
}

/* One after the other with one controller: what the second reads, the first has written. */
static void engine_dma__same_controller_waits(void **state)
{
	struct engine_dma first = dma_in(0, source, HOST);
	struct engine_dma second = dma_copy(HOST, 0, HOST);

	start(&first);
	start(&second);
	assert_int_equal(end_wait().id, first.id);
	assert_int_equal(end_wait().id, second.id);
	RUN(dma_out(sink, HOST, HOST));
	assert_memory_equal(sink, source, HOST);
}

static void engine_dma__queue_full(void **state)
{
	struct engine_dma d;
	struct engine_dma_end ends[ENDS_MAX];

	reopen("preset = fast\ncompute = none\nqueue = 5\nstall = 1\n");
	for (int i = 0; i < 5; i++) {
		d = dma_in(0, source, 100);
		start(&d);
	}
	assert_int_equal(engine_dma_start(board, &d), DXP_EAGAIN);
	d = dma_through(sink, source, 100);
	assert_int_equal(engine_dma_start(board, &d), DXP_EAGAIN);
	for (int i = 0; i < 5; i++)
		RUN(dma_out(sink, 0, 100)); /* the other controller has room */
	engine_dma_reset(board);
	for (int i = 0; i < 5; i++)
		assert_int_equal(end_wait().status, DXP_EDEVICE);
	assert_int_equal(engine_dma_take(board, ends, ENDS_MAX), 0);
	RUN(dma_through(sink, source, 100));
}

/* Who takes no ends is refused before an end could be lost. */
static void engine_dma__ends_wait_for_whoever_takes_them(void **state)
{
	struct engine_dma_end ends[ENDS_MAX];
	uint32_t started = 0, refused = 0, taken = 0;

	while (refused < 1000) {
		struct engine_dma d = dma_in(0, source, 1);
		d.id = started;
		if (engine_dma_start(board, &d) == DXP_OK) {
			started++;
			refused = 0;
		} else {
			refused++;
			usleep(100);
		}
	}
	assert_true(started > BOARD_QUEUE_MAX && started <= BOARD_ENDS_MAX);
	taken = engine_dma_take(board, ends, ENDS_MAX);
	assert_int_equal(taken, started);
	for (uint32_t i = 0; i < taken; i++)
		assert_int_equal(ends[i].id, i);
	RUN(dma_in(0, source, 1));
}

/* All kinds at once, refused ones tried again; every byte arrives. */
static void engine_dma__a_hundred_at_once(void **state)
{
	const uint64_t bytes = 4001;
	struct engine_dma d[200];
	uint32_t ended = 0;

	RUN(dma_in(0, source, HOST));
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t at = i % 100 * bytes;
		d[i] = i % 2 == 0 ? dma_through(sink + at, source + at, bytes)
				  : dma_out(sink + at, at, bytes);
		while (engine_dma_start(board, &d[i]) == DXP_EAGAIN) {
			assert_int_equal(end_wait().status, DXP_OK);
			ended++;
		}
	}
	for (; ended < 200; ended++)
		assert_int_equal(end_wait().status, DXP_OK);
	assert_memory_equal(sink, source, 100 * bytes);
}

static void engine_dma__interrupt_for_each_batch(void **state)
{
	uint64_t until_ns = link_now_ns() + LONGEST;

	for (int i = 0; i < 10; i++) {
		RUN(dma_in(0, source, 1));
		RUN(dma_out(sink, 0, 1));
		/* It comes just behind the end. */
		while (atomic_load(&interrupts) < 2 * (uint64_t)i + 2)
			assert_true(link_now_ns() < until_ns);
		assert_int_equal(atomic_load(&interrupts), 2 * i + 2);
	}
}

/* ---- faults ---- */

static void engine_dma__every_nth_fails(void **state)
{
	for (unsigned n = 1; n <= 7; n++) {
		char lines[80];
		snprintf(lines, sizeof(lines), "preset = fast\ncompute = none\nfail = %u\n", n);
		reopen(lines);
		for (unsigned k = 1; k <= 3 * n; k++) {
			struct engine_dma d = k % 3 == 0   ? dma_through(sink, source, k)
					      : k % 3 == 1 ? dma_in(0, source, k)
							   : dma_out(sink, 0, k);
			assert_int_equal(run(&d), k % n == 0 ? DXP_EDEVICE : DXP_OK);
		}
	}
}

/* The one that fails does so in its middle. */
static void engine_dma__fails_part_way(void **state)
{
	struct engine_dma d = dma_through(sink, source, 1000);

	reopen("preset = fast\ncompute = none\nfail = 1\n");
	assert_int_equal(run(&d), DXP_EDEVICE);
	assert_memory_equal(sink, source, 500);
	for (int i = 500; i < 1000; i++)
		assert_int_equal(sink[i], 0xee);
}

/* Whatever stalls, at whatever place: the rest waits, and a reset brings all of it back. */
static void engine_dma__stall_and_reset(void **state)
{
	for (unsigned n = 1; n <= 6; n++) {
		char lines[80];
		struct engine_dma_end end;
		unsigned ended = 0, lost = 0;

		snprintf(lines, sizeof(lines), "preset = fast\ncompute = none\nstall = %u\n", n);
		reopen(lines);
		for (unsigned k = 1; k <= 6; k++) {
			struct engine_dma d = k % 3 == 0   ? dma_in(0, source, 70000)
					      : k % 3 == 1 ? dma_through(sink, source, 70000)
							   : dma_out(sink + 70000, 0, 70000);
			start(&d);
		}
		usleep(2000);
		while (engine_dma_take(board, &end, 1)) {
			assert_int_equal(end.status, DXP_OK);
			ended++;
		}
		assert_true(ended < 6);
		engine_dma_reset(board);
		for (; ended < 6; ended++)
			lost += end_wait().status == DXP_EDEVICE;
		assert_true(lost > 0);
		for (int k = 0; k < 3; k++)
			round_trip(5, 5, 70000);
		RUN(dma_through(sink, source, 70000));
		assert_memory_equal(sink, source, 70000);
	}
}

/* A board so slow that all is under way when it is reset; afterwards host memory is left alone. */
static void engine_dma_reset__host_memory_is_free(void **state)
{
	struct engine_dma d[3];

	reopen("compute = none\nto_device = 1\nfrom_device = 1\n");
	d[0] = dma_in(0, source, HOST);
	d[1] = dma_out(sink, 0, HOST / 2);
	d[2] = dma_through(sink, source, HOST);
	for (int i = 0; i < 3; i++)
		start(&d[i]);
	usleep(1000);
	engine_dma_reset(board);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end_wait().status, DXP_EDEVICE);
	memset(sink, 0x11, HOST);
	usleep(5000);
	for (uint32_t i = 0; i < HOST; i++)
		assert_int_equal(sink[i], 0x11);
}

static void engine_close__with_all_under_way(void **state)
{
	for (unsigned n = 1; n <= 6; n++) {
		reopen("compute = none\nto_device = 1\nfrom_device = 1\nstall = 4\n");
		for (unsigned k = 1; k <= n; k++) {
			struct engine_dma d =
				k % 2 ? dma_through(sink, source, HOST) : dma_out(sink, 0, HOST);
			start(&d);
		}
	}
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(engine_dma__all_kinds_at_odd_places),
		TEST(engine_dma__through_passes),
		TEST(engine_dma__copy_onto_itself),
		TEST(engine_dma__bounds),
		TEST(engine_dma__in_order),
		TEST(engine_dma__same_controller_waits),
		TEST(engine_dma__queue_full),
		TEST(engine_dma__ends_wait_for_whoever_takes_them),
		TEST(engine_dma__a_hundred_at_once),
		TEST(engine_dma__interrupt_for_each_batch),
		TEST(engine_dma__every_nth_fails),
		TEST(engine_dma__fails_part_way),
		TEST(engine_dma__stall_and_reset),
		TEST(engine_dma_reset__host_memory_is_free),
		TEST(engine_close__with_all_under_way),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	snprintf(file_name, sizeof(file_name), "board-%d.conf", (int)getpid());
	source = malloc(HOST);
	sink = malloc(HOST);
	if (!source || !sink)
		return 1;
	int failed = run_all();
	unlink(file_name);
	free(source);
	free(sink);
	return failed;
}
