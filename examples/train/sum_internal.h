/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the ways to add. */
#ifndef LEARN_SUM_INTERNAL_H
#define LEARN_SUM_INTERNAL_H

#include "sum.h"

#include <dxp/cl_ext.h>

struct sum {
	const struct sum_way *way;
	struct network *network;
	struct sum_totals totals;
	/* the xPUs' ways: a queue per bucket's sums, so no other queue waits */
	clEnqueueAllreduceDXP_fn allreduce;
	cl_command_queue queues_of_sums[LAYERS];
	cl_event summed[LAYERS];
	bool begun; /* the first sum has started */
	/* way host: a queue and gradient memory per replica */
	cl_command_queue queues[REPLICAS_MAX];
	cl_int *gradients[LAYERS][REPLICAS_MAX];
	cl_event arrived[LAYERS][REPLICAS_MAX];
	cl_event written[LAYERS][REPLICAS_MAX]; /* of the step before; NULL: none */
};

/* Returns the buffer of a bucket's gradients. */
cl_mem sum_gradients(const struct sum *s, uint32_t bucket, uint32_t replica);

void sum_xpus_open(struct sum *s);
void sum_xpus_begin(struct sum *s, uint32_t bucket, const cl_event *computed);
void sum_xpus_end(struct sum *s, uint32_t bucket, cl_event *summed);
void sum_xpus_close(struct sum *s);

void sum_host_open(struct sum *s);
void sum_host_begin(struct sum *s, uint32_t bucket, const cl_event *computed);
void sum_host_end(struct sum *s, uint32_t bucket, cl_event *summed);
void sum_host_close(struct sum *s);

#endif
