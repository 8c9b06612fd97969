/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests guarded regions over the network: a message out of bounds is rejected whole, revoked memory
 * is neither written nor sent, and memory that is not ready is retried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/sim.h"
#include "wire/frame.h"

#define BYTES (4u << 20)
#define RATE  10000000000ull

/* Memory of host 1 for host 0. `open`: accessible bytes; `not_yet`: accesses that find it not
 * ready. */
static struct {
	struct sim *sim;
	uint8_t *memory, *own;
	uint32_t key, own_key;
	struct nic_reach open;
	uint64_t epoch;
	uint32_t requested, not_yet;
	struct dxp_nic_event end;
	/* bytes until the revocation; 0: never */
	int revoked_bytes;
	uint8_t *snapshot; /* memory at the revocation */
} g;

static uint8_t reach(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out)
{
	g.requested++;
	if (g.not_yet > 0 && g.not_yet--)
		return WIRE_NACK_RNR;
	*out = g.open;
	return offset >= g.open.first && offset + bytes <= g.open.end ? 0 : WIRE_NACK_RIGHTS;
}

static int make(void **state)
{
	const struct sim_options o = {.seed = 1, .hosts = 2, .rate_bps = RATE};
	const struct nic_guard guard = {.reach = reach, .epoch = &g.epoch};

	memset(&g, 0, sizeof(g));
	assert_int_equal(sim_create(&o, &g.sim), DXP_OK);
	g.memory = malloc(BYTES);
	g.own = malloc(BYTES);
	g.snapshot = malloc(BYTES);
	memset(g.memory, 0x11, BYTES);
	memset(g.own, 0x22, BYTES);
	g.open.end = BYTES;
	assert_int_equal(nic_region_register(sim_nic(g.sim, 1), 0, g.memory, BYTES,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &g.key),
			 DXP_OK);
	assert_int_equal(nic_region_guard(sim_nic(g.sim, 1), g.key, &guard), DXP_OK);
	assert_int_equal(
		nic_region_register(sim_nic(g.sim, 0), 0, g.own, BYTES, NIC_LOCAL, &g.own_key),
		DXP_OK);
	return 0;
}

static int unmake(void **state)
{
	sim_destroy(g.sim);
	free(g.memory);
	free(g.own);
	free(g.snapshot);
	return 0;
}

/* Revokes after `revoked_bytes` bytes; true at the completion. */
static bool ended(void *context)
{
	const uint8_t *there = context;

	if (g.revoked_bytes && there[g.revoked_bytes] != there[BYTES - 1]) {
		g.revoked_bytes = 0;
		g.open.end = 0;
		g.epoch++;
		nic_memory_reclaim(sim_nic(g.sim, 1), g.memory, BYTES, sim_now(g.sim));
		memset(g.memory, 0x77, BYTES);
		memcpy(g.snapshot, g.memory, BYTES);
	}
	return dxp_sent_dequeue(sim_window(g.sim, 0), &g.end);
}

static int status_of(bool put, uint64_t at, uint32_t bytes)
{
	struct dxp_window *w = sim_window(g.sim, 0);
	const struct dxp_target to = sim_target(g.sim, 1, 0);
	const struct dxp_entry own = {.offset = at, .bytes = bytes, .key = g.own_key},
			       there = {.offset = at, .bytes = bytes, .key = g.key};
	assert_int_equal(put ? dxp_post_put(w, 0, &to, &own, &there, 0, 0, 1)
			     : dxp_post_get(w, 0, &to, &there, &own, 1),
			 DXP_OK);
	assert_true(sim_run(g.sim, 60 * S_NS, ended, put ? g.memory : g.own));
	return g.end.status;
}

static void guard__rejects_the_whole_message(void **state)
{
	g.open.end = BYTES - 1;
	assert_int_equal(status_of(true, 0, BYTES), DXP_EACCESS);
	assert_int_equal(status_of(false, 0, BYTES), DXP_EACCESS);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_true(g.memory[i] == 0x11 && g.own[i] == 0x22);
	assert_true(nic_counters(sim_nic(g.sim, 1))->rights_reject >= 2);
	assert_int_equal(status_of(true, 0, BYTES - 1), DXP_OK);
}

static void guard__queried_once_for_a_stream(void **state)
{
	assert_int_equal(status_of(true, 0, BYTES), DXP_OK);
	assert_int_equal(status_of(false, 0, BYTES), DXP_OK);
	assert_int_equal(g.requested, 1);
}

static void guard__names_the_memory(void **state)
{
	g.open.base = g.snapshot;
	memset(g.snapshot, 0x33, BYTES);
	assert_int_equal(status_of(false, 64, 64000), DXP_OK);
	for (uint32_t i = 64; i < 64064; i++)
		assert_int_equal(g.own[i], 0x33);
	memset(g.own, 0x44, BYTES);
	assert_int_equal(status_of(true, 128, 64000), DXP_OK);
	assert_memory_equal(g.snapshot + 128, g.own + 128, 64000);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(g.memory[i], 0x11);
}

static void guard__not_ready_yet(void **state)
{
	g.not_yet = 20;
	assert_int_equal(status_of(true, 0, 64000), DXP_OK);
	assert_memory_equal(g.memory, g.own, 64000);
	g.epoch++;
	g.not_yet = 20;
	assert_int_equal(status_of(false, 64000, 64000), DXP_OK);
	assert_int_equal(g.own[64000], 0x11);
	assert_int_equal(g.not_yet, 0);
}

/* Packets in flight do not change it. */
static void guard__withdrawn_under_a_put(void **state)
{
	g.revoked_bytes = BYTES / 2;
	assert_int_equal(status_of(true, 0, BYTES), DXP_EACCESS);
	assert_int_equal(g.revoked_bytes, 0);
	assert_memory_equal(g.memory, g.snapshot, BYTES);
}

/* No byte of the new owner is sent, not even in a retransmission. */
static void guard__withdrawn_under_a_get(void **state)
{
	g.revoked_bytes = BYTES / 4;
	assert_int_equal(status_of(false, 0, BYTES), DXP_EACCESS);
	assert_int_equal(g.revoked_bytes, 0);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_not_equal(g.own[i], 0x77);
}

static void guard__revoked_under_a_put(void **state)
{
	assert_int_equal(nic_region_revoke(sim_nic(g.sim, 1), g.key), DXP_OK);
	assert_int_equal(status_of(true, 0, 64), DXP_EACCESS);
	assert_int_equal(g.requested, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(guard__rejects_the_whole_message), TEST(guard__queried_once_for_a_stream),
		TEST(guard__names_the_memory),          TEST(guard__not_ready_yet),
		TEST(guard__withdrawn_under_a_put),     TEST(guard__withdrawn_under_a_get),
		TEST(guard__revoked_under_a_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
