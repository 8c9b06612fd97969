/* SPDX-License-Identifier: BSD-3-Clause */
/* What `dxp run` shows at the end and writes as a trace. */
#include "doors/opencl/door.h"

void trace_event(cl_event e)
{
}

void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes)
{
}

void trace_close(void)
{
}
