/* SPDX-License-Identifier: BSD-3-Clause */
/* Many hosts PUT to a host behind a few bridge buffers: the DMA stays busy, the shares are equal,
 * and few packets are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/sim/bridge_rig.h"

#define LIMIT_NS (100 * S_NS)
#define KIB      1024u
#define MIB      (1u << 20)
#define UNIT     1408 /* payload per packet */

struct scene {
	/* senders; outstanding PUTs and total PUTs of each */
	uint32_t senders, depth, puts;
	uint32_t bytes; /* per PUT; 0: random, up to 256 KiB */
	uint32_t dma_mb, link_gb, buffer_kib;
	uint32_t loss_ppm;
};

struct outcome {
	double share; /* throughput by the rate of the slower of DMA and port */
	double sent;  /* packets sent, with retransmissions, by packets needed */
	double jain;  /* Jain's fairness index when the first sender finished */
};

static struct rig *scene_rig(const struct scene *c)
{
	const struct rig_options o = {
		.sim = {.seed = 7,
			.hosts = c->senders + 1,
			.delay_ns = 2000,
			.rate_bps = c->link_gb * 1000000000ull,
			.faults.loss_ppm = c->loss_ppm},
		.device = {.memory_bytes = 32 * MIB,
			   .stages = {.to_device = {c->dma_mb * RIG_MB, 2000, 10000},
				      .from_device = {c->dma_mb * RIG_MB, 2000, 10000},
				      .memory_bytes_per_s = 12800 * RIG_MB,
				      .seed = 7},
			   .buffer_bytes = c->buffer_kib * KIB,
			   .stall_ns = S_NS},
		.memory_bytes = 16 * MIB,
		.depth = c->depth,
	};

	return rig_create(&o);
}

static uint32_t size_draw(const struct scene *c, struct rng *g)
{
	if (c->bytes)
		return c->bytes;
	return (uint32_t)rng_below(g, KIB << rng_below(g, 9)) + 1;
}

/* All PUTs write the same bytes to one address. Returns the total bytes; adds needed packets to
 * *packets. */
static uint64_t work_begin(struct rig *r, const struct scene *c, uint64_t *packets)
{
	struct rng g = {11};
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < c->puts; k++)
		for (uint32_t i = 0; i < c->senders; i++) {
			uint32_t size = size_draw(c, &g);
			rig_op(r, i, false, 0, 0, size);
			bytes += size;
			*packets += (size - 1) / UNIT + 1;
		}
	for (uint32_t i = 1; i < c->senders; i++)
		memcpy(r->memory[i], r->memory[0], r->options.memory_bytes);
	return bytes;
}

static uint64_t packets_sent(struct rig *r)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < r->device_host; i++) {
		struct rltp_view v;
		rltp_session_view(rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, i)),
							(uint16_t)(r->device_host + 1)),
				  &v);
		sent += v.counters.sent_packets + v.counters.retransmitted_gap +
			v.counters.retransmitted_probe + v.counters.retransmitted_timeout +
			v.counters.retransmitted_busy;
	}
	return sent;
}

/* Bytes that the device received from each sender until the first sender finished. */
struct shares {
	struct rig *rig;
	uint64_t bytes[RIG_HOSTS_MAX];
	uint32_t left[RIG_HOSTS_MAX];
	bool done;
};

static void shares_read(struct shares *s)
{
	struct rltp_view v;

	for (uint32_t i = 0; i < s->rig->device_host; i++) {
		struct nic *device = sim_nic(s->rig->sim, s->rig->device_host);
		rltp_session_view(rltp_endpoint_session(nic_endpoint(device), (uint16_t)(i + 1)),
				  &v);
		s->bytes[i] = v.counters.received_bytes;
	}
	s->done = true;
}

