/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives groups to kernels, which then start allreduces by themselves (dxp/device.h). */
#include "host/group.h"
#include "host/internal.h"

static int way_check(const struct dxp_group *g)
{
	if (g->members < 2)
		return error_set(DXP_EINVAL, "group for kernels: 1 member; use 2 or more");
	if (g->options.way == DXP_WAY_RING || g->options.way == DXP_WAY_TREE)
		return error_set(DXP_EINVAL,
				 "group for kernels: its way is ring or tree; use DXP_WAY_SWITCH");
	return DXP_OK;
}

static int give(struct dxp_group *g, uint32_t *number)
{
	int status = way_check(g);

	if (status != DXP_OK)
		return status;
	if (!group_switch_join(g))
		return error_set(DXP_EUNSUPPORTED, "group for kernels: %s", g->ways.why);
	g->kernels = true;
	*number = g->switch_number;
	return DXP_OK;
}

int dxp_group_kernels(struct dxp_group *group, uint32_t *number)
{
	int status = dxp_group_status(group);

	if (status != DXP_OK)
		return status;
	pthread_mutex_lock(&group->lock);
	status = give(group, number);
	pthread_mutex_unlock(&group->lock);
	return status;
}
