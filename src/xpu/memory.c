/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOC and FREE. A host gets zeroed memory, because the previous owner's data is private. Large
 * ranges are cleared in pieces between polls; behind DMA, from a block of zeros. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

uint64_t memory_left(const struct tenant *t)
{
	const struct slot *s = t->slot;
	uint64_t left = arena_free_bytes(s->arena), limit = s->options.host_bytes;

	if (limit == 0)
		return left;
	uint64_t owned = arena_owned_bytes(s->arena, t->owner);
	return min_u64(left, owned < limit ? limit - owned : 0);
}

static bool limit_allows(struct tenant *t, uint64_t bytes)
{
	uint64_t limit = t->slot->options.host_bytes;
	uint64_t owned = limit ? arena_owned_bytes(t->slot->arena, t->owner) : 0;

	if (limit == 0 || (bytes <= limit && owned + arena_rounded(t->slot->arena, bytes) <= limit))
		return true;
	tenant_complain(t,
			"ALLOC of %llu bytes is rejected: it has %llu, and --host-memory permits "
			"%llu to each host",
			(unsigned long long)bytes, (unsigned long long)owned,
			(unsigned long long)limit);
	return false;
}

static void allocate_reply(struct tenant *t, uint32_t sequence, uint64_t address, int status)
{
	const struct command_reply r = {
		.op = COMMAND_ALLOC,
		.sequence = sequence,
		.status = status,
		.free_bytes = memory_left(t),
		.address = address,
	};

	reply_send(t, &r);
}

static void free_reply(struct tenant *t, uint32_t sequence, int status)
{
	const struct command_reply r = {.op = COMMAND_FREE,
					.sequence = sequence,
					.status = status,
					.free_bytes = memory_left(t)};

	reply_send(t, &r);
}

/* Called after an unmap: retries waiting ALLOCs, and answers a FREE that waited for it. */
static void unmapped(struct tenant *t, const uint32_t *sequence)
{
	memory_parked_retry(t);
	if (sequence)
		free_reply(t, *sequence, DXP_OK);
}

/* DXP_OK: the reply follows the clearing. */
static int clearing_begin(struct tenant *t, uint32_t sequence, uint64_t address, uint64_t bytes)
{
	struct slot *s = t->slot;
	struct clearing *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	c->tenant = t;
	c->sequence = sequence;
	c->address = address;
	c->bytes = bytes;
	arena_hold(s->arena, t->owner, address, bytes, NULL); /* cannot fail: the tenant owns it */
	t->busy++;
	*s->clearings_tail = c;
	s->clearings_tail = &c->next;
	return DXP_OK;
}

/* If necessary, evicts silent hosts whose memory suffices. */
static int arena_allocate(struct tenant *t, uint64_t bytes, uint64_t *address)
{
	struct slot *s = t->slot;
	int status;

	while ((status = arena_alloc(s->arena, t->owner, bytes, address)) == DXP_ENOMEM) {
		/* A silent host may not evict others for its waiting ALLOC. */
		if (node_silent_since(s->node, t->host))
			return status;
		uint64_t coming = tenants_giving(s);
		uint64_t left = arena_free_bytes(s->arena) + coming;
		/* Memory being freed suffices, or all memory of silent hosts would not. */
		if ((coming > 0 && bytes <= left) || bytes > left + tenants_silent_bytes(s) ||
		    !tenants_make_space(s, NEED_MEMORY))
			return status;
	}
	return status;
}

/* Maps the range in the host's worker before clearing. */
static int range_allocate(struct tenant *t, uint64_t bytes, uint64_t *address)
{
	struct arena *arena = t->slot->arena;
	int status = limit_allows(t, bytes) ? arena_allocate(t, bytes, address) : DXP_ENOMEM;
	uint64_t whole;

	if (status != DXP_OK)
		return status;
	keys_memory_claim(t->slot, *address, arena_rounded(arena, bytes));
	if (arena_next(arena, t->owner, address, &whole))
		worker_map(t, *address, whole);
	return DXP_OK;
}

/* DXP_OK: the reply is queued, or follows the clearing. Others: the caller replies. */
static int allocate(struct tenant *t, uint32_t sequence, uint64_t bytes)
{
	uint64_t address;
	int status = range_allocate(t, bytes, &address);

	if (status != DXP_OK)
		return status;
	/* The host can access the whole rounded allocation. */
	bytes = arena_rounded(t->slot->arena, bytes);
	if (bytes <= XPU_ZERO_BYTES && !t->slot->bridged) {
		tenant_memory_clear(t, address, bytes);
		allocate_reply(t, sequence, address, DXP_OK);
		return DXP_OK;
	}
	status = clearing_begin(t, sequence, address, bytes);
	if (status != DXP_OK)
		worker_unmap_free(t, address, unmapped, NULL);
	return status;
}

/* Waits for an unmap, or for an evicted host's memory. */
struct parked {
	struct parked *next;
	uint32_t sequence;
	uint64_t bytes;
};

static bool park(struct tenant *t, const struct command *c)
{
	struct parked *p = malloc(sizeof(*p)), **at = &t->parked;

	if (!p)
		return false;
	*p = (struct parked){.sequence = c->sequence, .bytes = c->bytes};
	while (*at)
		at = &(*at)->next;
	*at = p;
	return true;
}

