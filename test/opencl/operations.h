/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls all operations of the extension cl_dxp_collective in one way, for programs in this
 * folder. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "rig.h"

#include <dxp/cl_ext.h>

#include "test/support/elements.h"

/* X(operation, function, parts of the input and of the output). ROOT: one part, at the root. */
#define OPERATIONS(X)                                        \
	X(ALLREDUCE, clEnqueueAllreduceDXP, ONE, ONE)        \
	X(REDUCE, clEnqueueReduceDXP, ONE, ROOT)             \
	X(REDUCE_SCATTER, clEnqueueReduceScatterDXP, N, ONE) \
	X(ALL_GATHER, clEnqueueAllGatherDXP, ONE, N)         \
	X(BROADCAST, clEnqueueBroadcastDXP, ROOT, ONE)       \
	X(ALL_TO_ALL, clEnqueueAllToAllDXP, N, N)
#define OPERATION_COUNT (ALL_TO_ALL + 1)

enum parts { ONE, ROOT, N };

struct operation {
	const char *name;
	enum parts from, to;
	void *function;
};

static struct operation operations[] = {
#define OPERATION_ROW(operation, function, from, to) [operation] = {#function, from, to, NULL},
	OPERATIONS(OPERATION_ROW)
#undef OPERATION_ROW
};

/* The arguments of all operations; each uses some. */
struct call {
	cl_command_queue queue;
	cl_uint n;
	const cl_device_id *devices;
	const cl_mem *from, *to; /* the operations with one buffer use that of the root */
	size_t from_at, to_at, count;
	cl_uint type, reduction, root;
};

static void operations_find(void)
{
	for (size_t o = 0; o < OPERATION_COUNT; o++) {
		operations[o].function =
			clGetExtensionFunctionAddressForPlatform(rig.platform, operations[o].name);
		CHECK(operations[o].function);
	}
}

#define FUNCTION(name) ((name##_fn)f)
#define CALL_BEGIN     c->queue, c->n, c->devices
#define CALL_SHAPE     c->from_at, c->to_at, c->count, c->type
#define CALL_END       waits, wait, event

static cl_int operation_call(enum reference operation, const struct call *c, cl_uint waits,
			     const cl_event *wait, cl_event *event)
{
	const cl_uint root = c->n ? c->root % c->n : 0;
	void *f = operations[operation].function;

	switch (operation) {
	case ALLREDUCE:
		return FUNCTION(clEnqueueAllreduceDXP)(CALL_BEGIN, c->from, c->to, CALL_SHAPE,
						       c->reduction, CALL_END);
	case REDUCE:
		return FUNCTION(clEnqueueReduceDXP)(CALL_BEGIN, c->from, c->to[root], CALL_SHAPE,
						    c->reduction, c->root, CALL_END);
	case REDUCE_SCATTER:
		return FUNCTION(clEnqueueReduceScatterDXP)(CALL_BEGIN, c->from, c->to, CALL_SHAPE,
							   c->reduction, CALL_END);
	case ALL_GATHER:
		return FUNCTION(clEnqueueAllGatherDXP)(CALL_BEGIN, c->from, c->to, CALL_SHAPE,
						       CALL_END);
	case BROADCAST:
		return FUNCTION(clEnqueueBroadcastDXP)(CALL_BEGIN, c->from[root], c->to, CALL_SHAPE,
						       c->root, CALL_END);
	default:
		return FUNCTION(clEnqueueAllToAllDXP)(CALL_BEGIN, c->from, c->to, CALL_SHAPE,
						      CALL_END);
	}
}

#endif
