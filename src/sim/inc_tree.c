/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of nodes and ports are computed, not stored. */
#include "sim/inc_tree.h"

#include <stdlib.h>

#include <dxp/status.h>

#define HOST_NETWORK   0x0a000000u /* 10.0.0.0/9, hosts; the other half: switches */
#define SWITCH_NETWORK 0x0a800000u
#define NODES_MAX      0x00100000u

static uint32_t beside(const struct inc_tree *t, uint32_t level)
{
	return level <= 1 || t->options.beside[level - 1] == 0 ? 1 : t->options.beside[level - 1];
}

/* Pods (or hosts) of the level below, under one pod. */
static uint32_t below(const struct inc_tree *t, uint32_t level)
{
	uint32_t n = t->options.below[level - 1];

	return n == 0 || n > t->pods[level - 1] ? t->pods[level - 1] : n;
}

/* Returns the number of nodes in a pod. A host is a pod of one node. */
static uint32_t members(const struct inc_tree *t, uint32_t level)
{
	return level == 0 ? 1 : beside(t, level);
}

static uint32_t pod_first(const struct inc_tree *t, uint32_t level, uint32_t pod)
{
	return t->first[level] + pod * members(t, level);
}

static void node_init(struct inc_tree *t, uint32_t level, uint32_t i)
{
	struct inc_tree_node *n = &t->nodes[t->first[level] + i];

	*n = (struct inc_tree_node){.level = level,
				    .pod = i / members(t, level),
				    .index = i % members(t, level),
				    .first_port = t->port_count};
	n->parents = level < t->options.levels ? beside(t, level + 1) : 0;
	if (level > 0) {
		uint32_t first = n->pod * below(t, level), left = t->pods[level - 1] - first;
		uint32_t pods = left < below(t, level) ? left : below(t, level);
		n->children = pods * members(t, level - 1);
	}
	t->port_count += n->parents + n->children;
}

int inc_tree_create(struct inc_tree *t, const struct inc_tree_options *o)
{
	*t = (struct inc_tree){.options = *o};
	if (o->hosts == 0 || o->levels == 0 || o->levels > INC_TREE_LEVELS_MAX)
		return DXP_EINVAL;
	t->pods[0] = o->hosts;
	t->first[1] = o->hosts;
	for (uint32_t level = 1; level <= o->levels; level++) {
		t->pods[level] = (t->pods[level - 1] + below(t, level) - 1) / below(t, level);
		uint64_t end = t->first[level] + (uint64_t)t->pods[level] * beside(t, level);
		if (end > NODES_MAX)
			return DXP_EINVAL;
		t->first[level + 1] = (uint32_t)end;
	}
	if (t->pods[o->levels] != 1)
		return DXP_EINVAL; /* several separate trees */
	t->node_count = t->first[o->levels + 1];
	t->switch_count = t->node_count - o->hosts;
	t->nodes = calloc(t->node_count, sizeof(*t->nodes));
	if (!t->nodes)
		return DXP_ENOMEM;
	for (uint32_t level = 0; level <= o->levels; level++)
		for (uint32_t i = 0; t->first[level] + i < t->first[level + 1]; i++)
			node_init(t, level, i);
	return DXP_OK;
}

void inc_tree_free(struct inc_tree *t)
{
	free(t->nodes);
	t->nodes = NULL;
}

uint32_t inc_tree_pod(const struct inc_tree *t, uint32_t node, uint32_t level)
{
	uint32_t pod = t->nodes[node].pod;

	for (uint32_t l = t->nodes[node].level; l < level; l++)
		pod /= below(t, l + 1);
	return pod;
}

uint32_t inc_tree_parent(const struct inc_tree *t, uint32_t node, uint32_t k)
{
	uint32_t level = t->nodes[node].level + 1;

	return pod_first(t, level, inc_tree_pod(t, node, level)) + k;
}

static uint64_t hash(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

/* Chooses `to` if it is among the nodes, else by hash; INC_TREE_NONE: the choice is dead. */
static uint32_t choose(const struct inc_tree *t, uint32_t first, uint32_t count, uint32_t to,
		       uint64_t flow)
{
	uint32_t k = (uint32_t)(hash(t->options.seed ^ flow) % count);

	if (to >= first && to < first + count)
		return t->nodes[to].dead ? INC_TREE_NONE : to;
	for (uint32_t i = 0; i < count; i++)
		if (!t->nodes[first + (k + i) % count].dead)
			return first + (k + i) % count;
	return INC_TREE_NONE;
}

uint32_t inc_tree_next(const struct inc_tree *t, uint32_t node, uint32_t to, uint64_t flow,
		       uint32_t *port)
{
	const struct inc_tree_node *n = &t->nodes[node], *d = &t->nodes[to];

	if (d->level < n->level && inc_tree_pod(t, to, n->level) == n->pod) {
		uint32_t level = n->level - 1;
		uint32_t all = pod_first(t, level, n->pod * below(t, n->level));
		uint32_t first = pod_first(t, level, inc_tree_pod(t, to, level));
		uint32_t next = choose(t, first, members(t, level), to, flow);
		*port = n->first_port + n->parents + (next - all);
		return next;
	}
	if (n->parents == 0)
		return INC_TREE_NONE;
	uint32_t first = inc_tree_parent(t, node, 0);
	uint32_t next = choose(t, first, n->parents, to, flow);
	*port = n->first_port + (next - first);
	return next;
}

uint32_t inc_tree_ip(const struct inc_tree *t, uint32_t node)
{
	uint32_t hosts = t->options.hosts;

	return node < hosts ? HOST_NETWORK + 1 + node : SWITCH_NETWORK + 1 + (node - hosts);
}

uint32_t inc_tree_node(const struct inc_tree *t, uint32_t ip)
{
	uint32_t hosts = t->options.hosts;

	if (ip > HOST_NETWORK && ip - HOST_NETWORK <= hosts)
		return ip - HOST_NETWORK - 1;
	if (ip > SWITCH_NETWORK && ip - SWITCH_NETWORK <= t->switch_count)
		return hosts + (ip - SWITCH_NETWORK - 1);
	return INC_TREE_NONE;
}
