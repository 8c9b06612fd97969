/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests failing and stalling steps of the bridge in virtual time: the error names the step, and the
 * reported bytes are in place. DXP_SEED=n replays seed n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "bridge/limits.h"
#include "sim/bridge_lab.h"

#define LIMIT_NS     (1000 * S_NS)
#define BUFFER_BYTES 16384u
#define PIECES       20
#define BYTES        (PIECES * BUFFER_BYTES - 100u)
#define TRANSFERS    100
#define DEVICE_BYTES (TRANSFERS * 40000u)

static uint8_t source[BYTES], sink[BYTES];

/* A step by its names in the bridge and in the simulated stages. */
static const struct {
	enum bridge_path path;
	enum bridge_step step;
	enum stages_step stage;
} cases[] = {
	{BRIDGE_IN, BRIDGE_FILL, STAGES_READ},
	{BRIDGE_IN, BRIDGE_DMA_IN, STAGES_IN},
	{BRIDGE_OUT, BRIDGE_DMA_OUT, STAGES_OUT},
	{BRIDGE_OUT, BRIDGE_DRAIN, STAGES_WRITE},
	{BRIDGE_THROUGH, BRIDGE_FILL, STAGES_READ},
	{BRIDGE_THROUGH, BRIDGE_DMA_THROUGH, STAGES_THROUGH},
	{BRIDGE_THROUGH, BRIDGE_DRAIN, STAGES_WRITE},
	{BRIDGE_DIRECT, BRIDGE_DMA_DIRECT, STAGES_COPY},
};

static struct bridge_lab_options options(void)
{
	return (struct bridge_lab_options){
		.stages = {.read = {9000000000, 3000, 0},
			   .write = {9000000000, 0, 3000},
			   .to_device = {7000000000, 1000, 2000},
			   .from_device = {8000000000, 1000, 2000},
			   .memory_bytes_per_s = 12000000000},
		.buffer_bytes = BUFFER_BYTES,
		.stall_ns = 10 * MS_NS,
		.device_bytes = DEVICE_BYTES,
	};
}

static struct bridge_lab_transfer transfer(enum bridge_path path, uint8_t mode)
{
	return (struct bridge_lab_transfer){.order = {.path = (uint8_t)path,
						      .mode = mode,
						      .bytes = BYTES,
						      .piece_bytes = BUFFER_BYTES},
					    .direct = STAGES_COPY,
					    .source = source,
					    .sink = sink,
					    .device_to = path == BRIDGE_DIRECT ? BYTES : 0};
}

static bool in_place(struct bridge_lab *l, const struct bridge_lab_transfer *t, uint64_t bytes)
{
	const uint8_t *device = bridge_lab_device(l);

	switch (t->order.path) {
	case BRIDGE_IN: return memcmp(device, source, bytes) == 0;
	case BRIDGE_OUT: return memcmp(sink, device, bytes) == 0;
	case BRIDGE_THROUGH: return memcmp(sink, source, bytes) == 0;
	default: return memcmp(device + t->device_to, device, bytes) == 0;
	}
}

static void memory_prepare(struct bridge_lab *l, uint64_t seed)
{
	struct rng r = {seed};

	for (uint32_t i = 0; i < BYTES; i++) {
		source[i] = (uint8_t)rng_next(&r);
		bridge_lab_device(l)[i] = (uint8_t)rng_next(&r);
		sink[i] = 0;
	}
	memset(bridge_lab_device(l) + BYTES, 0, BYTES);
}

static void rings_are_free(struct bridge_lab *l)
{
	uint32_t to, from;

	bridge_buffers_used(bridge_lab_core(l), &to, &from);
	assert_int_equal(to, 0);
	assert_int_equal(from, 0);
	assert_int_equal(bridge_transfers(bridge_lab_core(l)), 0);
}

