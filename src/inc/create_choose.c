/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the tree. Its root is the lowest switch above all members. Among several such switches,
 * the root is the one with the most free groups, then the one with the lowest address. Each other
 * switch has one parent, even if there are several paths: the first member below the switch
 * decides. */
#include <string.h>

#include <dxp/status.h>

#include "inc/create_internal.h"
#include "wire/limits.h"

struct node *create_node_find(const struct inc_create *c, uint32_t ip)
{
	uint32_t at = ip * 0x9e3779b1u;

	for (uint32_t i = 0; i < c->node_capacity; i++) {
		struct node *n = &c->nodes[(at + i) & (c->node_capacity - 1)];
		if (n->ip == ip || n->ip == 0)
			return n;
	}
	return NULL;
}

/* Returns the number of switches on the path up to and including `root`. Returns 0 if the path does
 * not lead to `root`, or if one of these switches rejects the group. */
static uint8_t way_hops(const struct inc_control *way, uint32_t root)
{
	bool refused = false;

	for (uint8_t i = 0; i < way->path_count; i++) {
		refused |= way->fail_cause != 0 && way->cause_ip == way->path[i].ip;
		if (way->path[i].ip == root)
			return refused ? 0 : (uint8_t)(i + 1);
	}
	return 0;
}

/* Returns true if the path and the tree have the same parents for their common switches. */
static bool way_agrees(const struct inc_create *c, const struct inc_control *way, uint8_t hops)
{
	for (uint8_t i = 0; i + 1 < hops; i++) {
		const struct node *n = create_node_find(c, way->path[i].ip);
		if (!n || (n->ip != 0 && n->parent_ip != way->path[i + 1].ip))
			return false;
	}
	return true;
}

static bool way_choose(struct inc_create *c, const struct inc_control *way, uint8_t hops)
{
	for (uint8_t i = 0; i < hops; i++) {
		struct node *n = create_node_find(c, way->path[i].ip);
		if (!n)
			return false;
		n->ip = way->path[i].ip;
		n->parent_ip = i + 1 < hops ? way->path[i + 1].ip : 0;
	}
	return true;
}

/* Returns the smallest number of free groups of a switch on the path. Omits the first switch,
 * because all paths share it. */
static unsigned way_free(const struct inc_control *way, uint8_t hops)
{
	unsigned least = UINT16_MAX;

	for (uint8_t i = 1; i < hops; i++)
		least = (unsigned)min_u64(least, way->path[i].children);
	return least;
}

static unsigned way_shared(const struct inc_create *c, const struct inc_control *way, uint8_t hops)
{
	unsigned shared = 0;

	for (uint8_t i = 0; i < hops; i++) {
		const struct node *n = create_node_find(c, way->path[i].ip);
		shared += n && n->ip != 0;
	}
	return shared;
}

/* Returns true if path `a` is better than path `b`: it adds fewer switches to the tree, then has
 * more free groups, then lower addresses. */
static bool way_better(const struct inc_create *c, const struct inc_control *a,
		       const struct inc_control *b, uint8_t hops)
{
	unsigned shared_a = way_shared(c, a, hops), shared_b = way_shared(c, b, hops);
	unsigned free_a = way_free(a, hops), free_b = way_free(b, hops);

	if (shared_a != shared_b)
		return shared_a > shared_b;
	if (free_a != free_b)
		return free_a > free_b;
	for (uint8_t i = 0; i < a->path_count && i < b->path_count; i++)
		if (a->path[i].ip != b->path[i].ip)
			return a->path[i].ip < b->path[i].ip;
	return a->path_count < b->path_count;
}

/* Adds the member's best path to `root` to the tree. Returns false if no path agrees with the
 * tree. */
static bool member_join(struct inc_create *c, struct ways *w, uint32_t root)
{
	const struct inc_control *best = NULL;

	for (uint8_t i = 0; i < w->count; i++) {
		uint8_t hops = way_hops(&w->way[i], root);
		if (hops == 0 || !way_agrees(c, &w->way[i], hops) ||
		    (best && hops >= w->hops &&
		     (hops > w->hops || !way_better(c, &w->way[i], best, hops))))
			continue;
		best = &w->way[i];
		w->chosen = i;
		w->hops = hops;
	}
	return best && way_choose(c, best, w->hops);
}

struct tree {
	uint32_t root_ip;
	uint8_t height; /* switches on the longest path */
	uint32_t free_groups;
};

/* Builds the tree below `root` in c->nodes, and chooses the members' paths. Returns false if a
 * member has no path. */
static bool tree_build(struct inc_create *c, uint32_t root, struct tree *out)
{
	*out = (struct tree){.root_ip = root, .free_groups = UINT32_MAX};
	memset(c->nodes, 0, c->node_capacity * sizeof(*c->nodes));
	for (uint32_t m = 0; m < c->o.count; m++) {
		struct ways *w = &c->ways[m];
		if (!member_join(c, w, root))
			return false;
		out->height = w->hops > out->height ? w->hops : out->height;
		out->free_groups = (uint32_t)min_u64(out->free_groups,
						     w->way[w->chosen].path[w->hops - 1].children);
	}
	return true;
}

