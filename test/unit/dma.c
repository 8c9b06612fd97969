/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/dma.h on boards: each transfer copied and in place, rejected orders, many at once, and
 * pins. */
#include "test/unit/dma_rig.h"

#include "bridge/limits.h"
#include "dma/limits.h"

static void move__every_kind(void **state)
{
	static const uint64_t sizes[] = {0,       1,         3, 63, 4096, 65537, BUFFER_BYTES + 1,
					 1234567, DATA_BYTES};
	static const uint32_t pieces[] = {0, 4096, 65537, BUFFER_BYTES};

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
		for (int way = 0; way < 4; way++)
			for (size_t p = 0; p < ARRAY_COUNT(pieces); p++)
				all_kinds(*state, (struct dxp_dma_order){
							  .bytes = sizes[s],
							  .in_place = way % 2,
							  .mode = (enum dxp_bridge_mode)(way / 2),
							  .piece_bytes = pieces[p]});
}

static void through_itself(struct world *w, bool in_place)
{
	const struct dxp_dma_order o = {.kind = DXP_DMA_THROUGH,
					.in_place = in_place,
					.from = w->to + 1,
					.to = w->to + 1,
					.bytes = DATA_BYTES - 1};

	memcpy(w->to, w->from, DATA_BYTES);
	ok(dxp_dma_move(w->dma, &o));
	assert_added(w->from + 1, w->to + 1, o.bytes);
}

static void move__through_onto_itself(void **state)
{
	through_itself(*state, false);
	through_itself(*state, true);
}

static void overlap(struct world *w, uint64_t from, uint64_t to, uint32_t piece)
{
	struct dxp_dma_order o = {.kind = DXP_DMA_TO_DEVICE, .from = w->from, .bytes = DATA_BYTES};

	ok(dxp_dma_move(w->dma, &o));
	memcpy(w->expected, w->from, DATA_BYTES);
	o.kind = DXP_DMA_DEVICE_TO_DEVICE;
	o.device_from = from;
	o.device_to = to;
	o.bytes = DATA_BYTES - (from > to ? from : to);
	o.piece_bytes = piece;
	ok(dxp_dma_move(w->dma, &o));
	memmove(w->expected + to, w->expected + from, o.bytes);
	o = (struct dxp_dma_order){.kind = DXP_DMA_FROM_DEVICE, .to = w->to, .bytes = DATA_BYTES};
	ok(dxp_dma_move(w->dma, &o));
	assert_memory_equal(w->to, w->expected, DATA_BYTES);
}

static void move__device_onto_itself(void **state)
{
	static const uint64_t ways[] = {0, 1, 63, 4096, 100001, BUFFER_BYTES, 1u << 20, 5u << 20};

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		overlap(*state, 11, 11 + ways[i], 0);
		overlap(*state, 11 + ways[i], 11, 0);
		overlap(*state, 0, ways[i], 65537);
		overlap(*state, ways[i], 0, 65537);
	}
}

static void checksum(struct world *w, bool in_place)
{
	const struct dxp_dma_order o = {.kind = DXP_DMA_THROUGH,
					.in_place = in_place,
					.from = w->from,
					.to = w->to,
					.bytes = DATA_BYTES};
	uint64_t sum = 0, result;
	enum dxp_core core;
	uint32_t operand;

	for (uint32_t i = 0; i < DATA_BYTES; i += 4) {
		uint32_t word;
		memcpy(&word, w->from + i, 4);
		sum += word;
	}
	ok(dxp_dma_core_set(w->dma, DXP_CORE_CHECKSUM, 0));
	ok(dxp_dma_move(w->dma, &o));
	ok(dxp_dma_core_get(w->dma, &core, &operand, &result));
	assert_int_equal(core, DXP_CORE_CHECKSUM);
	assert_int_equal(result, sum);
	assert_memory_equal(w->to, w->from, DATA_BYTES);
}

