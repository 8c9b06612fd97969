/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the engine `board`: DMAs at odd addresses and lengths, bounds, order, queues, and pins. */
#include "test/unit/board_rig.h"

#include "base/clock.h"
#include "base/rng.h"

#define SMALL    300            /* all lengths up to this */
#define ENDS_MAX BOARD_ENDS_MAX /* of one call */

/* No byte outside the destination changes. */
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

static void engine_dma__all_kinds_at_odd_addresses(void **state)
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
	assert_int_equal(engine_dma_dequeue(board, &end, 1), 0);
	RUN(dma_in(MEMORY - 10, source, 10));
	RUN(dma_copy(MEMORY - 20, MEMORY - 10, 10));
	RUN(dma_out(sink, MEMORY - 20, 10));
	assert_memory_equal(sink, source, 10);
}

/* ---- order and queues ---- */

/* Controllers are independent; each completes its DMAs in order. */
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
		uint32_t count = engine_dma_dequeue(board, ends, 3);
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

/* The second DMA reads what the first has written. */
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
		/* the other controller's queue has space */
		RUN(dma_out(sink, 4096, 100));
	engine_dma_reset(board);
	for (int i = 0; i < 5; i++)
		assert_int_equal(end_wait().status, DXP_EDEVICE);
	assert_int_equal(engine_dma_dequeue(board, ends, ENDS_MAX), 0);
	RUN(dma_through(sink, source, 100));
}

/* The caller does not dequeue completions. New DMAs are then rejected before a completion is
 * lost. */
static void engine_dma__completions_wait_until_dequeued(void **state)
{
	struct engine_dma_end ends[ENDS_MAX];
	uint32_t started = 0, refused = 0, dequeued = 0;

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
	dequeued = engine_dma_dequeue(board, ends, ENDS_MAX);
	assert_int_equal(dequeued, started);
	for (uint32_t i = 0; i < dequeued; i++)
		assert_int_equal(ends[i].id, i);
	RUN(dma_in(0, source, 1));
}

/* Rejected DMAs are retried; every byte arrives. */
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
	uint64_t until_ns = clock_now_ns() + LONGEST;

	for (int i = 0; i < 10; i++) {
		RUN(dma_in(0, source, BOARD_SHORT_BYTES + 1));
		RUN(dma_out(sink, 0, BOARD_SHORT_BYTES + 1));
		/* the interrupt comes shortly after the completion */
		while (atomic_load(&interrupts) < 2 * (uint64_t)i + 2)
			assert_true(clock_now_ns() < until_ns);
		assert_int_equal(atomic_load(&interrupts), 2 * i + 2);
	}
}

static void engine_describe__board(void **state)
{
	struct engine_description d;
	uint32_t core, operand;
	uint64_t result;

	engine_describe(board, &d);
	assert_int_equal(d.kind, ENGINE_BOARD);
	assert_string_equal(d.name, "board");
	assert_int_equal(d.memory_kind, DXP_MEMORY_BRIDGED);
	assert_true(d.streams);
	assert_false(d.reaches_host);
	assert_string_equal(d.device, "fast, PCIe unlimited, core pass, compute none");
	reopen("to_device = 5\ncore = add 9\ncompute = none\n");
	engine_describe(board, &d);
	assert_string_equal(d.device, "pac-a10, PCIe 5/7877 MB/s, core add, compute none");
	engine_core_get(board, 0, &core, &operand, &result);
	assert_int_equal(core, ENGINE_CORE_ADD);
	assert_int_equal(operand, 9);
}

static void engine_open__boards(void **state)
{
	static const char *const wrong[] = {"board:", "board:no such file", "boards"};
	struct engine_options o = {.memory_bytes = MEMORY};
	struct engine *e;

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		o.name = wrong[i];
		assert_int_equal(engine_open(&o, &e), DXP_EINVAL);
	}
	o.name = "board:fast";
	o.memory_bytes = 0;
	assert_int_equal(engine_open(&o, &e), DXP_EINVAL);
	o.memory_bytes = UINT64_MAX / 2;
	assert_int_equal(engine_open(&o, &e), DXP_ENOMEM);
}

static void engine_core_set__of_streams_to_come(void **state)
{
	struct engine_dma d = dma_through(sink, source, 4000);
	uint32_t core, operand, word, out;
	uint64_t result, sum = 0;

	assert_int_equal(engine_core_set(board, 0, ENGINE_CORE_ADD, 5), DXP_OK);
	assert_int_equal(run(&d), DXP_OK);
	assert_int_equal(engine_core_set(board, 0, ENGINE_CORE_CHECKSUM, 0), DXP_OK);
	d = dma_through(sink + 4000, source + 4000, 4000);
	d.first = false; /* with the core setting of its first DMA */
	assert_int_equal(run(&d), DXP_OK);
	for (uint32_t i = 0; i < 8000; i += 4) {
		memcpy(&word, source + i, 4);
		memcpy(&out, sink + i, 4);
		assert_int_equal(out, word + 5);
	}
	for (uint32_t i = 0; i < 4000; i += 1000) {
		d = dma_through(sink + i, source + i, 1000);
		d.first = i == 0;
		assert_int_equal(run(&d), DXP_OK);
	}
	for (uint32_t i = 0; i < 4000; i += 4) {
		memcpy(&word, source + i, 4);
		sum += word;
	}
	engine_core_get(board, 0, &core, &operand, &result);
	assert_int_equal(core, ENGINE_CORE_CHECKSUM);
	assert_true(result == sum);
	assert_memory_equal(sink, source, 4000);
}

static void engine_pin__remembers(void **state)
{
	struct board_pins *pins = &engine_board_of(board)->pins;

	assert_int_equal(engine_pin(board, source, HOST), DXP_OK);
	assert_int_equal(engine_pin(board, source, HOST), DXP_EINVAL);
	assert_int_equal(engine_pin(board, sink, 0), DXP_EINVAL);
	assert_int_equal(engine_pin(board, sink, HOST), DXP_OK);
	assert_int_equal(pins->count, 2);
	engine_unpin(board, source);
	assert_int_equal(pins->count, 1);
	assert_ptr_equal(pins->list[0].base, sink);
	assert_int_equal(pins->ever, 2);
	for (uint32_t i = 1; i < BOARD_PINS_MAX; i++)
		assert_int_equal(engine_pin(board, source + i, 1), DXP_OK);
	assert_int_equal(engine_pin(board, source, 1), DXP_ENOMEM);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(engine_dma__all_kinds_at_odd_addresses),
		TEST(engine_dma__through_passes),
		TEST(engine_dma__copy_onto_itself),
		TEST(engine_dma__bounds),
		TEST(engine_dma__in_order),
		TEST(engine_dma__same_controller_waits),
		TEST(engine_dma__queue_full),
		TEST(engine_dma__completions_wait_until_dequeued),
		TEST(engine_dma__a_hundred_at_once),
		TEST(engine_dma__interrupt_for_each_batch),
		TEST(engine_describe__board),
		TEST(engine_open__boards),
		TEST(engine_core_set__of_streams_to_come),
		TEST(engine_pin__remembers),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return rig_main(run_all);
}
