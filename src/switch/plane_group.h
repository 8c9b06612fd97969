/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups in the program's maps. */
#ifndef SWITCH_PLANE_GROUP_H
#define SWITCH_PLANE_GROUP_H

#include "switch/plane_load.h"

struct plane_groups {
	struct {
		bool used;
		uint32_t id;
		int ports;         /* descriptor of its port map; 0: none yet */
		uint64_t freed_ns; /* 0: never used */
	} at[SWITCH_KERNEL_GROUPS];
	/* where the search for a free entry starts, so that freed ones are reused late */
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
		int link; /* descriptor; the program is attached while it is open */
	} ports[SWITCH_KERNEL_PORTS];
};

/* Stores a port map in each entry. Entries without one after a failure get it with their group. */
void plane_groups_fill(struct plane *p);
/* Implement sw_kernel.install, .remove and .last_ns. */
bool plane_install(struct plane *p, const struct sw_group_view *view);
void plane_remove_group(struct plane *p, uint32_t group_id);
uint64_t plane_last_ns(const struct plane *p, uint32_t group_id);
void plane_groups_free(struct plane_groups *g);

#endif