static void rings_work(struct bridge_lab *l)
{
	rings_are_free(l);
	for (int path = BRIDGE_IN; path < BRIDGE_PATHS; path++) {
		struct bridge_lab_transfer t = transfer((enum bridge_path)path, BRIDGE_PIPELINED);
		memory_prepare(l, (uint64_t)path);
		assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
		assert_true(bridge_lab_run(l, LIMIT_NS));
		assert_int_equal(t.end.status, DXP_OK);
		assert_true(in_place(l, &t, BYTES));
		rings_are_free(l);
	}
}

/* Makes the step of `cases[which]` fail or stall at its `nth` piece, and checks the reported
 * error. */
static void one_fails(size_t which, uint8_t mode, uint64_t nth, bool stall)
{
	struct bridge_lab_options o = options();
	bool network = cases[which].stage == STAGES_READ || cases[which].stage == STAGES_WRITE;
	struct bridge_lab_transfer t = transfer(cases[which].path, mode);
	struct bridge_lab *l;

	if (stall)
		o.stages.stall[cases[which].stage] = nth;
	else
		o.stages.fail[cases[which].stage] = nth;
	assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
	memory_prepare(l, nth);
	assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
	assert_true(bridge_lab_run(l, LIMIT_NS));
	assert_int_equal(t.end.status, stall     ? DXP_ETIMEDOUT
				       : network ? DXP_EPEERLOST
						 : DXP_EDEVICE);
	assert_int_equal(t.end.step, cases[which].step);
	assert_int_equal(t.end.at, (nth - 1) * BUFFER_BYTES);
	assert_true(t.end.bytes <= t.end.at);
	assert_true(in_place(l, &t, t.end.bytes));
	assert_int_equal(bridge_lab_peaks(l).resets, stall && !network);
	assert_int_equal(bridge_counters(bridge_lab_core(l))->failed, 1);
	rings_work(l);
	bridge_lab_destroy(l);
}

static void bridge_failures__each_step_of_each_piece(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		for (uint64_t nth = 1; nth <= PIECES; nth++)
			for (int mode = BRIDGE_PIPELINED; mode <= BRIDGE_SEQUENTIAL; mode++) {
				one_fails(i, (uint8_t)mode, nth, false);
				one_fails(i, (uint8_t)mode, nth, true);
			}
}

/* Piece 8 fails, so the 7 pieces before it are reported. */
static void bridge_failures__pieces_before_are_reported(void **state)
{
	struct bridge_lab_options o = options();
	struct bridge_lab_transfer t = transfer(BRIDGE_IN, BRIDGE_SEQUENTIAL);
	struct bridge_lab *l;

	o.stages.fail[STAGES_IN] = 8;
	assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
	memory_prepare(l, 1);
	assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
	assert_true(bridge_lab_run(l, LIMIT_NS));
	assert_int_equal(t.end.bytes, 7 * BUFFER_BYTES);
	bridge_lab_destroy(l);
}

static void bridge_failures__cancelled_at_any_time(void **state)
{
	for (uint64_t at_ns = 0; at_ns < 60 * US_NS; at_ns += 1000)
		for (int path = BRIDGE_IN; path < BRIDGE_PATHS; path++) {
			struct bridge_lab_options o = options();
			struct bridge_lab_transfer t =
				transfer((enum bridge_path)path, BRIDGE_PIPELINED);
			struct bridge_lab *l;
			assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
			memory_prepare(l, at_ns);
			assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
			if (!bridge_lab_run(l, at_ns)) {
				bridge_lab_cancel(l, &t, DXP_ECANCELED);
				assert_true(bridge_lab_run(l, LIMIT_NS));
				assert_int_equal(t.end.status, DXP_ECANCELED);
				assert_int_equal(t.end.step, BRIDGE_STEPS);
				assert_true(in_place(l, &t, t.end.bytes));
			}
			rings_work(l);
			bridge_lab_destroy(l);
		}
}

/* ---- many at once ---- */

struct crowd {
	struct bridge_lab_transfer transfers[TRANSFERS];
	uint8_t *source, *sink;
};

