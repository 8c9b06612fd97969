/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts, from OPEN to CLOSE, loss, or eviction for not reading replies. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/log.h"
#include "xpu/slot_internal.h"

static int memory_open(struct tenant *t)
{
	int status = tenant_memory_open(t->slot, &t->memory);

	if (status != DXP_OK)
		return status;
	status = key_open(t);
	if (status != DXP_OK)
		tenant_memory_close(t->slot, t->memory, 0);
	return status;
}

int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out)
{
	if (slot_hosts(s) >= s->options.hosts_max && !tenants_make_space(s, NEED_ENTRY)) {
		log_warn("host node %u is rejected: %u hosts have this xPU open, the limit of "
			 "--hosts",
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
	status = memory_open(t);
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
	allreduces_cancel(t, NULL, status);
	switches_leave(t);
	key_close(t);
	/* The host's process may write to this memory until its exit. */
	if (t->worker)
		worker_kill(t->worker);
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

static void host_changed(struct slot *s, const struct table_change *change)
{
	const struct node_entry *e = &change->entry;
	struct tenant *t = tenant_find(s, e->id);
	bool lost = change->what & TABLE_LOST || (e->kind == MANAGE_HOST && !e->granted);

	if (!t)
		return;
	if (change->what & TABLE_SILENT)
		log_info("host %s (node %u) is silent: its memory and programs are kept for now",
			 e->name, e->id);
	if (change->what & TABLE_BACK)
		log_info("host %s (node %u) is back and continues", e->name, e->id);
	/* A new incarnation, with another magic, may have opened the xPU before. */
	if (lost || (change->what & TABLE_RESTARTED && t->reply.magic != e->magic)) {
		log_info("host %s (node %u) %s: its commands are cancelled, its memory is freed",
			 e->name, e->id, lost ? "is gone" : "restarted");
		tenant_evict(t, DXP_EPEERLOST);
	}
}

void tenants_changed(struct slot *s, const struct table_change *change)
{
	uint16_t node = change->entry.id;
	bool host = change->entry.kind == MANAGE_HOST;

	/* A lost id may now be a node of the other kind. */
	if (host || change->what & TABLE_LOST)
		host_changed(s, change);
	if (change->what & TABLE_LOST || (!host && change->what & TABLE_RESTARTED)) {
		for (struct tenant *t = s->tenants; t; t = t->next)
			graph_lost(t->graph, node);
		outbox_drop(s->outbox, node, DXP_EPEERLOST);
	}
	/* With TABLE_GRANT, it may be alive. */
	if ((change->what & (TABLE_LOST | TABLE_GRANT)) == TABLE_LOST)
		notices_left(s->notices, node);
}

void tenants_session_ended(struct slot *s, uint16_t node, int status)
{
	struct tenant *t = tenant_find(s, node);

	if (!t)
		return;
	log_info("host node %u: its session was closed (%s): its commands are cancelled, its "
		 "memory is freed",
		 node, dxp_status_text(status));
	tenant_evict(t, DXP_EPEERLOST);
}

static void tenant_end(struct tenant *t)
{
	if (t->closing && !t->gone) {
		t->closing = false;
		reply_status(t, COMMAND_CLOSE, t->close_sequence, DXP_OK);
	}
	if (t->slot->by_host[t->host] == t)
		t->slot->by_host[t->host] = NULL;
	if (!t->slot->closing)
		key_free(t);
	tenant_memory_close(t->slot, t->memory, t->memory_key);
	engine_core_drop(t->slot->engine, t->owner);
	graph_destroy(t->graph);
	free(t->fetched.data);
	programs_clear(&t->programs);
	free(t);
}

static bool tenant_ended(struct tenant *t)
{
	if (!t->leaving || t->worker || t->busy || graph_count(t->graph))
		return false;
	arena_free_owner(t->slot->arena, t->owner);
	memory_parked_retry(t);
	programs_release(t);
	return !t->busy;
}

uint32_t tenants_reap(struct slot *s)
{
	struct tenant **at = &s->tenants, *t;
	uint32_t ended = 0;
	bool given = false;

	while ((t = *at)) {
		if (!tenant_ended(t)) {
			at = &t->next;
			continue;
		}
		given = given || t->given_up;
		*at = t->next;
		tenant_end(t);
		ended++;
	}
	for (t = s->tenants; given && t; t = t->next)
		memory_parked_retry(t);
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
		outbox_end(s->outbox, DXP_ECLOSED); /* completes transfers */
	builds_free(s);
}

void tenants_free(struct slot *s)
{
	memory_clearings_free(s);
	for (struct tenant *t = s->tenants, *next; t; t = next) {
		next = t->next;
		programs_release(t);
		memory_parked_retry(t);
		tenant_end(t);
	}
	s->tenants = NULL;
}
