/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the bridge in virtual time with many devices and networks: speed, bytes, buffers, failed
 * steps. DXP_SEED=n replays seed n. */
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
#include "sim/bridge_source.h"
#include "engine/board_config.h"

#define SEEDS    300
#define LIMIT_NS (1000 * S_NS)
#define KIB      1024u
#define MIB      (1u << 20)

/* For each path of the bridge, the steps that it passes in the simulated stages, in order. */
static const enum stages_step steps[BRIDGE_PATHS][3] = {
	[BRIDGE_IN] = {STAGES_READ, STAGES_IN, STAGES_KINDS},
	[BRIDGE_OUT] = {STAGES_OUT, STAGES_WRITE, STAGES_KINDS},
	[BRIDGE_THROUGH] = {STAGES_READ, STAGES_THROUGH, STAGES_WRITE},
	[BRIDGE_DIRECT] = {STAGES_COPY, STAGES_KINDS, STAGES_KINDS},
};

static double seconds(const struct bridge_lab_transfer *t)
{
	return (double)(t->end_ps - t->begin_ps) / 1e12;
}

static void rings_are_free(struct bridge_lab *l)
{
	uint32_t to, from;

	bridge_buffers_used(bridge_lab_core(l), &to, &from);
	assert_int_equal(to, 0);
	assert_int_equal(from, 0);
	assert_int_equal(bridge_transfers(bridge_lab_core(l)), 0);
}

/* ---- speed ---- */

/* Returns the bytes per second of a single transfer on the simulated machine of the source
 * (sim/bridge_source.h). */
static double source_rate(enum bridge_path path, uint64_t bytes)
{
	const struct bridge_lab_options o = {.stages = bridge_source_stages,
					     .buffer_bytes = 8 * MIB};
	struct bridge_lab_transfer t = {.order = {.path = (uint8_t)path, .bytes = bytes}};
	struct bridge_lab *l;

	assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
	assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
	assert_true(bridge_lab_run(l, LIMIT_NS));
	assert_int_equal(t.end.status, DXP_OK);
	assert_int_equal(t.end.bytes, bytes);
	rings_are_free(l);
	bridge_lab_destroy(l);
	return (double)bytes / seconds(&t);
}

static void bridge__source_machine_runs_at_its_bottleneck(void **state)
{
	for (int path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
		double limit = (double)bridge_bottleneck(&bridge_source_stages,
							 (enum bridge_path)path, STAGES_COPY);
		double longest = source_rate((enum bridge_path)path, 512ull * MIB) / limit;
		double shorter = source_rate((enum bridge_path)path, 32ull * MIB) / limit;
		print_message("path %d: %.2f %% at 512 MiB, %.2f %% at 32 MiB\n", path,
			      100 * longest, 100 * shorter);
		assert_true(longest >= 0.97 && longest <= 1);
		assert_true(shorter >= 0.90 && shorter <= 1);
	}
}

#define REPEATS 300

/* Total of REPEATS transfers, during which the bridge adapts its pieces; *pieces is their
 * number. */
static double repeated_seconds(const struct bridge_lab_options *o, enum bridge_path path,
			       enum bridge_mode mode, uint64_t bytes, uint64_t *pieces)
{
	struct bridge_lab *l;
	double sum = 0;

	assert_int_equal(bridge_lab_create(o, &l), DXP_OK);
	for (uint32_t i = 0; i < REPEATS; i++) {
		struct bridge_lab_transfer t = {
			.order = {.path = (uint8_t)path, .mode = (uint8_t)mode, .bytes = bytes}};
		assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
		assert_true(bridge_lab_run(l, LIMIT_NS));
		assert_int_equal(t.end.status, DXP_OK);
		sum += seconds(&t);
	}
	*pieces = bridge_counters(bridge_lab_core(l))
			  ->pieces[path == BRIDGE_OUT ? BRIDGE_DRAIN : BRIDGE_FILL];
	bridge_lab_destroy(l);
	return sum;
}

/* Each DMA has a fixed cost, so short pieces could cost more than overlap gains. At most 3 % are
 * allowed. 64 KiB are one piece in both modes. */
