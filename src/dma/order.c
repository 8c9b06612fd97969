/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a program's order and converts it to the pump's. */
#include "base/error.h"
#include "dma/internal.h"

_Static_assert((int)DXP_BRIDGE_PIPELINED == (int)BRIDGE_PIPELINED &&
		       (int)DXP_BRIDGE_SEQUENTIAL == (int)BRIDGE_SEQUENTIAL,
	       "the same numbers");

static int check_user(const char *field, const void *base, uint64_t bytes)
{
	if (bytes && !base)
		return error_set(DXP_EINVAL, "dma: `%s` is NULL; give memory of this program",
				 field);
	if ((uintptr_t)base + bytes < (uintptr_t)base)
		return error_set(DXP_EINVAL, "dma: `%s` + `bytes` exceeds the address space",
				 field);
	return DXP_OK;
}

static int check_device(const struct dxp_dma *d, const char *field, uint64_t address,
			uint64_t bytes)
{
	if (bytes > d->memory_bytes || address > d->memory_bytes - bytes)
		return error_set(DXP_ERANGE,
				 "dma: %llu bytes at `%s` %#llx: the device has %llu bytes of "
				 "memory",
				 (unsigned long long)bytes, field, (unsigned long long)address,
				 (unsigned long long)d->memory_bytes);
	return DXP_OK;
}

static int check_through(const struct dxp_dma *d, const struct dxp_dma_order *o)
{
	uintptr_t from = (uintptr_t)o->from, to = (uintptr_t)o->to;

	if (!d->description.streams)
		return error_set(DXP_EUNSUPPORTED,
				 "dma: engine '%s' has no stream core; use 'board'",
				 d->description.name);
	if (from != to && o->bytes && from < to + o->bytes && to < from + o->bytes)
		return error_set(DXP_EINVAL,
				 "dma: `from` and `to` overlap; they must be equal or disjoint");
	return DXP_OK;
}

static int check_ends(const struct dxp_dma *d, const struct dxp_dma_order *o)
{
	bool reads = o->kind == DXP_DMA_TO_DEVICE || o->kind == DXP_DMA_THROUGH;
	bool writes = o->kind == DXP_DMA_FROM_DEVICE || o->kind == DXP_DMA_THROUGH;
	bool into = o->kind == DXP_DMA_TO_DEVICE || o->kind == DXP_DMA_DEVICE_TO_DEVICE;
	bool out_of = o->kind == DXP_DMA_FROM_DEVICE || o->kind == DXP_DMA_DEVICE_TO_DEVICE;
	int status = reads ? check_user("from", o->from, o->bytes) : DXP_OK;

	if (status == DXP_OK && writes)
		status = check_user("to", o->to, o->bytes);
	if (status == DXP_OK && into)
		status = check_device(d, "device_to", o->device_to, o->bytes);
	if (status == DXP_OK && out_of)
		status = check_device(d, "device_from", o->device_from, o->bytes);
	if (status == DXP_OK && o->kind == DXP_DMA_THROUGH)
		status = check_through(d, o);
	return status;
}

int dma_order_check(const struct dxp_dma *d, const struct dxp_dma_order *o)
{
	uint32_t most = bridge_buffer_bytes(pump_bridge(d->pump));

	if ((unsigned)o->kind > DXP_DMA_DEVICE_TO_DEVICE)
		return error_set(DXP_EINVAL, "dma: unknown `kind` %u", (unsigned)o->kind);
	if ((unsigned)o->mode > DXP_BRIDGE_SEQUENTIAL)
		return error_set(DXP_EINVAL, "dma: unknown `mode` %u", (unsigned)o->mode);
	if (o->piece_bytes && (o->piece_bytes < BRIDGE_BUFFER_MIN || o->piece_bytes > most))
		return error_set(DXP_EINVAL,
				 "dma: `piece_bytes` is %u; use %u to %u, or 0 for the default",
				 o->piece_bytes, BRIDGE_BUFFER_MIN, most);
	return check_ends(d, o);
}

static bool in_place(const struct dxp_dma_order *o)
{
	return o->in_place || o->kind == DXP_DMA_DEVICE_TO_DEVICE;
}

struct bridge_order dma_order_pumped(struct dxp_dma_transfer *t)
{
	static const uint8_t paths[] = {[DXP_DMA_TO_DEVICE] = BRIDGE_IN,
					[DXP_DMA_FROM_DEVICE] = BRIDGE_OUT,
					[DXP_DMA_THROUGH] = BRIDGE_THROUGH};
	const struct dxp_dma_order *o = &t->order;

	t->pump.device_from = o->device_from;
	t->pump.device_to = o->device_to;
	if (o->in_place && o->kind != DXP_DMA_DEVICE_TO_DEVICE) {
		t->pump.source = o->kind != DXP_DMA_FROM_DEVICE ? o->from : NULL;
		t->pump.sink = o->kind != DXP_DMA_TO_DEVICE ? o->to : NULL;
	}
	return (struct bridge_order){.path = in_place(o) ? BRIDGE_DIRECT : paths[o->kind],
				     .mode = (uint8_t)o->mode,
				     .bytes = o->bytes,
				     .piece_bytes = o->piece_bytes};
}
