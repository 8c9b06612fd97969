/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that engines share, and calls of optional functions. */
#include "engine/engine.h"

#include <stdio.h>

#include <dxp/status.h>

#include "engine/limits.h"

int engine_sizes_check(const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	unsigned __int128 items = 1;

	for (int d = 0; d < l->dimensions; d++) {
		items *= l->global[d];
		if (items == 0) {
			snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': global size 0",
				 l->kernel);
			return DXP_EINVAL;
		}
		if (items > ENGINE_ITEMS_MAX) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': more than 2^40 work items", l->kernel);
			return DXP_EINVAL;
		}
		if (l->local[0] && (l->local[d] == 0 || l->global[d] % l->local[d])) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': local size %llu does not divide global size %llu",
				 l->kernel, (unsigned long long)l->local[d],
				 (unsigned long long)l->global[d]);
			return DXP_EINVAL;
		}
	}
	return DXP_OK;
}

int engine_core_set(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand)
{
	return e->ops->core_set ? e->ops->core_set(e, owner, core, operand) : DXP_EUNSUPPORTED;
}

void engine_core_drop(struct engine *e, uint32_t owner)
{
	if (e->ops->core_drop)
		e->ops->core_drop(e, owner);
}

void engine_core_get(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
		     uint64_t *result)
{
	*core = *operand = 0;
	*result = 0;
	if (e->ops->core_get)
		e->ops->core_get(e, owner, core, operand, result);
}
