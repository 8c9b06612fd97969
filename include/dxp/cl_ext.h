/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of the OpenCL platform "Direct xPU", for host programs.
 * clGetExtensionFunctionAddressForPlatform(platform, "NAME") returns each function, of type
 * NAME_fn, or NULL on other platforms. A program that checks for NULL runs everywhere.
 *
 * ---- cl_dxp_transfer ----
 *   clEnqueueTransferBufferDXP()   copies a buffer range from one xPU directly to another
 * ---- cl_dxp_collective ----
 *   clEnqueueAllreduceDXP()        sums or otherwise combines buffers of several xPUs
 *   clEnqueueReduceDXP()           the same, with the result on one xPU
 *   clEnqueueReduceScatterDXP()    the same, with a part of the result on each xPU
 *   clEnqueueAllGatherDXP()        copies a buffer of each xPU to all xPUs
 *   clEnqueueBroadcastDXP()        copies a buffer of one xPU to all xPUs
 *   clEnqueueAllToAllDXP()         copies a part of each xPU's buffer to each xPU
 *   CL_EVENT_WAY_DXP               by which way such a command started
 * ---- cl_dxp_device_network ----
 * Kernels that communicate by themselves, on devices for which clGetDeviceNetworkDXP() succeeds.
 * Such a kernel has a parameter `global struct dxp_window *`. Its program includes <dxp/device.h>,
 * which the device provides, and sends PUTs, GETs and NAPs with dxp_post_lists() and similar
 * functions.
 *
 *   clSetKernelArgNetworkDXP()     passes a kernel the window of its device's NIC
 *   clGetDeviceNetworkDXP()        returns the data that kernels need to address another NIC
 *   clGetMemObjectAddressDXP()     returns the address of a buffer, for descriptors
 *
 * ---- cl_dxp_failure ----
 *   CL_EVENT_FAILURE_DXP           why a command failed, such as work-item and source line
 *
 * Thread-safe, like OpenCL, except setting the arguments of one kernel. */
#ifndef DXP_CL_EXT_H
#define DXP_CL_EXT_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CL_DXP_TRANSFER_EXTENSION_NAME       "cl_dxp_transfer"
#define CL_DXP_COLLECTIVE_EXTENSION_NAME     "cl_dxp_collective"
#define CL_DXP_DEVICE_NETWORK_EXTENSION_NAME "cl_dxp_device_network"
#define CL_DXP_FAILURE_EXTENSION_NAME        "cl_dxp_failure"

/* cl_event_info: the node's sentence about a command that failed, as a string with the final zero;
 * empty if there is none. The context's notification function gets the same sentence. */
#define CL_EVENT_FAILURE_DXP 0x44D1

/* CL_EVENT_COMMAND_TYPE of clEnqueueTransferBufferDXP(). */
#define CL_COMMAND_TRANSFER_BUFFER_DXP 0x44D0

/* Enqueues a copy of `size` bytes of `src_buffer` to `dst_buffer` on `dst_device`. The queue's
 * device PUTs its copy of the bytes; none passes through the host.
 *
 * clEnqueueCopyBuffer, in contrast, leaves the result on the queue's device until another device
 * uses it.
 * Shape:  the two devices may be the same.
 * Order:  commands on either device may wait for the event.
 * Errors: CL_INVALID_COMMAND_QUEUE; CL_INVALID_CONTEXT: queue, buffers and events have different
 *         contexts; CL_INVALID_MEM_OBJECT: not a buffer; CL_INVALID_DEVICE: `dst_device` is not in
 *         the context; CL_INVALID_VALUE: size is 0, or a range is out of bounds;
 *         CL_MEM_COPY_OVERLAP: both ranges are in one buffer and overlap;
 *         CL_MISALIGNED_SUB_BUFFER_OFFSET; CL_INVALID_EVENT_WAIT_LIST; CL_DEVICE_NOT_AVAILABLE: a
 *         device is lost; CL_MEM_OBJECT_ALLOCATION_FAILURE; CL_OUT_OF_RESOURCES;
 *         CL_OUT_OF_HOST_MEMORY. */
