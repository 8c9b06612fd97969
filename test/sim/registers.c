/* SPDX-License-Identifier: BSD-3-Clause */
/* Register mode over the network (P-02 .. P-06): a "device" that only stores and loads words sends,
 * receives, and reads why something failed. DXP_SEED changes the network's luck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/sim.h"

#define MEMORY 262144
#define HOSTS  3
#define BASE   0x7f0000000000ull /* where the devices see their memory */

struct rig {
	struct sim *sim;
	uint8_t memory[HOSTS][MEMORY];
	uint32_t key[HOSTS];
	bool halves; /* the devices store 32 bits at a time */
};

static uint64_t seed(void)
{
	const char *text = getenv("DXP_SEED");

	return text ? strtoull(text, NULL, 0) : 11;
}

static struct rig *rig_make(const struct sim_faults *faults)
{
	static struct rig rig;
	struct sim_options o = {.seed = seed(), .hosts = HOSTS};

	memset(&rig, 0, sizeof(rig));
	if (faults)
		o.faults = *faults;
	if (sim_create(&o, &rig.sim) != DXP_OK)
		return NULL;
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct nic *n = sim_nic(rig.sim, i);
		nic_region_register(n, 0, rig.memory[i], MEMORY, NIC_LOCAL, &rig.key[i]);
		const struct nic_area area = {BASE, MEMORY, 0, rig.key[i]};
		if (nic_area_add(n, 0, &area) != DXP_OK)
			return NULL;
	}
	return &rig;
}

static int rig_open(void **state)
{
	*state = rig_make(NULL);
	return *state ? 0 : -1;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	sim_destroy(r->sim);
	return 0;
}

/* ---- the device: volatile words, and that is all it knows ---- */

static volatile uint32_t *word(const struct rig *r, uint32_t host, size_t offset)
{
	return (volatile uint32_t *)(void *)((uint8_t *)sim_window(r->sim, host) + offset);
}

#define REGISTER(name) \
	(offsetof(struct dxp_window, registers) + offsetof(struct dxp_registers, name))

static void store64(const struct rig *r, uint32_t host, size_t offset, uint64_t value)
{
	if (r->halves) {
		*word(r, host, offset + 4) = (uint32_t)(value >> 32);
		*word(r, host, offset) = (uint32_t)value;
	} else {
		*(volatile uint64_t *)(void *)word(r, host, offset) = value;
	}
}

static uint64_t total(const struct rig *r, uint32_t host)
{
	size_t offset = offsetof(struct dxp_window, total_bytes);

	if (!r->halves)
		return *(volatile uint64_t *)(void *)word(r, host, offset);
	return (uint64_t)*word(r, host, offset + 4) << 32 | *word(r, host, offset);
}

static void send_words(struct rig *r, uint32_t from, uint32_t to, uint64_t vaddr, uint32_t bytes)
{
	struct dxp_target target = sim_target(r->sim, to, 1);

	store64(r, from, REGISTER(send_vaddr), vaddr);
	*word(r, from, REGISTER(send_bytes)) = bytes;
	*word(r, from, REGISTER(node)) = target.node;
	*word(r, from, REGISTER(queue)) = 1;
	*word(r, from, REGISTER(magic)) = target.magic;
	*word(r, from, REGISTER(qp)) = 2;
}

static void go(struct rig *r, uint32_t host)
{
	++*word(r, host, REGISTER(send_go));
}

static bool sent(const struct rig *r, uint32_t host)
{
	return *word(r, host, REGISTER(send_done)) == *word(r, host, REGISTER(send_go));
}

static void arm(struct rig *r, uint32_t host, uint64_t vaddr, uint32_t bytes)
{
	store64(r, host, REGISTER(recv_vaddr), vaddr);
	*word(r, host, REGISTER(recv_bytes)) = bytes;
	++*word(r, host, REGISTER(recv_go));
}

static bool armed(const struct rig *r, uint32_t host)
{
	return *word(r, host, REGISTER(recv_done)) == *word(r, host, REGISTER(recv_go));
}

/* ---- waiting ---- */

static bool all_sent(void *context)
{
	for (uint32_t i = 0; i < HOSTS; i++)
		if (!sent(context, i) || !armed(context, i))
			return false;
	return true;
}

/* The error that the device reads, as a status. */
static int finish(struct rig *r, uint32_t host)
{
	assert_true(sim_run(r->sim, 30 * S_NS, all_sent, r));
	return -(int)*word(r, host, REGISTER(send_error));
}

static int send(struct rig *r, uint32_t from, uint32_t to, uint64_t vaddr, uint32_t bytes)
{
	send_words(r, from, to, vaddr, bytes);
	go(r, from);
	return finish(r, from);
}

