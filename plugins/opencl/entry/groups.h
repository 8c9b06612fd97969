/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of devices for collectives. They are made when needed and kept for later commands: a group
 * has programs and scratch memory on each device. Callers hold the plugin's lock. */
#ifndef OPENCL_GROUPS_H
#define OPENCL_GROUPS_H

#include <dxp/collective.h>

#include "plugins/opencl/object/object.h"

/* Returns a usable group of these connected devices; NULL: *status. */
struct dxp_group *groups_get(const cl_device_id *devices, cl_uint count, int *status);
/* Destroys a group after a failure, when its commands have ended. */
void groups_drop(const struct dxp_group *group);

#endif
