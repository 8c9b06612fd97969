/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rejections in register mode (P-06): the device reads the reason, nothing changes, and later
 * messages arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/registers.h"

/* ---- errors that the device reads ---- */

static uint64_t misses(const struct rig *r, uint32_t host)
{
	return sim_window(r->sim, host)->counters.lookup_misses;
}

static void registers_rejected__lookup_misses(void **state)
{
	static const struct {
		uint64_t vaddr;
		uint32_t bytes;
	} bad[] = {
		{BASE - 1, 1},
		{BASE + MEMORY, 1},
		{BASE + MEMORY - 1, 2},
		{BASE, MEMORY + 1},
		{0, 1},
		{UINT64_MAX, 1},
		{UINT64_MAX, 2},
		{UINT64_MAX - 0x7ffffffe, 0x7fffffff},
		{BASE + 1, 0x7fffffff},
	};
	const size_t count = sizeof(bad) / sizeof(bad[0]);
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(send(r, 0, 1, bad[i].vaddr, bad[i].bytes), DXP_ENOENT);
		assert_int_equal(receive(r, 2, bad[i].vaddr, bad[i].bytes), DXP_ENOENT);
	}
	assert_true(misses(r, 0) == count && misses(r, 2) == count);
	assert_int_equal(receive(r, 2, BASE, UINT32_MAX), DXP_ENOENT);
	assert_int_equal(send(r, 0, 1, BASE, 0), DXP_EINVAL);
	assert_int_equal(send(r, 0, 1, BASE, 0x80000000u), DXP_EINVAL);
	/* no receive area: all that host 2 has set failed the lookup */
	assert_int_equal(send(r, 0, 2, BASE, 10), DXP_EBUSY);
	assert_true(total(r, 1) == 0 && total(r, 2) == 0);
	message_goes(r);
}

static void registers_rejected__bad_words(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		int status;
	} bad[] = {
		{REGISTER(node), 99, DXP_EPEERLOST},
		{REGISTER(node), 0x10002, DXP_EINVAL},
		/* node 0: by address and port, which is invalid */
		{REGISTER(node), 0, DXP_EINVAL},
		{REGISTER(queue), 4, DXP_EINVAL},
		{REGISTER(queue), 8 << 8, DXP_EINVAL},
		{REGISTER(queue), 0x10001, DXP_EINVAL},
		{REGISTER(queue), 1 << 8, DXP_EACCESS},
		{REGISTER(magic), 0, DXP_EACCESS},
		{REGISTER(magic), 12345, DXP_EACCESS},
		{REGISTER(qp), 4, DXP_EINVAL},
		{REGISTER(qp), UINT32_MAX, DXP_EINVAL},
	};
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		send_words(r, 0, 1, BASE, 100);
		*word(r, 0, bad[i].at) = bad[i].value;
		go(r, 0);
		assert_int_equal(finish(r, 0), bad[i].status);
	}
	assert_true(total(r, 1) == 0);
	assert_int_equal(sim_window(r->sim, 0)->state, DXP_FUNCTION_OPEN);
	message_goes(r);
}

static void registers_rejected__longer_than_the_area(void **state)
{
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE + 8, 4000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 4001), DXP_ERANGE);
	assert_int_equal(*word(r, 1, REGISTER(recv_error)), -DXP_ERANGE);
	assert_true(total(r, 1) == 0);
	pattern(r, 0, 0, 4000, 9);
	/* the receive area is as before */
	assert_int_equal(send(r, 0, 1, BASE, 4000), DXP_OK);
	assert_memory_equal(r->memory[1] + 8, r->memory[0], 4000);
	assert_int_equal(r->memory[1][4008], 0);
}

static void registers_rejected__no_register_mode_there(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = sim_window(r->sim, 1);

	/* host 1's lookup table is empty */
	assert_int_equal(sim_restart(r->sim, 1, true), DXP_OK);
	w = sim_window(r->sim, 1);
	arm(r, 1, BASE, MEMORY);
	send_words(r, 0, 1, BASE, 100);
	go(r, 0);
	for (int i = 0; i < 3 && !sent(r, 0); i++)
		sim_run(r->sim, S_NS, NULL, NULL);
	assert_true(sent(r, 0));
	assert_int_equal(*word(r, 0, REGISTER(send_error)), -DXP_EACCESS);
	assert_int_equal(w->registers.recv_done, 0);
}