static bool step(void *context)
{
	struct shares *s = context;
	uint32_t ended[RIG_HOSTS_MAX] = {0};

	bool over = rig_step(s->rig);
	for (uint32_t i = 0; !s->done && i < s->rig->count; i++)
		ended[s->rig->ops[i].host] += s->rig->ops[i].ended;
	for (uint32_t i = 0; !s->done && i < s->rig->device_host; i++)
		if (ended[i] == s->left[i])
			shares_read(s);
	return over;
}

static double fairness(const struct shares *s)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < s->rig->device_host; i++) {
		sum += (double)s->bytes[i];
		squares += (double)s->bytes[i] * (double)s->bytes[i];
	}
	return sum * sum / (s->rig->device_host * squares);
}

static struct outcome scene_run(const struct scene *c)
{
	struct rig *r = scene_rig(c);
	uint64_t packets = 0, bytes = work_begin(r, c, &packets), begin_ns = sim_now(r->sim);
	struct shares shares = {.rig = r};
	for (uint32_t i = 0; i < c->senders; i++)
		shares.left[i] = c->puts;
	bool finished = sim_run(r->sim, LIMIT_NS, step, &shares);
	const char *wrong = finished ? r->wrong : "did not finish in time";
	double link = c->link_gb * 125.0 * UNIT / (UNIT + 100),
	       most = min_u64(c->dma_mb, (uint64_t)link);

	if (wrong)
		fail_msg("%u senders, %u PUTs of %u bytes: %s", c->senders, c->depth, c->bytes,
			 wrong);
	for (uint32_t i = 0; i < r->count; i++)
		assert_int_equal(r->ops[i].status, DXP_OK);
	double rate = (double)bytes * 1e3 / (double)(sim_now(r->sim) - begin_ns);
	struct outcome out = {rate / most, (double)packets_sent(r) / (double)packets,
			      fairness(&shares)};
	print_message("%2u senders x %u, %8u bytes, DMA %4u MB/s, link %3u Gb/s, buffers of %4u "
		      "KiB, loss %.1f %%: %4.0f MB/s, %3.0f %%, %.2f sent, Jain %.3f\n",
		      c->senders, c->depth, c->bytes, c->dma_mb, c->link_gb, c->buffer_kib,
		      c->loss_ppm / 1e4, rate, 100 * out.share, out.sent, out.jain);
	assert_null(rig_clean(r));
	rig_destroy(r);
	return out;
}

