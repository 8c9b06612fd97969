/* SPDX-License-Identifier: BSD-3-Clause */
/* dxp/dma.h on boards: every kind, copied and in place, at odd sizes and places; DMAs that fail and
 * stall; reset and close with transfers under way. */
#include <malloc.h>
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

#include <dxp/dma.h>
#include <dxp/mmd.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/util.h"

#define MEMORY_BYTES (32u << 20)
#define DATA_BYTES   (6u << 20)
#define BUFFER_BYTES (256u << 10)
#define OPERAND      7
#define WAIT_NS      (20 * S_NS)

struct world {
	struct dxp_dma *dma;
	uint8_t *from, *to, *expected;
	char file[64];
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

/* A board as `description` (lines of docs/bridge.md) has it. */
static struct world *world_of(const char *description)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rng rng = {5};
	char engine[96];

	strcpy(w->file, "dma-board-XXXXXX");
	int fd = mkstemp(w->file);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, description, strlen(description)), strlen(description));
	close(fd);
	snprintf(engine, sizeof(engine), "board:./%s", w->file);
	const struct dxp_dma_options options = {
		.engine = engine, .memory_bytes = MEMORY_BYTES, .buffer_bytes = BUFFER_BYTES};
	ok(dxp_dma_open(&options, &w->dma));
	unlink(w->file);
	ok(dxp_dma_core_set(w->dma, DXP_CORE_ADD, OPERAND));
	w->from = malloc(DATA_BYTES + 16);
	w->to = malloc(DATA_BYTES + 16);
	w->expected = malloc(MEMORY_BYTES);
	assert_true(w->from && w->to && w->expected);
	for (uint32_t i = 0; i < DATA_BYTES + 16; i++)
		w->from[i] = (uint8_t)rng_next(&rng);
	return w;
}

static int world_open(void **state)
{
	*state = world_of("preset = fast\ncompute = none\n");
	return 0;
}

static int world_close(void **state)
{
	struct world *w = *state;

	dxp_dma_close(w->dma);
	free(w->from);
	free(w->to);
	free(w->expected);
	free(w);
	return 0;
}

static void assert_added(const uint8_t *was, const uint8_t *is, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4) {
		uint32_t a = 0, sum;
		size_t there = (size_t)min_u64(bytes - i, 4);
		memcpy(&a, was + i, there);
		sum = a + OPERAND;
		if (memcmp(&sum, is + i, there) != 0)
			fail_msg("byte %llu of %llu", (unsigned long long)i,
				 (unsigned long long)bytes);
	}
}

/* There, on the device to another place, back, and through the core. */
static void all_kinds(struct world *w, struct dxp_dma_order o)
{
	o.from = w->from + 3;
	o.to = w->to + 1;
	o.device_to = 4567;
	o.kind = DXP_DMA_TO_DEVICE;
	ok(dxp_dma_move(w->dma, &o));
	o.kind = DXP_DMA_DEVICE_TO_DEVICE;
	o.device_from = 4567;
	o.device_to = MEMORY_BYTES - o.bytes;
	ok(dxp_dma_move(w->dma, &o));
	memset(w->to, 0xa5, DATA_BYTES + 16);
	o.kind = DXP_DMA_FROM_DEVICE;
	o.device_from = o.device_to;
	ok(dxp_dma_move(w->dma, &o));
	assert_memory_equal(w->to + 1, w->from + 3, o.bytes);
	assert_int_equal(w->to[0], 0xa5);
	assert_int_equal(w->to[1 + o.bytes], 0xa5);
	o.kind = DXP_DMA_THROUGH;
	ok(dxp_dma_move(w->dma, &o));
	assert_added(w->from + 3, w->to + 1, o.bytes);
	assert_int_equal(w->to[1 + o.bytes], 0xa5);
}

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
	says("core 3");
}

