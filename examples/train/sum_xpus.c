/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds by clEnqueueAllreduceDXP, not through the host. */
#include "fail.h"
#include "sum_internal.h"

void sum_xpus_open(struct sum *s)
{
	struct network *n = s->network;
	cl_int error;

	s->allreduce = (clEnqueueAllreduceDXP_fn)clGetExtensionFunctionAddressForPlatform(
		n->platform, "clEnqueueAllreduceDXP");
	if (!s->allreduce)
		fail("this platform has no clEnqueueAllreduceDXP; run `dxp run -- cl_train`, or "
		     "add by --sum host");
	for (uint32_t layer = 0; layer < LAYERS; layer++) {
		s->layers[layer] =
			clCreateCommandQueue(n->context, n->replicas[0].device, 0, &error);
		network_check(error, "clCreateCommandQueue");
	}
}

void sum_xpus_begin(struct sum *s, uint32_t layer, const cl_event *computed)
{
	struct network *n = s->network;
	cl_device_id devices[REPLICAS_MAX];
	cl_mem gradients[REPLICAS_MAX];

	for (uint32_t i = 0; i < n->replica_count; i++) {
		devices[i] = n->replicas[i].device;
		gradients[i] = n->replicas[i].buffers[GRADIENTS1 + layer];
	}
	network_check(s->allreduce(s->layers[layer], n->replica_count, devices, gradients,
				   gradients, 0, 0, network_gradients(layer), CL_TYPE_INT32_DXP,
				   CL_REDUCTION_SUM_DXP, n->replica_count, computed,
				   &s->summed[layer]),
		      "clEnqueueAllreduceDXP");
	network_check(clFlush(s->layers[layer]), "clFlush");
}

void sum_xpus_end(struct sum *s, uint32_t layer, cl_event *summed)
{
	for (uint32_t i = 0; i < s->network->replica_count; i++) {
		summed[i] = s->summed[layer];
		network_check(clRetainEvent(summed[i]), "clRetainEvent");
	}
	clReleaseEvent(s->summed[layer]);
}

void sum_xpus_close(struct sum *s)
{
	for (uint32_t layer = 0; layer < LAYERS; layer++)
		clReleaseCommandQueue(s->layers[layer]);
}
