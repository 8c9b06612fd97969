/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat tree: 4-ary, as in LogP. Dragonfly: groups of 2 h linked routers, each with h nodes and h
 * links to other groups (balanced). Slim fly: graph of McKay, Miller and Siran, of diameter 2.
 * Butterfly: as in LogP. */
#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/graph_build.h"

#define ARITY 4
/* links to other groups: enough for 4 M nodes; MODEL_TOPOLOGY_NODES_MAX needs 12 */
#define GLOBAL_MAX 32
#define FIELD_MAX  256 /* of a slim fly's field: enough for 21 M nodes */

/* Builds a butterfly of 4-ary switches with the nodes in level 0. Switches i, j of levels l, l + 1
 * are linked if their base-4 digits but digit l are equal. */
int graph_fat_tree(struct model_graph *g, struct graph_links *links)
{
	uint32_t levels = 1, width = 1;

	while (width * ARITY < g->nodes) {
		width *= ARITY;
		levels++;
	}
	if (width * ARITY != g->nodes)
		return error_set(DXP_EINVAL,
				 "a 4-ary fat tree has 4, 16, 64, ... nodes; %u is no power of 4",
				 g->nodes);
	g->routers = levels * width;
	for (uint32_t level = 0, digit = 1; level + 1 < levels; level++, digit *= ARITY)
		for (uint32_t i = 0; i < width; i++)
			for (uint32_t up = 0; up < ARITY; up++) {
				uint32_t other = i - i / digit % ARITY * digit + up * digit;
				graph_link(links, level * width + i, (level + 1) * width + other);
			}
	return links->status == DXP_OK ? graph_host(g, width, ARITY) : links->status;
}

/* Links router i of level l to those of level l + 1 whose rows equal i but for bit l. */
int graph_butterfly(struct model_graph *g, struct graph_links *links)
{
	if (g->nodes & (g->nodes - 1))
		return error_set(DXP_EINVAL, "a butterfly has a power of two of nodes, not %u",
				 g->nodes);
	for (uint32_t bit = 1; bit < g->nodes; bit *= 2, g->receivers += g->nodes)
		for (uint32_t i = 0; i < g->nodes; i++) {
			graph_link(links, g->receivers + i, g->receivers + g->nodes + i);
			graph_link(links, g->receivers + i, g->receivers + g->nodes + (i ^ bit));
		}
	g->routers = g->receivers + g->nodes;
	return links->status;
}

/* Links groups in rounds: a group's k-th link leads to the k-th other group by number. */
static void dragonfly_global(struct graph_links *links, uint32_t groups, uint32_t group_routers,
			     uint32_t global)
{
	uint32_t ports = group_routers * global;

	for (uint32_t round = 0; round * (groups - 1) < ports; round++)
		for (uint32_t a = 0; a < groups; a++)
			for (uint32_t b = a + 1; b < groups; b++) {
				uint32_t at_a = round * (groups - 1) + b - 1;
				uint32_t at_b = round * (groups - 1) + a;
				if (at_a >= ports || at_b >= ports)
					continue;
				graph_link(links, a * group_routers + at_a / global,
					   b * group_routers + at_b / global);
			}
}

int graph_dragonfly(struct model_graph *g, struct graph_links *links)
{
	uint32_t global = 1;

	/* smallest balanced dragonfly with enough nodes */
	while (global < GLOBAL_MAX && 2ull * global * global * (2 * global * global + 1) < g->nodes)
		global++;
	uint32_t group_routers = 2 * global, group_nodes = group_routers * global;
	uint32_t groups = (g->nodes + group_nodes - 1) / group_nodes;
	g->routers = groups * group_routers;
	for (uint32_t group = 0; group < groups; group++)
		for (uint32_t a = 0; a < group_routers; a++)
			for (uint32_t b = a + 1; b < group_routers; b++)
				graph_link(links, group * group_routers + a,
					   group * group_routers + b);
	if (groups > 1)
		dragonfly_global(links, groups, group_routers, global);
	return links->status == DXP_OK ? graph_host(g, g->routers, global) : links->status;
}

static bool is_prime(uint32_t n)
{
	for (uint32_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n >= 2;
}

static uint32_t power(uint32_t base, uint32_t exponent, uint32_t modulus)
{
	uint32_t result = 1;

	while (exponent-- > 0)
		result = result * base % modulus;
	return result;
}

/* Returns the smallest primitive element of the field with `q` elements, an odd prime. */
static uint32_t primitive(uint32_t q)
{
	for (uint32_t candidate = 2; candidate < q; candidate++) {
		uint32_t order = 1;
		while (power(candidate, order, q) != 1)
			order++;
		if (order == q - 1)
			return candidate;
	}
	return 0;
}

/* Returns half of a router's links to others, rounded up. */
static uint32_t slim_fly_hosted(uint32_t q)
{
	return ((3 * q - 1) / 2 + 1) / 2;
}

/* Routers are (0, x, y) and (1, m, c). As q = 4w + 1, each set of generators contains its elements'
 * negatives. */
static void slim_fly_links(struct graph_links *links, uint32_t q)
{
	bool even[FIELD_MAX] = {false};
	uint32_t element = primitive(q);

	for (uint32_t i = 0; i < (q - 1) / 2; i++)
		even[power(element, 2 * i, q)] = true;
	for (uint32_t x = 0; x < q; x++)
		for (uint32_t a = 0; a < q; a++)
			for (uint32_t b = a + 1; b < q; b++)
				graph_link(links, (even[b - a] ? 0 : q * q) + x * q + a,
					   (even[b - a] ? 0 : q * q) + x * q + b);
	for (uint32_t x = 0; x < q; x++)
		for (uint32_t m = 0; m < q; m++)
			for (uint32_t c = 0; c < q; c++)
				graph_link(links, x * q + (m * x + c) % q, q * q + m * q + c);
}

int graph_slim_fly(struct model_graph *g, struct graph_links *links)
{
	uint32_t q = 5;

	while (q < FIELD_MAX &&
	       (q % 4 != 1 || !is_prime(q) || 2ull * q * q * slim_fly_hosted(q) < g->nodes))
		q++;
	g->routers = 2 * q * q;
	slim_fly_links(links, q);
	return links->status == DXP_OK ? graph_host(g, g->routers, slim_fly_hosted(q))
				       : links->status;
}
