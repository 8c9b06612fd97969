/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up hosts whose devices use register mode only. Include cmocka.h first. DXP_SEED=n changes
 * the network's faults. */
#ifndef TEST_SIM_REGISTERS_H
#define TEST_SIM_REGISTERS_H

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"

#define MEMORY 262144
#define HOSTS  3
#define BASE   0x7f0000000000ull /* of each device's own memory */

struct rig {
	struct sim *sim;
	uint8_t memory[HOSTS][MEMORY];
	uint32_t key[HOSTS];
	bool halves; /* 64-bit registers are stored as two words */
};

static inline uint64_t seed(void)
{
	const char *text = getenv("DXP_SEED");

	return text ? strtoull(text, NULL, 0) : 11;
}

static inline struct rig *rig_make(uint64_t number, const struct sim_faults *faults)
{
	static struct rig rig;
	struct sim_options o = {.seed = number, .hosts = HOSTS};

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

static inline struct rig *rig_again(void **state, uint64_t number, const struct sim_faults *faults)
{
	sim_destroy(((struct rig *)*state)->sim);
	*state = rig_make(number, faults);
	assert_non_null(*state);
	return *state;
}

static inline int rig_open(void **state)
{
	*state = rig_make(seed(), NULL);
	return *state ? 0 : -1;
}

static inline int rig_close(void **state)
{
	struct rig *r = *state;

	sim_destroy(r->sim);
	return 0;
}

/* ---- the device: loads and stores of volatile words ---- */

static inline volatile uint32_t *word(const struct rig *r, uint32_t host, size_t offset)
{
	return (volatile uint32_t *)(void *)((uint8_t *)sim_window(r->sim, host) + offset);
}

#define REGISTER(name) \
	(offsetof(struct dxp_window, registers) + offsetof(struct dxp_registers, name))

static inline void store64(const struct rig *r, uint32_t host, size_t offset, uint64_t value)
{
	if (r->halves) {
		*word(r, host, offset + 4) = (uint32_t)(value >> 32);
		*word(r, host, offset) = (uint32_t)value;
	} else {
		*(volatile uint64_t *)(void *)word(r, host, offset) = value;
	}
}

static inline uint64_t total(const struct rig *r, uint32_t host)
{
	size_t offset = offsetof(struct dxp_window, total_bytes);

	if (!r->halves)
		return *(volatile uint64_t *)(void *)word(r, host, offset);
	return (uint64_t)*word(r, host, offset + 4) << 32 | *word(r, host, offset);
}

static inline void send_words(struct rig *r, uint32_t from, uint32_t to, uint64_t vaddr,
			      uint32_t bytes)
{
	struct dxp_target target = sim_target(r->sim, to, 1);

	store64(r, from, REGISTER(send_vaddr), vaddr);
	*word(r, from, REGISTER(send_bytes)) = bytes;
	*word(r, from, REGISTER(node)) = target.node;
	*word(r, from, REGISTER(queue)) = 1;
	*word(r, from, REGISTER(magic)) = target.magic;
	*word(r, from, REGISTER(qp)) = 2;
}

static inline void go(struct rig *r, uint32_t host)
{
	++*word(r, host, REGISTER(send_go));
}

static inline bool sent(const struct rig *r, uint32_t host)
{
	return *word(r, host, REGISTER(send_done)) == *word(r, host, REGISTER(send_go));
}

static inline void arm(struct rig *r, uint32_t host, uint64_t vaddr, uint32_t bytes)
{
	store64(r, host, REGISTER(recv_vaddr), vaddr);
	*word(r, host, REGISTER(recv_bytes)) = bytes;
	++*word(r, host, REGISTER(recv_go));
}

static inline bool armed(const struct rig *r, uint32_t host)
{
	return *word(r, host, REGISTER(recv_done)) == *word(r, host, REGISTER(recv_go));
}

/* ---- waiting ---- */

static inline bool all_sent(void *context)
{
	for (uint32_t i = 0; i < HOSTS; i++)
		if (!sent(context, i) || !armed(context, i))
			return false;
	return true;
}

/* Runs until the sends of all hosts have completed. Returns the error register of `host` as a
 * status. */
static inline int finish(struct rig *r, uint32_t host)
{
	assert_true(sim_run(r->sim, 30 * S_NS, all_sent, r));
	return -(int)*word(r, host, REGISTER(send_error));
}

static inline int send(struct rig *r, uint32_t from, uint32_t to, uint64_t vaddr, uint32_t bytes)
{
	send_words(r, from, to, vaddr, bytes);
	go(r, from);
	return finish(r, from);
}

static inline int receive(struct rig *r, uint32_t host, uint64_t vaddr, uint32_t bytes)
{
	arm(r, host, vaddr, bytes);
	finish(r, host);
	return -(int)*word(r, host, REGISTER(recv_error));
}

static inline void pattern(struct rig *r, uint32_t host, uint32_t at, uint32_t bytes, uint32_t salt)
{
	for (uint32_t i = 0; i < bytes; i++)
		r->memory[host][at + i] = (uint8_t)(i * 7 + (i >> 8) * 3 + salt);
}

/* Register mode does not use rings. */
static inline void rings_empty(const struct rig *r)
{
	struct dxp_nic_event event;

	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_false(dxp_sent_dequeue(sim_window(r->sim, i), &event));
		assert_null(dxp_received_peek(sim_window(r->sim, i)));
	}
}

static inline void message_goes(struct rig *r)
{
	pattern(r, 0, 1000, 5000, 1);
	assert_int_equal(receive(r, 1, BASE + 64, 20000), DXP_OK);
	assert_int_equal(send(r, 0, 1, BASE + 1000, 5000), DXP_OK);
	assert_memory_equal(r->memory[1] + 64, r->memory[0] + 1000, 5000);
	assert_true(total(r, 1) == 5000);
	assert_int_equal(*word(r, 1, REGISTER(recv_used)), 5000);
	/* behind the first one */
	assert_int_equal(send(r, 0, 1, BASE + 1000, 1), DXP_OK);
	assert_int_equal(r->memory[1][64 + 5000], r->memory[0][1000]);
	assert_int_equal(r->memory[1][64 + 5001], 0);
	assert_true(total(r, 1) == 5001);
	rings_empty(r);
}

#endif