static bool tree_better(const struct tree *a, const struct tree *b)
{
	if (a->height != b->height)
		return a->height < b->height;
	if (a->free_groups != b->free_groups)
		return a->free_groups > b->free_groups;
	return a->root_ip < b->root_ip;
}

/* Reduces the abilities in the notice to what all switches of the tree and all members support.
 * Also reduces free_groups and lease_ms to their lowest values. */
static void abilities_join(struct inc_create *c)
{
	struct inc_control *n = &c->notice;

	*n = c->o.first;
	n->members = c->o.count;
	for (uint32_t m = 0; m < c->o.count; m++) {
		const struct inc_control *w = &c->ways[m].way[c->ways[m].chosen];
		n->sup_comm_type &= w->sup_comm_type;
		n->sup_op &= w->sup_op;
		n->sup_type &= w->sup_type;
		n->planes &= w->planes;
		n->segment_bytes = (uint16_t)min_u64(n->segment_bytes, w->segment_bytes);
		n->window = (uint16_t)min_u64(n->window, w->window);
		n->free_groups = (uint32_t)min_u64(n->free_groups, w->free_groups);
		n->lease_ms = (uint32_t)min_u64(n->lease_ms, w->lease_ms);
	}
	n->segment_bytes &= 0xfff0;
	/* Rounds down to a power of two, because a segment's aggregator is segment % (2 * window),
	 * also where segment numbers wrap. */
	while (n->window & (n->window - 1))
		n->window &= (uint16_t)(n->window - 1);
}

/* Numbers the children of each switch in the order of the first member below each child. */
static void children_count(struct inc_create *c)
{
	for (uint32_t m = 0; m < c->o.count; m++) {
		struct ways *w = &c->ways[m];
		const struct inc_hop *path = w->way[w->chosen].path;
		w->index = create_node_find(c, path[0].ip)->children++;
		for (uint8_t i = 0; i + 1 < w->hops; i++) {
			struct node *n = create_node_find(c, path[i].ip);
			if (n->counted)
				break;
			n->counted = true;
			n->index = create_node_find(c, path[i + 1].ip)->children++;
		}
	}
}

/* Disables XDP in the whole tree if one switch has more children than XDP supports, because XDP
 * switches and user-space switches cannot work together. */
static void planes_settle(struct inc_create *c)
{
	for (uint32_t i = 0; i < c->node_capacity; i++)
		if (c->nodes[i].ip != 0 && c->nodes[i].children > INC_KERNEL_CHILDREN)
			c->notice.planes &= (uint8_t)~INC_PLANE_KERNEL;
}

static bool rejection_find(const struct inc_create *c, struct inc_control *why)
{
	for (uint32_t m = 0; m < c->o.count; m++)
		for (uint8_t i = 0; i < c->ways[m].count; i++)
			if (c->ways[m].way[i].fail_cause != 0) {
				*why = c->ways[m].way[i];
				return true;
			}
	return false;
}

int create_tree_choose(struct inc_create *c, struct inc_control *why)
{
	const struct ways *first = &c->ways[0];
	struct tree best = {0}, tree;

	for (uint8_t i = 0; i < first->count; i++)
		for (uint8_t h = 0; h < first->way[i].path_count; h++)
			if (tree_build(c, first->way[i].path[h].ip, &tree) &&
			    (best.height == 0 || tree_better(&tree, &best)))
				best = tree;
	if (best.height == 0)
		return rejection_find(c, why) ? DXP_EBUSY : DXP_EUNSUPPORTED;
	tree_build(c, best.root_ip, &tree);
	c->root_ip = best.root_ip;
	abilities_join(c);
	if (c->notice.window == 0 || c->notice.segment_bytes < INC_SHORT_BYTES)
		return DXP_EUNSUPPORTED;
	children_count(c);
	planes_settle(c);
	return DXP_OK;
}

struct inc_control create_tree_notice(const struct inc_create *c, uint32_t member)
{
	const struct ways *w = &c->ways[member];
	struct inc_control n = c->notice;

	n.member_ip = c->o.members[member].ip;
	n.member_port = c->o.members[member].port;
	n.path_count = w->hops;
	n.hop = 0;
	for (uint8_t i = 0; i < w->hops; i++) {
		uint32_t ip = w->way[w->chosen].path[i].ip;
		n.path[i] = (struct inc_hop){
			.ip = ip,
			.children = create_node_find(c, ip)->children,
			.index = i == 0 ? w->index : create_node_find(c, n.path[i - 1].ip)->index,
		};
	}
	return n;
}
