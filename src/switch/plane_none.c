/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds without the XDP plane: opening it fails with the reason. */
#include "switch/plane.h"

#include <stdio.h>

#include <dxp/status.h>

int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES])
{
	snprintf(why, PLANE_WHY_BYTES,
		 "this build has no XDP plane, because %s at configuration; use --plane user",
		 DXP_XDP_MISSING);
	return DXP_EUNSUPPORTED;
}

void plane_close(struct plane *p)
{
}

struct sw_kernel plane_kernel(struct plane *p)
{
	return (struct sw_kernel){0};
}

int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context)
{
	return DXP_OK;
}

int plane_remove(const char *interface, char why[PLANE_WHY_BYTES])
{
	snprintf(why, PLANE_WHY_BYTES,
		 "this build has no XDP plane; run: ip link set dev %s xdp off", interface);
	return DXP_ENOENT;
}
