/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/fake_bridge.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bridge/limits.h"
#include "nic/user.h"

#define PIECE_BYTES (256u << 10)
#define CONTEXT     78
#define QP          1

static int move(const struct fake_bridge *b, const struct dxp_target *to, bool put,
		struct dxp_entry local, struct dxp_entry remote)
{
	const struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_window *w = node_window(b->node);
	struct dxp_nic_event sent;
	int status = put ? nic_user_put(w, QP, to, &lists, CONTEXT)
			 : nic_user_get(w, QP, to, &lists, CONTEXT);

	while (status == DXP_OK && !atomic_load(b->frozen)) {
		if (!node_poll(b->node))
			node_wait(b->node, clock_now_ns() + MS_NS);
		while (dxp_sent_dequeue(w, &sent))
			/* counts as a lost peer, as in src/xpu/bulk.c */
			if (sent.context == CONTEXT)
				return sent.status == DXP_ETIMEDOUT ? DXP_EPEERLOST : sent.status;
	}
	return status == DXP_OK ? DXP_ECLOSED : status;
}

static void add(uint8_t *at, uint32_t bytes, uint32_t operand)
{
	for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
		uint32_t word;
		memcpy(&word, at + i, 4);
		word += operand;
		memcpy(at + i, &word, 4);
	}
}

/* Its range in the xPU's memory, in the source and in the destination. */
struct piece {
	struct dxp_entry here, from, to;
};

static int move_piece(const struct fake_bridge *b, const struct command *c,
		      const struct dxp_target *to, const struct piece *p)
{
	int status = DXP_OK;

	if (c->path != COMMAND_BRIDGE_OUT)
		status = move(b, to, false, p->here, p->from);
	if (status == DXP_OK && c->path == COMMAND_BRIDGE_THROUGH)
		add(b->memory + p->here.offset, p->here.bytes, *b->operand);
	if (status == DXP_OK && c->path != COMMAND_BRIDGE_IN)
		status = move(b, to, true, p->here, p->to);
	return status;
}

static int fault(const struct fake_bridge *b, const struct command *c, uint32_t pieces)
{
	const uint8_t *data;

	while (atomic_load(&b->faults->hold_after) == pieces && !atomic_load(b->frozen)) {
		node_poll(b->node);
		if (nic_user_received_peek(node_window(b->node), &data))
			return DXP_ECLOSED;
		node_wait(b->node, clock_now_ns() + MS_NS);
	}
	if (atomic_load(&b->faults->lie_after) == pieces)
		b->lie(b->context, c);
	if (atomic_load(&b->faults->freeze_after) == pieces)
		atomic_store(b->frozen, true);
	return atomic_load(&b->faults->fail_after) == pieces ? atomic_load(&b->faults->fail_status)
							     : DXP_OK;
}

int fake_bridge_run(const struct fake_bridge *b, const struct command *c)
{
	/* transfers through the stream core use the last bytes of the memory as a buffer */
	uint64_t scratch = b->memory_bytes - BRIDGE_BUFFER_MAX;
	uint32_t most = c->piece_bytes ? c->piece_bytes : PIECE_BYTES, pieces = 0;
	struct dxp_target other = b->host;
	int status = c->to_node == b->host.node ? DXP_OK : node_target(b->node, c->to_node, &other);

	if (c->bytes > b->memory_bytes || c->address > b->memory_bytes - c->bytes)
		return DXP_ERANGE;
	for (uint64_t at = 0; status == DXP_OK && at < c->bytes; at += most) {
		uint32_t bytes = (uint32_t)min_u64(most, c->bytes - at);
		uint64_t here = c->path == COMMAND_BRIDGE_THROUGH ? scratch : c->address + at;
		const struct piece p = {{here, bytes, b->key},
					{c->from_address + at, bytes, c->from_key},
					{c->to_address + at, bytes, c->to_key}};
		status = move_piece(b, c, &other, &p);
		atomic_fetch_add(b->started, 1);
		if (status == DXP_OK)
			status = fault(b, c, ++pieces);
	}
	return status;
}
