/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/entry/groups.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/node/device.h"

#define GROUPS_KEPT 8 /* idle groups kept for reuse; each has 8 MiB per device */

struct entry {
	struct entry *next;
	struct dxp_group *group;
	cl_uint count;
	cl_device_id devices[DXP_GROUP_MEMBERS_MAX];
	uint64_t used; /* number of the last use */
};

static struct entry *entries;
static uint64_t uses;

static void entry_drop(struct entry *e)
{
	struct entry **at = &entries;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	dxp_group_destroy(e->group);
	free(e);
}

static bool entry_has(const struct entry *e, const struct _cl_device_id *d)
{
	for (cl_uint i = 0; i < e->count; i++)
		if (e->devices[i] == d)
			return true;
	return false;
}

/* Destroys the groups of a lost device, before its connection is closed. */
static void lost(cl_device_id d)
{
	for (struct entry *e = entries, *next; e; e = next) {
		next = e->next;
		if (entry_has(e, d))
			entry_drop(e);
	}
}

void groups_drop(const struct dxp_group *group)
{
	for (struct entry *e = entries; e; e = e->next) {
		if (e->group == group) {
			entry_drop(e);
			return;
		}
	}
}

/* The groups that groups_close() destroys. */
static struct entry *leaving;

void groups_detach(void)
{
	leaving = entries;
	entries = NULL;
}

void groups_close(void)
{
	/* The program no longer waits for operations, and each would delay the exit. */
	for (struct entry *e = leaving; e; e = e->next)
		dxp_group_abort(e->group);
	while (leaving) {
		struct entry *e = leaving;

		leaving = e->next;
		dxp_group_destroy(e->group);
		free(e);
	}
}

/* Destroys the groups that have waited longest for a command, so that fewer than GROUPS_KEPT
 * remain. Keeps a group with outstanding commands, because its destruction would wait for them. */
static void idle_drop(void)
{
	for (;;) {
		struct entry *oldest = NULL;
		unsigned count = 0;

		for (struct entry *e = entries; e; e = e->next, count++)
			if ((!oldest || e->used < oldest->used) &&
			    dxp_group_wait(e->group, 0) != DXP_ETIMEDOUT)
				oldest = e;
		if (count < GROUPS_KEPT || !oldest)
			return;
		entry_drop(oldest);
	}
}

static struct entry *entry_find(const cl_device_id *devices, cl_uint count)
{
	for (struct entry *e = entries; e; e = e->next)
		if (e->count == count &&
		    memcmp(e->devices, devices, count * sizeof(cl_device_id)) == 0)
			return e;
	return NULL;
}

static int entry_open(const cl_device_id *devices, cl_uint count, struct entry **out)
{
	struct dxp_xpu *xpus[DXP_GROUP_MEMBERS_MAX];
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return DXP_ENOMEM;
	for (cl_uint i = 0; i < count; i++) {
		xpus[i] = devices[i]->xpu;
		e->devices[i] = devices[i];
	}
	e->count = count;
	device_lost_with(LOST_GROUPS, lost);
	int status = dxp_group_create(opencl_fabric(), xpus, count, NULL, &e->group);
	if (status != DXP_OK) {
		free(e);
		return status;
	}
	e->next = entries;
	entries = *out = e;
	return DXP_OK;
}

struct dxp_group *groups_get(const cl_device_id *devices, cl_uint count, int *status)
{
	struct entry *e = entry_find(devices, count);

	*status = DXP_OK;
	/* A failed command has made the group unusable. */
	if (e && dxp_group_status(e->group) != DXP_OK) {
		entry_drop(e);
		e = NULL;
	}
	if (!e) {
		idle_drop();
		*status = entry_open(devices, count, &e);
	}
	if (*status != DXP_OK)
		return NULL;
	e->used = ++uses;
	return e->group;
}
