/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions and their keys: 12 bits of index, 20 random bits drawn anew at each registration,
 * so that a key of a region that is gone is worthless. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/internal.h"

#define INDEX_MASK (NIC_REGIONS_MAX - 1)

static uint32_t key_draw(struct nic *n, uint32_t index)
{
	uint32_t random;

	n->options.entropy(n->options.entropy_context, &random, sizeof(random));
	uint32_t key = (random & ~(uint32_t)INDEX_MASK) | index;
	return key ? key : NIC_REGIONS_MAX; /* 0 means free */
}

int nic_region_register(struct nic *n, uint32_t function, void *base, uint64_t bytes,
			uint32_t rights, uint32_t *key)
{
	if (function >= NIC_FUNCTIONS || !base || bytes == 0 ||
	    (uintptr_t)base + bytes < (uintptr_t)base)
		return DXP_EINVAL;
	for (uint32_t i = 0; i < NIC_REGIONS_MAX; i++) {
		uint32_t index = (n->region_hint + i) & INDEX_MASK;
		struct nic_region *r = &n->regions[index];
		if (r->key)
			continue;
		*r = (struct nic_region){.base = base,
					 .bytes = bytes,
					 .function = function,
					 .rights = rights,
					 .key = key_draw(n, index)};
		n->region_hint = index + 1;
		*key = r->key;
		return DXP_OK;
	}
	return DXP_EBUSY;
}

int nic_region_deregister(struct nic *n, uint32_t key)
{
	struct nic_region *r = &n->regions[key & INDEX_MASK];

	if (key == 0 || r->key != key)
		return DXP_ENOENT;
	if (r->uses > 0)
		return DXP_EBUSY;
	*r = (struct nic_region){0};
	return DXP_OK;
}

struct nic_region *region_find(const struct nic *n, uint32_t function, uint32_t key)
{
	struct nic_region *r = &n->regions[key & INDEX_MASK];

	return key != 0 && ((r->key ^ key) | (r->function ^ function)) == 0 ? r : NULL;
}
