/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated host of a group: posts operations, receives their events, and names the cause of a
 * failure, as src/host/group*.c does it. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "collective/cause.h"
#include "test/support/group_sim.h"

#define LATE_NS (2 * MS_NS) /* longest delay of a member's wait list */
/* time for the commands of a failed operation to complete: HOST_GROUP_END_NS */
#define SETTLE_NS (6 * S_NS)

/* ---- begin of an operation ---- */

static bool through_suits(const struct gsim_host *h, const struct gsim_operation *o)
{
	const struct plan_request *q = &o->request;
	const enum dxp_way way = h->sim->options.way;
	const uint64_t bytes = q->count * q->element_bytes;

	if (!h->sim->job || h->suspended || q->operation != PLAN_ALLREDUCE || q->count == 0 ||
	    o->reduction == DXP_AVERAGE)
		return false;
	return way == DXP_WAY_SWITCH ||
	       (way == DXP_WAY_AUTO && bytes <= plan_switched_bytes(q->members));
}

/* Gives some members a wait list, whose event comes later, and the input with it. */
static int late_draw(struct gsim_host *h, struct gsim_operation *o)
{
	const uint64_t now_ns = gsim_now(h->sim);
	const bool some = rng_below(&h->rng, 3) == 0;

	for (uint32_t m = 0; m < h->sim->options.members; m++) {
		const bool is_late = some && rng_below(&h->rng, 3) == 0;
		struct host_event *entry;
		struct gsim_late *late;
		uint32_t count;
		gsim_fill(h->sim, o, m, !is_late);
		if (!is_late)
			continue;
		late = calloc(1, sizeof(*late));
		if (!late || events_add(&h->own, &count, &entry) != DXP_OK) {
			free(late);
			return DXP_ENOMEM;
		}
		o->late[m] = EVENT_NAME(gsim_host_id(h->sim), gsim_host_id(h->sim), count);
		*late = (struct gsim_late){.next = h->late,
					   .due_ns = now_ns + rng_below(&h->pace, LATE_NS),
					   .event = o->late[m],
					   .member = m,
					   .operation = o};
		h->late = late;
	}
	return DXP_OK;
}

static int operation_post(struct gsim_host *h, struct gsim_operation *o)
{
	struct plan_request r = o->request;
	struct plan plan;

	o->through = o->by_switches = through_suits(h, o);
	r.way = o->through                              ? DXP_WAY_SWITCH
		: h->sim->options.way == DXP_WAY_SWITCH ? DXP_WAY_AUTO
							: h->sim->options.way;
	r.guarded = h->guarded && h->sim->options.defect != GSIM_UNGUARDED;
	int status = plan_make(&r, &plan);
	if (status == DXP_OK)
		status = late_draw(h, o);
	if (status == DXP_OK)
		status = gsim_post(h, o, &plan, false, o->ends);
	if (status == DXP_OK) {
		memcpy(h->ends, o->ends, sizeof(h->ends));
		h->guarded = !plan.synchronizing;
		h->ways[plan.way]++;
	}
	plan_free(&plan);
	return status;
}

static void group_lose(struct gsim_host *h, int status, uint32_t named, uint32_t peer)
{
	if (h->status != DXP_OK)
		return;
	h->status = status;
	h->named = named;
	h->named_peer = peer;
}

static void operation_start(struct gsim_host *h)
{
	struct gsim_operation *o = calloc(1, sizeof(*o));

	if (!o)
		return;
	for (uint32_t m = 0; m < h->sim->options.members; m++)
		if (h->knows_lost[m]) {
			group_lose(h, DXP_EPEERLOST, m, m);
			free(o);
			return;
		}
	gsim_operation_draw(h, o);
	h->started++;
	*h->end = o;
	h->end = &o->next;
	const int status = operation_post(h, o);
	if (status != DXP_OK)
		gsim_wrong(h->sim, "operation %u cannot be posted: %s", o->number,
			   dxp_status_text(status));
}

/* ---- end of an operation ---- */

static bool event_ended(const struct gsim_host *h, uint64_t event, int *status)
{
	const struct host_event *entry = event ? gsim_event_find(h, event) : NULL;

	*status = entry ? entry->status : DXP_OK;
	return !entry || entry->state == HOST_EVENT_DONE;
}

