/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks of the XDP plane for the core. */
#include "switch/plane_group.h"

static bool install(void *context, const struct sw_group *group)
{
	struct sw_group_view view;

	switch_group_view(group, &view);
	return plane_install(context, &view);
}

static void remove_group(void *context, uint32_t group_id)
{
	plane_remove_group(context, group_id);
}

static uint64_t last_ns(void *context, uint32_t group_id)
{
	return plane_last_ns(context, group_id);
}

static void counters(void *context, uint64_t *counts)
{
	const struct plane *p = context;

	plane_counts(&p->program, counts);
}

struct sw_kernel plane_kernel(struct plane *p)
{
	return (struct sw_kernel){install, remove_group, last_ns, counters, p};
}