static void refused(struct world *w, const struct dxp_dma_order *o, int status, const char *part)
{
	struct dxp_dma_transfer *t = NULL;
	int got = dxp_dma_start(w->dma, o, &t);

	if (got != status)
		fail_msg("%s for '%s'", dxp_status_name(got), part);
	assert_null(t);
	says(part);
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
	REFUSED(DXP_EINVAL, "end of all addresses", o.bytes = UINT64_MAX);
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

static void open_refused(const struct dxp_dma_options *options, int status, const char *part)
{
	struct dxp_dma *dma = NULL;

	assert_int_equal(dxp_dma_open(options, &dma), status);
	assert_null(dma);
	says(part);
}

static void open__bad_options(void **state)
{
	open_refused(&(struct dxp_dma_options){.engine = "nothing"}, DXP_EINVAL, "'nothing'");
	open_refused(&(struct dxp_dma_options){.engine = "board:nowhere"}, DXP_EINVAL, "nowhere");
	open_refused(&(struct dxp_dma_options){.engine = "none"}, DXP_EUNSUPPORTED, "'none'");
	open_refused(&(struct dxp_dma_options){.buffers = 65}, DXP_EINVAL, "`buffers`");
	open_refused(&(struct dxp_dma_options){.buffer_bytes = 4095}, DXP_EINVAL, "4095");
	open_refused(&(struct dxp_dma_options){.buffer_bytes = 6000}, DXP_EINVAL, "4096");
	open_refused(&(struct dxp_dma_options){.buffer_bytes = 32u << 20}, DXP_EINVAL, "16777216");
	open_refused(&(struct dxp_dma_options){.memory_bytes = 4097}, DXP_EINVAL, "4097");
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

	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < COUNT; i++) {
			struct dxp_dma_order o = {.kind = turn ? DXP_DMA_FROM_DEVICE
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
	says("pinned already");
	assert_int_equal(dxp_dma_pin(w->dma, NULL, 10), DXP_EINVAL);
	assert_int_equal(dxp_dma_pin(w->dma, w->to, 0), DXP_EINVAL);
	ok(dxp_dma_move(w->dma, &o));
	o.kind = DXP_DMA_FROM_DEVICE;
	ok(dxp_dma_move(w->dma, &o));
	assert_memory_equal(w->to, w->from + 100, o.bytes);
	/* Half in it, half beside: used unpinned. */
	o.kind = DXP_DMA_TO_DEVICE;
	o.from = w->from + DATA_BYTES - 8;
	o.bytes = 16;
	ok(dxp_dma_move(w->dma, &o));
	assert_int_equal(dxp_dma_unpin(w->dma, w->from + 1), DXP_ENOENT);
	ok(dxp_dma_unpin(w->dma, w->from));
	assert_int_equal(dxp_dma_unpin(w->dma, w->from), DXP_ENOENT);
	says("nothing is pinned");
	ok(dxp_dma_pin(w->dma, w->from + 1, 10));
}

/* As many as the header says, whatever the rings take of the engine. */
static void pin__64_ranges(void **state)
{
	struct world *w = *state;

	for (uint32_t i = 0; i < DMA_PINS_MAX; i++)
		ok(dxp_dma_pin(w->dma, w->from + i * 4096, 4096));
	assert_int_equal(dxp_dma_pin(w->dma, w->to, 4096), DXP_EBUSY);
	says("64 ranges");
	/* A transfer in place finds no room and works unpinned. */
	all_kinds(w, (struct dxp_dma_order){.in_place = true, .bytes = 70001});
	ok(dxp_dma_unpin(w->dma, w->from));
	ok(dxp_dma_pin(w->dma, w->to, 4096));
}

static struct dxp_dma_order order_of(const struct world *w, int kind, bool in_place)
{
	return (struct dxp_dma_order){.kind = (enum dxp_dma_kind)kind,
				      .in_place = in_place,
				      .from = w->from,
				      .to = w->to,
				      .device_from = 0,
				      .device_to = DATA_BYTES,
				      .bytes = DATA_BYTES / 2,
				      .piece_bytes = 64u << 10};
}

/* Every Nth DMA fails: each transfer that had one says so, the others are right. */
static void fails(int kind, bool in_place)
{
	struct world *w = world_of("preset = fast\ncompute = none\nfail = 30\n");
	const struct dxp_dma_order o = order_of(w, kind, in_place);
	int failed = 0;

	for (int i = 0; i < 6; i++) {
		int status = dxp_dma_move(w->dma, &o);
		assert_true(status == DXP_OK || status == DXP_EDEVICE);
		failed += status == DXP_EDEVICE;
		if (status == DXP_OK && kind == DXP_DMA_THROUGH)
			assert_added(w->from, w->to, o.bytes);
	}
	assert_true(failed >= 3);
	/* One DMA: if it is a thirtieth one, the next is not. */
	struct dxp_dma_order small = o;
	small.bytes = 4096;
	if (dxp_dma_move(w->dma, &small) != DXP_OK)
		ok(dxp_dma_move(w->dma, &small));
	world_close((void **)&w);
}

static void move__dmas_fail(void **state)
{
	for (int kind = DXP_DMA_TO_DEVICE; kind <= DXP_DMA_DEVICE_TO_DEVICE; kind++) {
		fails(kind, false);
		fails(kind, true);
	}
}

/* DMA number 20 never ends by itself; a reset ends it. */
static void stalls(int kind, bool in_place)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 20\n");
	const struct dxp_dma_order o = order_of(w, kind, in_place);
	struct dxp_dma_transfer *t[3];

	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(w->dma, &o, &t[i]));
	assert_int_equal(dxp_dma_wait(t[0], 100 * MS_NS), DXP_ETIMEDOUT);
	says("not ended yet");
	ok(dxp_dma_reset(w->dma));
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		assert_int_equal(dxp_dma_wait(t[i], WAIT_NS), DXP_EDEVICE);
	says("reset");
	/* On a busy machine it had not come to number 20; then that one stalls now, once. */
	dxp_dma_move(w->dma, &o);
	all_kinds(w, (struct dxp_dma_order){.bytes = 1234567});
	world_close((void **)&w);
}

