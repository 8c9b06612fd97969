/* SPDX-License-Identifier: BSD-3-Clause */
/* Register mode's lookup table (P-01). Lookups skip entries with an invalid key; nic_area_add()
 * removes them. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/internal.h"

static struct nic_region *area_region(const struct nic_user *u, const struct nic_area *a)
{
	return region_find(u, a->key);
}

static void dead_remove(const struct nic_user *u, struct nic_registers *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->area_count; i++)
		if (area_region(u, &g->areas[i]))
			g->areas[kept++] = g->areas[i];
	g->area_count = kept;
}

/* Last bytes, because the address behind an area may be 2^64. */
static bool overlap(const struct nic_area *a, const struct nic_area *b)
{
	return a->vaddr <= b->vaddr + (b->bytes - 1) && b->vaddr <= a->vaddr + (a->bytes - 1);
}

static int area_check(const struct nic_user *u, const struct nic_area *area)
{
	if (area->bytes == 0 || area->vaddr + (area->bytes - 1) < area->vaddr)
		return DXP_EINVAL;
	const struct nic_region *region = area_region(u, area);
	if (!region)
		return DXP_EACCESS;
	if (area->offset > region->bytes || area->bytes > region->bytes - area->offset)
		return DXP_ERANGE;
	return DXP_OK;
}

int nic_area_add(struct nic *n, uint32_t user, const struct nic_area *area)
{
	if (user >= NIC_USERS || !n->users[user].window)
		return DXP_ENOENT;
	struct nic_user *u = &n->users[user];
	int status = area_check(u, area);
	if (status != DXP_OK)
		return status;
	if (!u->registers)
		u->registers = calloc(1, sizeof(*u->registers));
	struct nic_registers *g = u->registers;
	if (!g)
		return DXP_ENOMEM;
	dead_remove(u, g);
	for (uint32_t i = 0; i < g->area_count; i++)
		if (overlap(&g->areas[i], area))
			return DXP_EEXIST;
	if (g->area_count == NIC_AREAS_MAX)
		return DXP_EBUSY;
	g->areas[g->area_count++] = *area;
	return DXP_OK;
}

uint32_t nic_areas(const struct nic *n, uint32_t user, struct nic_area *out, uint32_t count)
{
	const struct nic_user *u = user < NIC_USERS ? &n->users[user] : NULL;
	uint32_t written = 0;

	for (uint32_t i = 0; u && u->registers && i < u->registers->area_count; i++)
		if (written < count && area_region(u, &u->registers->areas[i]))
			out[written++] = u->registers->areas[i];
	return written;
}

int area_find(const struct nic_user *u, uint64_t vaddr, uint64_t bytes, uint32_t *key,
	      uint64_t *offset)
{
	for (uint32_t i = 0; i < u->registers->area_count; i++) {
		const struct nic_area *a = &u->registers->areas[i];
		uint64_t from = vaddr - a->vaddr;
		if (vaddr < a->vaddr || from >= a->bytes || bytes > a->bytes - from)
			continue;
		if (!area_region(u, a))
			continue;
		*key = a->key;
		*offset = a->offset + from;
		return DXP_OK;
	}
	return DXP_ENOENT;
}
