/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whole nodes with the shipped bridge, NIC and RLTP on a virtual network. DXP_SEED=n replays
 * seed n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/sim/bridge_rig.h"

#define SEEDS    60
#define LIMIT_NS (100 * S_NS)
#define KIB      1024u
#define MIB      (1u << 20)

/* The device is faster than its link; the path takes 2 us. */
static struct rig_options options(uint32_t hosts, uint64_t seed)
{
	return (struct rig_options){
		.sim = {.seed = seed, .hosts = hosts, .delay_ns = 2000, .rate_bps = 10000000000ull},
		.device = {.memory_bytes = 4 * MIB,
			   .stages = {.to_device = {7877 * RIG_MB, 2000, 10000},
				      .from_device = {7877 * RIG_MB, 2000, 10000},
				      .memory_bytes_per_s = 12800 * RIG_MB,
				      .seed = seed},
			   .buffer_bytes = 64 * KIB,
			   .stall_ns = S_NS},
		.memory_bytes = 4 * MIB,
	};
}

static void bridge_nodes__put_and_get_of_any_length(void **state)
{
	static const uint32_t sizes[] = {1,    3,        1407,         1408,    1409,        4096,
					 4097, 64 * KIB, 64 * KIB + 1, MIB - 7, 2 * MIB + 13};
	struct rig_options o = options(2, 1);

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct rig *r = rig_create(&o);
		rig_op(r, 0, false, 5, 11, sizes[i]);
		assert_null(rig_run(r, LIMIT_NS));
		assert_int_equal(r->ops[0].status, DXP_OK);
		assert_int_equal(bridge_node_memory(r->device)[10], 0);
		assert_int_equal(bridge_node_memory(r->device)[11 + sizes[i]], 0);
		rig_fill(r->memory[0], 4 * MIB, 99);
		rig_op(r, 0, true, 7, 11, sizes[i]);
		assert_null(rig_run(r, LIMIT_NS));
		assert_int_equal(r->ops[1].status, DXP_OK);
		assert_null(rig_clean(r));
		rig_destroy(r);
	}
}

static void bridge_nodes__out_of_bounds_is_rejected(void **state)
{
	struct rig_options o = options(2, 1);
	struct rig *r = rig_create(&o);

	rig_op(r, 0, false, 0, 4 * MIB - 99, 100);
	rig_op(r, 0, true, 0, 4 * MIB - 99, 100);
	rig_op(r, 0, false, 0, 4 * MIB - 100, 100);
	assert_null(rig_run(r, LIMIT_NS));
	assert_int_equal(r->ops[0].status, DXP_ERANGE);
	assert_int_equal(r->ops[1].status, DXP_ERANGE);
	assert_int_equal(r->ops[2].status, DXP_OK);
	assert_null(rig_clean(r));
	rig_destroy(r);
}

/* ---- goodput ---- */

/* Bytes per second of one operation, by the rate of the slower of link and DMA. */
static double share(uint64_t rate_bps, uint64_t dma_bytes_per_s, bool get, uint32_t bytes)
{
	/* raw bytes per second; headers use a part */
	double link = (double)rate_bps / 8;
	struct rig_options o = options(2, 3);

	o.sim.rate_bps = rate_bps;
	o.sim.backlog_bytes = 65536;
	o.memory_bytes = o.device.memory_bytes = bytes;
	o.device.stages.to_device.bytes_per_s = o.device.stages.from_device.bytes_per_s =
		dma_bytes_per_s;
	o.device.buffer_bytes = MIB;
	struct rig *r = rig_create(&o);
	rig_op(r, 0, get, 0, 0, bytes);
	uint64_t begin_ns = sim_now(r->sim);
	assert_null(rig_run(r, LIMIT_NS));
	assert_int_equal(r->ops[0].status, DXP_OK);
	double rate = (double)bytes * 1e9 / (double)(r->ops[0].end_ns - begin_ns);
	double slowest = link < (double)dma_bytes_per_s ? link : (double)dma_bytes_per_s;
	print_message("%s of %u MiB, link %.0f MB/s, DMA %.0f MB/s: %.0f MB/s, %.1f %%\n",
		      get ? "GET" : "PUT", bytes >> 20, link / 1e6, (double)dma_bytes_per_s / 1e6,
		      rate / 1e6, 100 * rate / slowest);
	rig_destroy(r);
	return rate / slowest;
}