static void reset__of_a_stalled_device(void **state)
{
	for (int kind = DXP_DMA_TO_DEVICE; kind <= DXP_DMA_DEVICE_TO_DEVICE; kind++) {
		stalls(kind, false);
		stalls(kind, true);
	}
}

/* All that was ordered before is with the device: its thread begins it between two calls. */
static void begun_await(struct world *w)
{
	enum dxp_core core;
	uint32_t operand;
	uint64_t result;

	for (int i = 0; i < 2; i++)
		ok(dxp_dma_core_get(w->dma, &core, &operand, &result));
}

static void *wait_long(void *transfer)
{
	return (void *)(intptr_t)dxp_dma_wait(transfer, UINT64_MAX);
}

/* Nobody resets: the stall is noticed, and the device reset, by itself. */
static void move__stalls(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 20\n");
	const struct dxp_dma_order o = order_of(w, DXP_DMA_FROM_DEVICE, false);

	assert_int_equal(dxp_dma_move(w->dma, &o), DXP_EDEVICE);
	says("stalled");
	ok(dxp_dma_move(w->dma, &o));
	world_close((void **)&w);
}

/* Transfers outlive their device. */
static void close__with_transfers(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 5\n");
	const struct dxp_dma_order o = order_of(w, DXP_DMA_THROUGH, false),
				   small = {.from = w->from, .bytes = 4096};
	struct dxp_dma_transfer *done, *t[3];
	pthread_t waiter;
	void *status;

	ok(dxp_dma_start(w->dma, &small, &done));
	ok(dxp_dma_move(w->dma, &small));
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(w->dma, &o, &t[i]));
	assert_int_equal(dxp_dma_wait(t[0], 20 * MS_NS), DXP_ETIMEDOUT);
	assert_int_equal(pthread_create(&waiter, NULL, wait_long, t[0]), 0);
	usleep(20000);
	dxp_dma_close(w->dma);
	w->dma = NULL;
	pthread_join(waiter, &status);
	assert_int_equal((intptr_t)status, DXP_ECLOSED);
	ok(dxp_dma_wait(done, WAIT_NS));
	assert_int_equal(dxp_dma_wait(t[1], WAIT_NS), DXP_ECLOSED);
	assert_int_equal(dxp_dma_wait(t[2], WAIT_NS), DXP_ECLOSED);
	says("closed");
	world_close((void **)&w);
}

static void *wait_often(void *transfer)
{
	int status;

	while ((status = dxp_dma_wait(transfer, 0)) == DXP_ETIMEDOUT)
		;
	return (void *)(intptr_t)status;
}

/* Who comes to wait just when the device is closed finds it, or finds it gone. */
static void close__while_others_come_to_wait(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct world *w = world_of("preset = fast\ncompute = none\nstall = 2\n");
		const struct dxp_dma_order o = order_of(w, DXP_DMA_TO_DEVICE, i % 2);
		struct dxp_dma_transfer *t[2];
		pthread_t waiters[2];
		void *status;

		for (size_t k = 0; k < ARRAY_COUNT(t); k++) {
			ok(dxp_dma_start(w->dma, &o, &t[k]));
			assert_int_equal(pthread_create(&waiters[k], NULL, wait_often, t[k]), 0);
		}
		usleep((unsigned)i * 50);
		dxp_dma_close(w->dma);
		w->dma = NULL;
		for (size_t k = 0; k < ARRAY_COUNT(t); k++) {
			pthread_join(waiters[k], &status);
			assert_int_equal((intptr_t)status, DXP_ECLOSED);
		}
		world_close((void **)&w);
	}
}

static void start__no_more_than_1024(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 1\n");
	const struct dxp_dma_order o = {.from = w->from, .bytes = 4096};
	static struct dxp_dma_transfer *t[BRIDGE_TRANSFERS_MAX];

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

/* After many transfers, well and failed, the heap is as large as before. */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

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
		cmocka_unit_test(move__dmas_fail),
		cmocka_unit_test(reset__of_a_stalled_device),
		cmocka_unit_test(move__stalls),
		cmocka_unit_test(close__with_transfers),
		cmocka_unit_test(close__while_others_come_to_wait),
		cmocka_unit_test(start__no_more_than_1024),
		cmocka_unit_test(move__nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