typedef cl_int(CL_API_CALL *clEnqueueTransferBufferDXP_fn)(
	cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
	cl_device_id dst_device, size_t src_offset, size_t dst_offset, size_t size,
	cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* CL_EVENT_COMMAND_TYPE of the commands of cl_dxp_collective. */
#define CL_COMMAND_ALLREDUCE_DXP      0x44D2
#define CL_COMMAND_REDUCE_DXP         0x44D3
#define CL_COMMAND_REDUCE_SCATTER_DXP 0x44D4
#define CL_COMMAND_ALL_GATHER_DXP     0x44D5
#define CL_COMMAND_BROADCAST_DXP      0x44D6
#define CL_COMMAND_ALL_TO_ALL_DXP     0x44D7

/* Types of elements, and reductions. dxp/collective.h explains rounding, NaN and averages. */
#define CL_TYPE_INT8_DXP         0
#define CL_TYPE_UINT8_DXP        1
#define CL_TYPE_INT16_DXP        2
#define CL_TYPE_UINT16_DXP       3
#define CL_TYPE_INT32_DXP        4
#define CL_TYPE_UINT32_DXP       5
#define CL_TYPE_INT64_DXP        6
#define CL_TYPE_UINT64_DXP       7
#define CL_TYPE_HALF_DXP         8
#define CL_TYPE_BFLOAT16_DXP     9
#define CL_TYPE_FLOAT_DXP        10
#define CL_TYPE_DOUBLE_DXP       11
#define CL_REDUCTION_SUM_DXP     0
#define CL_REDUCTION_PRODUCT_DXP 1
#define CL_REDUCTION_MIN_DXP     2
#define CL_REDUCTION_MAX_DXP     3
#define CL_REDUCTION_AVERAGE_DXP 4

/* Ways to exchange the data. dxp/collective.h explains them. One of them may be added to
 * `reduction` of clEnqueueAllreduceDXP(), as in CL_REDUCTION_SUM_DXP | CL_WAY_RING_DXP. Without
 * one, the library chooses. An operation that switches cannot compute uses ring or tree. */
#define CL_WAY_RING_DXP   0x100
#define CL_WAY_TREE_DXP   0x200
#define CL_WAY_SWITCH_DXP 0x300

/* cl_event_info: one of CL_WAY_*_DXP, as cl_uint: the way by which a command of cl_dxp_collective
 * started. If its switches are lost later, it continues by ring or tree. CL_INVALID_VALUE: another
 * command. */
#define CL_EVENT_WAY_DXP 0x44D8

/* The commands of cl_dxp_collective exchange data between buffers of several devices. The devices
 * send, copy and combine it; none passes through the host. In the comments of the functions, n is
 * num_devices, src[i] and dst[i] are the elements of src_buffers[i] and dst_buffers[i] from
 * src_offset and dst_offset on, and device i is devices[i].
 *
 * Shape:  n is 1 .. 64. Offsets are in bytes, and multiples of the element's size. `count` is at
 *         least 1. The queue's device need not be one of `devices`. A device may be listed several
 *         times.
 * Place:  an output must not overlap another input or output. Exception (in place): it may be
 *         exactly the input of the same device, or the part of it that each function names.
 * Access: the flags of buffers, such as CL_MEM_READ_ONLY, restrict kernels and the host, but not
 *         these commands.
 * Owner:  the lists are only read during the call. Buffers may be released after it.
 * Order:  every device waits for the whole wait list, and for the previous command of an in-order
 *         queue. Commands on any device may wait for the event. Commands with the same list of
 *         devices run in the order of their calls, in out-of-order queues too; if one of them
 *         fails, those that were enqueued after it and have not completed fail as well.
 * Time:   the call does not wait for the command. The first one with a list of devices, type and
 *         reduction builds a kernel on each device.
 * Errors: CL_INVALID_COMMAND_QUEUE; CL_INVALID_CONTEXT: a buffer or event has another context than
 *         the queue; CL_INVALID_MEM_OBJECT: not a buffer; CL_INVALID_DEVICE: not in the context;
 *         CL_INVALID_VALUE: n, `count`, type, reduction or root is out of range, a list is NULL, a
 *         buffer is too short, or an offset is not aligned; CL_MISALIGNED_SUB_BUFFER_OFFSET: for
 *         the device that uses the sub-buffer; CL_MEM_COPY_OVERLAP; CL_INVALID_OPERATION: a device
 *         cannot combine elements of this type; CL_BUILD_PROGRAM_FAILURE;
 *         CL_INVALID_EVENT_WAIT_LIST; CL_DEVICE_NOT_AVAILABLE: a device is lost;
 *         CL_MEM_OBJECT_ALLOCATION_FAILURE; CL_OUT_OF_RESOURCES; CL_OUT_OF_HOST_MEMORY. If a device
 *         is lost later, the event fails. Outputs of a failed command are undefined.
 *
 * There is no barrier of devices: clEnqueueMarkerWithWaitList() in any queue is one, because its
 * wait list may have events of all devices, which may wait for its event. */

/* At each device: dst[0 .. count) = reduction of all devices' src[0 .. count), with the same bits
 * at all. In place: dst is src. */
typedef cl_int(CL_API_CALL *clEnqueueAllreduceDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint reduction, cl_uint num_events_in_wait_list,
	const cl_event *event_wait_list, cl_event *event);

/* At device `root`: dst[0 .. count) = reduction of all devices' src[0 .. count). `root` is an index
 * of `devices`. In place: dst is src of the root. */
typedef cl_int(CL_API_CALL *clEnqueueReduceDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint reduction, cl_uint root,
	cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* At device i: dst[0 .. count) = reduction of all devices' src[i * count .. (i + 1) * count), so
 * src has n * count elements. In place: dst is this part of the device's src. With `dst_buffers`
 * NULL and dst_offset 0, it is in place. */
typedef cl_int(CL_API_CALL *clEnqueueReduceScatterDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint reduction, cl_uint num_events_in_wait_list,
	const cl_event *event_wait_list, cl_event *event);

/* At each device: dst[i * count .. (i + 1) * count) = src[0 .. count) of device i, so dst has n *
 * count elements. In place: src of device i is this part of its dst. With `src_buffers` NULL and
 * src_offset 0, it is in place. */
typedef cl_int(CL_API_CALL *clEnqueueAllGatherDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint num_events_in_wait_list,
	const cl_event *event_wait_list, cl_event *event);

/* At each device: dst[0 .. count) = src[0 .. count), which is read at device `root`, an index of
 * `devices`. In place: dst of the root is src. */
typedef cl_int(CL_API_CALL *clEnqueueBroadcastDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	cl_mem src_buffer, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint root, cl_uint num_events_in_wait_list,
	const cl_event *event_wait_list, cl_event *event);

/* At device i: dst[j * count .. (j + 1) * count) = src[i * count .. (i + 1) * count) of device j,
 * so src and dst have n * count elements. It cannot be done in place. */
typedef cl_int(CL_API_CALL *clEnqueueAllToAllDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint num_events_in_wait_list,
	const cl_event *event_wait_list, cl_event *event);

/* A device's NIC function for kernels of this process, and the numbers by which other nodes address
 * it. Kernels get it by value. Its type in OpenCL C:
 *
 * struct { ushort node; uchar function, reserved; uint memory_key; uint qp_magic[4]; } */
typedef struct cl_device_network_dxp {
	cl_ushort node;
	cl_uchar function;
	cl_uchar reserved;
	cl_uint memory_key; /* key of all memory of the device, for descriptors of any node */
	cl_uint qp_magic[4];
} cl_device_network_dxp;

/* Opens the device's NIC function, or describes the open one. The NIC stops a function whose kernel
 * violates the rules of its window. After that, or when a lost device is back, this call opens a
 * new function with other magics and another key.
 * Errors: CL_INVALID_CONTEXT; CL_INVALID_DEVICE: not in the context; CL_INVALID_VALUE: `network` is
 *         NULL; CL_INVALID_OPERATION: kernels of this device cannot reach its NIC;
 *         CL_OUT_OF_RESOURCES: all functions of that NIC are in use; CL_DEVICE_NOT_AVAILABLE. */
typedef cl_int(CL_API_CALL *clGetDeviceNetworkDXP_fn)(cl_context context, cl_device_id device,
						      cl_device_network_dxp *network);

/* Sets an argument of type `global struct dxp_window *` to the window of the NIC function of the
 * device that runs the kernel.
 * Order:  a device runs one kernel of this process at a time, so kernels that wait for each other
 *         must be on different devices.
 * Errors: CL_INVALID_KERNEL; CL_INVALID_ARG_INDEX; CL_INVALID_ARG_VALUE: not a pointer to global
 *         memory. clEnqueueNDRangeKernel returns CL_INVALID_OPERATION if the device has no such
 *         function. */
typedef cl_int(CL_API_CALL *clSetKernelArgNetworkDXP_fn)(cl_kernel kernel, cl_uint arg_index);

/* Returns the buffer's address in the memory of the queue's device. It is the offset for a struct
 * dxp_entry with the device's memory_key. Enqueues a command that moves the buffer to this device.
 * Owner:  the address is valid until the buffer is released or the device is lost.
 * Order:  the content at the address, with PUTs of other devices, is valid from the completion of
 *         `event` on, until a command uses the buffer on another device or the host writes it.
 *         `event` may be NULL.
 * Errors: CL_INVALID_COMMAND_QUEUE; CL_INVALID_CONTEXT; CL_INVALID_MEM_OBJECT;
 *         CL_MISALIGNED_SUB_BUFFER_OFFSET; CL_INVALID_EVENT_WAIT_LIST; CL_INVALID_VALUE: `address`
 *         is NULL; CL_DEVICE_NOT_AVAILABLE; CL_MEM_OBJECT_ALLOCATION_FAILURE;
 *         CL_OUT_OF_HOST_MEMORY. */
typedef cl_int(CL_API_CALL *clGetMemObjectAddressDXP_fn)(cl_command_queue command_queue,
							 cl_mem buffer, cl_ulong *address,
							 cl_uint num_events_in_wait_list,
							 const cl_event *event_wait_list,
							 cl_event *event);

#ifdef __cplusplus
}
#endif
#endif