static void bridge_nodes__goodput_is_that_of_the_slowest(void **state)
{
	static const struct {
		uint64_t rate_bps, dma_bytes_per_s;
	} cases[] = {
		{100000000000, 7877 * RIG_MB},
		{10000000000, 7877 * RIG_MB},
		{10000000000, 500 * RIG_MB},
		{100000000000, 100 * RIG_MB},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		for (int get = 0; get < 2; get++)
			assert_true(share(cases[i].rate_bps, cases[i].dma_bytes_per_s, get,
					  64 * MIB) > 0.9);
}

/* ---- random runs ---- */

static struct rig_options draw(uint64_t seed)
{
	struct rng r = {seed};
	struct rig_options o = options(2 + (uint32_t)rng_below(&r, 6), seed);
	struct stages_options *s = &o.device.stages;

	o.sim.rate_bps = rng_below(&r, 2) ? 10000000000ull : 100000000000ull;
	o.sim.faults.loss_ppm = (uint32_t[]){0, 10000, 50000}[rng_below(&r, 3)];
	o.sim.faults.reorder_ppm = rng_below(&r, 2) ? 50000 : 0;
	o.sim.faults.duplicate_ppm = rng_below(&r, 3) ? 0 : 20000;
	s->to_device.bytes_per_s = 20 * RIG_MB << rng_below(&r, 9);
	s->from_device.bytes_per_s = 20 * RIG_MB << rng_below(&r, 9);
	s->to_device.latency_ns = rng_below(&r, 20000);
	s->to_device.end_ns = rng_below(&r, 50000);
	s->jitter_ns = rng_below(&r, 2) ? 0 : 50000;
	o.device.buffer_bytes = 4 * KIB << rng_below(&r, 6);
	/* at least 4 small ones, because a payload can cross a border */
	o.device.buffers = (o.device.buffer_bytes < 16 * KIB ? 4 : 2) + (uint32_t)rng_below(&r, 8);
	o.depth = 1 + (uint32_t)rng_below(&r, 12);
	return o;
}

/* Operations do not overlap. A GET reads what its host wrote. */
static void work_draw(struct rig *r, uint64_t seed, uint32_t count, bool get)
{
	struct rng g = {seed};
	uint64_t part = r->options.device.memory_bytes / r->device_host;

	for (uint32_t i = 0; i < r->device_host; i++) {
		uint64_t at = 0, local = 0;
		for (uint32_t k = 0; k < count; k++) {
			uint32_t bytes = 1 + (uint32_t)rng_below(&g, part / count);
			rig_op(r, i, get, local, i * part + at, bytes);
			at += part / count;
			local += part / count;
		}
	}
}

static const char *seed_run(uint64_t seed)
{
	struct rig_options o = draw(seed);
	struct rig *r = rig_create(&o);

	work_draw(r, seed, 12, false);
	const char *wrong = rig_run(r, LIMIT_NS);
	for (uint32_t i = 0; !wrong && i < r->device_host; i++)
		rig_fill(r->memory[i], o.memory_bytes, seed + 100 + i);
	if (!wrong) {
		work_draw(r, seed, 12, true);
		wrong = rig_run(r, LIMIT_NS);
	}
	for (uint32_t i = 0; !wrong && i < r->count; i++)
		if (r->ops[i].status != DXP_OK)
			wrong = dxp_status_text(r->ops[i].status);
	if (!wrong)
		wrong = rig_clean(r);
	struct bridge_node_counters c = bridge_node_counters(r->device);
	if (!wrong && (c.peak[0] > o.device.buffers || c.peak[1] > o.device.buffers))
		wrong = "more buffers than there are";
	rig_destroy(r);
	return wrong;
}

static void seeds_run(const char *(*run)(uint64_t seed), uint64_t count)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1, last = one ? first : count;

	for (uint64_t seed = first; seed <= last; seed++) {
		const char *wrong = run(seed);
		if (wrong)
			fail_msg("seed %llu: %s\nreplay: DXP_SEED=%llu "
				 "build/test/test-sim-bridge_nodes",
				 (unsigned long long)seed, wrong, (unsigned long long)seed);
	}
	print_message("seeds %llu .. %llu\n", (unsigned long long)first, (unsigned long long)last);
}

