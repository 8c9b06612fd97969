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
	for (uint32_t b = 0; b < n->bucket_count; b++) {
		s->queues_of_sums[b] =
			clCreateCommandQueue(n->context, n->replicas[0].device, 0, &error);
		network_check(error, "clCreateCommandQueue");
	}
}

/* With --sum switch, the first sum must use switches. Later ones may use another way, because a
 * switch may be lost. */
static void way_count(struct sum *s, cl_event summed)
{
	cl_uint way = 0;

	network_check(clGetEventInfo(summed, CL_EVENT_WAY_DXP, sizeof(way), &way, NULL),
		      "clGetEventInfo");
	s->totals.by_switch += way == CL_WAY_SWITCH_DXP;
	s->totals.by_ring += way == CL_WAY_RING_DXP;
	s->totals.by_tree += way == CL_WAY_TREE_DXP;
	if (!s->begun && s->way->hint == CL_WAY_SWITCH_DXP && s->network->replica_count > 1 &&
	    way != CL_WAY_SWITCH_DXP)
		fail("no switches add for these xPUs; start each with dxpd --switch ADDRESS, the "
		     "address of a dxp-switch, or use another --sum");
	s->begun = true;
}

void sum_xpus_begin(struct sum *s, uint32_t bucket, const cl_event *computed)
{
	struct network *n = s->network;
	cl_device_id devices[REPLICAS_MAX];
	cl_mem gradients[REPLICAS_MAX];
	cl_command_queue queue = s->queues_of_sums[bucket];

	/* Each bucket has its own order of devices, because allreduces of the same list run in
	 * order: a short one must not wait for a long one that began before. */
	for (uint32_t i = 0; i < n->replica_count; i++) {
		const uint32_t replica = (i + bucket) % n->replica_count;
		devices[i] = n->replicas[replica].device;
		gradients[i] = sum_gradients(s, bucket, replica);
	}
	network_check(s->allreduce(queue, n->replica_count, devices, gradients, gradients, 0, 0,
				   n->buckets[bucket].count, CL_TYPE_INT32_DXP,
				   CL_REDUCTION_SUM_DXP | s->way->hint, n->replica_count, computed,
				   &s->summed[bucket]),
		      "clEnqueueAllreduceDXP");
	network_check(clFlush(queue), "clFlush");
	way_count(s, s->summed[bucket]);
}

void sum_xpus_end(struct sum *s, uint32_t bucket, cl_event *summed)
{
	for (uint32_t i = 0; i < s->network->replica_count; i++) {
		summed[i] = s->summed[bucket];
		network_check(clRetainEvent(summed[i]), "clRetainEvent");
	}
	clReleaseEvent(s->summed[bucket]);
}

void sum_xpus_close(struct sum *s)
{
	for (uint32_t b = 0; b < s->network->bucket_count; b++)
		clReleaseCommandQueue(s->queues_of_sums[b]);
}
