/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager of the simulated fabric, and its store in memory. */
#ifndef TEST_SIM_FABRIC_MANAGER_H
#define TEST_SIM_FABRIC_MANAGER_H

#include "test/sim/fabric_network.h"

static void store_apply(struct fabric *f, const struct store_op *op)
{
	size_t i = 0;

	assert_true(op->entry.id < FABRIC_IDS);
	switch (op->kind) {
	case STORE_NODE_PUT:
		for (unsigned id = 0; id < FABRIC_IDS; id++)
			if (f->stored[id] &&
			    memcmp(f->nodes[id].entry.uuid, op->entry.uuid, WIRE_UUID_BYTES) == 0)
				f->stored[id] = false;
		f->nodes[op->entry.id] = *op;
		f->stored[op->entry.id] = true;
		return;
	case STORE_NODE_DELETE: f->stored[op->entry.id] = false; return;
	case STORE_KEY_PUT:
		assert_true(op->index < ARRAY_COUNT(f->keys));
		f->keys[op->index] = *op;
		f->key_count = max_u64(f->key_count, op->index + 1);
		return;
	case STORE_TOKEN_PUT:
		f->tokens[op->index] = *op;
		f->token_count = max_u64(f->token_count, op->index + 1);
		return;
	case STORE_FABRIC_PUT: f->fabric = op->fabric; return;
	case STORE_MANAGER_PUT: f->manager_row = op->manager; return;
	case STORE_GRANT_PUT:
		assert_true(f->grant_count < ARRAY_COUNT(f->grants));
		f->grants[f->grant_count++] = *op;
		return;
	case STORE_GRANT_DELETE:
		while (i < f->grant_count &&
		       (strcmp(f->grants[i].host, op->host) || strcmp(f->grants[i].xpu, op->xpu)))
			i++;
		assert_true(i < f->grant_count);
		f->grants[i] = f->grants[--f->grant_count];
	}
}

static void fabric_manager_poll(struct fabric *f)
{
	struct datagram out[16];
	struct store_op op;
	size_t count;

	if (!f->registry)
		return;
	do {
		while (registry_next_store(f->registry, &op))
			store_apply(f, &op);
		count = registry_send(f->registry, out, ARRAY_COUNT(out), f->now_ns);
		for (size_t i = 0; i < count; i++) {
			f->manager_datagrams_out++;
			f->manager_bytes_out += out[i].header_bytes + out[i].slices[0].bytes;
			fabric_carry(f, &f->manager, &out[i]);
		}
	} while (count > 0);
}

UNUSED static void fabric_manager_start(struct fabric *f)
{
	assert_null(f->registry);
	assert_int_equal(registry_create(&f->options, &f->registry), DXP_OK);
	for (size_t i = 0; i < f->key_count; i++)
		assert_int_equal(registry_load(f->registry, &f->keys[i]), DXP_OK);
	for (size_t i = 0; i < f->token_count; i++)
		assert_int_equal(registry_load(f->registry, &f->tokens[i]), DXP_OK);
	for (unsigned id = 0; id < FABRIC_IDS; id++)
		if (f->stored[id])
			assert_int_equal(registry_load(f->registry, &f->nodes[id]), DXP_OK);
	for (size_t i = 0; i < f->grant_count; i++)
		assert_int_equal(registry_load(f->registry, &f->grants[i]), DXP_OK);
	if (f->fabric.generation)
		assert_int_equal(
			registry_load(f->registry, &(struct store_op){.kind = STORE_FABRIC_PUT,
								      .fabric = f->fabric}),
			DXP_OK);
	if (f->manager_row.generation)
		assert_int_equal(
			registry_load(f->registry, &(struct store_op){.kind = STORE_MANAGER_PUT,
								      .manager = f->manager_row}),
			DXP_OK);
	registry_start(f->registry, f->now_ns);
}

UNUSED static void fabric_manager_stop(struct fabric *f)
{
	registry_destroy(f->registry);
	f->registry = NULL;
}

UNUSED static void fabric_store_lose(struct fabric *f)
{
	memset(f->stored, 0, sizeof(f->stored));
	f->grant_count = f->key_count = f->token_count = 0;
	f->fabric.generation = f->manager_row.generation = 0;
}

#endif