static bool all_ended(const struct gsim_host *h, const struct gsim_operation *o)
{
	int status;

	for (uint32_t i = 0; i < o->event_count; i++)
		if (!event_ended(h, o->events[i].event, &status))
			return false;
	return true;
}

/* Names the cause, unless a later look may find a better one. */
static void failure_name(struct gsim_host *h, const struct gsim_operation *o, bool late)
{
	struct cause c = {.found = false};
	int status;

	for (uint32_t m = 0; m < h->sim->options.members; m++)
		if (h->knows_lost[m]) {
			group_lose(h, DXP_EPEERLOST, m, m);
			return;
		}
	for (uint32_t i = 0; i < o->event_count; i++)
		if (event_ended(h, o->events[i].event, &status)) {
			if (h->sim->options.defect == GSIM_BLAME_LAST && status != DXP_OK)
				c = (struct cause){.found = true, .status = status, .index = i};
			cause_look(&c, i, status, false);
		}
	const struct gsim_event *e = &o->events[c.index];
	if (c.found && c.status == DXP_EPEERLOST && e->member == e->peer && !late &&
	    h->sim->options.defect != GSIM_BLAME_LAST)
		return; /* the node table will name the lost node */
	if (c.found)
		group_lose(h, c.status, e->member, e->peer);
	else
		group_lose(h, DXP_ECANCELED, UINT32_MAX, UINT32_MAX);
}

static void operation_free(struct gsim_host *h)
{
	struct gsim_operation *o = h->first;

	h->first = o->next;
	if (!h->first) {
		h->end = &h->first;
		memset(h->ends, 0, sizeof(h->ends));
		h->guarded = false;
	}
	for (uint32_t i = 0; i < o->event_count; i++)
		events_forget(&h->events[o->events[i].member], EVENT_COUNT(o->events[i].event));
	free(o->events);
	free(o);
}

/* Returns true if the oldest operation was complete. */
static bool first_retire(struct gsim_host *h)
{
	struct gsim_operation *o = h->first;
	bool pending = false, failed = false;

	if (!o || h->status != DXP_OK)
		return false;
	for (uint32_t m = 0; m < h->sim->options.members; m++) {
		int status;
		if (!event_ended(h, o->ends[m], &status))
			pending = true;
		else
			failed |= status != DXP_OK;
	}
	if (failed) {
		if (!h->failed_ns)
			h->failed_ns = gsim_now(h->sim);
		const bool late = gsim_now(h->sim) >= h->failed_ns + SETTLE_NS;
		if (all_ended(h, o) || late)
			failure_name(h, o, late);
		return false;
	}
	if (pending)
		return false;
	gsim_judge(h->sim, o, &h->digest);
	h->completed++;
	operation_free(h);
	return true;
}

/* ---- messages and polls ---- */

static void lost_receive(struct gsim_host *h, const uint8_t *data, uint32_t bytes)
{
	struct command_lost lost;

	if (command_lost_decode(data, bytes, &lost) != DXP_OK) {
		gsim_wrong(h->sim, "a report of lost switches does not parse");
		return;
	}
	struct host_event *entry = gsim_event_find(h, lost.event);
	if (!entry || entry->state != HOST_EVENT_PENDING)
		return;
	entry->lost = true;
	entry->status = (int8_t)lost.status;
	entry->done_bytes = lost.done_bytes;
}

static void events_receive(struct gsim_host *h, const uint8_t *data, uint32_t bytes)
{
	struct command_event e;

	for (uint32_t at = 0; at < bytes; at += COMMAND_EVENT_BYTES) {
		if (command_event_decode(data + at, COMMAND_EVENT_BYTES, &e) != DXP_OK) {
			gsim_wrong(h->sim, "a report does not parse");
			return;
		}
		events_finish(&h->events[EVENT_XPU(e.event) - 1], EVENT_COUNT(e.event), e.status,
			      NULL);
	}
}

static void messages_receive(struct gsim_host *h)
{
	struct dxp_window *w = sim_window(h->sim->sim, h->sim->options.members);
	const struct dxp_nic_event *from;
	const uint8_t *data;

	while ((from = nic_user_received_peek(w, &data))) {
		if (command_op(data, from->bytes) == COMMAND_LOST)
			lost_receive(h, data, from->bytes);
		else
			events_receive(h, data, from->bytes);
		dxp_received_release(w);
	}
}

