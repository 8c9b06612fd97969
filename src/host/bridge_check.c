/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/bridge_check.h"

#include "base/util.h"
#include "host/internal.h"

_Static_assert((int)DXP_BRIDGE_TO_DEVICE == (int)COMMAND_BRIDGE_IN &&
		       (int)DXP_BRIDGE_FROM_DEVICE == (int)COMMAND_BRIDGE_OUT &&
		       (int)DXP_BRIDGE_THROUGH == (int)COMMAND_BRIDGE_THROUGH,
	       "the same numbers");
_Static_assert((int)DXP_BRIDGE_PIPELINED == (int)COMMAND_BRIDGE_PIPELINED &&
		       (int)DXP_BRIDGE_SEQUENTIAL == (int)COMMAND_BRIDGE_SEQUENTIAL,
	       "the same numbers");

bool bridge_reads_host(enum dxp_bridge_path path)
{
	return path == DXP_BRIDGE_TO_DEVICE || path == DXP_BRIDGE_THROUGH;
}

bool bridge_writes_host(enum dxp_bridge_path path)
{
	return path == DXP_BRIDGE_FROM_DEVICE || path == DXP_BRIDGE_THROUGH;
}

static int check_host(const char *field, const void *base, uint64_t bytes)
{
	if (bytes && !base)
		return error_set(DXP_EINVAL, "bridge: `%s` is NULL; give host memory", field);
	if ((uintptr_t)base + bytes < (uintptr_t)base)
		return error_set(DXP_EINVAL, "bridge: `%s` + `bytes` exceeds the address space",
				 field);
	return DXP_OK;
}

static int check_device(const struct dxp_xpu *x, const char *field, uint64_t address,
			uint64_t bytes)
{
	if (bytes > x->caps.memory_bytes || address > x->caps.memory_bytes - bytes)
		return error_set(DXP_ERANGE,
				 "bridge: %llu bytes at `%s` %#llx: xPU '%s' has %llu bytes of "
				 "memory",
				 (unsigned long long)bytes, field, (unsigned long long)address,
				 x->caps.name, (unsigned long long)x->caps.memory_bytes);
	return DXP_OK;
}

static int check_through(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	uintptr_t from = (uintptr_t)t->from, to = (uintptr_t)t->to;

	if (!x->caps.streams)
		return error_set(DXP_EUNSUPPORTED,
				 "bridge: xPU '%s' (engine '%s') has no stream core; use an xPU "
				 "with the engine 'board'",
				 x->caps.name, x->caps.engine);
	/* Pieces could overwrite bytes not read yet. */
	if (from != to && t->bytes && from < to + t->bytes && to < from + t->bytes)
		return error_set(DXP_EINVAL,
				 "bridge: `from` and `to` overlap; they must be equal or disjoint");
	return DXP_OK;
}

static int check_peer(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	const struct dxp_xpu *peer = t->peer;

	if (t->path != DXP_BRIDGE_DEVICE_TO_DEVICE)
		return !peer ? DXP_OK
			     : error_set(DXP_EINVAL, "bridge: `peer` is for DEVICE_TO_DEVICE only; "
						     "leave it NULL");
	if (!peer)
		return error_set(DXP_EINVAL,
				 "bridge: DEVICE_TO_DEVICE needs `peer`, the xPU to read from");
	if (peer->fabric != x->fabric)
		return error_set(DXP_EINVAL, "bridge: `peer` and the xPU belong to different "
					     "fabrics; open both through one");
	if (peer->node == x->node)
		return error_set(DXP_EINVAL,
				 "bridge: `peer` is xPU '%s' itself; copy there with a kernel",
				 x->caps.name);
	return peer->status == DXP_OK ? DXP_OK : error_xpu(peer, peer->status, "bridge");
}

static int check_sizes(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	/* Without a bridge only the protocol bounds it. */
	uint32_t most = x->caps.buffer_bytes ? x->caps.buffer_bytes : WIRE_BUFFER_MAX;

	if (t->piece_bytes && (t->piece_bytes < WIRE_BUFFER_MIN || t->piece_bytes > most))
		return error_set(DXP_EINVAL,
				 "bridge: `piece_bytes` is %u; xPU '%s' accepts %u to %u, or 0 for "
				 "its default",
				 t->piece_bytes, x->caps.name, WIRE_BUFFER_MIN, most);
	if ((unsigned)t->mode > DXP_BRIDGE_SEQUENTIAL)
		return error_set(DXP_EINVAL, "bridge: unknown `mode` %u", (unsigned)t->mode);
	return DXP_OK;
}

static int check_ranges(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	int status = DXP_OK;

	if (bridge_reads_host(t->path))
		status = check_host("from", t->from, t->bytes);
	if (status == DXP_OK && bridge_writes_host(t->path))
		status = check_host("to", t->to, t->bytes);
	if (status != DXP_OK)
		return status;
	switch (t->path) {
	case DXP_BRIDGE_TO_DEVICE: return check_device(x, "device_to", t->device_to, t->bytes);
	case DXP_BRIDGE_FROM_DEVICE:
		return check_device(x, "device_from", t->device_from, t->bytes);
	case DXP_BRIDGE_THROUGH: return check_through(x, t);
	case DXP_BRIDGE_DEVICE_TO_DEVICE:
		status = check_device(t->peer, "device_from", t->device_from, t->bytes);
		return status == DXP_OK ? check_device(x, "device_to", t->device_to, t->bytes)
					: status;
	}
	return DXP_EINVAL;
}

int bridge_check(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t, struct command *c)
{
	if ((unsigned)t->path > DXP_BRIDGE_DEVICE_TO_DEVICE)
		return error_set(DXP_EINVAL, "bridge: unknown `path` %u", (unsigned)t->path);
	int status = check_peer(x, t);
	if (status == DXP_OK)
		status = check_sizes(x, t);
	if (status == DXP_OK)
		status = check_ranges(x, t);
	if (status != DXP_OK)
		return status;
	*c = (struct command){.op = COMMAND_BRIDGE,
			      .path = (uint8_t)t->path,
			      .mode = (uint8_t)t->mode,
			      .piece_bytes = t->piece_bytes,
			      .bytes = t->bytes};
	if (t->path == DXP_BRIDGE_TO_DEVICE || t->path == DXP_BRIDGE_DEVICE_TO_DEVICE)
		c->address = t->device_to;
	else if (t->path == DXP_BRIDGE_FROM_DEVICE)
		c->address = t->device_from;
	if (t->path == DXP_BRIDGE_DEVICE_TO_DEVICE) {
		c->path = COMMAND_BRIDGE_IN;
		c->to_node = t->peer->node;
		c->from_key = t->peer->memory_key;
		c->from_address = t->device_from;
	} else {
		c->to_node = node_id(x->fabric->node);
	}
	return DXP_OK;
}
