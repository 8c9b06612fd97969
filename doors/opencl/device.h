/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files about devices. All with the door's lock. */
#ifndef DOOR_DEVICE_H
#define DOOR_DEVICE_H

#include "doors/opencl/door.h"

/* device_info.c: CL_SUCCESS, CL_INVALID_VALUE. */
cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i);

/* device.c: those of this type, as clGetDeviceIDs has it; finds them first. CL_INVALID_DEVICE_TYPE,
 * CL_DEVICE_NOT_FOUND; *count may be more than room. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint room, cl_uint *count);
cl_device_type device_type(cl_device_id d);
/* At exit: what is there is gone for whoever comes later; then, without the lock, it is closed. */
void devices_detach(void);
void devices_close(void);

/* connect.c: does its node live, and can it be used, now? */
bool device_available(cl_device_id d);
/* First connection of a new device; DXP_EUNSUPPORTED: it is no OpenCL device. */
int device_open(cl_device_id d);
/* Node's and host's clocks anew. */
int device_clock(cl_device_id d, struct dxp_clock *best, int rounds);

/* heap.c */
struct heap *heap_create(void);
/* What was there is gone with the connection. */
void heap_reset(struct heap *h);

/* fabric.c: joins where that has not been done. Why it is not there is said on standard error where
 * the program's user asked, or where it is broken. */
struct dxp_fabric *fabric_join(void);

#endif
