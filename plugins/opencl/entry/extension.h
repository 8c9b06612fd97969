/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the extensions in dxp/cl_ext.h. */
#ifndef OPENCL_EXTENSION_H
#define OPENCL_EXTENSION_H

#include "plugins/opencl/object/object.h"

#include <dxp/cl_ext.h>

#define EXTENSION_FUNCTIONS(X)        \
	X(clEnqueueTransferBufferDXP) \
	X(clEnqueueAllreduceDXP)      \
	X(clGetDeviceNetworkDXP)      \
	X(clSetKernelArgNetworkDXP)   \
	X(clGetMemObjectAddressDXP)

cl_int CL_API_CALL dxp_clEnqueueTransferBufferDXP(cl_command_queue queue, cl_mem src, cl_mem dst,
						  cl_device_id dst_device, size_t src_offset,
						  size_t dst_offset, size_t size,
						  cl_uint wait_count, const cl_event *wait,
						  cl_event *event);
cl_int CL_API_CALL dxp_clEnqueueAllreduceDXP(cl_command_queue queue, cl_uint num_devices,
					     const cl_device_id *devices, const cl_mem *src,
					     const cl_mem *dst, size_t src_offset,
					     size_t dst_offset, size_t count, cl_uint type,
					     cl_uint reduction, cl_uint wait_count,
					     const cl_event *wait, cl_event *event);
cl_int CL_API_CALL dxp_clGetDeviceNetworkDXP(cl_context context, cl_device_id device,
					     cl_device_network_dxp *network);
cl_int CL_API_CALL dxp_clSetKernelArgNetworkDXP(cl_kernel kernel, cl_uint arg_index);
cl_int CL_API_CALL dxp_clGetMemObjectAddressDXP(cl_command_queue queue, cl_mem buffer,
						cl_ulong *address, cl_uint wait_count,
						const cl_event *wait, cl_event *event);

#endif
