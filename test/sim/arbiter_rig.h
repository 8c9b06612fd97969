/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of shares and limits: functions that compete for a port. */
#ifndef TEST_SIM_ARBITER_RIG_H
#define TEST_SIM_ARBITER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "sim/fair.h"
#include "test/support/invariants.h"

#define MB   1000000ull
#define RATE 10000000000ull /* bits per second of the port */
/* in full packets */
#define PORT                                                  \
	(RATE / 8.0 * (SIM_PAYLOAD_BYTES + WIRE_DATA_BYTES) / \
	 (SIM_PAYLOAD_BYTES + WIRE_DATA_BYTES + WIRE_OVERHEAD))

UNUSED static uint64_t seed(void)
{
	return getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
}

/* The port has a queue of realistic length. Each function sends to hosts 1 .. `peers`. */
UNUSED static struct fair_options functions(uint32_t count, uint32_t peers)
{
	struct fair_options o = {.sim = {.seed = seed(),
					 .hosts = 9,
					 .rate_bps = RATE,
					 .backlog_bytes = 32u << 10,
					 .no_payload_crc = true}};

	for (uint32_t i = 0; i < count; i++)
		o.functions[i] = (struct fair_function){.peers = {1, 2, 3, 4},
							.peer_count = peers,
							.bytes_max = 64u << 10,
							.outstanding = 8};
	return o;
}

/* The first function sends to one peer, all others to the same four other peers. */
UNUSED static struct fair_options one_and_many(uint32_t count)
{
	struct fair_options o = functions(count, NIC_QPS_PER_FUNCTION);

	o.functions[0].peer_count = 1;
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
			o.functions[i].peers[q] = q + 2;
	return o;
}

UNUSED static struct fair *opened(const struct fair_options *o)
{
	struct fair *f;

	assert_int_equal(fair_open(o, &f), DXP_OK);
	return f;
}

UNUSED static void row_print(const struct fair_sample *s)
{
	printf("%.3f %.6f", (double)s->time_ns / 1e6, s->jain);
	for (int i = 0; i < NIC_FUNCTIONS; i++)
		printf(" %llu", (unsigned long long)s->bytes[i]);
	printf("\n");
}

UNUSED static struct fair_sample run(struct fair *f, uint64_t bytes)
{
	struct fair_sample s;
	bool print = getenv("DXP_SHARES") != NULL;

	if (print)
		printf("# ms, Jain's index, bytes of each function\n");
	for (int i = 0; i < 20; i++) {
		fair_run(f, bytes / 20, 10 * S_NS);
		fair_sample(f, &s);
		if (print)
			row_print(&s);
	}
	return s;
}

UNUSED static void rates(struct fair *f, uint64_t duration_ns, double *out)
{
	struct fair_sample before, after;

	fair_sample(f, &before);
	fair_run(f, UINT64_MAX, duration_ns);
	fair_sample(f, &after);
	for (int i = 0; i < NIC_FUNCTIONS; i++)
		out[i] = (double)(after.bytes[i] - before.bytes[i]) * 1e9 /
			 (double)(after.time_ns - before.time_ns);
}

UNUSED static void near(double value, double want, double tolerance)
{
	if (value < want * (1 - tolerance) || value > want * (1 + tolerance))
		fail_msg("%f, not %f within %f; replay with DXP_SEED=%llu", value, want, tolerance,
			 (unsigned long long)seed());
}

#endif
