/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up hosts that PUT to and GET from the last host, whose memory is behind a bridge. Include
 * cmocka.h first. */
#ifndef TEST_SIM_BRIDGE_RIG_H
#define TEST_SIM_BRIDGE_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "sim/bridge_node.h"

#define RIG_HOSTS_MAX 33
#define RIG_OPS_MAX   4096
#define RIG_MB        1000000ull

struct rig_op {
	uint32_t host;
	bool get;
	/* at the device's host, but outside the bridge */
	bool plain;
	uint64_t local, remote; /* in the host's memory; in the target's */
	uint32_t bytes;
	uint16_t qp;
	bool posted, ended;
	int status;
	uint64_t end_ns;
};

struct rig_options {
	struct sim_options sim; /* `hosts` includes the device host */
	struct bridge_node_options device;
	uint64_t memory_bytes;          /* per host, except the device host */
	uint32_t depth;                 /* outstanding operations per host; 0: 8 */
	uint32_t depths[RIG_HOSTS_MAX]; /* of single hosts; 0: `depth` */
};

struct rig {
	struct rig_options options;
	struct sim *sim;
	uint32_t device_host;
	struct bridge_node *device;
	uint8_t *plain; /* outside the bridge, or NULL */
	uint32_t plain_key;
	uint8_t *memory[RIG_HOSTS_MAX];
	uint32_t key[RIG_HOSTS_MAX], outstanding[RIG_HOSTS_MAX];
	struct rig_op ops[RIG_OPS_MAX];
	uint32_t count, left;
	const char *wrong;
};

static inline void rig_fill(uint8_t *out, uint64_t bytes, uint64_t seed)
{
	struct rng r = {seed};

	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t word = rng_next(&r);
		memcpy(out + i, &word, min_u64(8, bytes - i));
	}
}

static inline void rig_host_start(struct rig *r, uint32_t host)
{
	assert_int_equal(nic_region_register(sim_nic(r->sim, host), 0, r->memory[host],
					     r->options.memory_bytes, 0, &r->key[host]),
			 DXP_OK);
}

static inline struct rig *rig_create(const struct rig_options *options)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->options = *options;
	r->device_host = options->sim.hosts - 1;
	r->options.depth = options->depth ? options->depth : 8;
	assert_int_equal(sim_create(&options->sim, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < r->device_host; i++) {
		r->memory[i] = malloc(options->memory_bytes);
		assert_non_null(r->memory[i]);
		rig_fill(r->memory[i], options->memory_bytes, options->sim.seed + i);
		rig_host_start(r, i);
	}
	assert_int_equal(bridge_node_create(r->sim, r->device_host, &options->device, &r->device),
			 DXP_OK);
	return r;
}

static inline void rig_destroy(struct rig *r)
{
	sim_destroy(r->sim);
	bridge_node_destroy(r->device);
	for (uint32_t i = 0; i < r->device_host; i++)
		free(r->memory[i]);
	free(r->plain);
	free(r);
}

static inline struct rig_op *rig_op(struct rig *r, uint32_t host, bool get, uint64_t local,
				    uint64_t remote, uint32_t bytes)
{
	struct rig_op *op = &r->ops[r->count++];

	assert_true(r->count <= RIG_OPS_MAX);
	*op = (struct rig_op){
		.host = host,
		.get = get,
		.local = local,
		.remote = remote,
		.bytes = bytes,
		.qp = (uint16_t)((r->count - 1) % 4),
	};
	r->left++;
	return op;
}

static inline bool rig_same(struct rig *r, const struct rig_op *op)
{
	const uint8_t *there = op->plain ? r->plain : bridge_node_memory(r->device);

	return memcmp(r->memory[op->host] + op->local, there + op->remote, op->bytes) == 0;
}

static inline void rig_completions_dequeue(struct rig *r, uint32_t host)
{
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(sim_window(r->sim, host), &event)) {
		struct rig_op *op = &r->ops[event.context];
		if (op->ended)
			r->wrong = "an operation ended twice";
		op->ended = true;
		op->status = event.status;
		op->end_ns = sim_now(r->sim);
		r->outstanding[host]--;
		r->left--;
		/* right when the completion arrives, not only later */
		if (op->status == DXP_OK && !rig_same(r, op))
			r->wrong = op->get ? "a GET brought wrong bytes"
					   : "a PUT ended before its bytes were in the device";
	}
}

static inline uint32_t rig_depth(const struct rig *r, uint32_t host)
{
	return r->options.depths[host] ? r->options.depths[host] : r->options.depth;
}

static inline void rig_post(struct rig *r, struct rig_op *op)
{
	struct dxp_target to = sim_target(r->sim, r->device_host, 0);
	struct dxp_entry local = {op->local, op->bytes, r->key[op->host]};
	struct dxp_entry remote = {op->remote, op->bytes,
				   op->plain ? r->plain_key : bridge_node_key(r->device)};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_window *w = sim_window(r->sim, op->host);
	uint64_t context = (uint64_t)(op - r->ops);
	uint16_t qp = op->qp;

	to.qp = qp;
	to.magic = sim_target(r->sim, r->device_host, qp).magic;
	int status = op->get ? nic_user_get(w, qp, &to, &lists, context)
			     : nic_user_put(w, qp, &to, &lists, context);
	if (status != DXP_OK)
		return;
	op->posted = true;
	r->outstanding[op->host]++;
}

/* Condition for sim_run: returns true when all operations have completed, or on an error. */
static inline bool rig_step(void *context)
{
	struct rig *r = context;

	for (uint32_t i = 0; i < r->device_host; i++)
		rig_completions_dequeue(r, i);
	for (uint32_t i = 0; r->left > 0 && i < r->count; i++)
		if (!r->ops[i].posted &&
		    r->outstanding[r->ops[i].host] < rig_depth(r, r->ops[i].host))
			rig_post(r, &r->ops[i]);
	return r->wrong || r->left == 0;
}

/* Returns the first error, or NULL. */
static inline const char *rig_run(struct rig *r, uint64_t limit_ns)
{
	bool finished = sim_run(r->sim, limit_ns, rig_step, r);

	if (!r->wrong && !finished)
		r->wrong = "did not finish in time";
	return r->wrong;
}

/* Returns NULL if no transfer left state behind, else the error. */
static inline const char *rig_clean(struct rig *r)
{
	uint32_t used[2];

	sim_run(r->sim, S_NS, NULL, NULL);
	struct bridge_node_counters c = bridge_node_counters(r->device);
	bridge_buffers_used(bridge_node_core(r->device), &used[0], &used[1]);
	if (c.open || used[0] || used[1] || bridge_transfers(bridge_node_core(r->device)))
		return "transfers or buffers are left";
	return NULL;
}

#endif
