/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/entry/groups.h"

#include <string.h>

#include "plugins/opencl/node/device.h"

#define GROUPS_MAX \
	8 /* groups kept for reuse: programs use few of them, each with 8 MiB per device */

struct entry {
	struct dxp_group *group; /* NULL: unused */
	cl_uint count;
	cl_device_id devices[DXP_GROUP_MEMBERS_MAX];
	uint64_t used; /* number of the last use; the smallest is replaced */
};

static struct entry entries[GROUPS_MAX];
static uint64_t uses;

static void entry_drop(struct entry *e)
{
	dxp_group_destroy(e->group);
	e->group = NULL;
	e->used = 0;
}

static bool entry_has(const struct entry *e, const struct _cl_device_id *d)
{
	for (cl_uint i = 0; e->group && i < e->count; i++)
		if (e->devices[i] == d)
			return true;
	return false;
}

/* Destroys the groups of a lost device, before its connection is closed. */
static void lost(cl_device_id d)
{
	for (int i = 0; i < GROUPS_MAX; i++)
		if (entry_has(&entries[i], d))
			entry_drop(&entries[i]);
}

void groups_drop(const struct dxp_group *group)
{
	for (int i = 0; i < GROUPS_MAX; i++)
		if (entries[i].group == group)
			entry_drop(&entries[i]);
}

/* The groups that groups_close() destroys. */
static struct dxp_group *leaving[GROUPS_MAX];

void groups_detach(void)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		leaving[i] = entries[i].group;
		entries[i].group = NULL;
	}
}

void groups_close(void)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		dxp_group_destroy(leaving[i]);
		leaving[i] = NULL;
	}
}

static struct entry *entry_find(const cl_device_id *devices, cl_uint count)
{
	struct entry *found = &entries[0];

	for (int i = 0; i < GROUPS_MAX; i++) {
		struct entry *e = &entries[i];
		if (e->group && e->count == count &&
		    memcmp(e->devices, devices, count * sizeof(cl_device_id)) == 0)
			return e;
		if (e->used < found->used)
			found = e;
	}
	entry_drop(found);
	return found;
}

static int entry_open(struct entry *e, const cl_device_id *devices, cl_uint count)
{
	struct dxp_xpu *xpus[DXP_GROUP_MEMBERS_MAX];

	for (cl_uint i = 0; i < count; i++) {
		xpus[i] = devices[i]->xpu;
		e->devices[i] = devices[i];
	}
	e->count = count;
	device_lost_with(LOST_GROUPS, lost);
	return dxp_group_create(opencl_fabric(), xpus, count, NULL, &e->group);
}

struct dxp_group *groups_get(const cl_device_id *devices, cl_uint count, int *status)
{
	struct entry *e = entry_find(devices, count);

	*status = DXP_OK;
	/* A failed command has made the group unusable. */
	if (e->group && dxp_group_status(e->group) != DXP_OK)
		entry_drop(e);
	if (!e->group)
		*status = entry_open(e, devices, count);
	if (*status != DXP_OK)
		return NULL;
	e->used = ++uses;
	return e->group;
}
