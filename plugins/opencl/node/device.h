/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the fabric, devices and their memory. Callers hold the plugin's lock. */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "plugins/opencl/object/object.h"

cl_platform_id platform_get(void);
struct dxp_fabric *opencl_fabric(void); /* NULL: not joined */
/* Returns whether this is a forked child of the process that joined. The parent's threads do not
 * run in it. */
bool opencl_forked(void);
/* Joins the fabric if not yet joined, and finds the devices. *devices stays valid.
 * CL_DEVICE_NOT_FOUND: no fabric or no device. */
cl_int devices_find(cl_device_id **devices, cl_uint *count);
/* Provides a usable connection; connects or reconnects if necessary. May release the lock.
 * CL_DEVICE_NOT_AVAILABLE. */
cl_int device_connect(cl_device_id d);
/* Handles the status of a call on d: marks d lost if its connection is. Returns
 * result_of(status). */
cl_int device_judge(cl_device_id d, int status);
/* Returns the value of `param` as the node's device reports it, in `*bytes` bytes; NULL: not
 * reported. */
const void *device_about(cl_device_id d, cl_uint param, size_t *bytes);
cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
size_t device_size(cl_device_id d, cl_uint param, size_t otherwise);

/* Allocates device memory, aligned to 128 bytes, large ranges to 256. Exchanges messages only if a
 * new part is needed. CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_DEVICE_NOT_AVAILABLE. */
cl_int heap_allocate(cl_device_id d, uint64_t bytes, uint64_t *address);
/* Frees a range that no command uses. Does nothing if the connection of that generation is gone. */
void heap_give(cl_device_id d, uint32_t generation, uint64_t address);

#define DEVICE_SENTENCE_BYTES 1024

/* Writes name, version and driver version of the device, as its node reports them. Devices of the
 * same kind have equal sentences. Returns the length in bytes. */
size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES]);

/* network.c: requests the NIC function from the node, which replaces a function that was
 * stopped. */
cl_int network_open(cl_device_id d, struct dxp_xpu_nic *out);
/* Provides the NIC function of the device's xPU, which kernels of this program drive, in this
 * generation. Releases the lock if it exchanges messages. */
cl_int network_ready(cl_device_id d);

/* device_info.c: answers clGetDeviceInfo. CL_SUCCESS, CL_INVALID_VALUE. */
cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i);

/* device.c: searches for devices, then returns those of this type, like clGetDeviceIDs. *count may
 * exceed `space`. CL_INVALID_DEVICE_TYPE, CL_DEVICE_NOT_FOUND. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint space, cl_uint *count);
cl_device_type device_type(cl_device_id d);
/* At exit: devices_detach marks all devices lost; devices_close then closes their connections,
 * without the lock. */
void devices_detach(void);
void devices_close(void);

/* connect.c: returns whether the device's node is alive and can be used now. */
bool device_available(cl_device_id d);
/* Opens the first connection of a new device; DXP_EUNSUPPORTED: it is not an OpenCL device. */
int device_open(cl_device_id d);
/* Sets the functions to call for a lost connection, in the order of the steps, before it is
 * closed. */
enum lost_step {
	LOST_COMPLETIONS, /* dequeues the completions of commands that failed with the connection */
	LOST_GROUPS,      /* destroys groups of the device */
	LOST_PROGRAMS,    /* releases the node's programs */
	LOST_STEPS
};
void device_lost_with(enum lost_step step, void (*call)(cl_device_id d));
/* Measures the offset between node and host clocks again, in `rounds` rounds. */
int device_clock(cl_device_id d, struct dxp_clock *best, int rounds);

/* fabric.c: joins the fabric if not yet joined. NULL: not joined. Prints the reason on standard
 * error if DXP_CL_VERBOSE is set or the fabric is faulty. */
struct dxp_fabric *fabric_join(void);
/* At exit, and in a forked child: fabric_close prevents joining from now on. fabric_detach also
 * ends the membership for this process and returns it, or NULL. */
void fabric_close(void);
struct dxp_fabric *fabric_detach(bool in_child);

#endif