static void bridge__never_slower_than_sequential(void **state)
{
	static const uint64_t sizes[] = {64 * KIB, 256 * KIB, MIB, 16 * MIB};
	const struct bridge_lab_options o = {.stages = bridge_source_controllers(57 * US_NS),
					     .buffer_bytes = 4 * MIB};

	for (int path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++)
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			uint64_t pieces, one;
			double gain = repeated_seconds(&o, (enum bridge_path)path,
						       BRIDGE_SEQUENTIAL, sizes[i], &one);
			gain /= repeated_seconds(&o, (enum bridge_path)path, BRIDGE_PIPELINED,
						 sizes[i], &pieces);
			print_message("path %d, %llu KiB: %.2f times as fast\n", path,
				      (unsigned long long)sizes[i] / KIB, gain);
			assert_true(gain > 0.97);
			if (sizes[i] > 64 * KIB)
				continue;
			assert_int_equal(one, REPEATS);
			assert_true(pieces < REPEATS + REPEATS / 20);
		}
}

static void bridge__source_machine_is_the_boards_preset(void **state)
{
	const struct stages_options *o = &bridge_source_stages;
	struct board_config c;

	assert_int_equal(board_config_load(BOARD_PRESET, &c), DXP_OK);
	assert_int_equal(o->to_device.bytes_per_s, c.to_device * 1000000);
	assert_int_equal(o->from_device.bytes_per_s, c.from_device * 1000000);
	assert_int_equal(o->memory_bytes_per_s, c.memory * 1000000);
	assert_int_equal(o->to_device.latency_ns, c.latency_ns);
	assert_int_equal(o->from_device.end_ns, c.interrupt_ns);
}

static void bridge__source_controllers_are_a_boards_file(void **state)
{
	const struct stages_options o = bridge_source_controllers(57 * US_NS);
	struct board_config c;

	assert_int_equal(board_config_load(DXP_SOURCE_DIR "/examples/boards/measured.conf", &c),
			 DXP_OK);
	assert_int_equal((o.controller_bytes_per_s[STAGES_IN] + 500000) / 1000000, c.to_device);
	assert_int_equal((o.controller_bytes_per_s[STAGES_OUT] + 500000) / 1000000, c.from_device);
	assert_int_equal((o.controller_bytes_per_s[STAGES_THROUGH] + 500000) / 1000000, c.through);
	assert_int_equal(o.control_ns, c.control_ns);
}

/* The simulated controllers have the rates that the source measured. The shipped bridge then
 * reaches the source's shares of PCIe (81.0, 72.3, 60.1 %) within 6 %. None of the rates is from
 * S-09. */
static void bridge__controllers_lose_what_the_source_did(void **state)
{
	static const struct {
		enum bridge_path path;
		double share;
	} cases[] = {{BRIDGE_IN, 81.0}, {BRIDGE_OUT, 72.3}, {BRIDGE_THROUGH, 60.1}};
	const uint32_t buffer = 8u << 20;
	const struct bridge_lab_options o = {.stages = bridge_source_controllers(0),
					     .buffers = 8,
					     .buffer_bytes = buffer,
					     .fills = 1,
					     .dmas = 1,
					     .stall_ns = 1000 * S_NS};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct bridge_lab_transfer t = {.order = {.path = (uint8_t)cases[i].path,
							  .bytes = 512ull << 20,
							  .piece_bytes = buffer}};
		struct bridge_lab *l;
		assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
		assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
		assert_true(bridge_lab_run(l, 1000 * S_NS));
		double rate = (double)t.order.bytes * 1e12 / (double)(t.end_ps - t.begin_ps);
		double share = 100 * rate / (double)o.stages.to_device.bytes_per_s;
		print_message("%.1f %% of PCIe, the source: %.1f %%\n", share, cases[i].share);
		assert_float_equal(share, cases[i].share, 0.06 * cases[i].share);
		bridge_lab_destroy(l);
	}
}

/* The pipeline is faster than the naive transfer by at least the factor of the source. Both use the
 * stages of the source. */
