/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bridge_limit.h"

#define NS_PER_KB_OF_1_GB_PER_S 1000.0

struct bridge_limit bridge_limit_of(const struct bridge_alone *ways, size_t count,
				    unsigned processors)
{
	const struct bridge_alone *best[STAGES] = {0};
	struct bridge_limit limit = {0};
	double work = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bridge_alone **b = &best[ways[i].stage];
		if (ways[i].gb_per_s > (*b ? (*b)->gb_per_s : 0))
			*b = &ways[i];
	}
	for (size_t i = STAGE_NETWORK; i < STAGES; i++) {
		if (!best[i])
			continue;
		work += best[i]->cpu_ns_per_kb;
		if (!limit.name || best[i]->gb_per_s < limit.gb_per_s) {
			limit.name = best[i]->name;
			limit.gb_per_s = best[i]->gb_per_s;
		}
	}
	if (best[STAGE_NETWORK] && best[STAGE_DMA] && work > 0)
		limit.processors_gb_per_s = NS_PER_KB_OF_1_GB_PER_S * processors / work;
	return limit;
}
