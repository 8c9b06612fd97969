/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric, the devices and their memory. Callers hold the plugin's lock. */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "plugins/opencl/object/object.h"

cl_platform_id platform_get(void);
struct dxp_fabric *opencl_fabric(void); /* NULL: this process has not joined */
/* True in a forked child of the process that joined, which does not have the parent's threads. */
bool opencl_forked(void);
/* Joins the fabric if necessary, and finds the devices. *devices stays valid. CL_DEVICE_NOT_FOUND:
 * there is no fabric or no device. */
cl_int devices_find(cl_device_id **devices, cl_uint *count);
/* Connects the device if it has no usable connection. May release the lock.
 * CL_DEVICE_NOT_AVAILABLE. */
cl_int device_connect(cl_device_id d);
/* Handles the status of a call on `d`: if its connection is lost, marks `d` as lost. Returns
 * result_of(status). */
cl_int device_judge(cl_device_id d, int status);
/* Returns the value of `param`, of *bytes bytes, that the node reported. NULL: it reported none. */
const void *device_about(cl_device_id d, cl_uint param, size_t *bytes);
cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
size_t device_size(cl_device_id d, cl_uint param, size_t otherwise);

/* Allocates device memory, aligned to 128 bytes, or to 256 bytes for large ranges. Exchanges
 * messages with the node only if a new part is needed. CL_MEM_OBJECT_ALLOCATION_FAILURE,
 * CL_DEVICE_NOT_AVAILABLE. */
cl_int heap_allocate(cl_device_id d, uint64_t bytes, uint64_t *address);
/* Frees a range that no command uses. Does nothing if it belongs to an earlier connection. */
void heap_give(cl_device_id d, uint32_t generation, uint64_t address);

#define DEVICE_SENTENCE_BYTES 1024

/* Writes name, version and driver version, as the node reports them; equal for devices of the same
 * kind. Returns the length in bytes. */
size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES]);

/* network.c: requests a NIC function for kernels from the node, which replaces a stopped one. */
cl_int network_open(cl_device_id d, struct dxp_xpu_nic *out);
/* Makes sure that the kernels of this program have a NIC function on this device and connection.
 * Releases the lock if it must exchange messages. */
cl_int network_ready(cl_device_id d);

/* device_info.c: answers clGetDeviceInfo. CL_SUCCESS or CL_INVALID_VALUE. */
cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i);

/* device.c: returns the devices of this type, as clGetDeviceIDs does. First searches for more,
 * except into an array that the known ones fill. Writes at most `space`; *count is the number of
 * all. CL_INVALID_DEVICE_TYPE, CL_DEVICE_NOT_FOUND. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint space, cl_uint *count);
cl_device_type device_type(cl_device_id d);
/* For the exit. devices_detach marks all devices as lost. devices_close then closes their
 * connections, without the lock. */
void devices_detach(void);
void devices_close(void);

/* connect.c: the node of the device is alive and can be used now. */
bool device_available(cl_device_id d);
/* Opens the first connection of a new device. DXP_EUNSUPPORTED: the node has no OpenCL device. */
int device_open(cl_device_id d);
/* Functions that are called, in the order of the steps, when a connection is lost, before it is
 * closed. */
enum lost_step {
	LOST_COMPLETIONS, /* dequeues the completions of commands that failed with the connection */
	LOST_GROUPS,      /* destroys the groups that the device is a member of */
	LOST_PROGRAMS,    /* releases the programs on the node */
	LOST_STEPS
};
void device_lost_with(enum lost_step step, void (*call)(cl_device_id d));
/* Measures the offset between the clocks of node and host again; the best of `rounds` times. */
int device_clock(cl_device_id d, struct dxp_clock *best, int rounds);

/* fabric.c: joins the fabric if necessary. NULL: failed; prints the reason on standard error if
 * DXP_CL_VERBOSE is set or the fabric has a fault. */
struct dxp_fabric *fabric_join(void);
/* For the exit and for a forked child. fabric_close prevents joining from now on. fabric_detach
 * also ends the membership in this process, and returns the fabric or NULL. */
void fabric_close(void);
struct dxp_fabric *fabric_detach(bool in_child);

#endif
