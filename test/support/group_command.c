/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of the simulated host of a group: their events, and their wait lists with events of the
 * host and of other members, as src/host/waits.c makes them. */
#include <string.h>

#include <dxp/status.h>

#include "test/support/group_sim.h"

static uint64_t event_name(const struct gsim_host *h, uint32_t member, uint32_t count)
{
	return EVENT_NAME(gsim_host_id(h->sim), gsim_member_id(member), count);
}

struct host_event *gsim_event_find(const struct gsim_host *h, uint64_t event)
{
	const uint32_t member = EVENT_XPU(event) - 1u;
	const struct events *e = member < h->sim->options.members ? &h->events[member] : &h->own;

	return events_find(e, EVENT_COUNT(event));
}

static int command_send(struct gsim_host *h, uint32_t member, struct command *c, uint64_t *event)
{
	const struct dxp_target to = sim_target(h->sim->sim, member, 0);
	uint8_t data[COMMAND_BYTES_MAX];
	struct host_event *entry;
	uint32_t count;

	if (h->knows_lost[member])
		return DXP_EPEERLOST;
	int status = events_add(&h->events[member], &count, &entry);
	if (status != DXP_OK)
		return status;
	entry->notified = c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL ? c->to_node : 0;
	c->event = event_name(h, member, count);
	c->oldest = events_oldest(&h->events[member]);
	c->lazy = 1;
	const int bytes = command_encode(c, data);
	if (bytes < 0)
		return bytes;
	*event = c->event;
	return outbox_nap(h->outbox, OUTBOX_PEER, &to, data, (uint32_t)bytes, NULL, NULL);
}

static int command_cancelled(struct gsim_host *h, uint32_t member, uint64_t *event)
{
	struct host_event *entry;
	uint32_t count;
	const int status = events_add(&h->events[member], &count, &entry);

	if (status == DXP_OK)
		events_finish(&h->events[member], count, DXP_ECANCELED, NULL);
	*event = event_name(h, member, count);
	return status;
}

/* ---- wait lists ---- */

static int signal_to(struct gsim_host *h, uint64_t event, uint16_t to, uint64_t *out)
{
	const uint32_t owner = EVENT_XPU(event) - 1u;
	struct host_event *entry = gsim_event_find(h, event);
	struct command c = {.op = COMMAND_SIGNAL, .to_node = to, .waits = {event}, .wait_count = 1};

	if (entry->signalled == to) {
		*out = event_name(h, owner, entry->signal_count);
		return DXP_OK;
	}
	const int status = command_send(h, owner, &c, out);
	if (status != DXP_OK)
		return status;
	events_forget(&h->events[owner], EVENT_COUNT(*out));
	entry = gsim_event_find(h, event);
	entry->signalled = to;
	entry->signal_count = EVENT_COUNT(*out);
	return DXP_OK;
}

static int append(struct gsim_host *h, uint32_t member, struct command *c, uint64_t name)
{
	int status = DXP_OK;

	for (uint8_t i = 0; i < c->wait_count; i++)
		if (c->waits[i] == name)
			return DXP_OK;
	if (c->wait_count == COMMAND_WAITS_MAX) {
		struct command mark = {.op = COMMAND_MARK, .wait_count = COMMAND_WAITS_MAX};
		memcpy(mark.waits, c->waits, sizeof(mark.waits));
		status = command_send(h, member, &mark, &c->waits[0]);
		events_forget(&h->events[member], EVENT_COUNT(c->waits[0]));
		c->wait_count = 1;
	}
	c->waits[c->wait_count++] = name;
	return status;
}

/* Notes that a node must be notified of an event of this host. */
static void late_note(struct gsim_host *h, uint64_t event, uint32_t member)
{
	for (struct gsim_late *late = h->late; late; late = late->next)
		if (late->event == event)
			late->nodes |= 1ull << member;
}

static int resolve(struct gsim_host *h, uint32_t member, struct command *c, uint64_t event,
		   bool *failed)
{
	const struct host_event *entry = gsim_event_find(h, event);
	const uint16_t to = gsim_member_id(member);
	uint64_t name = event;
	int status = DXP_OK;

	if (!entry)
		return DXP_ENOENT;
	if (entry->state == HOST_EVENT_DONE) {
		*failed |= entry->status != DXP_OK;
		return DXP_OK;
	}
	if (EVENT_XPU(event) == gsim_host_id(h->sim))
		late_note(h, event, member);
	else if (EVENT_XPU(event) != to && entry->notified != to)
		status = signal_to(h, event, to, &name);
	return status == DXP_OK ? append(h, member, c, name) : status;
}

int gsim_command_start(struct gsim_host *h, uint32_t member, struct command *c,
		       const uint64_t *waits, uint32_t wait_count, uint64_t *event)
{
	bool failed = false;
	int status = h->knows_lost[member] ? DXP_EPEERLOST : DXP_OK;

	c->wait_count = 0;
	for (uint32_t i = 0; i < wait_count && status == DXP_OK && !failed; i++)
		status = resolve(h, member, c, waits[i], &failed);
	if (status != DXP_OK)
		return status;
	return failed ? command_cancelled(h, member, event) : command_send(h, member, c, event);
}