static void late_end(struct gsim_host *h, const struct gsim_late *late)
{
	const struct command_event e = {.event = late->event};
	uint8_t data[COMMAND_BYTES_MAX];
	const uint32_t bytes = (uint32_t)command_event_encode(&e, data);

	if (!h->sim->nodes[late->member].dead) {
		gsim_untouched(h->sim, late->operation, late->member);
		gsim_fill(h->sim, late->operation, late->member, true);
	}
	events_finish(&h->own, EVENT_COUNT(late->event), DXP_OK, NULL);
	for (uint32_t m = 0; m < h->sim->options.members; m++) {
		const struct dxp_target to = sim_target(h->sim->sim, m, 0);
		if (late->nodes >> m & 1 && !h->knows_lost[m])
			outbox_nap(h->outbox, OUTBOX_PEER, &to, data, bytes, NULL, NULL);
	}
}

static void lates_end(struct gsim_host *h, uint64_t now_ns)
{
	struct gsim_late **at = &h->late, *late;

	while ((late = *at)) {
		if (late->due_ns > now_ns) {
			at = &late->next;
			continue;
		}
		*at = late->next;
		late_end(h, late);
		free(late);
	}
}

static void host_poll(void *context, uint64_t now_ns)
{
	struct gsim_host *h = context;
	const struct gsim_options *o = &h->sim->options;

	messages_receive(h);
	lates_end(h, now_ns);
	gsim_rescue(h);
	while (first_retire(h))
		;
	while (h->status == DXP_OK && !h->failed_ns && h->started < o->calls &&
	       h->started - h->completed < o->outstanding && !h->sim->wrong[0])
		operation_start(h);
	while (outbox_service(h->outbox) > 0)
		;
	h->wake_ns = now_ns + (outbox_blocked(h->outbox) ? 5 * US_NS : MS_NS);
}

static uint64_t host_deadline(void *context)
{
	const struct gsim_host *h = context;
	uint64_t at = h->wake_ns;

	for (const struct gsim_late *late = h->late; late; late = late->next)
		at = min_u64(at, late->due_ns);
	return at;
}

static const struct sim_beside host_ops = {host_poll, host_deadline};

void gsim_host_learn(struct gsim_host *h, uint32_t lost)
{
	if (h->knows_lost[lost])
		return;
	h->knows_lost[lost] = true;
	events_fail(&h->events[lost], DXP_EPEERLOST);
	nic_peer_lost(sim_nic(h->sim->sim, h->sim->options.members), gsim_member_id(lost),
		      DXP_EPEERLOST);
	outbox_drop(h->outbox, gsim_member_id(lost), DXP_EPEERLOST);
}

bool gsim_host_over(const struct gsim_host *h)
{
	if (h->status == DXP_OK && h->completed < h->sim->options.calls)
		return false;
	if (h->late)
		return false;
	for (uint32_t m = 0; m < h->sim->options.members; m++)
		if (h->events[m].pending > 0)
			return false;
	return true;
}

int gsim_host_open(struct gsim *g)
{
	struct gsim_host *h = &g->host;

	*h = (struct gsim_host){.sim = g,
				.end = &h->first,
				.rng = {g->options.seed},
				.pace = {g->options.net_seed ^ 0x5bd1e995},
				.named = UINT32_MAX,
				.named_peer = UINT32_MAX,
				.digest = 0xcbf29ce484222325ull};
	for (uint32_t m = 0; m < g->options.members; m++)
		events_init(&h->events[m], 1);
	events_init(&h->own, 1);
	const int status = outbox_create(sim_window(g->sim, g->options.members), &h->outbox);
	if (status == DXP_OK)
		sim_beside_set(g->sim, g->options.members, &host_ops, h);
	return status;
}

void gsim_host_close(struct gsim_host *h)
{
	struct gsim_late *late;

	if (!h->sim)
		return;
	while (h->first)
		operation_free(h);
	while ((late = h->late)) {
		h->late = late->next;
		free(late);
	}
	if (h->outbox)
		outbox_end(h->outbox, DXP_ECLOSED);
	outbox_destroy(h->outbox);
	for (uint32_t m = 0; m < h->sim->options.members; m++)
		events_destroy(&h->events[m]);
	events_destroy(&h->own);
}
