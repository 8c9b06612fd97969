/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions for the fabric, the devices and their memory. Callers hold the plugin's
 * lock. */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "plugins/opencl/object/object.h"

cl_platform_id platform_get(void);
struct dxp_fabric *opencl_fabric(void); /* NULL: this process has not joined */
/* Returns true in a forked child of the process that joined. The threads of the parent do not run
 * in the child. */
bool opencl_forked(void);
/* Joins the fabric if this process has not joined yet, and finds the devices. *devices stays valid.
 * CL_DEVICE_NOT_FOUND: there is no fabric or no device. */
cl_int devices_find(cl_device_id **devices, cl_uint *count);
/* Makes sure that the device has a usable connection. Connects, or connects again, if necessary.
 * May release the lock. CL_DEVICE_NOT_AVAILABLE. */
cl_int device_connect(cl_device_id d);
/* Handles the status of a call on device `d`. If the connection of `d` is lost, marks `d` as lost.
 * Returns result_of(status). */
cl_int device_judge(cl_device_id d, int status);
/* Returns the value of `param` that the node reported for its device; *bytes is its length. NULL:
 * the node reported none. */
const void *device_about(cl_device_id d, cl_uint param, size_t *bytes);
cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
size_t device_size(cl_device_id d, cl_uint param, size_t otherwise);

/* Allocates device memory. It is aligned to 128 bytes, or to 256 bytes for large ranges. Exchanges
 * messages with the node only if a new part is needed. CL_MEM_OBJECT_ALLOCATION_FAILURE,
 * CL_DEVICE_NOT_AVAILABLE. */
cl_int heap_allocate(cl_device_id d, uint64_t bytes, uint64_t *address);
/* Frees a range that no command uses. Does nothing if the range belongs to an earlier connection
 * than the current one. */
void heap_give(cl_device_id d, uint32_t generation, uint64_t address);

#define DEVICE_SENTENCE_BYTES 1024

/* Writes name, version and driver version of the device, as its node reports them. Devices of the
 * same kind have the same text. Returns its length in bytes. */
size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES]);

/* network.c: requests a NIC function for kernels from the node. If an earlier function was stopped,
 * the node replaces it. */
cl_int network_open(cl_device_id d, struct dxp_xpu_nic *out);
/* Makes sure that the kernels of this program have a NIC function on this device and connection. If
 * it must exchange messages, it releases the lock. */
cl_int network_ready(cl_device_id d);

/* device_info.c: answers clGetDeviceInfo. CL_SUCCESS or CL_INVALID_VALUE. */
cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i);

/* device.c: searches for devices and returns the devices of this type, as clGetDeviceIDs does.
 * Writes at most `space` of them; *count is the number of all. CL_INVALID_DEVICE_TYPE,
 * CL_DEVICE_NOT_FOUND. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint space, cl_uint *count);
cl_device_type device_type(cl_device_id d);
/* For the exit. devices_detach marks all devices as lost. devices_close then closes their
 * connections, without the lock. */
void devices_detach(void);
void devices_close(void);

/* connect.c: returns true if the node of the device is alive and can be used now. */
bool device_available(cl_device_id d);
/* Opens the first connection of a new device. DXP_EUNSUPPORTED: the node has no OpenCL device. */
int device_open(cl_device_id d);
/* Sets the function of one step. When a connection is lost, the functions are called in the order
 * of the steps, before the connection is closed. */
enum lost_step {
	LOST_COMPLETIONS, /* dequeues the completions of commands that failed with the connection */
	LOST_GROUPS,      /* destroys the groups that the device is a member of */
	LOST_PROGRAMS,    /* releases the programs on the node */
	LOST_STEPS
};
void device_lost_with(enum lost_step step, void (*call)(cl_device_id d));
/* Measures the offset between the clocks of node and host again. Uses the best of `rounds`
 * measurements. */
int device_clock(cl_device_id d, struct dxp_clock *best, int rounds);

/* fabric.c: joins the fabric, if this process has not joined yet. NULL: it could not join. Then the
 * reason is printed on standard error, if DXP_CL_VERBOSE is set or the fabric has a fault. */
struct dxp_fabric *fabric_join(void);
/* For the exit and for a forked child. fabric_close prevents joining from now on. fabric_detach
 * also ends the membership in this process, and returns the fabric or NULL. */
void fabric_close(void);
struct dxp_fabric *fabric_detach(bool in_child);

#endif
