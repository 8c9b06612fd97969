/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch.h"

#include <stdbool.h>

#include "shape.h"

#define ARGUMENTS_MAX 6  /* buffers of one kernel */
#define GROUP         64 /* one size, because an xPU compiles a kernel for each */

/* `samples`: the index is (item, sample), otherwise the item. */
static const struct kernel_row {
	const char *name;
	bool samples;
	uint32_t items;
	enum buffer buffers[ARGUMENTS_MAX + 1];
} rows[KERNELS] = {
	[GATHER] = {"gather", true, PIXELS, {IMAGES, LABELS, ORDER, BATCH, EXPECTED}},
	[FORWARD1] = {"forward1", true, OUTPUTS1, {BATCH, WEIGHTS1, OUT1, FROM1}},
	[FORWARD2] = {"forward2", true, OUTPUTS2, {OUT1, WEIGHTS2, OUT2, FROM2}},
	[FORWARD3] = {"forward3", true, OUTPUTS3, {OUT2, WEIGHTS3, OUT3}},
	[FORWARD4] = {"forward4", true, 1, {OUT3, WEIGHTS4, EXPECTED, DELTA_OF4, LOSS, HIT}},
	[GRADIENT4] = {"gradient4", false, SUMS4, {OUT3, DELTA_OF4, LOSS, HIT, GRADIENTS4}},
	[DELTA3] = {"delta3", true, OUTPUTS3, {DELTA_OF4, WEIGHTS4, OUT3, DELTA_OF3}},
	[GRADIENT3] = {"gradient3", false, PARAMETERS3, {OUT2, DELTA_OF3, GRADIENTS3}},
	[DELTA2] = {"delta2", true, OUTPUTS2, {DELTA_OF3, WEIGHTS3, FROM2, DELTA_OF2}},
	[GRADIENT2] = {"gradient2", false, PARAMETERS2, {OUT1, DELTA_OF2, FROM2, GRADIENTS2}},
	[DELTA1] = {"delta1", true, CHANNELS1, {DELTA_OF2, WEIGHTS2, FROM2, FROM1, DELTA_OF1}},
	[GRADIENT1] = {"gradient1", false, PARAMETERS1, {BATCH, DELTA_OF1, FROM1, GRADIENTS1}},
	[UPDATE1] = {"update", false, PARAMETERS1, {GRADIENTS1, WEIGHTS1, VELOCITY1}},
	[UPDATE2] = {"update", false, PARAMETERS2, {GRADIENTS2, WEIGHTS2, VELOCITY2}},
	[UPDATE3] = {"update", false, PARAMETERS3, {GRADIENTS3, WEIGHTS3, VELOCITY3}},
	[UPDATE4] = {"update", false, PARAMETERS4, {GRADIENTS4, WEIGHTS4, VELOCITY4}},
	[TALLY] = {"tally", false, 1, {GRADIENTS4, TOTALS}},
};

/* Bytes per sample of a launch, per sample of all, and fixed. Buckets have the bytes of
 * gradients. */
static const struct buffer_row {
	uint32_t batch, all, fixed;
} sizes[BUFFERS] = {
	[IMAGES] = {.all = PIXELS},
	[LABELS] = {.all = 1},
	[ORDER] = {.all = 4},
	[BATCH] = {.batch = 4 * PIXELS},
	[EXPECTED] = {.batch = 1},
	[OUT1] = {.batch = 4 * OUTPUTS1},
	[FROM1] = {.batch = OUTPUTS1},
	[OUT2] = {.batch = 4 * OUTPUTS2},
	[FROM2] = {.batch = OUTPUTS2},
	[OUT3] = {.batch = 4 * OUTPUTS3},
	[DELTA_OF1] = {.batch = 4 * OUTPUTS1},
	[DELTA_OF2] = {.batch = 4 * OUTPUTS2},
	[DELTA_OF3] = {.batch = 4 * OUTPUTS3},
	[DELTA_OF4] = {.batch = 4 * CLASSES},
	[LOSS] = {.batch = 4},
	[HIT] = {.batch = 4},
	[WEIGHTS1] = {.fixed = 4 * PARAMETERS1},
	[WEIGHTS2] = {.fixed = 4 * PARAMETERS2},
	[WEIGHTS3] = {.fixed = 4 * PARAMETERS3},
	[WEIGHTS4] = {.fixed = 4 * PARAMETERS4},
	[VELOCITY1] = {.fixed = 4 * PARAMETERS1},
	[VELOCITY2] = {.fixed = 4 * PARAMETERS2},
	[VELOCITY3] = {.fixed = 4 * PARAMETERS3},
	[VELOCITY4] = {.fixed = 4 * PARAMETERS4},
	[TOTALS] = {.fixed = 2 * 8},
};

size_t launch_bytes(const struct network *n, enum buffer b)
{
	if (b >= GRADIENTS1 && b <= GRADIENTS4)
		return n->buckets[n->bucket_of[b - GRADIENTS1]].count * sizeof(cl_int);
	return (size_t)sizes[b].all * n->sample_count + sizes[b].fixed;
}

