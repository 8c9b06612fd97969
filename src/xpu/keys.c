/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to device memory through the NIC. With a host's key, the host and all xPUs can access its
 * allocations and unallocated memory. NIC functions of its kernels, and peers with their keys, can
 * access only its allocations.
 *
 * Unallocated memory that was used before is cleared first: at once, or by DMA while the requester
 * retries. Before a range is allocated, all transfers in it are cancelled: answers to GETs, and
 * accepted bridge transfers. */
#include <dxp/status.h>

#include "base/clock.h"
#include "wire/frame.h"
#include "xpu/slot_internal.h"

static void scrub_begin(struct slot *s, const struct range *stale)
{
	struct scrub *scrub = &s->scrub;

	if (!scrub->busy && scrub->at == scrub->end)
		scrub->at = stale->start, scrub->end = stale->end;
}

/* False: DMA will clear it, so the requester must retry. */
static bool stale_clear(struct slot *s, const struct range *stale)
{
	if (s->bridged) {
		scrub_begin(s, stale);
		return false;
	}
	uint64_t bytes = min_u64(stale->end - stale->start, XPU_CLEAR_BYTES);
	arena_clear(s->arena, stale->start, bytes);
	arena_cleared(s->arena, stale->start, stale->start + bytes);
	return true;
}

static void out_of_bounds_report(struct tenant *t, uint64_t offset, uint64_t bytes,
				 const char *what)
{
	if (t->trespassed)
		return;
	t->trespassed = true;
	tenant_complain(t,
			"an access to %llu bytes at address 0x%llx by %s is rejected, because some "
			"of them are not this host's; further rejections are counted, not logged",
			(unsigned long long)bytes, (unsigned long long)offset, what);
}

/* NULL: the tenant's own memory. */
static uint8_t *memory_of(const struct tenant *t, const struct range *range)
{
	struct slot *s = t->slot;

	if (!tenant_memory_separate(t->memory) || !arena_is_free(s->arena, range->start, 1))
		return NULL;
	s->common_used = true;
	return arena_base(s->arena);
}

static uint8_t reach(struct tenant *t, bool common, uint64_t offset, uint64_t bytes,
		     struct nic_reach *out)
{
	struct slot *s = t->slot;
	struct range range;
	int status = arena_reach(s->arena, t->owner, common, offset, bytes, &range);

	if (status == DXP_EAGAIN && stale_clear(s, &range))
		status = arena_reach(s->arena, t->owner, common, offset, bytes, &range);
	if (status == DXP_OK)
		*out = (struct nic_reach){range.start, range.end, memory_of(t, &range)};
	return status == DXP_OK ? 0 : status == DXP_EAGAIN ? WIRE_NACK_RNR : WIRE_NACK_RIGHTS;
}

static uint8_t host_reach(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out)
{
	struct tenant *t = context;
	uint8_t code = t->leaving ? WIRE_NACK_KEY : reach(t, true, offset, bytes, out);

	if (code == WIRE_NACK_RIGHTS)
		out_of_bounds_report(context, offset, bytes, "its key");
	return code;
}

static uint8_t port_reach(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out)
{
	uint8_t code = reach(context, false, offset, bytes, out);

	if (code == WIRE_NACK_RIGHTS)
		out_of_bounds_report(context, offset, bytes,
				     "the key of its kernels' NIC function");
	return code;
}

/* The tenant's host, its kernels on this xPU, and xPUs, which transfer data for it. Another host
 * cannot use a key that it learned or guessed. */
static bool node_permits(void *context, uint16_t node)
{
	const struct tenant *t = context;
	const struct node_entry *e;

	if (node == 0 || node == t->host)
		return true;
	e = node_table_find(node_table(t->slot->node), node);
	return e && e->kind == MANAGE_XPU;
}

static int port_hold_bytes(void *context, uint64_t offset, uint64_t bytes)
{
	struct tenant *t = context;

	if (arena_hold(t->slot->arena, t->owner, offset, bytes, NULL) == DXP_OK)
		return DXP_OK;
	out_of_bounds_report(t, offset, bytes, "its kernels");
	return DXP_EACCESS;
}

static void port_drop_bytes(void *context, uint64_t offset)
{
	const struct tenant *t = context;

	arena_drop(t->slot->arena, offset);
}

/* The xPU's own transfers already hold the memory. */
static int host_hold(void *context, uint64_t offset, uint64_t bytes)
{
	return DXP_OK;
}

