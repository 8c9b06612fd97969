/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups in the XDP program's maps. To install: clear aggregators, set ports, then add the entry.
 * To remove: the entry first. */
#include "switch/plane_group.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "switch/limits.h"

static int index_of(const struct plane_groups *g, uint32_t id)
{
	for (int i = 0; i < SWITCH_KERNEL_GROUPS; i++)
		if (g->at[i].used && g->at[i].id == id)
			return i;
	return -1;
}

/* No run of the program can still use the entry's former group. */
static bool rested(const struct plane_groups *g, uint32_t at, uint64_t now_ns)
{
	return now_ns - g->at[at].freed_ns >= PLANE_REST_NS;
}

/* A free entry, or -1. Storing a port map blocks for some 10 ms, until no run uses the old one, so
 * plane_groups_fill stores them before the first group. Preferred are entries with a map, free for
 * PLANE_REST_NS; then those without a map; last those freed recently, which need a new map. */
static int index_free(const struct plane_groups *g, uint64_t now_ns)
{
	int fresh = -1, tired = -1;

	for (uint32_t i = 0; i < SWITCH_KERNEL_GROUPS; i++) {
		uint32_t at = (g->next + i) % SWITCH_KERNEL_GROUPS;

		if (g->at[at].used)
			continue;
		if (g->at[at].ports > 0 && rested(g, at, now_ns))
			return (int)at;
		if (g->at[at].ports > 0 && tired < 0)
			tired = (int)at;
		else if (g->at[at].ports == 0 && fresh < 0)
			fresh = (int)at;
	}
	return fresh >= 0 ? fresh : tired;
}

/* False: unknown address, or its interface is no port of this plane. */
static bool neighbour_of(const struct plane *p, uint32_t ip, struct kernel_neighbour *out)
{
	uint32_t ip_be = __builtin_bswap32(ip);

	if (bpf_map_lookup_elem(p->program.neighbours, &ip_be, out))
		return false;
	for (unsigned i = 0; i < p->port_count; i++)
		if ((uint32_t)p->ports[i].ifindex == out->ifindex)
			return true;
	return false;
}

struct port_set {
	uint32_t count;
	uint32_t ifindex[SWITCH_KERNEL_PORTS];
};

static void port_add(struct port_set *s, uint32_t ifindex)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->ifindex[i] == ifindex)
			return;
	s->ifindex[s->count++] = ifindex;
}

static bool children_fill(const struct plane *p, const struct sw_group_view *v,
			  struct kernel_group *g, struct port_set *ports)
{
	for (uint32_t i = 0; i < v->child_count; i++) {
		const struct sw_child *c = &v->children[i];
		struct kernel_neighbour n;

		if (!neighbour_of(p, c->ip, &n))
			return false;
		g->children[i] = (struct kernel_child){
			.ip_be = __builtin_bswap32(c->ip),
			.port_be = __builtin_bswap16(c->port),
			.is_switch = c->is_switch,
			.first = c->first,
		};
		memcpy(g->own_mac, n.own_mac, sizeof(g->own_mac));
		port_add(ports, n.ifindex);
	}
	if (ports->count == 1)
		g->only_ifindex = ports->ifindex[0];
	return true;
}

static bool parent_fill(const struct plane *p, const struct sw_group_view *v,
			struct kernel_group *g)
{
	struct kernel_neighbour n;

	if (v->parent_ip == 0)
		return true;
	if (!neighbour_of(p, v->parent_ip, &n))
		return false;
	g->parent_ip_be = __builtin_bswap32(v->parent_ip);
	g->parent_ifindex = n.ifindex;
	memcpy(g->parent_mac, n.mac, sizeof(g->parent_mac));
	memcpy(g->parent_own_mac, n.own_mac, sizeof(g->parent_own_mac));
	return true;
}

static bool group_fill(const struct plane *p, const struct sw_group_view *v, struct kernel_group *g,
		       struct port_set *ports)
{
	*g = (struct kernel_group){
		.id = v->id,
		.qkey = v->qkey,
		.members = v->members,
		.child_count = v->child_count,
		.first = v->first,
		.own_ip_be = __builtin_bswap32(p->ip),
		.multicast_ip_be =
			__builtin_bswap32(SWITCH_MULTICAST_IP | (v->id & SWITCH_MULTICAST_MASK)),
		.check_icrc = p->check_icrc,
		.epoch = v->epoch,
	};
	return parent_fill(p, v, g) && children_fill(p, v, g, ports);
}

