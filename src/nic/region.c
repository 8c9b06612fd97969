/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions, found by their keys. A revoked region is not found; its entry is free when no
 * operation uses it. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/frame.h"

#define INDEX_MASK (NIC_REGIONS_MAX - 1)

#define RIGHTS_ALL (NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC)

static bool region_free(const struct nic_region *r)
{
	return r->key == 0 || (r->revoked && r->uses == 0);
}

static int region_add(struct nic *n, const struct nic_region *fresh, uint32_t *key)
{
	if (fresh->user >= NIC_USERS || fresh->bytes == 0 || fresh->rights & ~(uint32_t)RIGHTS_ALL)
		return DXP_EINVAL;
	for (uint32_t i = 0; i < NIC_REGIONS_MAX; i++) {
		uint32_t index = (n->region_hint + i) & INDEX_MASK;
		struct nic_region *r = &n->regions[index];
		if (!region_free(r))
			continue;
		uint32_t generation = r->generation;
		*r = *fresh;
		r->generation = generation;
		*key = r->key = key_next(n, index, &r->generation);
		n->region_hint = index + 1;
		return DXP_OK;
	}
	return DXP_EBUSY;
}

int nic_region_register(struct nic *n, uint32_t user, void *base, uint64_t bytes, uint32_t rights,
			uint32_t *key)
{
	const struct nic_region region = {
		.base = base, .bytes = bytes, .user = user, .rights = rights};

	if (!base || (uintptr_t)base + bytes < (uintptr_t)base)
		return DXP_EINVAL;
	return region_add(n, &region, key);
}

int nic_region_register_staged(struct nic *n, uint32_t user, const struct nic_staged_ops *ops,
			       void *context, uint64_t bytes, uint32_t rights, uint32_t *key)
{
	const struct nic_region region = {.staged = ops,
					  .staged_context = context,
					  .bytes = bytes,
					  .user = user,
					  .rights = rights};

	return ops ? region_add(n, &region, key) : DXP_EINVAL;
}

/* The time reveals nothing about the key: all bits are always compared, and the index is not
 * secret. */
static struct nic_region *region_of(const struct nic *n, uint32_t key)
{
	struct nic_region *r = &n->regions[key & INDEX_MASK];

	return key != 0 && ((r->key ^ key) | r->revoked) == 0 ? r : NULL;
}

int nic_region_guard(struct nic *n, uint32_t key, const struct nic_guard *guard)
{
	struct nic_region *r = region_of(n, key);

	if (!r)
		return DXP_ENOENT;
	r->guard = *guard;
	r->guarded = true;
	return DXP_OK;
}

uint8_t region_guard_query(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	struct nic_reach fresh = {0};

	if (bytes == 0)
		return 0;
	if (r->revoked)
		return WIRE_NACK_KEY;
	uint8_t code = r->guard.reach(r->guard.context, offset, bytes, &fresh);
	if (code == 0) {
		r->reach = fresh;
		r->reach_epoch = *r->guard.epoch; /* the guard may have changed *epoch */
	}
	return code;
}

int region_hold(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	if (r->guarded) {
		int status = r->guard.hold ? r->guard.hold(r->guard.context, offset, bytes)
					   : DXP_EACCESS;
		if (status != DXP_OK)
			return status;
	}
	r->uses++;
	return DXP_OK;
}

void region_drop(struct nic_region *r, uint64_t offset)
{
	r->uses--;
	if (r->guarded)
		r->guard.drop(r->guard.context, offset);
}

int nic_region_deregister(struct nic *n, uint32_t key)
{
	struct nic_region *r = region_of(n, key);

	if (!r)
		return DXP_ENOENT;
	if (r->uses > 0)
		return DXP_EBUSY;
	*r = (struct nic_region){.generation = r->generation};
	return DXP_OK;
}

int nic_region_revoke(struct nic *n, uint32_t key)
{
	struct nic_region *r = region_of(n, key);

	if (!r)
		return DXP_ENOENT;
	r->revoked = true;
	return DXP_OK;
}

bool nic_region_busy(const struct nic *n, uint32_t key)
{
	const struct nic_region *r = &n->regions[key & INDEX_MASK];

	return key != 0 && r->key == key && r->uses > 0;
}

struct nic_region *region_find(const struct nic_user *u, uint32_t key)
{
	struct nic_region *r = region_of(u->nic, key);

	return r && r->user == u->index ? r : NULL;
}

void regions_revoke(struct nic *n, uint32_t user)
{
	for (uint32_t i = 0; i < NIC_REGIONS_MAX; i++)
		if (n->regions[i].key && n->regions[i].user == user)
			n->regions[i].revoked = true;
}

bool regions_busy(const struct nic *n, uint32_t user)
{
	for (uint32_t i = 0; i < NIC_REGIONS_MAX; i++)
		if (n->regions[i].user == user && n->regions[i].uses > 0)
			return true;
	return false;
}
