/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests chains over a network that loses, duplicates and reorders: the last message raises the
 * event, and an invalid range fails the request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"

#define ENTRIES 2000u
#define BYTES   (16u * ENTRIES)

struct rig {
	struct sim *sim;
	uint8_t memory[2][BYTES];
	uint32_t key[2], chain_key;
	_Alignas(
		8) uint8_t chain[sizeof(struct dxp_chain) + 2 * ENTRIES * sizeof(struct dxp_entry)];
	struct dxp_nic_event event;
};

static void rig_open(struct rig *r, uint64_t seed, uint32_t loss_ppm)
{
	const struct sim_options o = {
		.seed = seed,
		.hosts = 2,
		.faults = {.loss_ppm = loss_ppm, .duplicate_ppm = 20000, .reorder_ppm = 20000}};

	assert_int_equal(sim_create(&o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < 2; i++)
		nic_region_register(sim_nic(r->sim, i), 0, r->memory[i], BYTES,
				    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r->key[i]);
	nic_region_register(sim_nic(r->sim, 0), 0, r->chain, sizeof(r->chain), NIC_LOCAL,
			    &r->chain_key);
	for (uint32_t i = 0; i < BYTES; i++)
		r->memory[0][i] = (uint8_t)(i * 7 + i / 256);
}

static bool completed(void *context)
{
	struct rig *r = context;

	return dxp_sent_dequeue(sim_window(r->sim, 0), &r->event);
}

/* Copies the 16-byte ranges of one host to the other host in reverse order. The destination has
 * ranges of 8 and 24 bytes. `op` is a PUT to host 1 or a GET from it. `bad_key` is XORed into the
 * key of the last range at host 1. */
static void chain_run(struct rig *r, uint8_t op, uint32_t bad_key)
{
	const struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_descriptor head = dxp_head(op, 0, &to, 0);
	struct dxp_chain *chain = (void *)r->chain;
	struct dxp_entry *e = (void *)(chain + 1);
	const struct dxp_entry at = {.bytes = sizeof(r->chain), .key = r->chain_key};
	bool reading = op == DXP_OP_GET;
	uint32_t left = BYTES;

	head.flags = reading ? 0 : DXP_FLAG_NOTIFY;
	head.imm = 5;
	dxp_chain_store(chain, &head, ENTRIES, ENTRIES);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t bytes = i % 2 ? 24 : 8;
		left -= bytes;
		e[i] = (struct dxp_entry){16ull * i, 16, r->key[reading]};
		e[ENTRIES + i] = (struct dxp_entry){left, bytes, r->key[!reading]};
	}
	e[(reading ? 1 : 2) * ENTRIES - 1].key ^= bad_key;
	assert_int_equal(dxp_post_reference(sim_window(r->sim, 0), 0, &at, 42), DXP_OK);
	assert_true(sim_run(r->sim, 60 * S_NS, completed, r));
	assert_int_equal(r->event.context, 42);
}

static void reversed_check(const uint8_t *from, const uint8_t *to)
{
	uint32_t left = BYTES;

	for (uint32_t i = 0, at = 0; i < ENTRIES; i++) {
		uint32_t bytes = i % 2 ? 24 : 8;
		left -= bytes;
		assert_memory_equal(to + left, from + at, bytes);
		at += bytes;
	}
}

static void chain__arrives_despite_loss(void **state)
{
	static struct rig r;
	static uint8_t copy[BYTES];

	for (uint64_t seed = 1; seed <= 3; seed++) {
		memset(&r, 0, sizeof(r));
		rig_open(&r, seed, 50000);
		chain_run(&r, DXP_OP_PUT, 0);
		assert_int_equal(r.event.status, DXP_OK);
		assert_int_equal(r.event.bytes, BYTES);
		reversed_check(r.memory[0], r.memory[1]);
		const struct dxp_nic_event *e = dxp_received_peek(sim_window(r.sim, 1));
		assert_non_null(e);
		assert_int_equal(e->imm, 5);
		dxp_received_release(sim_window(r.sim, 1));
		assert_null(dxp_received_peek(sim_window(r.sim, 1)));
		memcpy(copy, r.memory[1], BYTES);
		chain_run(&r, DXP_OP_GET, 0);
		assert_int_equal(r.event.status, DXP_OK);
		reversed_check(copy, r.memory[0]);
		sim_destroy(r.sim);
	}
}

static void chain__wrong_key_of_the_peer(void **state)
{
	static const uint8_t ops[] = {DXP_OP_PUT, DXP_OP_GET};
	static struct rig r;

	for (int i = 0; i < 2; i++) {
		memset(&r, 0, sizeof(r));
		rig_open(&r, 9, 10000);
		chain_run(&r, ops[i], 1);
		assert_int_equal(r.event.status, DXP_EACCESS);
		assert_null(dxp_received_peek(sim_window(r.sim, 1)));
		assert_int_equal(sim_nic(r.sim, 0)->users[0].chain_entries, 0);
		sim_destroy(r.sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain__arrives_despite_loss),
		cmocka_unit_test(chain__wrong_key_of_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