static void bridge_nodes__loss_and_reordering(void **state)
{
	seeds_run(seed_run, SEEDS);
}

static void bridge_nodes__drop_each_datagram_once(void **state)
{
	struct rig_options o = options(2, 2);
	uint64_t count = 1;

	o.device.buffer_bytes = 8 * KIB;
	o.device.buffers = 3;
	for (uint64_t k = 0; k <= count; k++) {
		o.sim.faults.drop_nth = k;
		struct rig *r = rig_create(&o);
		rig_op(r, 0, false, 0, 0, 20000);
		rig_op(r, 0, false, 20000, 20000, 9000);
		const char *wrong = rig_run(r, LIMIT_NS);
		if (!wrong) {
			rig_op(r, 0, true, 0, 0, 29000);
			wrong = rig_run(r, LIMIT_NS);
		}
		for (uint32_t i = 0; !wrong && i < r->count; i++)
			wrong = r->ops[i].status == DXP_OK ? NULL : "failed";
		if (k == 0)
			count = sim_counters(r->sim)->sent;
		if (!wrong)
			wrong = rig_clean(r);
		rig_destroy(r);
		if (wrong)
			fail_msg("losing datagram %llu of %llu: %s", (unsigned long long)k,
				 (unsigned long long)count, wrong);
	}
	print_message("each of %llu datagrams lost once\n", (unsigned long long)count);
}

/* ---- slow and failing devices ---- */

/* All operations succeed, even with more outstanding bytes than all buffers hold, and a device 100
 * times slower than the link. */
static void bridge_nodes__slow_device_holds_many_senders(void **state)
{
	for (uint32_t buffers = 2; buffers <= 8; buffers *= 2) {
		struct rig_options o = options(9, 7);
		o.device.buffers = buffers;
		o.device.buffer_bytes = 16 * KIB;
		o.device.stages.to_device.bytes_per_s = 12 * RIG_MB;
		struct rig *r = rig_create(&o);
		work_draw(r, 7, 8, false);
		uint64_t bytes = 0, begin_ns = sim_now(r->sim);
		for (uint32_t i = 0; i < r->count; i++)
			bytes += r->ops[i].bytes;
		const char *wrong = rig_run(r, LIMIT_NS);
		if (wrong)
			fail_msg("%u buffers: %s", buffers, wrong);
		double rate = (double)bytes * 1e3 / (double)(sim_now(r->sim) - begin_ns);
		print_message("8 senders, %u buffers: %.1f of 12 MB/s\n", buffers, rate);
		for (uint32_t i = 0; i < r->count; i++)
			assert_int_equal(r->ops[i].status, DXP_OK);
		assert_true(bridge_node_counters(r->device).peak[0] <= buffers);
		assert_null(rig_clean(r));
		rig_destroy(r);
	}
}

/* There are more PUTs than buffers; bridge_crowd.c checks shares. */
static void bridge_nodes__many_senders_share(void **state)
{
	static const struct {
		uint32_t senders, depth;
	} cases[] = {{1, 8}, {2, 8}, {4, 8}, {8, 1}, {8, 8}};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rig_options o = options(cases[i].senders + 1, 7);
		o.depth = cases[i].depth;
		o.device.stages.to_device.bytes_per_s = 1000 * RIG_MB;
		o.device.memory_bytes = 8 * MIB;
		struct rig *r = rig_create(&o);
		for (uint32_t k = 0; k < 8 * cases[i].senders; k++)
			rig_op(r, k / 8, false, k % 8 * 64 * KIB, k * 64 * KIB, 64 * KIB);
		uint64_t begin_ns = sim_now(r->sim);
		assert_null(rig_run(r, LIMIT_NS));
		for (uint32_t k = 0; k < r->count; k++)
			assert_int_equal(r->ops[k].status, DXP_OK);
		print_message("%u senders, %u PUTs of 64 KiB at once each: %.0f of 1000 MB/s\n",
			      cases[i].senders, cases[i].depth,
			      (double)r->count * 64 * KIB * 1e3 /
				      (double)(sim_now(r->sim) - begin_ns));
		assert_null(rig_clean(r));
		rig_destroy(r);
	}
}

