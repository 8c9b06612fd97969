/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements cl_dxp_device_network: kernels use the NIC of their device. */
#include <string.h>

#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/program/program.h"

_Static_assert(sizeof(cl_device_network_dxp) == 24, "kernels take it as a value");

cl_int CL_API_CALL dxp_clGetDeviceNetworkDXP(cl_context context, cl_device_id device,
					     cl_device_network_dxp *network)
{
	struct dxp_xpu_nic nic;
	cl_int error = CL_SUCCESS;

	opencl_enter();
	if (!object_is(context, OBJECT_CONTEXT))
		error = CL_INVALID_CONTEXT;
	else if (!object_is(device, OBJECT_DEVICE) || !context_has(context, device))
		error = CL_INVALID_DEVICE;
	else if (!network)
		error = CL_INVALID_VALUE;
	else
		error = network_open(device, &nic);
	opencl_leave();
	if (error != CL_SUCCESS)
		return error;
	*network = (cl_device_network_dxp){
		.node = nic.node, .function = nic.function, .memory_key = nic.memory_key};
	memcpy(network->qp_magic, nic.qp_magic, sizeof(network->qp_magic));
	return CL_SUCCESS;
}

static cl_int network_set(cl_kernel k, cl_uint index)
{
	if (!object_is(k, OBJECT_KERNEL))
		return CL_INVALID_KERNEL;
	if (index >= k->about->argument_count)
		return CL_INVALID_ARG_INDEX;
	const struct argument_about *about = &k->about->arguments[index];
	if (about->kind != ARGUMENT_BUFFER || about->address != CL_KERNEL_ARG_ADDRESS_GLOBAL)
		return CL_INVALID_ARG_VALUE;
	argument_clear(k, index);
	k->arguments[index].set = ARGUMENT_NETWORK;
	return CL_SUCCESS;
}

cl_int CL_API_CALL dxp_clSetKernelArgNetworkDXP(cl_kernel kernel, cl_uint arg_index)
{
	opencl_enter();
	cl_int error = network_set(kernel, arg_index);
	opencl_leave();
	return error;
}

/* Posts a mark that waits for the transfers of the buffer's bytes to the device. After it, the
 * bytes on this device count as the latest, even if another node writes them. */
static cl_int address_post(struct enqueue *e, cl_mem m, uint64_t *address, dxp_event *event)
{
	uint32_t generation = e->device->generation;
	cl_int error = memory_ready(e, m, 0, m->bytes, MEMORY_READ_WRITE, address);

	if (error != CL_SUCCESS)
		return error;
	if (!e->device->xpu || generation != e->device->generation)
		return CL_DEVICE_NOT_AVAILABLE;
	int status = dxp_mark(e->device->xpu, &e->waits, event);
	if (status != DXP_OK)
		return device_judge(e->device, status);
	memory_used(e, m, 0, m->bytes, MEMORY_READ_WRITE, *event);
	return CL_SUCCESS;
}

cl_int CL_API_CALL dxp_clGetMemObjectAddressDXP(cl_command_queue queue, cl_mem buffer,
						cl_ulong *address, cl_uint wait_count,
						const cl_event *wait, cl_event *event)
{
	struct enqueue e;
	dxp_event source = 0;
	uint64_t at = 0;

	cl_int error = enqueue_begin(&e, queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_count, wait);
	if (error != CL_SUCCESS)
		return error;
	error = address ? memory_check_buffer(buffer, queue) : CL_INVALID_VALUE;
	if (error == CL_SUCCESS)
		error = address_post(&e, buffer, &at, &source);
	error = enqueue_end(&e, error, source, false, event);
	if (error == CL_SUCCESS)
		*address = at;
	return error;
}
