/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds in this program, for comparison. Reads start as gradients are computed, so they overlap like
 * the xPUs' sums. */
#include <stdlib.h>

#include "fail.h"
#include "sum_internal.h"

static size_t bucket_bytes(const struct sum *s, uint32_t bucket)
{
	return s->network->buckets[bucket].count * sizeof(cl_int);
}

void sum_host_open(struct sum *s)
{
	struct network *n = s->network;
	cl_int error;

	for (uint32_t i = 0; i < n->replica_count; i++) {
		s->queues[i] = clCreateCommandQueue(n->context, n->replicas[i].device,
						    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
		network_check(error, "clCreateCommandQueue");
		for (uint32_t b = 0; b < n->bucket_count; b++)
			s->gradients[b][i] = allocate(1, bucket_bytes(s, b));
	}
}

static void written_wait(struct sum *s, uint32_t bucket)
{
	for (uint32_t i = 0; i < s->network->replica_count; i++) {
		if (!s->written[bucket][i])
			continue;
		network_check(clWaitForEvents(1, &s->written[bucket][i]), "a write");
		clReleaseEvent(s->written[bucket][i]);
		s->written[bucket][i] = NULL;
	}
}

void sum_host_begin(struct sum *s, uint32_t bucket, const cl_event *computed)
{
	struct network *n = s->network;

	written_wait(s, bucket);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		network_check(clEnqueueReadBuffer(s->queues[i], sum_gradients(s, bucket, i),
						  CL_FALSE, 0, bucket_bytes(s, bucket),
						  s->gradients[bucket][i], 1, &computed[i],
						  &s->arrived[bucket][i]),
			      "clEnqueueReadBuffer");
		network_check(clFlush(s->queues[i]), "clFlush");
	}
}

static void gradients_add(struct sum *s, uint32_t bucket)
{
	cl_int *sums = s->gradients[bucket][0];

	for (uint32_t i = 1; i < s->network->replica_count; i++)
		for (uint32_t k = 0; k < s->network->buckets[bucket].count; k++)
			sums[k] += s->gradients[bucket][i][k];
}

void sum_host_end(struct sum *s, uint32_t bucket, cl_event *summed)
{
	struct network *n = s->network;

	network_check(clWaitForEvents(n->replica_count, s->arrived[bucket]), "a read");
	gradients_add(s, bucket);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		clReleaseEvent(s->arrived[bucket][i]);
		network_check(clEnqueueWriteBuffer(s->queues[i], sum_gradients(s, bucket, i),
						   CL_FALSE, 0, bucket_bytes(s, bucket),
						   s->gradients[bucket][0], 0, NULL, &summed[i]),
			      "clEnqueueWriteBuffer");
		network_check(clFlush(s->queues[i]), "clFlush");
		network_check(clRetainEvent(summed[i]), "clRetainEvent");
		s->written[bucket][i] = summed[i];
	}
	s->totals.host_bytes += 2 * n->replica_count * bucket_bytes(s, bucket);
}

void sum_host_close(struct sum *s)
{
	const struct network *n = s->network;

	for (uint32_t i = 0; i < n->replica_count; i++) {
		clFinish(s->queues[i]);
		clReleaseCommandQueue(s->queues[i]);
		for (uint32_t b = 0; b < n->bucket_count; b++) {
			if (s->written[b][i])
				clReleaseEvent(s->written[b][i]);
			free(s->gradients[b][i]);
		}
	}
}
