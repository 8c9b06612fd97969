/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds in this program, for comparison. Reads start as gradients are computed, so they overlap like
 * the xPUs' sums. */
#include <stdlib.h>

#include "fail.h"
#include "sum_internal.h"

static size_t layer_bytes(uint32_t layer)
{
	return network_gradients(layer) * sizeof(cl_int);
}

void sum_host_open(struct sum *s)
{
	struct network *n = s->network;
	cl_int error;

	for (uint32_t i = 0; i < n->replica_count; i++) {
		s->queues[i] = clCreateCommandQueue(n->context, n->replicas[i].device,
						    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
		network_check(error, "clCreateCommandQueue");
		for (uint32_t layer = 0; layer < LAYERS; layer++)
			s->gradients[layer][i] = allocate(1, layer_bytes(layer));
	}
}

static void written_wait(struct sum *s, uint32_t layer)
{
	for (uint32_t i = 0; i < s->network->replica_count; i++) {
		if (!s->written[layer][i])
			continue;
		network_check(clWaitForEvents(1, &s->written[layer][i]), "a write");
		clReleaseEvent(s->written[layer][i]);
		s->written[layer][i] = NULL;
	}
}

void sum_host_begin(struct sum *s, uint32_t layer, const cl_event *computed)
{
	struct network *n = s->network;

	written_wait(s, layer);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		network_check(clEnqueueReadBuffer(
				      s->queues[i], n->replicas[i].buffers[GRADIENTS1 + layer],
				      CL_FALSE, 0, layer_bytes(layer), s->gradients[layer][i], 1,
				      &computed[i], &s->arrived[layer][i]),
			      "clEnqueueReadBuffer");
		network_check(clFlush(s->queues[i]), "clFlush");
	}
}

static void gradients_add(struct sum *s, uint32_t layer)
{
	cl_int *sums = s->gradients[layer][0];

	for (uint32_t i = 1; i < s->network->replica_count; i++)
		for (uint32_t k = 0; k < network_gradients(layer); k++)
			sums[k] += s->gradients[layer][i][k];
}

void sum_host_end(struct sum *s, uint32_t layer, cl_event *summed)
{
	struct network *n = s->network;

	network_check(clWaitForEvents(n->replica_count, s->arrived[layer]), "a read");
	gradients_add(s, layer);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		clReleaseEvent(s->arrived[layer][i]);
		network_check(clEnqueueWriteBuffer(s->queues[i],
						   n->replicas[i].buffers[GRADIENTS1 + layer],
						   CL_FALSE, 0, layer_bytes(layer),
						   s->gradients[layer][0], 0, NULL, &summed[i]),
			      "clEnqueueWriteBuffer");
		network_check(clFlush(s->queues[i]), "clFlush");
		network_check(clRetainEvent(summed[i]), "clRetainEvent");
		s->written[layer][i] = summed[i];
	}
	s->host_bytes += 2 * n->replica_count * layer_bytes(layer);
}

void sum_host_close(struct sum *s)
{
	for (uint32_t i = 0; i < s->network->replica_count; i++) {
		clFinish(s->queues[i]);
		clReleaseCommandQueue(s->queues[i]);
		for (uint32_t layer = 0; layer < LAYERS; layer++) {
			if (s->written[layer][i])
				clReleaseEvent(s->written[layer][i]);
			free(s->gradients[layer][i]);
		}
	}
}