static void core__checksum(void **state)
{
	struct world *w = *state;

	checksum(w, false);
	checksum(w, true);
	assert_int_equal(dxp_dma_core_set(w->dma, DXP_CORE_KERNEL, 0), DXP_EUNSUPPORTED);
	has_text("core 3");
}

static void refused(struct world *w, const struct dxp_dma_order *o, int status, const char *part)
{
	struct dxp_dma_transfer *t = NULL;
	int got = dxp_dma_start(w->dma, o, &t);

	if (got != status)
		fail_msg("%s for '%s'", dxp_status_name(got), part);
	assert_null(t);
	has_text(part);
}

#define REFUSED(status, part, ...)                                                      \
	do {                                                                            \
		struct dxp_dma_order o = {.from = w->from, .to = w->to, .bytes = 8192}; \
		__VA_ARGS__;                                                            \
		refused(w, &o, status, part);                                           \
	} while (0)

static void start__bad_input(void **state)
{
	struct world *w = *state;

	REFUSED(DXP_EINVAL, "`kind` 4", o.kind = DXP_DMA_DEVICE_TO_DEVICE + 1);
	REFUSED(DXP_EINVAL, "`mode` 2", o.mode = DXP_BRIDGE_SEQUENTIAL + 1);
	REFUSED(DXP_EINVAL, "`from`", o.from = NULL);
	REFUSED(DXP_EINVAL, "`to`", o.kind = DXP_DMA_FROM_DEVICE; o.to = NULL);
	REFUSED(DXP_EINVAL, "`to`", o.kind = DXP_DMA_THROUGH; o.to = NULL);
	REFUSED(DXP_EINVAL, "exceeds the address space", o.bytes = UINT64_MAX);
	REFUSED(DXP_ERANGE, "`device_to`", o.device_to = MEMORY_BYTES - 8191);
	REFUSED(DXP_ERANGE, "`device_to`", o.bytes = 0; o.device_to = MEMORY_BYTES + 1);
	REFUSED(DXP_ERANGE, "`device_from`", o.kind = DXP_DMA_FROM_DEVICE;
		o.device_from = UINT64_MAX);
	REFUSED(DXP_ERANGE, "`device_from`", o.kind = DXP_DMA_DEVICE_TO_DEVICE;
		o.device_from = MEMORY_BYTES - 8191);
	REFUSED(DXP_ERANGE, "`device_to`", o.kind = DXP_DMA_DEVICE_TO_DEVICE;
		o.device_to = MEMORY_BYTES - 8191);
	REFUSED(DXP_EINVAL, "overlap", o.kind = DXP_DMA_THROUGH; o.to = w->from + 8191);
	REFUSED(DXP_EINVAL, "4096 to 262144", o.piece_bytes = 4095);
	REFUSED(DXP_EINVAL, "`piece_bytes`", o.piece_bytes = BUFFER_BYTES + 1);
	all_kinds(w, (struct dxp_dma_order){.bytes = 4097});
}

static void open_rejected(const struct dxp_dma_options *options, int status, const char *part)
{
	struct dxp_dma *dma = NULL;

	assert_int_equal(dxp_dma_open(options, &dma), status);
	assert_null(dma);
	has_text(part);
}

static void open__bad_options(void **state)
{
	open_rejected(&(struct dxp_dma_options){.engine = "nothing"}, DXP_EINVAL, "'nothing'");
	open_rejected(&(struct dxp_dma_options){.engine = "board:nowhere"}, DXP_EINVAL, "nowhere");
	open_rejected(&(struct dxp_dma_options){.engine = "none"}, DXP_EUNSUPPORTED, "'none'");
	open_rejected(&(struct dxp_dma_options){.buffers = 65}, DXP_EINVAL, "`buffers`");
	open_rejected(&(struct dxp_dma_options){.buffer_bytes = 4095}, DXP_EINVAL, "4095");
	open_rejected(&(struct dxp_dma_options){.buffer_bytes = 6000}, DXP_EINVAL, "4096");
	open_rejected(&(struct dxp_dma_options){.buffer_bytes = 32u << 20}, DXP_EINVAL, "16777216");
	open_rejected(&(struct dxp_dma_options){.memory_bytes = 4097}, DXP_EINVAL, "4097");
	dxp_dma_close(NULL);
}

