/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests from this host whether the switch computes: runs operations on a group of one member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "inc/endpoint.h"

#define CALLS 100

static int alone(void *context, const void *own, void *all, size_t bytes)
{
	memcpy(all, own, bytes);
	return 0;
}

static int order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int calls_time(struct dxp_inc_group *g, uint64_t *median_ns)
{
	uint64_t times[CALLS];

	for (int i = 0; i < CALLS; i++) {
		int64_t in = 1000 + i, out = 0;
		uint64_t begin_ns = clock_now_ns();
		int status = dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL);
		times[i] = clock_now_ns() - begin_ns;
		if (status != DXP_OK)
			return status;
		if (out != in)
			return DXP_EIO;
	}
	qsort(times, CALLS, sizeof(times[0]), order);
	*median_ns = times[CALLS / 2];
	return DXP_OK;
}

int dxp_inc_selftest(struct dxp_inc *inc, char line[DXP_INC_WHY_BYTES])
{
	if (!inc || !line)
		return DXP_EINVAL;

	const struct dxp_inc_bootstrap boot = {.members = 1, .allgather = alone};
	struct dxp_inc_group *g;
	uint64_t median_ns;
	uint32_t ip = inc->switch_ip;
	int status = dxp_inc_group_create(inc, &boot, NULL, &g, line);

	if (status != DXP_OK)
		return status;
	status = calls_time(g, &median_ns);
	if (status != DXP_OK)
		snprintf(line, DXP_INC_WHY_BYTES,
			 "switch %u.%u.%u.%u creates groups, but an operation fails: %s", ip >> 24,
			 ip >> 16 & 255, ip >> 8 & 255, ip & 255, dxp_status_text(status));
	else
		snprintf(line, DXP_INC_WHY_BYTES,
			 "offload works: switch %u.%u.%u.%u (%s), %u switch%s above it, 8 B "
			 "in %.1f us",
			 ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
			 g->kernel ? "kernel plane"
			 : inc->multicast_lost
				 ? "user plane: its multicast to 239.192.0.0/14 does not "
				   "arrive at this host"
				 : "user plane",
			 g->above, g->above == 1 ? "" : "es", (double)median_ns / 1000);
	dxp_inc_group_destroy(g);
	return status;
}
