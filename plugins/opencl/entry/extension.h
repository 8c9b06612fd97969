/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the extensions in dxp/cl_ext.h. dxp_<name> implements each, with the type
 * <name>_fn. */
#ifndef OPENCL_EXTENSION_H
#define OPENCL_EXTENSION_H

#include "plugins/opencl/object/object.h"

#include <dxp/cl_ext.h>

#define EXTENSION_FUNCTIONS(X)        \
	X(clEnqueueTransferBufferDXP) \
	X(clEnqueueAllreduceDXP)      \
	X(clEnqueueReduceDXP)         \
	X(clEnqueueReduceScatterDXP)  \
	X(clEnqueueAllGatherDXP)      \
	X(clEnqueueBroadcastDXP)      \
	X(clEnqueueAllToAllDXP)       \
	X(clGetDeviceNetworkDXP)      \
	X(clSetKernelArgNetworkDXP)   \
	X(clGetMemObjectAddressDXP)

#define EXTENSION_DECLARE(name) extern __typeof__(*(name##_fn)NULL) dxp_##name;
EXTENSION_FUNCTIONS(EXTENSION_DECLARE)
#undef EXTENSION_DECLARE

#endif
