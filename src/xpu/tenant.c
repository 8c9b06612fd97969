/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that use the xPU, from OPEN to CLOSE, loss, or eviction for not reading replies. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "nic/limits.h"
#include "xpu/slot_internal.h"

#define COMPLAINTS_MAX 20            /* log lines of one host; more are dropped */
#define NEEDED_LOOK_NS (100 * MS_NS) /* between checks for silent hosts that block others */

void tenant_complain(struct tenant *t, const char *format, ...)
{
	char text[ENGINE_TEXT_BYTES];
	va_list list;

	if (t->complaints >= COMPLAINTS_MAX)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	text_clean(text, strlen(text), TEXT_LINE, NULL);
	log_warn("host node %u: %s%s", t->host, text,
		 ++t->complaints == COMPLAINTS_MAX
			 ? "; further messages about this host are not logged"
			 : "");
}

struct tenant *tenant_find(const struct slot *s, uint16_t host)
{
	struct tenant *t = s->by_host[host];

	return t && !t->leaving ? t : NULL;
}

void tenant_bulks_add(struct tenant *t, int more)
{
	t->bulks += (uint32_t)more;
	t->slot->bulks += (uint32_t)more;
}

bool tenant_may_bulk(const struct tenant *t)
{
	return t->bulks < XPU_BULKS_MAX && t->slot->bulks < XPU_BULKS_SLOT_MAX;
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
	/* The host's process may write there until it has exited. */
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

/* Handles a change of a host's table entry. */
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
	/* A new incarnation, with another magic, may have opened the xPU before the table
	 * changed. */
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

	/* A lost id may belong to a node of the other kind by now. */
	if (host || change->what & TABLE_LOST)
		host_changed(s, change);
	if (change->what & TABLE_LOST || (!host && change->what & TABLE_RESTARTED)) {
		for (struct tenant *t = s->tenants; t; t = t->next)
			graph_lost(t->graph, node);
		outbox_drop(s->outbox, node, DXP_EPEERLOST);
	}
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

/* ---- silent hosts ---- */

/* Returns since when it is silent; 0: it is not, or it is leaving. */
static uint64_t silent_since(const struct tenant *t)
{
	return t->leaving ? 0 : node_silent_since(t->slot->node, t->host);
}

/* Evicts a silent host; its next packet is rejected. */
static void give_up(struct tenant *t, const char *what)
{
	struct slot *s = t->slot;
	uint16_t host = t->host;

	log_info("host node %u is silent, and another host needs its %s: its commands are "
		 "cancelled, its memory is freed",
		 host, what);
	t->given_up = true;
	tenant_evict(t, DXP_EPEERLOST);
	node_peer_reset(s->node, host, DXP_EPEERLOST);
}

/* Returns whether it has any of what another host needs. */
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

/* Users of bridge buffers: a silent host that keeps some, and whether others use them too. */
struct buffers_use {
	const struct slot *slot;
	uint64_t until_ns; /* silent since before this: too long */
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

/* Finds a silent host that keeps bridge buffers from others, by the xPU's own transfers or its
 * PUTs and GETs. A host may be silent as long as one step of a transfer may last. NULL: none. */
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

/* Returns whether silent hosts occupy half of a queue pair's requests. */
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
		outbox_end(s->outbox, DXP_ECLOSED); /* completes the transfers */
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