/* Returns the lowest layer's gradients of the same bucket for gradients, else `b`. */
static enum buffer owner_of(const struct network *n, enum buffer b)
{
	if (b < GRADIENTS1 || b > GRADIENTS4)
		return b;
	return GRADIENTS1 + n->buckets[n->bucket_of[b - GRADIENTS1]].last;
}

static void buffers_open(struct network *n, struct replica *r, uint32_t part)
{
	const cl_uchar zero = 0;
	cl_int error;

	for (enum buffer b = IMAGES; b < BUFFERS; b++) {
		const enum buffer owner = owner_of(n, b);
		if (owner != b) {
			r->buffers[b] = r->buffers[owner];
			network_check(clRetainMemObject(r->buffers[b]), "clRetainMemObject");
			continue;
		}
		const size_t bytes = (size_t)sizes[b].batch * part + launch_bytes(n, b);
		r->buffers[b] = clCreateBuffer(n->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
		network_check(error, "clCreateBuffer");
		network_check(clEnqueueFillBuffer(r->queue, r->buffers[b], &zero, 1, 0, bytes, 0,
						  NULL, NULL),
			      "clEnqueueFillBuffer");
	}
}

static cl_uint buffer_count(const struct kernel_row *row)
{
	cl_uint count = 0;

	while (row->buffers[count] != NO_BUFFER)
		count++;
	return count;
}

static void argument_set(struct replica *r, enum kernel k, cl_uint after_buffers, size_t bytes,
			 const void *value)
{
	network_check(
		clSetKernelArg(r->kernels[k], buffer_count(&rows[k]) + after_buffers, bytes, value),
		"clSetKernelArg");
}

static void kernels_open(struct network *n, struct replica *r)
{
	cl_int error;

	for (enum kernel k = 0; k < KERNELS; k++) {
		r->kernels[k] = clCreateKernel(n->program, rows[k].name, &error);
		network_check(error, "clCreateKernel");
		for (cl_uint i = 0; i < buffer_count(&rows[k]); i++)
			network_check(clSetKernelArg(r->kernels[k], i, sizeof(cl_mem),
						     &r->buffers[rows[k].buffers[i]]),
				      "clSetKernelArg");
	}
}

void launch_open(struct network *n, struct replica *r, uint32_t part)
{
	static const enum kernel gradients[] = {GRADIENT1, GRADIENT2, GRADIENT3, GRADIENT4};
	const cl_int limit = INT32_MAX / (cl_int)n->options->batch;
	const cl_float share = 1.0f / ((float)n->options->batch * GRADIENT_ONE);
	cl_int error;

	r->queue = clCreateCommandQueue(n->context, r->device, 0, &error);
	network_check(error, "clCreateCommandQueue");
	buffers_open(n, r, part);
	kernels_open(n, r);
	for (uint32_t i = 0; i < LAYERS; i++) {
		const cl_uint *at = &n->offset_of[i];
		const enum kernel update = UPDATE1 + i;
		argument_set(r, gradients[i], 1, sizeof(limit), &limit);
		argument_set(r, gradients[i], 2, sizeof(*at), at);
		argument_set(r, update, 0, sizeof(cl_uint), &rows[update].items);
		argument_set(r, update, 1, sizeof(share), &share);
		argument_set(r, update, 3, sizeof(cl_float), &n->options->momentum);
		argument_set(r, update, 4, sizeof(*at), at);
	}
	argument_set(r, TALLY, 0, sizeof(cl_uint), &n->offset_of[LAYERS - 1]);
	launch_rate(r, n->options->rate);
}

void launch_close(struct replica *r)
{
	for (enum kernel k = 0; k < KERNELS; k++)
		clReleaseKernel(r->kernels[k]);
	for (enum buffer b = IMAGES; b < BUFFERS; b++)
		clReleaseMemObject(r->buffers[b]);
	clReleaseCommandQueue(r->queue);
}

void launch(struct replica *r, enum kernel k, uint32_t samples, cl_event after, cl_event *event)
{
	const struct kernel_row *row = &rows[k];
	const size_t group = row->items < GROUP ? row->items : GROUP;
	const size_t local[2] = {group, 1};
	const size_t global[2] = {(row->items + group - 1) / group * group,
				  row->samples ? samples : 1};

	network_check(clEnqueueNDRangeKernel(r->queue, r->kernels[k], 2, NULL, global, local,
					     after ? 1 : 0, after ? &after : NULL, event),
		      "clEnqueueNDRangeKernel");
}

void launch_gather(struct replica *r, uint32_t first, uint32_t samples, uint32_t seed)
{
	argument_set(r, GATHER, 0, sizeof(first), &first);
	argument_set(r, GATHER, 1, sizeof(seed), &seed);
	launch(r, GATHER, samples, NULL, NULL);
}

void launch_samples(struct replica *r, uint32_t samples)
{
	static const enum kernel gradients[] = {GRADIENT1, GRADIENT2, GRADIENT3, GRADIENT4};

	for (uint32_t i = 0; i < LAYERS; i++)
		argument_set(r, gradients[i], 0, sizeof(samples), &samples);
}

void launch_rate(struct replica *r, float rate)
{
	for (enum kernel k = UPDATE1; k <= UPDATE4; k++)
		argument_set(r, k, 2, sizeof(rate), &rate);
}
