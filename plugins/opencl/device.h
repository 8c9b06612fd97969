/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares what the files about devices share. Callers hold the plugin's lock. */
#ifndef DOOR_DEVICE_H
#define DOOR_DEVICE_H

#include "plugins/opencl/door.h"

/* device_info.c: answers clGetDeviceInfo. CL_SUCCESS, CL_INVALID_VALUE. */
cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i);

/* device.c: returns devices of this type, as for clGetDeviceIDs; searches for devices first. *count
 * may exceed room. CL_INVALID_DEVICE_TYPE, CL_DEVICE_NOT_FOUND. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint room, cl_uint *count);
cl_device_type device_type(cl_device_id d);
/* At exit: devices_detach marks all devices lost; devices_close then closes their connections,
 * without the lock. */
void devices_detach(void);
void devices_close(void);

/* connect.c: returns whether the device's node is alive and can be used now. */
bool device_available(cl_device_id d);
/* Opens the first connection of a new device; DXP_EUNSUPPORTED: it is no OpenCL device. */
int device_open(cl_device_id d);
/* Measures the offset between node and host clocks again, in `rounds` rounds. */
int device_clock(cl_device_id d, struct dxp_clock *best, int rounds);

/* heap.c */
struct heap *heap_create(void);
/* Forgets all allocations; they ended with the connection. */
void heap_reset(struct heap *h);

/* fabric.c: joins the fabric if not yet joined. NULL: not joined. Prints the reason on standard
 * error if DXP_CL_VERBOSE is set or the fabric is faulty. */
struct dxp_fabric *fabric_join(void);

#endif