static void registers_rejected__memory_goes(void **state)
{
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, 10000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_OK);
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 1), r->key[1]), DXP_OK);
	memset(r->memory[1], 0, MEMORY);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_EBUSY);
	assert_int_equal(*word(r, 1, REGISTER(recv_error)), -DXP_ENOENT);
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 0), r->key[0]), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_ENOENT);
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->memory[1][i], 0);
}

static void registers_rejected__peer_lost(void **state)
{
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 100), DXP_OK);
	sim_blackhole(r->sim, 0, 1, true);
	assert_int_equal(send(r, 0, 1, BASE, 100), DXP_ETIMEDOUT);
	nic_peer_lost(sim_nic(r->sim, 0), 2, DXP_EPEERLOST);
	assert_int_equal(send(r, 0, 1, BASE, 100), DXP_EPEERLOST);
}

/* ---- the receiver is not ready ---- */

static bool late(void *context)
{
	struct rig *r = context;

	if (*word(r, 1, REGISTER(recv_go)) == 0 && sim_now(r->sim) > S_NS + 300 * MS_NS)
		arm(r, 1, BASE, 5000);
	return sent(r, 0);
}

/* The sender's NIC retries until then. */
static void registers_rejected__receiver_comes_late(void **state)
{
	struct rig *r = *state;

	pattern(r, 0, 0, 5000, 3);
	send_words(r, 0, 1, BASE, 5000);
	go(r, 0);
	assert_true(sim_run(r->sim, S_NS, late, r));
	assert_int_equal(*word(r, 0, REGISTER(send_error)), 0);
	assert_memory_equal(r->memory[1], r->memory[0], 5000);
	assert_true(total(r, 1) == 5000);
	assert_in_range(nic_counters(sim_nic(r->sim, 1))->receiver_busy, 10, 10000);
}

static void registers_rejected__receiver_never_comes(void **state)
{
	struct rig *r = *state;
	uint64_t before = sim_now(r->sim);

	assert_int_equal(send(r, 0, 1, BASE, 5000), DXP_EBUSY);
	assert_in_range(sim_now(r->sim) - before, NIC_REGISTERS_BUSY_NS,
			NIC_REGISTERS_BUSY_NS + 20 * MS_NS);
	assert_true(total(r, 1) == 0);
	message_goes(r);
}

static void registers_rejected__full_until_named_again(void **state)
{
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, 5000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_EBUSY);
	assert_int_equal(send(r, 0, 1, BASE, 2000), DXP_OK);
	assert_int_equal(receive(r, 1, BASE, 5000), DXP_OK);
	assert_int_equal(*word(r, 1, REGISTER(recv_used)), 0);
	assert_int_equal(send(r, 0, 1, BASE, 3000), DXP_OK);
	assert_int_equal(receive(r, 1, BASE, 0), DXP_OK); /* removes the receive area */
	assert_int_equal(send(r, 0, 1, BASE, 1), DXP_EBUSY);
	assert_true(total(r, 1) == 8000);
}

/* Condition for sim_run in the next test. There, the device sets another receive area in the middle
 * of a message. No further byte is written to the old receive area, and no byte of the message to
 * the new one. */
static bool half_there(void *context)
{
	return total(context, 1) > MEMORY / 2;
}

static void registers_rejected__area_changed_in_the_middle(void **state)
{
	const struct sim_faults slow = {.jitter_ns = 200000};
	struct rig *r = rig_again(state, seed(), &slow);

	memset(r->memory[0], 0x55, MEMORY);
	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	send_words(r, 0, 1, BASE, MEMORY);
	go(r, 0);
	assert_true(sim_run(r->sim, S_NS, half_there, r));
	arm(r, 1, BASE, 1000);
	while (!armed(r, 1))
		nic_doorbells(sim_nic(r->sim, 1), sim_now(r->sim));
	uint64_t seen = total(r, 1);
	assert_true(seen < MEMORY);
	memset(r->memory[1], 0, MEMORY);
	/* longer than the new receive area */
	assert_int_equal(finish(r, 0), DXP_ERANGE);
	assert_true(total(r, 1) == seen);
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->memory[1][i], 0);
}

