/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: table by id, memory, addresses of children. */
#include "switch/core.h"

#include <stdlib.h>
#include <string.h>

static struct sw_group **bucket_of(const struct sw *s, uint32_t id)
{
	uint32_t hash = (id ^ s->hash_seed) * 0x9e3779b1u;

	return &s->buckets[(hash ^ hash >> 15) & s->bucket_mask];
}

struct sw_group *group_find(const struct sw *s, uint32_t id)
{
	struct sw_group *g = *bucket_of(s, id);

	while (g && g->id != id)
		g = g->bucket_next;
	return g;
}

/* ---- children ---- */

static uint32_t bucket_first(const struct sw_group *g, uint32_t ip, uint16_t port)
{
	uint32_t hash = (ip * 0x9e3779b1u) ^ (port * 0x85ebca6bu);

	return (hash ^ hash >> 16) & g->bucket_mask;
}

int group_child(const struct sw_group *g, uint32_t ip, uint16_t port)
{
	/* At most half of the entries are used, so the search always reaches a free entry. */
	for (uint32_t at = bucket_first(g, ip, port); g->buckets[at];
	     at = (at + 1) & g->bucket_mask) {
		unsigned index = g->buckets[at] - 1u;

		if (g->children[index].ip == ip && g->children[index].port == port)
			return (int)index;
	}
	return -1;
}

unsigned group_child_set(struct sw_group *g, unsigned index, const struct sw_child *child,
			 bool *changed)
{
	struct sw_child *known = &g->children[index];
	int at = group_child(g, child->ip, child->port);

	*changed = false;
	if (at >= 0 && ((unsigned)at != index || known->is_switch != child->is_switch ||
			(!known->is_switch && known->first != child->first)))
		return INC_CAUSE_ID;
	if (at >= 0) {
		if (child->first < known->first) {
			known->first = child->first;
			*changed = true;
		}
	} else {
		uint32_t bucket = bucket_first(g, child->ip, child->port);

		if (known->ip != 0)
			return INC_CAUSE_ID;
		while (g->buckets[bucket])
			bucket = (bucket + 1) & g->bucket_mask;
		g->buckets[bucket] = (uint16_t)(index + 1);
		*known = *child;
		g->known++;
		*changed = true;
	}
	if (child->first < g->first)
		g->first = child->first;
	return INC_CAUSE_NONE;
}

/* ---- creation and removal ---- */

static uint64_t aggregator_bytes(const struct sw_group *g)
{
	return (uint64_t)g->child_count * g->segment_bytes;
}

static bool group_allocate(struct sw_group *g)
{
	uint32_t aggregators = 2u * g->window, buckets = 2;

	while (buckets < 2u * g->child_count)
		buckets *= 2;
	g->bucket_mask = buckets - 1;
	g->aggregator_mask = aggregators - 1;
	g->children = calloc(g->child_count, sizeof(*g->children));
	g->connections = calloc(g->child_count, sizeof(struct sw_connection *));
	g->buckets = calloc(buckets, sizeof(*g->buckets));
	g->aggregators = calloc(aggregators, sizeof(*g->aggregators));
	g->queue = calloc(aggregators, sizeof(*g->queue));
	/* Not cleared: all data is written before it is read, and untouched pages take no
	 * memory. */
	g->data = malloc(aggregators * aggregator_bytes(g));
	if (!g->children || !g->connections || !g->buckets || !g->aggregators || !g->queue ||
	    !g->data)
		return false;
	for (uint32_t i = 0; i < aggregators; i++)
		g->aggregators[i].data = g->data + i * aggregator_bytes(g);
	return true;
}

static void group_release(struct sw_group *g)
{
	free(g->data);
	free(g->queue);
	free(g->aggregators);
	free(g->buckets);
	free(g->children);
	free(g->connections);
	free(g);
}

static void group_enter(struct sw *s, struct sw_group *g, uint64_t now_ns)
{
	struct sw_group **bucket = bucket_of(s, g->id);

	g->bucket_next = *bucket;
	*bucket = g;
	g->index = s->group_count++;
	s->groups[g->index] = g;
	s->memory_bytes += g->memory_bytes;
	s->expire_ns = min_u64(s->expire_ns, now_ns + min_u64(g->lease_ns, SWITCH_UNREADY_NS));
}

static uint64_t lease_ns(const struct sw *s, const struct inc_control *c)
{
	uint32_t ms = c->lease_ms && c->lease_ms < s->options.lease_ms ? c->lease_ms
								       : s->options.lease_ms;
	return ms * MS_NS;
}