static void open__buffers_are_chosen(void **state)
{
	const struct dxp_dma_options options = {.engine = "board:fast",
						.memory_bytes = MEMORY_BYTES};
	struct dxp_dma_caps caps;
	struct dxp_dma *dma;

	ok(dxp_dma_open(&options, &dma));
	dxp_dma_caps(dma, &caps);
	assert_int_equal(caps.buffers, BRIDGE_BUFFERS);
	assert_in_range(caps.buffer_bytes, BRIDGE_BUFFER_MIN, BRIDGE_BUFFER_MAX);
	assert_int_equal(caps.memory_bytes, MEMORY_BYTES);
	assert_string_equal(caps.engine, "board");
	assert_true(caps.streams && caps.device[0]);
	dxp_dma_close(dma);
}

static void start__100_at_once(void **state)
{
	enum { COUNT = 100, BYTES = 70001 };
	struct world *w = *state;
	struct dxp_dma_transfer *t[COUNT];
	uint8_t *back = calloc(COUNT, BYTES);

	for (int poll = 0; poll < 2; poll++) {
		for (int i = 0; i < COUNT; i++) {
			struct dxp_dma_order o = {.kind = poll ? DXP_DMA_FROM_DEVICE
							       : DXP_DMA_TO_DEVICE,
						  .in_place = i % 2,
						  .from = w->from + i * 1001,
						  .to = back + i * BYTES,
						  .device_to = (uint64_t)i * BYTES,
						  .device_from = (uint64_t)i * BYTES,
						  .bytes = BYTES};
			ok(dxp_dma_start(w->dma, &o, &t[i]));
		}
		for (int i = COUNT; i-- > 0;)
			ok(dxp_dma_wait(t[i], WAIT_NS));
	}
	for (int i = 0; i < COUNT; i++)
		assert_memory_equal(back + i * BYTES, w->from + i * 1001, BYTES);
	free(back);
}

struct mover {
	struct world *w;
	uint32_t index;
};

static void *move_often(void *context)
{
	enum { BYTES = 300001 };
	const struct mover *m = context;
	uint8_t *back = malloc(BYTES);
	struct dxp_dma_order o = {.from = m->w->from + m->index,
				  .to = back,
				  .device_to = m->index * 1000000ull,
				  .device_from = m->index * 1000000ull,
				  .bytes = BYTES};

	for (int i = 0; i < 20; i++) {
		o.in_place = (m->index + (unsigned)i) % 2;
		o.kind = DXP_DMA_TO_DEVICE;
		ok(dxp_dma_move(m->w->dma, &o));
		o.kind = DXP_DMA_FROM_DEVICE;
		ok(dxp_dma_move(m->w->dma, &o));
		assert_memory_equal(back, o.from, BYTES);
		o.kind = DXP_DMA_THROUGH;
		ok(dxp_dma_move(m->w->dma, &o));
		assert_added(o.from, back, BYTES);
	}
	free(back);
	return NULL;
}