static int receive(struct rig *r, uint32_t host, uint64_t vaddr, uint32_t bytes)
{
	arm(r, host, vaddr, bytes);
	finish(r, host);
	return -(int)*word(r, host, REGISTER(recv_error));
}

static void pattern(struct rig *r, uint32_t host, uint32_t at, uint32_t bytes, uint32_t salt)
{
	for (uint32_t i = 0; i < bytes; i++)
		r->memory[host][at + i] = (uint8_t)(i * 7 + (i >> 8) * 3 + salt);
}

/* No completion, no event: who uses registers knows nothing of rings. */
static void rings_empty(const struct rig *r)
{
	struct dxp_nic_event event;

	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_false(dxp_sent_take(sim_window(r->sim, i), &event));
		assert_null(dxp_received_peek(sim_window(r->sim, i)));
	}
}

/* ---- it works ---- */

static void message_goes(struct rig *r)
{
	pattern(r, 0, 1000, 5000, 1);
	assert_int_equal(receive(r, 1, BASE + 64, 20000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE + 1000, 5000), DXP_OK);
	assert_memory_equal(r->memory[1] + 64, r->memory[0] + 1000, 5000);
	assert_true(total(r, 1) == 5000);
	assert_int_equal(*word(r, 1, REGISTER(recv_used)), 5000);
	assert_int_equal(send(r, 0, 1, BASE + 1000, 1), DXP_OK); /* behind the other */
	assert_int_equal(r->memory[1][64 + 5000], r->memory[0][1000]);
	assert_int_equal(r->memory[1][64 + 5001], 0);
	assert_true(total(r, 1) == 5001);
	rings_empty(r);
}

static void registers__send_and_receive(void **state)
{
	message_goes(*state);
}

static void registers__stores_of_32_bits(void **state)
{
	struct rig *r = *state;

	r->halves = true;
	message_goes(r);
}

static void registers__by_ip_and_port(void **state)
{
	struct rig *r = *state;
	struct wire_address a;

	net_address(2, &a);
	uint32_t ip = (uint32_t)a.ip[12] << 24 | (uint32_t)a.ip[13] << 16 |
		      (uint32_t)a.ip[14] << 8 | a.ip[15];
	assert_int_equal(receive(r, 2, BASE, 100), DXP_OK);
	for (uint32_t i = 0; i < 3; i++) {
		send_words(r, 0, 2, BASE, 10);
		*word(r, 0, REGISTER(node)) = 0;
		*word(r, 0, REGISTER(ip)) = ip;
		*word(r, 0, REGISTER(port)) = a.port;
		go(r, 0);
		assert_int_equal(finish(r, 0), DXP_OK);
	}
	assert_true(total(r, 2) == 30);
	++*word(r, 0, REGISTER(ip)); /* nobody there, or host 3's: there is none */
	*word(r, 0, REGISTER(port)) = a.port + 1u;
	go(r, 0);
	assert_int_equal(finish(r, 0), DXP_EPEERLOST);
	*word(r, 0, REGISTER(port)) = 65536u + a.port;
	go(r, 0);
	assert_int_equal(finish(r, 0), DXP_EINVAL);
}

/* Each waits for its own total to grow and answers; as P-04 has it. */
struct game {
	struct rig *rig;
	uint32_t rounds[2];
};

static bool play(void *context)
{
	struct game *g = context;
	struct rig *r = g->rig;

	for (uint32_t i = 0; i < 2; i++) {
		if (total(r, i) < 256ull * (g->rounds[i] + 1) || !sent(r, i))
			continue;
		uint32_t ball = 2 * g->rounds[i]++ + i;
		assert_int_equal(r->memory[i][256], ball & 0xff);
		assert_int_equal(r->memory[i][511], ball & 0xff);
		memset(r->memory[i], (int)(ball + 1), 256);
		arm(r, i, BASE + 256, 256); /* before the answer can come */
		send_words(r, i, 1 - i, BASE, 256);
		go(r, i);
	}
	return g->rounds[0] == 1000;
}

static void registers__ping_pong(void **state)
{
	struct rig *r = *state;
	struct game g = {.rig = r};

	assert_int_equal(receive(r, 0, BASE + 256, 256), DXP_OK);
	assert_int_equal(receive(r, 1, BASE + 256, 256), DXP_OK);
	send_words(r, 1, 0, BASE, 256);
	go(r, 1);
	assert_true(sim_run(r->sim, 10 * S_NS, play, &g));
	assert_int_equal(nic_counters(sim_nic(r->sim, 0))->receiver_busy, 0);
	assert_int_equal(nic_counters(sim_nic(r->sim, 1))->receiver_busy, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(registers__send_and_receive),
		CASE(registers__stores_of_32_bits),
		CASE(registers__by_ip_and_port),
		CASE(registers__ping_pong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