static bool ports_write(int map, const struct port_set *ports)
{
	for (uint32_t i = 0; i < SWITCH_KERNEL_PORTS; i++) {
		if (i >= ports->count)
			bpf_map_delete_elem(map, &i);
		else if (bpf_map_update_elem(map, &i, &ports->ifindex[i], BPF_ANY))
			return false;
	}
	return true;
}

static int ports_create(void)
{
	return bpf_map_create(BPF_MAP_TYPE_DEVMAP, "dxp_ports", sizeof(uint32_t), sizeof(uint32_t),
			      SWITCH_KERNEL_PORTS, NULL);
}

void plane_groups_fill(struct plane *p)
{
	uint32_t keys[SWITCH_KERNEL_GROUPS], count = 0;
	int maps[SWITCH_KERNEL_GROUPS];

	while (count < SWITCH_KERNEL_GROUPS && (maps[count] = ports_create()) >= 0) {
		keys[count] = count;
		count++;
	}
	uint32_t stored = count;
	const bool all = bpf_map_update_batch(p->program.ports, keys, maps, &stored, NULL) == 0;
	if (!all)
		log_debug("the kernel does not store %u port maps at once: %s", count,
			  strerror(errno));
	for (uint32_t i = 0; i < count; i++)
		if (all)
			p->groups.at[i].ports = maps[i];
		else
			close(maps[i]);
}

static bool ports_set(struct plane *p, uint32_t index, const struct port_set *ports)
{
	int map, old = p->groups.at[index].ports;

	if (old > 0 && rested(&p->groups, index, clock_now_ns()))
		return ports_write(old, ports);
	map = ports_create();
	if (map < 0)
		return false;
	if (!ports_write(map, ports) ||
	    bpf_map_update_elem(p->program.ports, &index, &map, BPF_ANY)) {
		close(map);
		return false;
	}
	if (old > 0)
		close(old);
	p->groups.at[index].ports = map;
	return true;
}

static bool aggregators_clear(struct plane *p, uint32_t index)
{
	static const struct kernel_aggregator clean;

	for (uint32_t i = 0; i < SWITCH_KERNEL_AGGREGATORS; i++) {
		uint32_t at = index * SWITCH_KERNEL_AGGREGATORS + i;

		if (bpf_map_update_elem(p->program.aggregators, &at, &clean, BPF_ANY))
			return false;
	}
	return true;
}

bool plane_install(struct plane *p, const struct sw_group_view *v)
{
	struct port_set ports = {0};
	struct kernel_group g;
	int index;

	plane_remove_group(p, v->id);
	index = index_free(&p->groups, clock_now_ns());
	if (!(v->planes & INC_PLANE_KERNEL) || index < 0 || v->child_count == 0 ||
	    v->child_count > SWITCH_KERNEL_CHILDREN || !group_fill(p, v, &g, &ports))
		return false;
	g.index = (uint32_t)index;
	if (!aggregators_clear(p, g.index) || !ports_set(p, g.index, &ports) ||
	    bpf_map_update_elem(p->program.groups, &g.id, &g, BPF_ANY)) {
		log_warn("group %08x stays in user space, because the kernel rejects it: %s", v->id,
			 strerror(errno));
		return false;
	}
	p->groups.at[index].used = true;
	p->groups.at[index].id = v->id;
	p->groups.next = (g.index + 1) % SWITCH_KERNEL_GROUPS;
	return true;
}

void plane_remove_group(struct plane *p, uint32_t group_id)
{
	int index = index_of(&p->groups, group_id);

	if (index < 0)
		return;
	bpf_map_delete_elem(p->program.groups, &group_id);
	p->groups.at[index].used = false;
	p->groups.at[index].freed_ns = clock_now_ns();
}

void plane_groups_free(struct plane_groups *g)
{
	for (uint32_t i = 0; i < SWITCH_KERNEL_GROUPS; i++)
		if (g->at[i].ports > 0)
			close(g->at[i].ports);
}

uint64_t plane_last_ns(const struct plane *p, uint32_t group_id)
{
	int index = index_of(&p->groups, group_id);
	uint64_t last_ns = 0;

	for (uint32_t i = 0; index >= 0 && i < SWITCH_KERNEL_AGGREGATORS; i++) {
		uint32_t at = (uint32_t)index * SWITCH_KERNEL_AGGREGATORS + i;
		struct kernel_aggregator aggregator;

		if (bpf_map_lookup_elem(p->program.aggregators, &at, &aggregator) == 0 &&
		    aggregator.seen_ns > last_ns)
			last_ns = aggregator.seen_ns;
	}
	return last_ns;
}
