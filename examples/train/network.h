/* SPDX-License-Identifier: BSD-3-Clause */
/* The network on all xPUs. Each has a replica: all parameters and samples, an in-order queue. A
 * step gives each a part of the batch; sum.h adds the gradients; each makes the same update.
 *
 *   network_open -> for each epoch { network_order, network_step ..., network_finish,
 *                                    network_evaluate, network_same } -> network_close
 *
 * Every error ends the program with a message. */
#ifndef LEARN_NETWORK_H
#define LEARN_NETWORK_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

#include "digits.h"
#include "options.h"

#define REPLICAS_MAX 16
#define LAYERS       4

enum kernel {
	GATHER,
	FORWARD1,
	FORWARD2,
	FORWARD3,
	FORWARD4,
	GRADIENT4,
	DELTA3,
	GRADIENT3,
	DELTA2,
	GRADIENT2,
	DELTA1,
	GRADIENT1,
	UPDATE1,
	UPDATE2,
	UPDATE3,
	UPDATE4,
	TALLY,
	KERNELS
};

enum buffer {
	NO_BUFFER,
	IMAGES,
	LABELS,
	ORDER, /* sample numbers: to learn from, then held out */
	BATCH,
	EXPECTED,
	OUT1,
	FROM1,
	OUT2,
	FROM2,
	OUT3,
	DELTA_OF1,
	DELTA_OF2,
	DELTA_OF3,
	DELTA_OF4,
	LOSS,
	HIT,
	WEIGHTS1,
	WEIGHTS2,
	WEIGHTS3,
	WEIGHTS4,
	VELOCITY1,
	VELOCITY2,
	VELOCITY3,
	VELOCITY4,
	GRADIENTS1,
	GRADIENTS2,
	GRADIENTS3,
	GRADIENTS4,
	TOTALS,
	BUFFERS
};

struct replica {
	cl_device_id device;
	cl_command_queue queue;
	cl_kernel kernels[KERNELS];
	/* layers of one bucket have the same buffer for gradients */
	cl_mem buffers[BUFFERS];
};

/* Gradients of neighbouring layers, in one buffer, which are added together. The backward pass
 * computes them from layer `first` down to layer `last`. */
struct bucket {
	uint32_t first, last;
	uint32_t count; /* gradients */
};

struct sum;

struct network {
	const struct options *options;
	cl_platform_id platform;
	cl_context context;
	cl_program program;
	uint32_t replica_count;
	struct replica replicas[REPLICAS_MAX];
	struct bucket buckets[LAYERS]; /* in the order of the backward pass */
	uint32_t bucket_count;
	uint32_t bucket_of[LAYERS];
	cl_uint offset_of[LAYERS]; /* of a layer's gradients in its bucket */
	bool due[LAYERS];          /* the bucket's sum has started, but its layers have no update */
	struct sum *sum;
	uint32_t sample_count;
	uint32_t shifts;               /* seed of this epoch's image shifts */
	cl_event before[REPLICAS_MAX]; /* last gradients of the step before; NULL: none */
};

struct totals {
	int64_t loss; /* in units of 2^-20 */
	int64_t hits; /* samples whose class was found */
};

/* Fails, naming the call, unless CL_SUCCESS. */
void network_check(cl_int error, const char *call);

/* Uploads samples and random parameters, and launches each kernel once, so the first step waits for
 * no compiler. `digits` may then be freed. */
void network_open(struct network *n, const struct options *options, const struct digits *digits);
void network_close(struct network *n);

/* Begins an epoch: the samples' order, the seed of shifts, the learning rate. */
void network_order(struct network *n, const uint32_t *order, uint32_t shifts, float rate);

/* Learns from the batch at order[first]. The next step, or network_finish, makes the updates. At
 * most two steps are outstanding: waits for the gradients of the one before. */
void network_step(struct network *n, uint32_t first);

struct totals network_finish(struct network *n);

struct totals network_evaluate(struct network *n, uint32_t first, uint32_t count);

/* Fails unless all replicas' parameters are equal bit by bit, or no sums are made. Returns the
 * FNV-1a hash of the first replica's. */
uint64_t network_same(struct network *n);

#endif