/* Condition for sim_run in the next test. There, the first packets of a message are rejected,
 * because no receive area is set. One is set before the last packets arrive. The message is sent
 * again completely, and counted once. */
static bool one_rejected(void *context)
{
	const struct rig *r = context;

	return nic_counters(sim_nic(r->sim, 1))->receiver_busy > 0;
}

static void registers_rejected__area_named_in_the_middle(void **state)
{
	const struct sim_faults slow = {.jitter_ns = 200000};
	struct rig *r = rig_again(state, seed(), &slow);

	pattern(r, 0, 0, 20000, 5);
	send_words(r, 0, 1, BASE, 20000);
	go(r, 0);
	assert_true(sim_run(r->sim, S_NS, one_rejected, r));
	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	assert_int_equal(finish(r, 0), DXP_OK);
	assert_true(total(r, 1) == 20000);
	assert_int_equal(*word(r, 1, REGISTER(recv_used)), 20000);
	assert_memory_equal(r->memory[1], r->memory[0], 20000);
}

/* ---- hostile ---- */

/* Random words in registers of hosts 0 and 1: no access leaves registered memory, host 2 is
 * unaffected, and later operations work. */
static bool scribble(void *context)
{
	struct rig *r = context;
	static struct rng rng;

	rng.state ^= seed();
	for (int i = 0; i < 4; i++) {
		uint32_t host = (uint32_t)rng_below(&rng, 2);
		size_t at = offsetof(struct dxp_window, registers) + 4 * rng_below(&rng, 48);
		uint32_t value = (uint32_t)rng_next(&rng);
		switch (rng_below(&rng, 6)) {
		case 0: send_words(r, host, 1 - host, BASE + value % MEMORY, value >> 20); break;
		case 1: arm(r, host, BASE + value % MEMORY, value >> 15); break;
		case 2: *word(r, host, at) = value & 3; break;
		case 3: *word(r, host, at) = 0u - (value & 0xff); break;
		default: go(r, host);
		}
	}
	return false;
}

/* True when both engines are idle and handled every GO; then corrects overwritten registers. */
static bool quiet(void *context)
{
	const struct rig *r = context;

	for (uint32_t i = 0; i < 2; i++) {
		const struct nic_registers *g = sim_nic(r->sim, i)->users[0].registers;
		struct dxp_registers *words = &sim_window(r->sim, i)->registers;
		if (g->sending || g->again_ns != 0 || g->send_done != words->send_go ||
		    g->recv_go != words->recv_go)
			return false;
		words->send_done = g->send_done;
		words->recv_done = g->recv_go;
	}
	return true;
}

static void registers_rejected__scribbled(void **state)
{
	struct rig *r = *state;

	memset(r->memory[2], 0x77, MEMORY);
	sim_run(r->sim, 100 * MS_NS, scribble, r);
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->memory[2][i], 0x77);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(sim_window(r->sim, i)->state, DXP_FUNCTION_OPEN);
	assert_true(sim_run(r->sim, 5 * S_NS, quiet, r));
	uint64_t before = total(r, 1);
	assert_int_equal(receive(r, 1, BASE, 100), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE, 100), DXP_OK);
	assert_true(total(r, 1) == before + 100);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(registers_rejected__lookup_misses),
		CASE(registers_rejected__bad_words),
		CASE(registers_rejected__longer_than_the_area),
		CASE(registers_rejected__no_register_mode_there),
		CASE(registers_rejected__memory_goes),
		CASE(registers_rejected__peer_lost),
		CASE(registers_rejected__receiver_comes_late),
		CASE(registers_rejected__receiver_never_comes),
		CASE(registers_rejected__full_until_named_again),
		CASE(registers_rejected__area_changed_in_the_middle),
		CASE(registers_rejected__area_named_in_the_middle),
		CASE(registers_rejected__scribbled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