static void bridge__pipeline_gains_what_the_source_did(void **state)
{
	uint64_t bytes = BRIDGE_SOURCE_NAIVE_BYTES;
	uint64_t ns = bridge_naive_ns(&bridge_source_naive_stages, BRIDGE_SOURCE_CONTROL_NS,
				      BRIDGE_THROUGH, bytes);
	double naive = (double)bytes * 1e9 / (double)ns;
	double own = source_rate(BRIDGE_THROUGH, bytes);

	print_message("naive %.1f MB/s (source: %.1f), pipelined %.1f MB/s\n", naive / 1e6,
		      BRIDGE_SOURCE_NAIVE / 1e6, own / 1e6);
	/* the source's single parts sum to 5 % less than its total */
	assert_true(naive >= (double)BRIDGE_SOURCE_NAIVE &&
		    naive <= 1.05 * (double)BRIDGE_SOURCE_NAIVE);
	assert_true(own / naive >= BRIDGE_SOURCE_GAIN);
}

struct draw {
	struct bridge_lab_options lab;
	struct bridge_order order;
};

static uint64_t rate_draw(struct rng *r)
{
	return rng_below(r, 10) == 0 ? 0 : 1000000ull << rng_below(r, 15);
}

static struct stages_rate stage_draw(struct rng *r)
{
	return (struct stages_rate){rate_draw(r), rng_below(r, 3) ? rng_below(r, 50000) : 0,
				    rng_below(r, 3) ? rng_below(r, 20000) : 0};
}

static struct draw draw_of(uint64_t seed)
{
	struct rng r = {seed};
	struct draw d = {0};
	struct bridge_lab_options *o = &d.lab;

	o->stages.seed = seed;
	o->stages.read = stage_draw(&r);
	o->stages.write = stage_draw(&r);
	o->stages.to_device = stage_draw(&r);
	o->stages.from_device = stage_draw(&r);
	o->stages.memory_bytes_per_s = rate_draw(&r);
	o->stages.jitter_ns = rng_below(&r, 3) ? 0 : rng_below(&r, 100000);
	o->stages.queue = rng_below(&r, 4) ? 0 : 1 + (uint32_t)rng_below(&r, 4);
	o->buffers = 1 + (uint32_t)rng_below(&r, 12);
	o->buffer_bytes = BRIDGE_BUFFER_MIN << rng_below(&r, 7);
	o->fills = (uint32_t)rng_below(&r, o->buffers + 1);
	o->dmas = (uint32_t)rng_below(&r, 5);
	o->stall_ns = 100 * S_NS;
	o->device_bytes = 4 * MIB;
	d.order.path = (uint8_t)rng_below(&r, BRIDGE_PATHS);
	d.order.mode = rng_below(&r, 8) ? BRIDGE_PIPELINED : BRIDGE_SEQUENTIAL;
	d.order.bytes = 1 + rng_below(&r, rng_below(&r, 3) ? 2 * MIB : 20000);
	d.order.piece_bytes = rng_below(&r, 2) ? 0 : o->buffer_bytes;
	return d;
}