/* A cause if the groups of member 0's address leave too little for other addresses: an address gets
 * at most SWITCH_SHARE times what remains free. */
static unsigned share_cause(const struct sw *s, uint32_t first_ip)
{
	uint64_t memory_bytes = 0;
	uint32_t groups = 0;

	for (uint32_t i = 0; i < s->group_count; i++) {
		if (s->groups[i]->first_ip != first_ip)
			continue;
		groups++;
		memory_bytes += s->groups[i]->memory_bytes;
	}
	if (groups >= SWITCH_SHARE * (s->options.groups_max - s->group_count))
		return INC_CAUSE_GROUPS;
	return memory_bytes > SWITCH_SHARE * (s->options.memory_max - s->memory_bytes)
		       ? INC_CAUSE_MEMORY
		       : INC_CAUSE_NONE;
}

unsigned group_install(struct sw *s, const struct inc_control *c, const struct inc_hop *hop,
		       uint32_t parent_ip, struct sw_group **out, uint64_t now_ns)
{
	if (s->drained)
		return INC_CAUSE_DRAINED;
	if (hop->children > SWITCH_CHILDREN_MAX)
		return INC_CAUSE_CHILDREN;
	if (s->group_count == s->options.groups_max)
		return INC_CAUSE_GROUPS;

	unsigned cause = share_cause(s, c->first_ip);

	if (cause != INC_CAUSE_NONE)
		return cause;

	struct sw_group *g = calloc(1, sizeof(*g));

	if (!g)
		return INC_CAUSE_MEMORY;
	*g = (struct sw_group){
		.id = c->true_comm_id,
		.qkey = c->qkey,
		.members = c->members,
		.parent_ip = parent_ip,
		.first = UINT32_MAX,
		.segment_bytes = c->segment_bytes,
		.window = c->window,
		.planes = c->planes,
		.mode = c->master_num,
		.child_count = hop->children,
		.first_ip = c->first_ip,
		.first_port = c->first_port,
		.job_id = c->job_id,
		.world_rank = c->world_rank,
		.created_ns = now_ns,
		.used_ns = now_ns,
		.lease_ns = lease_ns(s, c),
		.memory_bytes = 2ull * c->window * hop->children * c->segment_bytes,
	};
	if (g->memory_bytes > s->options.memory_max - s->memory_bytes || !group_allocate(g)) {
		group_release(g);
		return INC_CAUSE_MEMORY;
	}
	group_enter(s, g, now_ns);
	*out = g;
	return INC_CAUSE_NONE;
}

static void output_leave(struct sw *s, const struct sw_group *g)
{
	struct sw_group *before = NULL;

	for (struct sw_group *i = s->output_first; i != g; i = i->output_next)
		before = i;
	*(before ? &before->output_next : &s->output_first) = g->output_next;
	if (s->output_last == g)
		s->output_last = before;
}

static void kernel_leave(struct sw *s, struct sw_group *g)
{
	const struct sw_kernel *k = &s->options.kernel;

	if (!g->in_kernel)
		return;
	if (k->remove)
		k->remove(k->context, g->id);
	g->in_kernel = false;
	s->kernel_count--;
}

void group_free(struct sw *s, struct sw_group *g)
{
	struct sw_group **link = bucket_of(s, g->id);

	kernel_leave(s, g);
	connections_end(s, g);
	if (g->output_queued)
		output_leave(s, g);
	while (*link != g)
		link = &(*link)->bucket_next;
	*link = g->bucket_next;
	s->groups[g->index] = s->groups[--s->group_count];
	s->groups[g->index]->index = g->index;
	s->memory_bytes -= g->memory_bytes;
	group_release(g);
}

void group_offer(struct sw *s, struct sw_group *g)
{
	const struct sw_kernel *k = &s->options.kernel;

	kernel_leave(s, g);
	if (group_ready(g) && g->planes & INC_PLANE_KERNEL && k->install)
		g->in_kernel = k->install(k->context, g);
	s->kernel_count += g->in_kernel;
}

void group_output_enqueue(struct sw *s, struct sw_group *g)
{
	if (g->output_queued)
		return;
	g->output_queued = true;
	g->output_next = NULL;
	*(s->output_last ? &s->output_last->output_next : &s->output_first) = g;
	s->output_last = g;
}

void switch_group_view(const struct sw_group *g, struct sw_group_view *out)
{
	*out = (struct sw_group_view){
		.id = g->id,
		.qkey = g->qkey,
		.members = g->members,
		.parent_ip = g->parent_ip,
		.first = g->first,
		.epoch = g->epoch,
		.planes = g->planes,
		.child_count = g->child_count,
		.children = g->children,
	};
}
