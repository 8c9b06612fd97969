/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of the OpenCL platform "Direct xPU", for host programs.
 * clGetExtensionFunctionAddressForPlatform(platform, "NAME") returns each function, of type
 * NAME_fn, or NULL on other platforms. A program that checks for NULL runs everywhere.
 *
 * ---- cl_dxp_transfer ----
 *   clEnqueueTransferBufferDXP()   copies a buffer range from one xPU directly to another
 * ---- cl_dxp_collective ----
 *   clEnqueueAllreduceDXP()        sums or otherwise combines buffers of several xPUs
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

/* CL_EVENT_COMMAND_TYPE of clEnqueueAllreduceDXP(). */
#define CL_COMMAND_ALLREDUCE_DXP 0x44D2

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

/* Enqueues an allreduce. It combines `count` elements of each src_buffers[i] on devices[i], and
 * stores the result in each dst_buffers[i] on devices[i], with the same bits. The devices exchange
 * and combine the data; none passes through the host.
 *
 * Shape:  the offsets, in bytes, hold for all buffers, and are multiples of the element's size. In
 *         place: src_buffers[i] is dst_buffers[i], and the offsets are equal. The queue's device
 *         need not be one of `devices`; a device may be listed several times.
 * Order:  every part waits for the whole wait list, and for the previous command of an in-order
 *         queue. Commands on any device may wait for the event. Allreduces of the same devices run
 *         in the order of their calls.
 * Time:   the first call with a list of devices, type and reduction builds a kernel on each device.
 * Errors: CL_INVALID_COMMAND_QUEUE; CL_INVALID_CONTEXT; CL_INVALID_MEM_OBJECT: not a buffer;
 *         CL_INVALID_DEVICE: not in the context; CL_INVALID_VALUE: num_devices is not in 1 .. 64, a
 *         list is NULL, `count` is 0, a buffer is too short, an offset is not aligned, or type or
 *         reduction is unknown; CL_MEM_COPY_OVERLAP: an output overlaps another buffer;
 *         CL_INVALID_OPERATION: a device lacks the type; CL_BUILD_PROGRAM_FAILURE;
 *         CL_INVALID_EVENT_WAIT_LIST; CL_DEVICE_NOT_AVAILABLE: a device is lost;
 *         CL_MEM_OBJECT_ALLOCATION_FAILURE; CL_OUT_OF_RESOURCES; CL_OUT_OF_HOST_MEMORY. If a device
 *         is lost later, the event fails, and the outputs are undefined. */
typedef cl_int(CL_API_CALL *clEnqueueAllreduceDXP_fn)(
	cl_command_queue command_queue, cl_uint num_devices, const cl_device_id *devices,
	const cl_mem *src_buffers, const cl_mem *dst_buffers, size_t src_offset, size_t dst_offset,
	size_t count, cl_uint type, cl_uint reduction, cl_uint num_events_in_wait_list,
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
