/* SPDX-License-Identifier: BSD-3-Clause */
/* The network on all xPUs. Each xPU has a replica: all parameters, all samples, an in-order queue.
 * A step gives each replica a part of the batch; sum.h adds the gradients of all parts; each
 * replica then makes the same update.
 *
 *   network_open -> for each epoch { network_order, network_step ..., network_finish,
 *                                    network_evaluate, network_same } -> network_close
 *
 * Every error ends the program with a message. */
#ifndef LEARN_NETWORK_H
#define LEARN_NETWORK_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
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
	ORDER, /* numbers of samples: those to learn from, then those held out */
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
	cl_mem buffers[BUFFERS];
};

struct sum;

struct network {
	const struct options *options;
	cl_platform_id platform;
	cl_context context;
	cl_program program;
	uint32_t replica_count;
	struct replica replicas[REPLICAS_MAX];
	struct sum *sum;
	uint32_t sample_count;
	uint32_t shifts;               /* seed of the shifts of images in this epoch */
	cl_event before[REPLICAS_MAX]; /* ends of the step before; NULL: none is outstanding */
};

/* What a pass over samples found. */
struct totals {
	int64_t loss; /* sum of the losses, in units of 2^-20 */
	int64_t hits; /* samples whose class was found */
};

/* Number of gradients of layer 0 .. LAYERS - 1. Those of the last layer include two sums: the loss
 * and the hits. */
uint32_t network_gradients(uint32_t layer);

/* Fails, naming the call, if `error` is not CL_SUCCESS. */
void network_check(cl_int error, const char *call);

/* Opens the devices, uploads samples and random parameters, and launches each kernel once, so that
 * the first step waits for no compiler. `digits` may be freed afterwards. */
void network_open(struct network *n, const struct options *options, const struct digits *digits);
void network_close(struct network *n);

/* Begins an epoch: uploads the order of the samples, and sets the seed of the shifts of images and
 * the learning rate. */
void network_order(struct network *n, const uint32_t *order, uint32_t shifts, float rate);

/* Enqueues a step that learns from the batch that starts at order[first]. At most two steps are
 * outstanding; the call waits for the one before the last. */
void network_step(struct network *n, uint32_t first);

/* Waits for all steps; returns their totals, which start again from 0. */
struct totals network_finish(struct network *n);

/* Classifies order[first] .. order[first + count - 1], spread over all replicas. */
struct totals network_evaluate(struct network *n, uint32_t first, uint32_t count);

/* Compares the parameters of all replicas bit by bit; fails if they differ. Returns a hash of
 * them (FNV-1a). */
uint64_t network_same(struct network *n);

#endif
