/* SPDX-License-Identifier: BSD-3-Clause */
/* BRIDGE: the xPU moves data between its memory or stream core, and memory of the requesting host
 * or of another xPU (S-03, S-05). The command's event completes when all bytes are in place. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

struct pull {
	struct bulk bulk;
	struct work *work;
	struct pull *next, **link;
};

_Static_assert((int)COMMAND_BRIDGE_IN == (int)BRIDGE_IN &&
		       (int)COMMAND_BRIDGE_OUT == (int)BRIDGE_OUT &&
		       (int)COMMAND_BRIDGE_THROUGH == (int)BRIDGE_THROUGH,
	       "commands and bridges have the same numbers");

static bool in_device(const struct bulk *h)
{
	return h->path != BRIDGE_THROUGH && h->bytes > 0;
}

static void pull_free(struct pull *p)
{
	struct tenant *t = p->work->tenant;

	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	if (in_device(&p->bulk))
		arena_drop(t->slot->arena, p->bulk.address);
	tenant_bulks_add(t, -1);
	t->busy--;
	free(p);
}

static void pull_ended(struct bulk *h, const struct bridge_end *end)
{
	struct pull *p = CONTAINER_OF(h, struct pull, bulk);
	struct work *w = p->work;
	int status = bridged_end_status(end);

	if (status != DXP_OK && end->step < BRIDGE_STEPS && !w->tenant->gone)
		tenant_complain(w->tenant,
				"BRIDGE of %llu bytes with node %u: %s failed at byte %llu: %s; "
				"bytes before it were written",
				(unsigned long long)h->bytes, h->to.node,
				bridged_step_name(end->step), (unsigned long long)end->at,
				bridged_end_text(end));
	if (h->path != BRIDGE_IN && status == DXP_OK)
		w->tenant->slot->counters.sent_bytes += h->bytes;
	pull_free(p);
	w->ended_ns = clock_now_ns();
	work_done(w, status);
}

/* Checks a range of another xPU against the memory size in the node table. A host's range is not
 * checked here, because the host's NIC checks it. */
static int range_check(const struct node_entry *peer, uint64_t address, uint64_t bytes)
{
	return bytes > peer->memory_bytes || address > peer->memory_bytes - bytes ? DXP_ERANGE
										  : DXP_OK;
}

static int target_find(struct pull *p, const struct network_command *c)
{
	const struct tenant *t = p->work->tenant;
	struct node_entry peer;

	if (c->to_node == t->host) {
		p->bulk.to = t->reply;
		return DXP_OK;
	}
	int status = slot_peer(t->slot, c->to_node, &peer, &p->bulk.to);
	if (status == DXP_OK && c->path != COMMAND_BRIDGE_OUT)
		status = range_check(&peer, c->from_address, c->bytes);
	if (status == DXP_OK && c->path != COMMAND_BRIDGE_IN)
		status = range_check(&peer, c->to_address, c->bytes);
	return status;
}

static int through_check(const struct slot *s)
{
	return s->bridged && s->about.streams ? DXP_OK : DXP_EUNSUPPORTED;
}

/* The transfer may already be complete. */
static int pull_begin(struct pull *p, const struct network_command *c)
{
	struct tenant *t = p->work->tenant;
	struct slot *s = t->slot;

	p->bulk = (struct bulk){
		.slot = s,
		.owner = t->owner,
		.kind = OUTBOX_PUSH,
		.path = c->path,
		.mode = c->mode,
		.piece_bytes = c->piece_bytes,
		.bytes = c->bytes,
		.address = c->address,
		.key = t->memory_key,
		.from_key = c->from_key,
		.to_key = c->to_key,
		.from_address = c->from_address,
		.to_address = c->to_address,
		.ended = pull_ended,
	};
	int status = c->path == COMMAND_BRIDGE_THROUGH ? through_check(s) : DXP_OK;
	if (status == DXP_OK)
		status = target_find(p, c);
	if (status == DXP_OK && in_device(&p->bulk))
		status = arena_hold(s->arena, t->owner, c->address, c->bytes, NULL);
	if (status != DXP_OK) {
		free(p);
		return status;
	}
	p->next = s->pulls;
	p->link = &s->pulls;
	if (p->next)
		p->next->link = &p->next;
	s->pulls = p;
	t->busy++;
	tenant_bulks_add(t, 1);
	status = bulk_begin(&p->bulk);
	if (status != DXP_OK)
		pull_free(p);
	return status;
}

void pull_start(struct work *w)
{
	struct pull *p = calloc(1, sizeof(*p));

	if (!p) {
		work_done(w, DXP_ENOMEM);
		return;
	}
	w->started_ns = clock_now_ns();
	p->work = w;
	int status = pull_begin(p, work_network(w));
	if (status != DXP_OK)
		work_done(w, status);
}

void pulls_cancel(const struct tenant *t, int status)
{
	for (struct pull *p = t->slot->pulls, *next; p; p = next) {
		next = p->next;
		if (p->work->tenant == t)
			bulk_cancel(&p->bulk, status);
	}
}
