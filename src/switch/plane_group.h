/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups in the maps of the XDP program. */
#ifndef SWITCH_PLANE_GROUP_H
#define SWITCH_PLANE_GROUP_H

#include "switch/plane_load.h"

struct plane_groups {
	struct {
		bool used;
		uint32_t id;
		int ports; /* of the entry's port map; 0: none yet */
		/* 0: never used */
		uint64_t freed_ns;
	} at[SWITCH_KERNEL_GROUPS];
	/* start of the search, so that freed entries are reused late */
	uint32_t next;
};

struct plane {
	struct plane_program program;
	struct plane_groups groups;
	uint32_t ip;
	bool check_icrc;
	unsigned port_count;
	struct {
		int ifindex;
		/* BPF link; while open, the program is attached */
		int link;
	} ports[SWITCH_KERNEL_PORTS];
};

/* Stores a port map in each entry; one that fails gets its map with its first group. */
void plane_groups_fill(struct plane *p);
/* Implement `install`, `remove` and `last_ns` of struct sw_kernel. */
bool plane_install(struct plane *p, const struct sw_group_view *view);
void plane_remove_group(struct plane *p, uint32_t group_id);
uint64_t plane_last_ns(const struct plane *p, uint32_t group_id);
void plane_groups_free(struct plane_groups *g);

#endif
