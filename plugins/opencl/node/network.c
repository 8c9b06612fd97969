/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens NIC functions on devices, for kernels. */
#include "plugins/opencl/node/device.h"

/* Indexed by device->index. */
static struct network {
	bool open;
	uint32_t generation;
	struct dxp_xpu_nic nic;
} networks[OPENCL_DEVICES_MAX];

cl_int network_open(cl_device_id d, struct dxp_xpu_nic *out)
{
	cl_int error = device_connect(d);

	if (error != CL_SUCCESS)
		return error;
	struct dxp_xpu *xpu = d->xpu;
	uint32_t generation = d->generation;
	d->calls++;
	opencl_out();
	int status = dxp_xpu_nic(xpu, out);
	opencl_in();
	d->calls--;
	if (status == DXP_EBUSY)
		return CL_OUT_OF_RESOURCES;
	if (status != DXP_OK)
		return device_judge(d, status);
	networks[d->index] = (struct network){true, generation, *out};
	return CL_SUCCESS;
}

cl_int network_ready(cl_device_id d)
{
	struct dxp_xpu_nic nic;
	const struct network *n = &networks[d->index];

	return n->open && d->xpu && n->generation == d->generation ? CL_SUCCESS
								   : network_open(d, &nic);
}
