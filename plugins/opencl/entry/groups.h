/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of devices, for collectives. They are kept for later commands, because each has programs
 * and scratch memory on its devices. Callers hold the plugin's lock. */
#ifndef OPENCL_GROUPS_H
#define OPENCL_GROUPS_H

#include <dxp/collective.h>

#include "plugins/opencl/object/object.h"

/* The devices must be connected. NULL: *status is the reason. */
struct dxp_group *groups_get(const cl_device_id *devices, cl_uint count, int *status);
/* Destroys a group after a failure. Waits until its commands are complete. */
void groups_drop(const struct dxp_group *group);
/* At exit: the groups of all devices become those that groups_close() destroys. */
void groups_detach(void);
/* Destroys them, without the plugin's lock. Call it before devices_close(), because a group may use
 * its devices in a thread of its own, to get its switches back. */
void groups_close(void);

#endif
