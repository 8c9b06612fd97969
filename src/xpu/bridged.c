/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/bridged_internal.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/limits.h"
#include "nic/limits.h"
#include "xpu/limits.h"

/* The xPU's own transfers at most: bulk transfers, one task per host, one clearing (two DMAs), one
 * scrub, one package. */
#define OWN_MAX (XPU_BULKS_SLOT_MAX + XPU_HOSTS_MAX + 2 + 1 + 1)
_Static_assert(OWN_MAX + XPU_STAGED_WRITES + XPU_STAGED_READS <= BRIDGE_TRANSFERS_MAX,
	       "the xPU's own transfers always find a free transfer");
_Static_assert(NIC_STAGED_LATER < XPU_STAGED_WRITES,
	       "a PUT that waits for no other finds a free write, so some PUT always progresses");

static const struct nic_staged_ops staged_ops = {
	.write_begin = bridged_write_begin,
	.write_place = bridged_write_place,
	.write_settled = bridged_write_settled,
	.write_end = bridged_write_end,
	.write_touches = bridged_write_touches,
	.read_begin = bridged_read_begin,
	.read_cancel = bridged_read_cancel,
	.read_sent = bridged_read_sent,
};

static int zeros_make(struct bridged *b)
{
	b->zeros = aligned_alloc(4096, XPU_CLEAR_BYTES);
	if (!b->zeros)
		return DXP_ENOMEM;
	memset(b->zeros, 0, XPU_CLEAR_BYTES);
	int status = engine_pin(b->engine, b->zeros, XPU_CLEAR_BYTES);
	b->zeros_pinned = status == DXP_OK;
	/* Their DMA is then only slower; the engine logs it. */
	return status == DXP_EUNSUPPORTED ? DXP_OK : status;
}

int bridged_create(const struct bridged_options *options, struct bridged **out)
{
	const struct pump_options pump = {
		.engine = options->engine,
		.buffers = options->buffers,
		.buffer_bytes = options->buffer_bytes,
		.reads = options->reads,
		.memory_bytes = options->memory_bytes,
		.stall_ns = options->stall_ns,
	};
	struct bridged *b = calloc(1, sizeof(*b));

	if (!b)
		return DXP_ENOMEM;
	b->engine = options->engine;
	b->memory_bytes = options->memory_bytes;
	b->silent = options->silent;
	b->silent_context = options->silent_context;
	int status = zeros_make(b);
	if (status == DXP_OK)
		status = pump_create(&pump, &b->pump);
	if (status != DXP_OK) {
		bridged_destroy(b);
		return status;
	}
	const struct bridge *bridge = pump_bridge(b->pump);
	if (bridge_buffers(bridge) < bridge_feed_buffers(bridge)) {
		log_error("%u buffers of %u KiB hold less than the network delivers at once; use "
			  "--buffers %u or more, or larger --buffer-bytes",
			  bridge_buffers(bridge), bridge_buffer_bytes(bridge) >> 10,
			  bridge_feed_buffers(bridge));
		bridged_destroy(b);
		return DXP_EINVAL;
	}
	log_info("bridge: %u buffers of %u KiB each way%s", bridge_buffers(bridge),
		 bridge_buffer_bytes(bridge) >> 10, options->buffer_bytes ? "" : " (measured)");
	pump_rings(b->pump, &b->to_device, &b->from_device, &b->ring_bytes);
	*out = b;
	return DXP_OK;
}

void bridged_destroy(struct bridged *b)
{
	if (!b)
		return;
	b->nic = NULL;
	bridged_reads_close(b);
	bridged_writes_close(b);
	if (b->pump)
		pump_destroy(b->pump, DXP_ECLOSED);
	if (b->zeros_pinned)
		engine_unpin(b->engine, b->zeros);
	free(b->zeros);
	free(b);
}

int bridged_attach(struct bridged *b, struct nic *n)
{
	int status = nic_region_register(n, 0, b->to_device, b->ring_bytes, NIC_LOCAL,
					 &b->to_device_key);

	if (status == DXP_OK)
		status = nic_region_register(n, 0, b->from_device, b->ring_bytes, NIC_LOCAL,
					     &b->from_device_key);
	if (status == DXP_OK)
		b->nic = n;
	return status;
}

int bridged_key(struct bridged *b, uint32_t function, uint32_t rights, uint32_t *key)
{
	return nic_region_register_staged(b->nic, function, &staged_ops, b, b->memory_bytes, rights,
					  key);
}

void bridged_reclaim(struct bridged *b, uint64_t address, uint64_t bytes)
{
	bridged_writes_reclaim(b, address, bytes);
	bridged_reads_reclaim(b, address, bytes);
}

bool bridged_touches(const struct bridged *b, uint64_t address, uint64_t bytes)
{
	return bridged_writes_touch(b, address, bytes) || bridged_reads_touch(b, address, bytes);
}

void bridged_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
		   void *context)
{
	bridged_writes_nodes(b, visit, context);
	bridged_reads_nodes(b, visit, context);
}

uint32_t bridged_poll(struct bridged *b)
{
	return pump_poll(b->pump, clock_now_ns());
}

bool bridged_idle(struct bridged *b)
{
	return pump_help(b->pump);
}

uint64_t bridged_deadline(const struct bridged *b)
{
	return pump_deadline(b->pump);
}

struct pump *bridged_pump(struct bridged *b)
{
	return b->pump;
}

struct dxp_entry bridged_local(const struct bridged *b, const uint8_t *buffer, uint32_t bytes)
{
	bool in = buffer >= b->to_device && buffer < b->to_device + b->ring_bytes;
	const uint8_t *base = in ? b->to_device : b->from_device;

	return (struct dxp_entry){
		.offset = (uint64_t)(buffer - base),
		.bytes = bytes,
		.key = in ? b->to_device_key : b->from_device_key,
	};
}

const uint8_t *bridged_zeros(const struct bridged *b)
{
	return b->zeros;
}

void bridged_state(const struct bridged *b, struct bridged_state *out)
{
	*out = (struct bridged_state){0};
	if (!b)
		return;
	const struct bridge *bridge = pump_bridge(b->pump);
	const struct bridge_counters *c = bridge_counters(bridge);
	uint32_t in, out_of;
	bridge_buffers_used(bridge, &in, &out_of);
	*out = (struct bridged_state){
		.buffers = bridge_buffers(bridge),
		.buffer_bytes = bridge_buffer_bytes(bridge),
		.in_bytes = c->bytes[BRIDGE_DMA_IN] + c->bytes[BRIDGE_DMA_THROUGH],
		.out_bytes = c->bytes[BRIDGE_DMA_OUT] + c->bytes[BRIDGE_DMA_THROUGH],
		.failed = c->failed,
		.in_busy_ns = c->to_device_ns,
		.out_busy_ns = c->from_device_ns,
		.stalls = c->stalls,
		.no_buffer = c->no_buffer,
		.reads_most = c->fills_most,
		.transfers = bridge_transfers(bridge),
		.in_used = in,
		.out_used = out_of,
	};
}