/* A stall lasts until the device is reset. */
static void dma_fails(uint64_t nth, bool get, bool stall)
{
	struct rig_options o = options(2, 4);
	enum stages_step step = get ? STAGES_OUT : STAGES_IN;

	o.device.buffer_bytes = 8 * KIB;
	o.device.stall_ns = 20 * MS_NS;
	(stall ? o.device.stages.stall : o.device.stages.fail)[step] = nth;
	struct rig *r = rig_create(&o);
	rig_op(r, 0, get, 0, 0, 100000);
	const char *wrong = rig_run(r, LIMIT_NS);
	if (wrong)
		fail_msg("%s, DMA %llu %s: %s", get ? "GET" : "PUT", (unsigned long long)nth,
			 stall ? "stalls" : "fails", wrong);
	assert_true(r->ops[0].status == DXP_EDEVICE ||
		    (stall && r->ops[0].status == DXP_ETIMEDOUT));
	assert_int_equal(bridge_node_counters(r->device).resets, stall);
	bridge_stages_heal(bridge_node_stages(r->device));
	rig_op(r, 0, false, 0, 0, 100000);
	assert_null(rig_run(r, LIMIT_NS));
	assert_int_equal(r->ops[1].status, DXP_OK);
	assert_null(rig_clean(r));
	rig_destroy(r);
}

static void bridge_nodes__each_dma_fails_or_stalls(void **state)
{
	for (uint64_t nth = 1; nth <= 12; nth++)
		for (int kind = 0; kind < 4; kind++)
			dma_fails(nth, kind & 1, kind & 2);
}

/* ---- lost peers ---- */

/* Restarts host 0 after `at_ns`, with or without an announcement. Host 1 continues. Returns the
 * first error, or NULL. */
static const char *sender_restarts(uint64_t at_ns, bool announce)
{
	struct rig_options o = options(3, 5);

	o.device.buffers = 4;
	o.device.buffer_bytes = 8 * KIB;
	o.device.stages.to_device.bytes_per_s = 200 * RIG_MB;
	struct rig *r = rig_create(&o);
	work_draw(r, 5, 6, false);
	sim_run(r->sim, at_ns, rig_step, r);
	/* the new process gets no completions of the old one */
	for (uint32_t i = 0; i < r->count; i++)
		if (r->ops[i].host == 0 && !r->ops[i].ended) {
			r->ops[i].ended = r->ops[i].posted = true;
			r->left--;
		}
	r->outstanding[0] = 0;
	assert_int_equal(sim_restart(r->sim, 0, announce), DXP_OK);
	rig_host_start(r, 0);
	rig_op(r, 0, false, 0, 0, 50000);
	const char *wrong = rig_run(r, LIMIT_NS);
	for (uint32_t i = 0; !wrong && i < r->count; i++)
		if ((r->ops[i].host == 1 || i == r->count - 1) && r->ops[i].status != DXP_OK)
			wrong = "an operation of who did not restart failed";
	if (!wrong)
		wrong = rig_clean(r);
	rig_destroy(r);
	return wrong;
}

static void bridge_nodes__sender_restarts_midway(void **state)
{
	for (uint64_t at_ns = 0; at_ns < 20 * MS_NS; at_ns += 370 * US_NS)
		for (int announce = 0; announce < 2; announce++) {
			const char *wrong = sender_restarts(at_ns, announce);
			if (wrong)
				fail_msg("after %llu us, announced %d: %s",
					 (unsigned long long)at_ns / 1000, announce, wrong);
		}
}

