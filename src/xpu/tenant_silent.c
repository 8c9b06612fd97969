/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds resources that silent hosts keep from others, and evicts these hosts. */
#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "nic/limits.h"
#include "xpu/slot_internal.h"

/* ns between two checks */
#define NEEDED_LOOK_NS (100 * MS_NS)

/* 0: not silent, or leaving. */
static uint64_t silent_since(const struct tenant *t)
{
	return t->leaving ? 0 : node_silent_since(t->slot->node, t->host);
}

/* Its next packet is rejected. */
static void give_up(struct tenant *t, const char *what)
{
	struct slot *s = t->slot;
	uint16_t host = t->host;

	log_info("host node %u is silent, and another host needs its %s: its commands are "
		 "cancelled, its memory is freed",
		 host, what);
	t->given_up = true;
	s->hooks->evict(t, DXP_EPEERLOST);
	node_peer_reset(s->node, host, DXP_EPEERLOST);
}

static bool has(const struct tenant *t, enum tenant_need need)
{
	switch (need) {
	case NEED_MEMORY: return arena_owned_bytes(t->slot->arena, t->owner) > 0;
	case NEED_FUNCTION: return t->port != NULL;
	case NEED_REQUESTS: return outbox_flight(t->slot->outbox, t->host) > 0;
	default: return true;
	}
}

static struct tenant *longest_silent(const struct slot *s, enum tenant_need need)
{
	struct tenant *found = NULL;
	uint64_t first_ns = UINT64_MAX;

	for (struct tenant *t = s->tenants; t; t = t->next) {
		uint64_t since_ns = silent_since(t);
		if (since_ns == 0 || since_ns >= first_ns || !has(t, need))
			continue;
		found = t;
		first_ns = since_ns;
	}
	return found;
}

bool tenants_make_space(struct slot *s, enum tenant_need need)
{
	static const char *const names[] = {
		[NEED_ENTRY] = "entry",
		[NEED_MEMORY] = "memory",
		[NEED_FUNCTION] = "NIC function",
		[NEED_REQUESTS] = "outstanding requests",
	};
	struct tenant *t = longest_silent(s, need);

	if (t)
		give_up(t, names[need]);
	return t != NULL;
}

uint64_t tenants_silent_bytes(const struct slot *s)
{
	uint64_t bytes = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (silent_since(t))
			bytes += arena_owned_bytes(s->arena, t->owner);
	return bytes;
}

uint64_t tenants_giving(const struct slot *s)
{
	uint64_t bytes = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (t->given_up)
			bytes += arena_owned_bytes(s->arena, t->owner);
	return bytes;
}

/* A silent host with bridge buffers, and whether other nodes use some too. */
struct buffers_use {
	const struct slot *slot;
	uint64_t until_ns; /* hosts silent since before then keep them too long */
	struct tenant *found;
	bool others;
};

static void buffers_used(void *context, uint16_t node)
{
	struct buffers_use *u = context;
	uint64_t since_ns = node_silent_since(u->slot->node, node);
	struct tenant *t = tenant_find(u->slot, node);

	if (since_ns == 0)
		u->others = true;
	else if (t && since_ns < u->until_ns)
		u->found = t;
}

/* Finds a host that keeps bridge buffers from others and is silent for longer than one step may
 * take. */
static struct tenant *buffers_holder(const struct slot *s, uint64_t now_ns)
{
	uint64_t stall_ns = s->options.stall_ns ? s->options.stall_ns : BRIDGE_STALL_NS;
	struct buffers_use u = {.slot = s, .until_ns = now_ns - min_u64(now_ns, stall_ns)};

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->bulks > 0)
			buffers_used(&u, t->host);
	bridged_nodes(s->bridged, buffers_used, &u);
	return u.others ? u.found : NULL;
}

/* They use half of a queue pair's requests or more. */
static bool requests_kept(const struct slot *s)
{
	uint32_t count = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (silent_since(t))
			count += outbox_flight(s->outbox, t->host);
	return count >= NIC_OUTSTANDING_MAX / 2;
}

uint32_t tenants_needed(struct slot *s)
{
	struct tenant *t = s->tenants;

	if (!t)
		return 0;
	uint64_t now_ns = clock_now_ns();
	if (!outbox_blocked(s->outbox))
		s->blocked_ns = 0;
	else if (s->blocked_ns == 0)
		s->blocked_ns = now_ns;
	if (now_ns < s->needed_ns)
		return 0;
	s->needed_ns = now_ns + NEEDED_LOOK_NS;
	if (s->blocked_ns && now_ns - s->blocked_ns > NEEDED_LOOK_NS && requests_kept(s))
		return tenants_make_space(s, NEED_REQUESTS);
	t = s->bridged ? buffers_holder(s, now_ns) : NULL;
	if (t)
		give_up(t, "buffers");
	return t != NULL;
}