static void move__from_threads(void **state)
{
	pthread_t threads[4];
	struct mover movers[4];

	for (uint32_t i = 0; i < ARRAY_COUNT(threads); i++) {
		movers[i] = (struct mover){*state, i};
		assert_int_equal(pthread_create(&threads[i], NULL, move_often, &movers[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}

static void pin__kept_and_given_back(void **state)
{
	struct world *w = *state;
	struct dxp_dma_order o = {
		.in_place = true, .from = w->from + 100, .to = w->to, .bytes = DATA_BYTES / 2};

	ok(dxp_dma_pin(w->dma, w->from, DATA_BYTES));
	assert_int_equal(dxp_dma_pin(w->dma, w->from + 1, 10), DXP_EEXIST);
	has_text("already pinned");
	assert_int_equal(dxp_dma_pin(w->dma, NULL, 10), DXP_EINVAL);
	assert_int_equal(dxp_dma_pin(w->dma, w->to, 0), DXP_EINVAL);
	ok(dxp_dma_move(w->dma, &o));
	o.kind = DXP_DMA_FROM_DEVICE;
	ok(dxp_dma_move(w->dma, &o));
	assert_memory_equal(w->to, w->from + 100, o.bytes);
	/* A range pinned by half is used unpinned. */
	o.kind = DXP_DMA_TO_DEVICE;
	o.from = w->from + DATA_BYTES - 8;
	o.bytes = 16;
	ok(dxp_dma_move(w->dma, &o));
	assert_int_equal(dxp_dma_unpin(w->dma, w->from + 1), DXP_ENOENT);
	ok(dxp_dma_unpin(w->dma, w->from));
	assert_int_equal(dxp_dma_unpin(w->dma, w->from), DXP_ENOENT);
	has_text("nothing is pinned");
	ok(dxp_dma_pin(w->dma, w->from + 1, 10));
}

/* Pins of the engine's rings do not count. */
static void pin__64_ranges(void **state)
{
	struct world *w = *state;

	for (uint32_t i = 0; i < DMA_PINS_MAX; i++)
		ok(dxp_dma_pin(w->dma, w->from + i * 4096, 4096));
	assert_int_equal(dxp_dma_pin(w->dma, w->to, 4096), DXP_EBUSY);
	has_text("64 ranges");
	/* A transfer in place finds no free pin. It works with unpinned memory. */
	all_kinds(w, (struct dxp_dma_order){.in_place = true, .bytes = 70001});
	ok(dxp_dma_unpin(w->dma, w->from));
	ok(dxp_dma_pin(w->dma, w->to, 4096));
}

/* The device's thread starts orders between two calls, so two calls ensure that all earlier orders
 * have started. */
static void begun_await(struct world *w)
{
	enum dxp_core core;
	uint32_t operand;
	uint64_t result;

	for (int i = 0; i < 2; i++)
		ok(dxp_dma_core_get(w->dma, &core, &operand, &result));
}

static void start__no_more_than_1024(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 1\n");
	const struct dxp_dma_order o = {.from = w->from, .bytes = 4096};
	static struct dxp_dma_transfer *t[DMA_TRANSFERS_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(w->dma, &o, &t[i]));
	begun_await(w);
	refused(w, &o, DXP_EAGAIN, "1024");
	ok(dxp_dma_reset(w->dma));
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		assert_int_equal(dxp_dma_wait(t[i], WAIT_NS), DXP_EDEVICE);
	ok(dxp_dma_move(w->dma, &o));
	world_close((void **)&w);
}

/* The heap does not grow over many transfers, successful and failed. */
static void move__nothing_is_kept(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nfail = 7\n");
	size_t before = 0;

	for (int i = 0; i < 3000; i++) {
		struct dxp_dma_order o = order_of(w, i % 4, i % 8 >= 4);
		o.bytes = 8192;
		o.piece_bytes = 4096;
		int status = dxp_dma_move(w->dma, &o);
		assert_true(status == DXP_OK || status == DXP_EDEVICE);
		if (i == 1000)
			before = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 4096);
	world_close((void **)&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(move__every_kind),
		TEST(move__through_onto_itself),
		TEST(move__device_onto_itself),
		TEST(core__checksum),
		TEST(start__bad_input),
		cmocka_unit_test(open__bad_options),
		cmocka_unit_test(open__buffers_are_chosen),
		TEST(start__100_at_once),
		TEST(move__from_threads),
		TEST(pin__kept_and_given_back),
		TEST(pin__64_ranges),
		cmocka_unit_test(start__no_more_than_1024),
		cmocka_unit_test(move__nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