static void crowd_begin(struct bridge_lab *l, struct crowd *c, uint64_t seed)
{
	static const uint64_t sizes[] = {0, 1, 4095, 4096, 4097, BUFFER_BYTES, BUFFER_BYTES + 1};
	struct rng r = {seed};

	for (uint32_t i = 0; i < DEVICE_BYTES; i++) {
		c->source[i] = (uint8_t)rng_next(&r);
		bridge_lab_device(l)[i] = (uint8_t)rng_next(&r);
	}
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		struct bridge_lab_transfer *t = &c->transfers[i];
		uint64_t bytes = rng_below(&r, 3) ? 1 + rng_below(&r, 40000)
						  : sizes[rng_below(&r, ARRAY_COUNT(sizes))];
		*t = (struct bridge_lab_transfer){
			.order = {.path = (uint8_t)rng_below(&r, BRIDGE_DIRECT),
				  .mode = (uint8_t)rng_below(&r, 2),
				  .bytes = min_u64(bytes, 40000)},
			.source = c->source + i * 40000,
			.sink = c->sink + i * 40000,
			.device_from = i * 40000,
			.device_to = i * 40000,
		};
		assert_int_equal(bridge_lab_begin(l, t), DXP_OK);
	}
}

/* Successful transfers are in place completely, failed ones up to their reported bytes. */
static void crowd_check(struct bridge_lab *l, const struct crowd *c, uint32_t *failed)
{
	*failed = 0;
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		const struct bridge_lab_transfer *t = &c->transfers[i];
		const uint8_t *device = bridge_lab_device(l) + t->device_to;
		const uint8_t *from = t->order.path == BRIDGE_OUT ? device : t->source;
		const uint8_t *to = t->order.path == BRIDGE_IN ? device : t->sink;
		assert_true(t->ended);
		*failed += t->end.status != DXP_OK;
		if (t->end.status == DXP_OK)
			assert_int_equal(t->end.bytes, t->order.bytes);
		assert_int_equal(memcmp(from, to, t->end.bytes), 0);
	}
}

static void crowd_run(struct crowd *c, uint64_t seed, bool failures)
{
	struct bridge_lab_options o = options();
	uint32_t failed;
	struct bridge_lab *l;

	o.stages.seed = seed;
	o.stages.jitter_ns = seed % 2 ? 20000 : 0;
	for (int i = 0; failures && i < STAGES_KINDS; i++)
		o.stages.fail[i] = 1 + seed * 7 % 60;
	if (failures)
		o.stages.stall[seed % STAGES_COPY] = 2 + seed * 11 % 50;
	assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
	memset(c->sink, 0, DEVICE_BYTES);
	crowd_begin(l, c, seed);
	if (!bridge_lab_run(l, LIMIT_NS))
		fail_msg("seed %llu: did not end\nreplay: DXP_SEED=%llu "
			 "build/test/test-sim-bridge_failures",
			 (unsigned long long)seed, (unsigned long long)seed);
	crowd_check(l, c, &failed);
	assert_true(failures ? failed > 0 : failed == 0);
	assert_true(bridge_lab_peaks(l).to_device <= BRIDGE_BUFFERS);
	assert_true(bridge_lab_peaks(l).from_device <= BRIDGE_BUFFERS);
	bridge_stages_heal(bridge_lab_stages(l));
	rings_work(l);
	bridge_lab_destroy(l);
}

static void bridge_failures__hundred_transfers_at_once(void **state)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1, last = one ? first : 40;
	struct crowd c = {.source = malloc(DEVICE_BYTES), .sink = malloc(DEVICE_BYTES)};

	assert_non_null(c.source);
	assert_non_null(c.sink);
	for (uint64_t seed = first; seed <= last; seed++) {
		crowd_run(&c, seed, false);
		crowd_run(&c, seed, true);
	}
	print_message("seeds %llu .. %llu\n", (unsigned long long)first, (unsigned long long)last);
	free(c.source);
	free(c.sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge_failures__each_step_of_each_piece),
		cmocka_unit_test(bridge_failures__pieces_before_are_reported),
		cmocka_unit_test(bridge_failures__cancelled_at_any_time),
		cmocka_unit_test(bridge_failures__hundred_transfers_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
