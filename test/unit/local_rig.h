/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of tests of operations inside one NIC; each function has its own memory. Include cmocka.h
 * first. */
#ifndef TEST_UNIT_LOCAL_RIG_H
#define TEST_UNIT_LOCAL_RIG_H

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"
#include "nic/nic.h"
#include "nic/user.h"
#include "test/support/invariants.h"
#include "wire/ids.h"

#define RIG_BYTES (1u << 20) /* per function */
#define RIG_ALL   (NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC)

struct rig {
	struct nic *nic;
	uint64_t now_ns;
	struct dxp_window *window[NIC_FUNCTIONS];
	uint8_t *memory[NIC_FUNCTIONS];
	uint32_t key[NIC_FUNCTIONS];
};

static inline uint64_t rig_token(void *context, uint32_t id)
{
	return id;
}

static inline struct nic_options rig_options(void)
{
	static struct rng secrets = {7};

	return (struct nic_options){.node = WIRE_NODE_NONE,
				    .incarnation = 1,
				    .entropy = rng_entropy_rng,
				    .entropy_context = &secrets,
				    .token = rig_token};
}

static inline void rig_function(struct rig *r, uint32_t function)
{
	r->window[function] = aligned_alloc(4096, sizeof(struct dxp_window));
	memset(r->window[function], 0, sizeof(struct dxp_window));
	r->memory[function] = calloc(1, RIG_BYTES);
	assert_int_equal(nic_function_open(r->nic, function, r->window[function]), DXP_OK);
	assert_int_equal(nic_region_register(r->nic, function, r->memory[function], RIG_BYTES,
					     RIG_ALL, &r->key[function]),
			 DXP_OK);
}

static inline void rig_make(struct rig *r, const struct nic_options *o, uint32_t functions)
{
	*r = (struct rig){.now_ns = 1};
	assert_int_equal(nic_create(o, &r->nic), DXP_OK);
	for (uint32_t i = 0; i < functions; i++)
		rig_function(r, i);
}

static inline void rig_fill(struct rig *r, uint32_t function, uint8_t first)
{
	for (uint32_t i = 0; i < RIG_BYTES; i++)
		r->memory[function][i] = (uint8_t)(first + i * 7);
}

static inline void rig_end(struct rig *r)
{
	nic_destroy(r->nic);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		free(r->window[i]);
		free(r->memory[i]);
	}
}

/* Checks all invariants after each poll. */
static inline uint32_t rig_poll(struct rig *r)
{
	uint32_t accepted = nic_doorbells(r->nic, ++r->now_ns);
	const char *broken = invariants_broken(r->nic);

	if (broken)
		fail_msg("%s", broken);
	return accepted;
}

static inline void rig_run(struct rig *r)
{
	int polls = 0;

	do
		rig_poll(r);
	while (nic_deadline(r->nic) == 0 && ++polls < 100000);
	assert_int_not_equal(nic_deadline(r->nic), 0);
}

static inline struct dxp_target rig_target(const struct rig *r, uint8_t function, uint8_t qp)
{
	return (struct dxp_target){
		.function = function, .qp = qp, .magic = r->window[function]->qp_magic[qp]};
}

static inline struct dxp_entry rig_entry(const struct rig *r, uint32_t function, uint64_t offset,
					 uint32_t bytes)
{
	return (struct dxp_entry){.offset = offset, .bytes = bytes, .key = r->key[function]};
}

static inline struct dxp_nic_event rig_sent(struct rig *r, uint32_t function, uint64_t context,
					    int status)
{
	struct dxp_nic_event e;

	assert_true(dxp_sent_dequeue(r->window[function], &e));
	assert_int_equal(e.type, DXP_EVENT_SENT);
	assert_int_equal(e.context, context);
	assert_int_equal(e.status, status);
	return e;
}

static inline uint32_t rig_received(struct rig *r, uint32_t function)
{
	uint32_t count = 0;

	for (; dxp_received_peek(r->window[function]); count++)
		dxp_received_release(r->window[function]);
	return count;
}

static inline struct dxp_function_counters rig_counters(const struct rig *r, uint32_t function)
{
	struct dxp_function_counters c;

	nic_function_counters(r->nic, function, &c);
	assert_memory_equal(&c, &r->window[function]->counters, sizeof(c));
	return c;
}

#endif