static void host_drop(void *context, uint64_t offset)
{
}

int key_open(struct tenant *t)
{
	const uint32_t rights = NIC_REMOTE_READ | NIC_REMOTE_WRITE;
	struct slot *s = t->slot;
	struct nic *n = node_nic(s->node);
	const struct nic_guard guard = {.reach = host_reach,
					.permits = node_permits,
					.hold = host_hold,
					.drop = host_drop,
					.context = t,
					.epoch = arena_epoch(s->arena)};
	int status = s->bridged ? bridged_key(s->bridged, 0, rights, &t->memory_key)
				: nic_region_register(n, 0, t->memory->base, arena_bytes(s->arena),
						      rights, &t->memory_key);

	return status == DXP_OK ? nic_region_guard(n, t->memory_key, &guard) : status;
}

void key_close(struct tenant *t)
{
	if (t->slot->bridged)
		nic_region_revoke(node_nic(t->slot->node), t->memory_key);
	else
		arena_access_changed(t->slot->arena);
}

void key_free(struct tenant *t)
{
	nic_region_revoke(node_nic(t->slot->node), t->memory_key);
}

int key_of_port(struct tenant *t, uint32_t function, uint32_t *key)
{
	struct slot *s = t->slot;
	struct nic *n = node_nic(s->node);
	const struct nic_guard guard = {.reach = port_reach,
					.hold = port_hold_bytes,
					.drop = port_drop_bytes,
					.context = t,
					.epoch = arena_epoch(s->arena)};
	const uint32_t rights = NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC;
	int status = s->bridged ? bridged_key(s->bridged, function, rights, key)
				: nic_region_register(n, function, t->memory->base,
						      arena_bytes(s->arena), rights, key);

	return status == DXP_OK ? nic_region_guard(n, *key, &guard) : status;
}

static void memory_reclaim(struct slot *s, const uint8_t *base, uint64_t address, uint64_t bytes)
{
	nic_memory_reclaim(node_nic(s->node), base + address, bytes, clock_now_ns());
}

void keys_memory_claim(struct slot *s, uint64_t address, uint64_t bytes)
{
	if (s->bridged) {
		bridged_reclaim(s->bridged, address, bytes);
		return;
	}
	memory_reclaim(s, arena_base(s->arena), address, bytes);
	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (tenant_memory_has(t->memory, address, bytes))
			memory_reclaim(s, t->memory->base, address, bytes);
}

bool keys_memory_claimed(const struct slot *s, uint64_t address, uint64_t bytes)
{
	const struct scrub *scrub = &s->scrub;

	if (!s->bridged)
		return true;
	return !bridged_touches(s->bridged, address, bytes) &&
	       !(scrub->busy && scrub->at < address + bytes &&
		 address < scrub->at + scrub->running_bytes);
}

static void scrub_ended(struct pump_transfer *p, const struct bridge_end *end)
{
	struct scrub *scrub = CONTAINER_OF(p, struct scrub, pump);
	struct slot *s = CONTAINER_OF(scrub, struct slot, scrub);

	scrub->busy = false;
	if (end->status != DXP_OK) {
		scrub->at = scrub->end; /* the next access requests it again */
		return;
	}
	arena_cleared(s->arena, scrub->at, scrub->at + scrub->running_bytes);
	scrub->at += scrub->running_bytes;
}

uint32_t keys_scrub_advance(struct slot *s)
{
	struct scrub *scrub = &s->scrub;
	const struct bridge_order order = {
		.path = BRIDGE_DIRECT, .bytes = min_u64(scrub->end - scrub->at, XPU_CLEAR_BYTES)};

	if (scrub->busy || scrub->at == scrub->end)
		return 0;
	/* If the range was allocated meanwhile, the allocation has cleared it. */
	if (!arena_is_free(s->arena, scrub->at, order.bytes)) {
		scrub->at = scrub->end;
		return 0;
	}
	scrub->pump = (struct pump_transfer){
		.source = bridged_zeros(s->bridged), .device_to = scrub->at, .ended = scrub_ended};
	if (pump_begin(bridged_pump(s->bridged), &scrub->pump, &order, clock_now_ns()) != DXP_OK) {
		scrub->at = scrub->end;
		return 0;
	}
	scrub->running_bytes = order.bytes;
	scrub->busy = true;
	return 1;
}