/* Seconds of one piece that do not depend on its bytes. */
static double latency(const struct stages_options *o, enum stages_step step)
{
	const struct stages_rate *enters = &o->to_device, *leaves = &o->to_device;

	if (step == STAGES_READ)
		enters = leaves = &o->read;
	if (step == STAGES_WRITE)
		enters = leaves = &o->write;
	if (step == STAGES_OUT)
		enters = &o->from_device;
	if (step == STAGES_OUT || step == STAGES_THROUGH)
		leaves = &o->from_device;
	return (double)(enters->latency_ns + o->jitter_ns + leaves->end_ns) / 1e9;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Upper bound in seconds: all bytes at the slowest rate, plus one piece through all stages.
 * Bandwidth and outstanding pieces limit a stage; a ring's buffers serve two stages alternately. */
static double time_bound(const struct draw *d)
{
	const struct stages_options *o = &d->lab.stages;
	uint32_t buffers = d->lab.buffers, most = o->queue ? o->queue : STAGES_STEPS_MAX;
	uint32_t dmas = d->lab.dmas ? d->lab.dmas : 2,
		 fills = d->lab.fills ? d->lab.fills : buffers;
	double piece = d->order.piece_bytes, slowest = 1e18, way = 0, before = 0;

	for (int i = 0; i < 3 && steps[d->order.path][i] != STAGES_KINDS; i++) {
		enum stages_step s = steps[d->order.path][i];
		uint32_t count = s == STAGES_READ ? fills : s == STAGES_WRITE ? buffers : dmas;
		double limit = (double)bridge_bottleneck(o, BRIDGE_DIRECT, s);
		double alone = latency(o, s) + (limit > 0 ? piece / limit : 0);
		if (d->order.path != BRIDGE_DIRECT)
			count = (uint32_t)min_u64(count, buffers);
		slowest = limit > 0 ? least(slowest, limit) : slowest;
		if (alone > 0)
			slowest = least(slowest, (double)min_u64(count, most) * piece / alone);
		if (i > 0 && before + alone > 0)
			slowest = least(slowest, buffers * piece / (before + alone));
		before = alone;
		way += alone;
	}
	return (double)d->order.bytes / slowest + way;
}

static void pattern(uint8_t *out, uint64_t bytes, uint64_t seed)
{
	struct rng r = {seed};

	for (uint64_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)rng_next(&r);
}

struct memory {
	uint8_t source[4 * MIB], sink[4 * MIB];
};

static void bytes_prepare(struct bridge_lab *l, struct bridge_lab_transfer *t, struct memory *m,
			  uint64_t seed)
{
	uint64_t bytes = t->order.bytes;

	t->source = m->source;
	t->sink = m->sink;
	t->device_from = 0;
	t->device_to = t->order.path == BRIDGE_DIRECT ? 2 * MIB : 0;
	memset(m->sink, 0, bytes);
	pattern(m->source, bytes, seed);
	pattern(bridge_lab_device(l), bytes, ~seed);
}

static bool bytes_right(struct bridge_lab *l, const struct bridge_lab_transfer *t,
			const struct memory *m)
{
	const uint8_t *device = bridge_lab_device(l);

	switch (t->order.path) {
	case BRIDGE_IN: return memcmp(device, m->source, t->order.bytes) == 0;
	case BRIDGE_OUT: return memcmp(m->sink, device, t->order.bytes) == 0;
	case BRIDGE_THROUGH: return memcmp(m->sink, m->source, t->order.bytes) == 0;
	default: return memcmp(device + t->device_to, device, t->order.bytes) == 0;
	}
}

/* Returns the first error, or NULL. */
static const char *draw_run(const struct draw *d, uint64_t seed, double *elapsed)
{
	static struct memory m;
	struct bridge_lab_transfer t = {.order = d->order, .direct = STAGES_COPY};
	const char *wrong = NULL;
	struct bridge_lab *l;

	assert_int_equal(bridge_lab_create(&d->lab, &l), DXP_OK);
	bytes_prepare(l, &t, &m, seed);
	assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
	struct bridge_lab_peaks none = bridge_lab_peaks(l);
	if (!bridge_lab_run(l, LIMIT_NS))
		wrong = "did not end";
	else if (t.end.status != DXP_OK || t.end.bytes != t.order.bytes)
		wrong = "failed";
	else if (!bytes_right(l, &t, &m))
		wrong = "wrong bytes";
	else if (bridge_lab_peaks(l).to_device > d->lab.buffers ||
		 bridge_lab_peaks(l).from_device > d->lab.buffers ||
		 bridge_lab_peaks(l).ring_bytes != none.ring_bytes)
		wrong = "more memory than its rings";
	if (!wrong)
		rings_are_free(l);
	*elapsed = wrong ? 0 : seconds(&t);
	bridge_lab_destroy(l);
	return wrong;
}

/* Checks bytes and time. Returns the first error, or NULL. */
static const char *seed_check(uint64_t seed)
{
	struct draw d = draw_of(seed);
	uint64_t limit =
		bridge_bottleneck(&d.lab.stages, (enum bridge_path)d.order.path, STAGES_COPY);
	double elapsed, sequential;
	const char *wrong = draw_run(&d, seed, &elapsed);

	if (wrong)
		return wrong;
	if (limit && elapsed < 0.999999 * (double)d.order.bytes / (double)limit)
		return "faster than its slowest stage";
	if (d.order.mode == BRIDGE_SEQUENTIAL)
		return NULL;
	if (d.order.piece_bytes && elapsed > 1.0001 * time_bound(&d) + 1e-6)
		return "slower than its pipeline must be";
	/* not comparable: one buffer is no pipeline, and jitter is random */
	if (d.lab.stages.jitter_ns || d.lab.buffers == 1)
		return NULL;
	d.order.mode = BRIDGE_SEQUENTIAL;
	wrong = draw_run(&d, seed, &sequential);
	if (!wrong && elapsed > 1.0001 * sequential + 1e-6)
		return "slower than step by step";
	return wrong;
}

static void bridge__any_speed_of_stages(void **state)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1, last = one ? first : SEEDS;

	for (uint64_t seed = first; seed <= last; seed++) {
		const char *wrong = seed_check(seed);
		if (wrong)
			fail_msg("seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-bridge",
				 (unsigned long long)seed, wrong, (unsigned long long)seed);
	}
	print_message("seeds %llu .. %llu\n", (unsigned long long)first, (unsigned long long)last);
}