static void bridge_crowd__keeps_the_dma_busy(void **state)
{
	static const struct scene scenes[] = {
		{1, 8, 64, 64 * KIB, 1000, 10, 64, 0},   {2, 8, 32, 64 * KIB, 1000, 10, 64, 0},
		{4, 8, 16, 64 * KIB, 1000, 10, 64, 0},   {8, 1, 16, 64 * KIB, 1000, 10, 64, 0},
		{8, 8, 16, 64 * KIB, 1000, 10, 64, 0},   {16, 8, 16, 64 * KIB, 1000, 10, 64, 0},
		{32, 8, 16, 64 * KIB, 1000, 10, 64, 0},  {8, 8, 256, 0, 1000, 10, 64, 0},
		{16, 8, 256, 0, 1000, 10, 64, 0},        {8, 8, 16, 64 * KIB, 100, 10, 64, 0},
		{32, 8, 16, 64 * KIB, 100, 10, 64, 0},   {8, 8, 16, 64 * KIB, 5000, 100, 64, 0},
		{32, 8, 16, 64 * KIB, 5000, 100, 64, 0}, {8, 2, 4, MIB, 1000, 10, 64, 0},
		{8, 2, 4, MIB, 5000, 100, 1024, 0},      {8, 8, 32, 64 * KIB, 5000, 100, 1024, 0},
		{4, 1, 2, 16 * MIB, 1000, 10, 64, 0},    {4, 2, 2, 16 * MIB, 5000, 100, 1024, 0},
		{4, 1, 1, 16 * MIB, 100, 10, 1024, 0},   {16, 4, 4, MIB, 100, 100, 256, 0},
		{16, 4, 4, MIB, 5000, 100, 256, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(scenes); i++) {
		struct outcome out = scene_run(&scenes[i]);
		assert_true(out.share > 0.9);
		assert_true(out.sent < 1.3);
		assert_true(out.jain > 0.95);
	}
}

static void bridge_crowd__with_losses(void **state)
{
	static const struct {
		struct scene scene;
		double share;
	} rows[] = {
		{{8, 8, 32, 64 * KIB, 1000, 10, 64, 1000}, 0.9},
		{{8, 8, 32, 64 * KIB, 1000, 10, 64, 10000}, 0.8},
		{{8, 8, 32, 64 * KIB, 1000, 10, 64, 50000}, 0.5},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct outcome out = scene_run(&rows[i].scene);
		assert_true(out.share > rows[i].share);
		assert_true(out.sent < 1.4);
		assert_true(out.jain > 0.95);
	}
}

/* Two outstanding PUTs get the same share as eight. */
static void bridge_crowd__more_at_once_is_no_more(void **state)
{
	const struct scene c = {8, 8, 64, 64 * KIB, 500, 10, 64, 0};
	struct rig *r = scene_rig(&c);
	struct shares shares = {.rig = r};
	uint64_t packets = 0;

	work_begin(r, &c, &packets);
	for (uint32_t i = 0; i < c.senders; i++)
		shares.left[i] = c.puts;
	r->options.depths[0] = 2;
	assert_true(sim_run(r->sim, LIMIT_NS, step, &shares));
	assert_null(r->wrong);
	print_message("Jain %.3f\n", fairness(&shares));
	assert_true(fairness(&shares) > 0.95);
	assert_null(rig_clean(r));
	rig_destroy(r);
}

/* MB/s of one PUT to memory outside the bridge. With `crowd`, it shares a session with PUTs that
 * wait for a device of 100 MB/s. */
static double plain_rate(bool crowd)
{
	const struct scene c = {8, 8, 16, 64 * KIB, 100, 10, 64, 0};
	struct rig *r = scene_rig(&c);
	uint64_t packets = 0;

	r->plain = calloc(1, 4 * MIB);
	assert_non_null(r->plain);
	assert_int_equal(nic_region_register(sim_nic(r->sim, r->device_host), 0, r->plain, 4 * MIB,
					     NIC_REMOTE_WRITE, &r->plain_key),
			 DXP_OK);
	if (crowd)
		work_begin(r, &c, &packets);
	else
		rig_op(r, 0, false, 0, 0, 1);
	for (uint32_t i = 0; i < r->count; i++)
		r->ops[i].qp = (uint16_t)(i / c.senders % 3);
	sim_run(r->sim, 5 * MS_NS, crowd ? rig_step : NULL, r);
	assert_null(r->wrong);
	struct rig_op *op = rig_op(r, 0, false, 0, 0, 4 * MIB);
	op->plain = true;
	op->qp = 3;
	rig_post(r, op);
	assert_true(op->posted);
	uint64_t begin_ns = sim_now(r->sim);
	assert_null(rig_run(r, LIMIT_NS));
	assert_int_equal(op->status, DXP_OK);
	double rate = 4.0 * MIB * 1e3 / (double)(op->end_ns - begin_ns);
	rig_destroy(r);
	return rate;
}

static void bridge_crowd__other_traffic_goes_on(void **state)
{
	double beside = plain_rate(true), alone = plain_rate(false);

	print_message("beside a crowd at 100 MB/s: %.0f MB/s, alone %.0f MB/s\n", beside, alone);
	assert_true(beside > 0.6 * alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge_crowd__keeps_the_dma_busy),
		cmocka_unit_test(bridge_crowd__with_losses),
		cmocka_unit_test(bridge_crowd__more_at_once_is_no_more),
		cmocka_unit_test(bridge_crowd__other_traffic_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
