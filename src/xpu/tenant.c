/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that use the xPU: they come by OPEN and go by CLOSE, by dying, or by not reading what they
 * asked for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/log.h"
#include "xpu/slot_internal.h"

#define COMPLAINTS_MAX 20 /* of one host: a log is for people */

void tenant_complain(struct tenant *t, const char *format, ...)
{
	char text[ENGINE_TEXT_BYTES];
	va_list list;

	if (t->complaints >= COMPLAINTS_MAX)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	log_warn("host node %u: %s%s", t->host, text,
		 ++t->complaints == COMPLAINTS_MAX ? "; no more of this host is logged" : "");
}

struct tenant *tenant_find(const struct slot *s, uint16_t host)
{
	struct tenant *t = s->by_host[host];

	return t && !t->leaving ? t : NULL;
}

void tenant_hauls_add(struct tenant *t, int more)
{
	t->hauls += (uint32_t)more;
	t->slot->hauls += (uint32_t)more;
}

bool tenant_may_haul(const struct tenant *t)
{
	return t->hauls < XPU_HAULS_MAX && t->slot->hauls < XPU_HAULS_SLOT_MAX;
}

int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out)
{
	if (slot_hosts(s) >= s->options.hosts_max) {
		log_warn("host node %u is refused: %u hosts have this xPU open, and --hosts allows "
			 "no more",
			 host, s->options.hosts_max);
		return DXP_EBUSY;
	}
	struct tenant *t = calloc(1, sizeof(*t));
	if (!t)
		return DXP_ENOMEM;
	int status = graph_create(host, node_id(s->node), &t->graph);
	if (status != DXP_OK) {
		free(t);
		return status;
	}
	t->slot = s;
	t->host = host;
	t->owner = ++s->owner_last;
	t->reply = *reply;
	status = key_open(t);
	if (status != DXP_OK) {
		graph_destroy(t->graph);
		free(t);
		return status;
	}
	t->next = s->tenants;
	s->tenants = t;
	s->by_host[host] = t;
	*out = t;
	return DXP_OK;
}

void tenant_leave(struct tenant *t, int status)
{
	if (t->leaving)
		return;
	t->leaving = true;
	graph_cancel(t->graph, status);
	port_close(t->slot, t->port, DXP_ECLOSED);
	t->port = NULL;
	pulls_cancel(t, status);
	key_close(t);
	/* Its process may write there until it is gone. */
	if (t->cell)
		cell_kill(t->cell);
	else
		arena_free_owner(t->slot->arena, t->owner);
}

void tenant_evict(struct tenant *t, int status)
{
	if (t->gone)
		return;
	t->gone = true;
	tenant_leave(t, status);
	outbox_drop(t->slot->outbox, t->host, status);
}

/* Its own rows, and the events of its that another xPU owed us. */
static void host_changed(struct slot *s, const struct table_change *change)
{
	const struct node_entry *e = &change->entry;
	struct tenant *t = tenant_find(s, e->id);
	bool lost = change->what & TABLE_LOST || !e->granted;

	if (!t)
		return;
	/* A new life of the host may have opened the xPU before we heard of it: it has another
	 * magic. */
	if (lost || (change->what & TABLE_RESTARTED && t->reply.magic != e->magic)) {
		log_info("host %s (node %u) %s: its commands are cancelled, its memory is freed",
			 e->name, e->id, lost ? "is gone" : "started anew");
		tenant_evict(t, DXP_EPEERLOST);
	}
}

void tenants_changed(struct slot *s, const struct table_change *change)
{
	uint16_t node = change->entry.id;

	if (change->entry.kind == MANAGE_HOST) {
		host_changed(s, change);
	} else if (change->what & (TABLE_LOST | TABLE_RESTARTED)) {
		for (struct tenant *t = s->tenants; t; t = t->next)
			graph_lost(t->graph, node);
		outbox_drop(s->outbox, node, DXP_EPEERLOST);
	}
}

static void tenant_end(struct tenant *t)
{
	if (t->closing && !t->gone) {
		t->closing = false;
		reply_status(t, COMMAND_CLOSE, t->close_sequence, DXP_OK);
	}
	if (t->slot->by_host[t->host] == t)
		t->slot->by_host[t->host] = NULL;
	graph_destroy(t->graph);
	free(t->fetched.data);
	programs_clear(&t->programs);
	free(t);
}

static bool tenant_ended(struct tenant *t)
{
	if (!t->leaving || t->cell || t->busy || graph_count(t->graph))
		return false;
	arena_free_owner(t->slot->arena, t->owner);
	parked_retry(t);
	programs_release(t);
	return !t->busy;
}

uint32_t tenants_reap(struct slot *s)
{
	struct tenant **at = &s->tenants, *t;
	uint32_t ended = 0;

	while ((t = *at)) {
		if (!tenant_ended(t)) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		tenant_end(t);
		ended++;
	}
	return ended;
}

void tenants_silence(struct slot *s)
{
	for (struct tenant *t = s->tenants; t; t = t->next)
		t->gone = t->leaving = true;
}

void tenants_cancel(struct slot *s)
{
	struct graph_command *c;

	for (struct tenant *t = s->tenants; t; t = t->next) {
		graph_cancel(t->graph, DXP_ECLOSED);
		while ((c = graph_failed(t->graph)))
			work_free((struct work *)c);
	}
	if (s->outbox)
		outbox_end(s->outbox, DXP_ECLOSED); /* ends the transfers */
	builds_free(s);
}

void tenants_free(struct slot *s)
{
	clearings_free(s);
	for (struct tenant *t = s->tenants, *next; t; t = next) {
		next = t->next;
		programs_release(t);
		parked_retry(t);
		tenant_end(t);
	}
	s->tenants = NULL;
}