static void bridge__same_seed_same_time(void **state)
{
	struct draw d = draw_of(5);
	double a, b, c;

	d.lab.stages.jitter_ns = 50000;
	d.order.bytes = MIB;
	assert_null(draw_run(&d, 5, &a));
	assert_null(draw_run(&d, 5, &b));
	d.lab.stages.seed++;
	assert_null(draw_run(&d, 5, &c));
	assert_true(a == b);
	assert_true(a != c);
}

/* The slower side, by a factor of 100, sets the speed; no memory besides the rings' buffers is
 * used. */
static void bridge__slow_side_holds_the_fast_one(void **state)
{
	for (int slow_device = 0; slow_device < 2; slow_device++)
		for (int path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
			const struct stages_rate fast = {10000000000, 1000, 1000},
						 slow = {100000000, 1000, 1000};
			const struct bridge_lab_options o = {
				.stages = {.read = slow_device ? fast : slow,
					   .write = slow_device ? fast : slow,
					   .to_device = slow_device ? slow : fast,
					   .from_device = slow_device ? slow : fast},
				.buffer_bytes = 64 * KIB,
			};
			struct bridge_lab_transfer t = {
				.order = {.path = (uint8_t)path, .bytes = 64ull * MIB}};
			struct bridge_lab *l;
			assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
			assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
			assert_true(bridge_lab_run(l, LIMIT_NS));
			assert_int_equal(t.end.status, DXP_OK);
			assert_true((double)t.order.bytes / seconds(&t) > 0.99 * 100000000);
			struct bridge_lab_peaks p = bridge_lab_peaks(l);
			assert_true(p.to_device <= BRIDGE_BUFFERS &&
				    p.from_device <= BRIDGE_BUFFERS);
			assert_int_equal(p.ring_bytes, 2 * BRIDGE_BUFFERS * 64 * KIB);
			/* the network fills every buffer in advance */
			if (path == BRIDGE_IN)
				assert_int_equal(p.to_device,
						 slow_device ? BRIDGE_BUFFERS : p.to_device);
			rings_are_free(l);
			bridge_lab_destroy(l);
		}
}

/* 8 reads at once are over 4 times as fast as 1 (S-06). */
static void bridge__reads_in_flight_hide_the_network(void **state)
{
	double elapsed[2];

	for (int i = 0; i < 2; i++) {
		struct bridge_lab_options o = {.stages = bridge_source_stages,
					       .buffer_bytes = 64 * KIB,
					       .fills = i ? 8 : 1};
		struct bridge_lab_transfer t = {.order = {.path = BRIDGE_IN, .bytes = 16 * MIB}};
		struct bridge_lab *l;
		o.stages.read.latency_ns = 50000;
		assert_int_equal(bridge_lab_create(&o, &l), DXP_OK);
		assert_int_equal(bridge_lab_begin(l, &t), DXP_OK);
		assert_true(bridge_lab_run(l, LIMIT_NS));
		elapsed[i] = seconds(&t);
		bridge_lab_destroy(l);
	}
	assert_true(elapsed[0] > 4 * elapsed[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge__source_machine_runs_at_its_bottleneck),
		cmocka_unit_test(bridge__source_machine_is_the_boards_preset),
		cmocka_unit_test(bridge__source_controllers_are_a_boards_file),
		cmocka_unit_test(bridge__controllers_lose_what_the_source_did),
		cmocka_unit_test(bridge__never_slower_than_sequential),
		cmocka_unit_test(bridge__pipeline_gains_what_the_source_did),
		cmocka_unit_test(bridge__any_speed_of_stages),
		cmocka_unit_test(bridge__same_seed_same_time),
		cmocka_unit_test(bridge__slow_side_holds_the_fast_one),
		cmocka_unit_test(bridge__reads_in_flight_hide_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