/* Outstanding operations fail, later ones succeed. Returns the first error, or NULL. */
static const char *device_restarts(uint64_t at_ns, bool get)
{
	struct rig_options o = options(3, 6);
	struct rig *r = rig_create(&o);

	o.device.stages.to_device.bytes_per_s = 200 * RIG_MB;
	work_draw(r, 6, 6, get);
	sim_run(r->sim, at_ns, rig_step, r);
	struct bridge_node *old = r->device;
	assert_int_equal(sim_restart(r->sim, r->device_host, true), DXP_OK);
	bridge_node_destroy(old);
	assert_int_equal(bridge_node_create(r->sim, r->device_host, &o.device, &r->device), DXP_OK);
	/* the new process must not complete operations of the old one */
	const char *wrong = rig_run(r, LIMIT_NS);
	if (!wrong) {
		rig_op(r, 1, false, 0, 100, 70000);
		wrong = rig_run(r, LIMIT_NS);
	}
	if (!wrong && r->ops[r->count - 1].status != DXP_OK)
		wrong = "what came after failed";
	if (!wrong)
		wrong = rig_clean(r);
	rig_destroy(r);
	return wrong;
}

static void bridge_nodes__device_restarts_midway(void **state)
{
	for (uint64_t at_ns = 0; at_ns < 4 * MS_NS; at_ns += 170 * US_NS)
		for (int get = 0; get < 2; get++) {
			const char *wrong = device_restarts(at_ns, get);
			if (wrong)
				fail_msg("after %llu us, %s: %s", (unsigned long long)at_ns / 1000,
					 get ? "GET" : "PUT", wrong);
		}
}

/* The buffers of a silent peer are released when it is declared lost; other hosts continue. */
static void bridge_nodes__peer_disappears(void **state)
{
	for (uint64_t at_ns = 10 * US_NS; at_ns < 3 * MS_NS; at_ns += 210 * US_NS) {
		struct rig_options o = options(3, 8);
		o.device.buffers = 3;
		o.device.buffer_bytes = 16 * KIB;
		struct rig *r = rig_create(&o);
		rig_op(r, 0, false, 0, 0, MIB);
		rig_op(r, 0, true, MIB, MIB, MIB);
		sim_run(r->sim, at_ns, rig_step, r);
		for (int way = 0; way < 2; way++)
			sim_blackhole(r->sim, way ? 0 : r->device_host, way ? r->device_host : 0,
				      true);
		rig_op(r, 1, false, 0, 3 * MIB, 500000);
		sim_run(r->sim, 2 * S_NS, rig_step, r);
		assert_null(r->wrong);
		if (!r->ops[2].ended || r->ops[2].status != DXP_OK)
			fail_msg("silent after %llu us: the other host waits",
				 (unsigned long long)at_ns / 1000);
		nic_peer_lost(sim_nic(r->sim, r->device_host), 1, DXP_EPEERLOST);
		nic_peer_lost(sim_nic(r->sim, 0), (uint16_t)(r->device_host + 1), DXP_EPEERLOST);
		assert_null(rig_run(r, LIMIT_NS));
		assert_null(rig_clean(r));
		rig_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge_nodes__put_and_get_of_any_length),
		cmocka_unit_test(bridge_nodes__out_of_bounds_is_rejected),
		cmocka_unit_test(bridge_nodes__drop_each_datagram_once),
		cmocka_unit_test(bridge_nodes__slow_device_holds_many_senders),
		cmocka_unit_test(bridge_nodes__many_senders_share),
		cmocka_unit_test(bridge_nodes__each_dma_fails_or_stalls),
		cmocka_unit_test(bridge_nodes__sender_restarts_midway),
		cmocka_unit_test(bridge_nodes__device_restarts_midway),
		cmocka_unit_test(bridge_nodes__peer_disappears),
		cmocka_unit_test(bridge_nodes__goodput_is_that_of_the_slowest),
		cmocka_unit_test(bridge_nodes__loss_and_reordering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
