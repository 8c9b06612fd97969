/* SPDX-License-Identifier: BSD-3-Clause */
/* What the OpenCL platform "Direct xPU" has beyond the standard, for host programs. Every function
 * is had by clGetExtensionFunctionAddressForPlatform(platform, "NAME"), of the type NAME_fn; on
 * other platforms that gives NULL, so a program that asks first runs everywhere.
 *
 * ---- cl_dxp_transfer ----
 *
 *   clEnqueueTransferBufferDXP()   bytes of one device's buffer to another's, from xPU to xPU
 *
 * ---- cl_dxp_device_network ----
 *
 * Kernels that send by themselves, on devices whose clGetDeviceNetworkDXP() succeeds. A kernel has
 * a parameter of type `global struct dxp_window *`, and its program includes <dxp/device.h>, which
 * is known to the device: with dxp_post_lists() and its kin it PUTs, GETs and sends messages while
 * it runs.
 *
 *   clSetKernelArgNetworkDXP()     gives a kernel the window of its device's NIC
 *   clGetDeviceNetworkDXP()        what a kernel needs to know of another's NIC
 *   clGetMemObjectAddressDXP()     where a buffer is, for descriptors
 *
 * Thread-safe, as everything in OpenCL but the setting of one kernel's arguments. */
#ifndef DXP_CL_EXT_H
#define DXP_CL_EXT_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CL_DXP_TRANSFER_EXTENSION_NAME       "cl_dxp_transfer"
#define CL_DXP_DEVICE_NETWORK_EXTENSION_NAME "cl_dxp_device_network"

/* CL_EVENT_COMMAND_TYPE of a transfer. */
#define CL_COMMAND_TRANSFER_BUFFER_DXP 0x44D0

/* Enqueues a command to copy `size` bytes of `src_buffer`, as the queue's device has them, to
 * `dst_buffer` on `dst_device`, where they are afterwards: the queue's device PUTs them there and
 * no byte of them passes through the host. Commands on either device may wait for the event. The
 * two devices may be the same.
 *
 * It differs from clEnqueueCopyBuffer in where the result is: that leaves it on the queue's device,
 * to be moved when it is used elsewhere.
 *
 * CL_INVALID_COMMAND_QUEUE; CL_INVALID_CONTEXT: queue, buffers and events are not of one context;
 * CL_INVALID_MEM_OBJECT: one is no buffer; CL_INVALID_DEVICE: `dst_device` is not of the context;
 * CL_INVALID_VALUE: size is 0, or a range is out of bounds; CL_MEM_COPY_OVERLAP: both ranges are of
 * one buffer and overlap; CL_MISALIGNED_SUB_BUFFER_OFFSET; CL_INVALID_EVENT_WAIT_LIST;
 * CL_DEVICE_NOT_AVAILABLE: one of the two is lost; CL_MEM_OBJECT_ALLOCATION_FAILURE;
 * CL_OUT_OF_RESOURCES; CL_OUT_OF_HOST_MEMORY. */
typedef cl_int(CL_API_CALL *clEnqueueTransferBufferDXP_fn)(
	cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
	cl_device_id dst_device, size_t src_offset, size_t dst_offset, size_t size,
	cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* The NIC function of a device that kernels of this process drive, and what others need to address
 * it: to be passed to kernels as a value. In OpenCL C it is
 *
 *   struct { ushort node; uchar function, reserved; uint memory_key; uint qp_magic[4]; } */
typedef struct cl_device_network_dxp {
	cl_ushort node;
	cl_uchar function;
	cl_uchar reserved;
	cl_uint memory_key; /* of all memory of the device, for descriptors of anybody */
	cl_uint qp_magic[4];
} cl_device_network_dxp;

/* Opens the function, or tells of the one that is open. A kernel that has broken the rules of its
 * window has stopped the function: this gives a fresh one, with other magics and another key. A
 * device that was lost and came back has a new one, too.
 *
 * CL_INVALID_CONTEXT; CL_INVALID_DEVICE: not of the context; CL_INVALID_VALUE: `network` is NULL;
 * CL_INVALID_OPERATION: kernels of this device cannot reach its NIC; CL_OUT_OF_RESOURCES: all
 * functions of that NIC are in use; CL_DEVICE_NOT_AVAILABLE. */
typedef cl_int(CL_API_CALL *clGetDeviceNetworkDXP_fn)(cl_context context, cl_device_id device,
						      cl_device_network_dxp *network);

/* Sets an argument declared `global struct dxp_window *` to the window of the NIC function of
 * whatever device the kernel is enqueued on. A device runs one kernel of this process at a time, so
 * kernels that wait for each other belong on different devices.
 *
 * CL_INVALID_KERNEL; CL_INVALID_ARG_INDEX; CL_INVALID_ARG_VALUE: the parameter is no pointer to
 * global memory. clEnqueueNDRangeKernel returns CL_INVALID_OPERATION where the queue's device has
 * no such function. */
typedef cl_int(CL_API_CALL *clSetKernelArgNetworkDXP_fn)(cl_kernel kernel, cl_uint arg_index);

/* Where the buffer is in the memory of the queue's device: the offset of a struct dxp_entry with
 * the device's memory_key. It enqueues a command that brings the buffer there; from its end, which
 * `event` (may be NULL) tells, until a command uses the buffer on another device or writes it from
 * the host, what is there is what the buffer holds, also when kernels of other devices PUT it
 * there. The address stays until the buffer is released or the device is lost.
 *
 * CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT,
 * CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_VALUE: `address` is NULL;
 * CL_DEVICE_NOT_AVAILABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY. */
typedef cl_int(CL_API_CALL *clGetMemObjectAddressDXP_fn)(cl_command_queue command_queue,
							 cl_mem buffer, cl_ulong *address,
							 cl_uint num_events_in_wait_list,
							 const cl_event *event_wait_list,
							 cl_event *event);

#ifdef __cplusplus
}
#endif
#endif
