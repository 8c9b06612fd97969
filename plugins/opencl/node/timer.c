/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the timer queries. The time of a device is reported on the host's clock, as the times
 * of events are. */
#include "base/clock.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"

#define ROUNDS 2

static cl_int read_both(cl_device_id d, cl_ulong *device_time, cl_ulong *host_time)
{
	struct dxp_clock clock;

	if (!object_is(d, OBJECT_DEVICE))
		return CL_INVALID_DEVICE;
	if (!device_time || !host_time)
		return CL_INVALID_VALUE;
	cl_int error = device_connect(d);
	if (error != CL_SUCCESS)
		return error;
	/* Measures the offset again, because the two clocks drift. */
	int status = device_clock(d, &clock, ROUNDS);
	if (status != DXP_OK)
		return device_judge(d, status);
	*host_time = clock.host_ns;
	*device_time = clock.host_ns;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetDeviceAndHostTimer(cl_device_id device,
							    cl_ulong *device_time,
							    cl_ulong *host_time)
{
	opencl_enter();
	cl_int error = read_both(device, device_time, host_time);
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetHostTimer(cl_device_id device, cl_ulong *host_time)
{
	opencl_enter();
	bool valid = object_is(device, OBJECT_DEVICE);
	opencl_leave();
	if (!valid)
		return CL_INVALID_DEVICE;
	if (!host_time)
		return CL_INVALID_VALUE;
	*host_time = clock_now_ns();
	return CL_SUCCESS;
}