static bool memory_comes(const struct tenant *t)
{
	return t->unmaps > 0 || tenants_giving(t->slot) > 0;
}

void memory_parked_retry(struct tenant *t)
{
	struct parked *p;

	while ((p = t->parked)) {
		int status = t->leaving ? DXP_ECANCELED : allocate(t, p->sequence, p->bytes);
		if (status == DXP_ENOMEM && memory_comes(t))
			return;
		if (status != DXP_OK)
			allocate_reply(t, p->sequence, 0, status);
		t->parked = p->next;
		free(p);
	}
}

void memory_allocate(struct tenant *t, const struct command *c)
{
	int status = allocate(t, c->sequence, c->bytes);

	if (status == DXP_OK || (status == DXP_ENOMEM && memory_comes(t) && park(t, c)))
		return;
	allocate_reply(t, c->sequence, 0, status);
}

void memory_free(struct tenant *t, const struct command *c)
{
	int status = worker_unmap_free(t, c->address, unmapped, &c->sequence);

	if (status != DXP_EAGAIN)
		free_reply(t, c->sequence, status);
}

static void clearing_pop(struct slot *s)
{
	struct clearing *c = s->clearings;

	s->clearings = c->next;
	if (!s->clearings)
		s->clearings_tail = &s->clearings;
	arena_drop(s->arena, c->address);
	c->tenant->busy--;
	free(c);
}

static bool clearing_running(const struct clearing *c)
{
	bool busy = false;

	for (int i = 0; i < CLEARING_DMAS; i++)
		busy |= c->dmas[i].busy;
	return busy;
}

static bool clearing_over(const struct clearing *c)
{
	return c->status != DXP_OK || c->tenant->leaving || c->cleared == c->bytes;
}

static void dma_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct clearing_dma *d = CONTAINER_OF(t, struct clearing_dma, pump);
	struct clearing *c = d->clearing;

	d->busy = false;
	if (end->status == DXP_OK || c->status != DXP_OK)
		return;
	c->status = bridged_end_status(end);
	if (end->step < BRIDGE_STEPS)
		tenant_complain(c->tenant, "ALLOC of %llu bytes: clearing failed: %s: %s",
				(unsigned long long)c->bytes, bridged_step_name(end->step),
				bridged_end_text(end));
}

static void dma_begin(struct clearing *c, struct clearing_dma *d)
{
	struct bridged *bridged = c->tenant->slot->bridged;
	const struct bridge_order order = {
		.path = BRIDGE_DIRECT,
		.bytes = min_u64(c->bytes - c->cleared, XPU_CLEAR_BYTES),
	};

	d->clearing = c;
	d->pump = (struct pump_transfer){
		.source = bridged_zeros(bridged),
		.device_to = c->address + c->cleared,
		.ended = dma_ended,
	};
	int status = pump_begin(bridged_pump(bridged), &d->pump, &order, clock_now_ns());
	if (status != DXP_OK) {
		c->status = status;
		return;
	}
	d->busy = true;
	c->cleared += order.bytes;
}

/* True: the first clearing is done or failed, has no DMA in progress, and is completed here. */
static bool clearing_end(struct slot *s, struct clearing *c)
{
	struct tenant *t = c->tenant;
	uint32_t sequence = c->sequence;
	uint64_t address = c->address;
	int status = c->status;

	if (!clearing_over(c) || clearing_running(c))
		return false;
	clearing_pop(s);
	if (t->leaving)
		return true;
	if (status != DXP_OK)
		worker_unmap_free(t, address, unmapped, NULL);
	allocate_reply(t, sequence, status == DXP_OK ? address : 0, status);
	return true;
}

static uint32_t clearings_advance_bridged(struct slot *s)
{
	uint32_t work = 0;
	struct clearing *c;

	while ((c = s->clearings)) {
		if (c->cleared == 0 && !c->tenant->leaving &&
		    !keys_memory_claimed(s, c->address, c->bytes))
			break;
		for (int i = 0; i < CLEARING_DMAS && !clearing_over(c); i++) {
			if (c->dmas[i].busy)
				continue;
			dma_begin(c, &c->dmas[i]);
			work++;
		}
		if (!clearing_end(s, c))
			break;
		work++;
	}
	return work;
}

uint32_t memory_clearings_advance(struct slot *s)
{
	struct clearing *c = s->clearings;

	if (s->bridged)
		return clearings_advance_bridged(s);
	if (!c)
		return 0;
	if (!c->tenant->leaving) {
		uint64_t bytes = min_u64(c->bytes - c->cleared, XPU_ZERO_BYTES);
		tenant_memory_clear(c->tenant, c->address + c->cleared, bytes);
		c->cleared += bytes;
		if (c->cleared < c->bytes)
			return 1;
		allocate_reply(c->tenant, c->sequence, c->address, DXP_OK);
	}
	clearing_pop(s);
	return 1;
}

void memory_clearings_free(struct slot *s)
{
	while (s->clearings)
		clearing_pop(s);
}
