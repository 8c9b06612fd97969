/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps are enqueued without waiting. While a bucket's sums travel, replicas compute the layers
 * before, and then the next step up to the layers of the bucket. So the sums of the first layers,
 * which the next step needs at once, overlap with the least. */
#include "network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "kernels.h"
#include "launch.h"
#include "random.h"
#include "shape.h"
#include "sum.h"

#define PLATFORMS_MAX 16

static const uint32_t parameters[LAYERS] = {PARAMETERS1, PARAMETERS2, PARAMETERS3, PARAMETERS4};

/* inputs per output */
static const uint32_t fan_in[LAYERS] = {TAPS, CHANNELS1 *TAPS, OUTPUTS2, OUTPUTS3};

/* The last layer adds the sums of loss and hits. */
static uint32_t gradient_count(uint32_t layer)
{
	return layer == LAYERS - 1 ? SUMS4 : parameters[layer];
}

/* A bucket is complete as soon as it has enough bytes. */
static void buckets_make(struct network *n)
{
	struct bucket *b = n->buckets;

	for (uint32_t layer = LAYERS; layer-- > 0;) {
		if (b->count == 0)
			b->first = layer;
		n->bucket_of[layer] = (uint32_t)(b - n->buckets);
		n->offset_of[layer] = b->count;
		b->last = layer;
		b->count += gradient_count(layer);
		if (layer == 0 || b->count * sizeof(cl_int) >= n->options->bucket)
			b++;
	}
	n->bucket_count = (uint32_t)(b - n->buckets);
}

void network_check(cl_int error, const char *call)
{
	if (error == CL_DEVICE_NOT_AVAILABLE ||
	    error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
		fail("%s failed with OpenCL error %d, because an xPU is lost or a command before "
		     "it failed; `dxp nodes` lists the xPUs that remain",
		     call, error);
	if (error != CL_SUCCESS)
		fail("%s failed with OpenCL error %d", call, error);
}

static void devices_find(struct network *n)
{
	const struct options *o = n->options;
	cl_device_id devices[REPLICAS_MAX];
	cl_platform_id all[PLATFORMS_MAX];
	cl_uint platforms = 0, count = 0;

	if (clGetPlatformIDs(PLATFORMS_MAX, all, &platforms) != CL_SUCCESS)
		platforms = 0;
	for (cl_uint i = 0; i < platforms && i < PLATFORMS_MAX && count == 0; i++) {
		char name[256] = "";
		clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof(name) - 1, name, NULL);
		if (o->platform && !strstr(name, o->platform))
			continue;
		if (clGetDeviceIDs(all[i], CL_DEVICE_TYPE_ALL, REPLICAS_MAX, devices, &count) !=
		    CL_SUCCESS)
			count = 0;
		n->platform = all[i];
	}
	if (count == 0)
		fail("no OpenCL platform%s%s has a device; run `dxp up --xpus 4`, then "
		     "`dxp run -- cl_train`",
		     o->platform ? " named " : "", o->platform ? o->platform : "");
	count = count < REPLICAS_MAX ? count : REPLICAS_MAX;
	if (o->xpus > count)
		fail("--xpus %u: there are %u; `dxp up --xpus %u` starts more", o->xpus, count,
		     o->xpus);
	n->replica_count = o->xpus ? o->xpus : count;
	for (uint32_t i = 0; i < n->replica_count; i++)
		n->replicas[i].device = devices[i];
}

static void program_build(struct network *n)
{
	const char *source = kernels_source;
	cl_device_id devices[REPLICAS_MAX];
	char log[2048] = "";
	cl_int error;

	for (uint32_t i = 0; i < n->replica_count; i++)
		devices[i] = n->replicas[i].device;
	n->context = clCreateContext(NULL, n->replica_count, devices, NULL, NULL, &error);
	network_check(error, "clCreateContext");
	n->program = clCreateProgramWithSource(n->context, 1, &source, NULL, &error);
	network_check(error, "clCreateProgramWithSource");
	error = clBuildProgram(n->program, n->replica_count, devices, "", NULL, NULL);
	if (error == CL_SUCCESS)
		return;
	clGetProgramBuildInfo(n->program, devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log,
			      NULL);
	fail("the kernels do not compile there (OpenCL error %d): %s", error, log);
}

static void write(struct network *n, uint32_t replica, enum buffer b, const void *from)
{
	struct replica *r = &n->replicas[replica];

	network_check(clEnqueueWriteBuffer(r->queue, r->buffers[b], CL_TRUE, 0, launch_bytes(n, b),
					   from, 0, NULL, NULL),
		      "clEnqueueWriteBuffer");
}

/* All replicas get the same uniform weights with variance 2 / inputs; biases are 0. */
static void weights_make(struct network *n)
{
	struct random r = {n->options->seed};
	float *weights = allocate(PARAMETERS3, sizeof(float));

	for (uint32_t layer = 0; layer < LAYERS; layer++) {
		const float range = sqrtf(6.0f / (float)fan_in[layer]);
		const uint32_t outputs = parameters[layer] / (fan_in[layer] + 1);
		memset(weights, 0, parameters[layer] * sizeof(float));
		for (uint32_t i = 0; i < outputs * fan_in[layer]; i++)
			weights[i] = random_float(&r) * range;
		for (uint32_t i = 0; i < n->replica_count; i++)
			write(n, i, WEIGHTS1 + layer, weights);
	}
	free(weights);
}

/* Parts of the batch differ by at most one sample. */
static uint32_t part_first(const struct network *n, uint32_t replica)
{
	return n->options->batch * replica / n->replica_count;
}

static uint32_t part_max(const struct network *n)
{
	return (n->options->batch + n->replica_count - 1) / n->replica_count;
}

/* Keeps the events that end a step, and waits for those of the step before. */
static void step_bound(struct network *n, const cl_event *ends)
{
	for (uint32_t i = 0; i < n->replica_count; i++) {
		if (n->before[i]) {
			network_check(clWaitForEvents(1, &n->before[i]), "a step");
			clReleaseEvent(n->before[i]);
		}
		n->before[i] = ends[i];
	}
}

static void layer_backward(struct network *n, uint32_t layer)
{
	static const enum kernel deltas[LAYERS] = {DELTA1, DELTA2, DELTA3, KERNELS};
	static const enum kernel gradients[LAYERS] = {GRADIENT1, GRADIENT2, GRADIENT3, GRADIENT4};
	const uint32_t bucket = n->bucket_of[layer];
	const bool complete = n->buckets[bucket].last == layer;
	cl_event computed[REPLICAS_MAX];

	for (uint32_t i = 0; i < n->replica_count; i++) {
		struct replica *r = &n->replicas[i];
		const uint32_t samples = part_first(n, i + 1) - part_first(n, i);
		if (deltas[layer] != KERNELS)
			launch(r, deltas[layer], samples, NULL, NULL);
		launch(r, gradients[layer], samples, NULL, complete ? &computed[i] : NULL);
		network_check(clFlush(r->queue), "clFlush");
	}
	if (!complete)
		return;
	sum_begin(n->sum, bucket, computed);
	n->due[bucket] = true;
	if (layer == 0) {
		step_bound(n, computed);
		return;
	}
	for (uint32_t i = 0; i < n->replica_count; i++)
		clReleaseEvent(computed[i]);
}

/* Updates the layers of a bucket when its sums have arrived. Loss and hits are with layer 4. */
static void bucket_update(struct network *n, uint32_t bucket)
{
	const struct bucket *b = &n->buckets[bucket];
	cl_event summed[REPLICAS_MAX];

	sum_end(n->sum, bucket, summed);
	n->due[bucket] = false;
	for (uint32_t i = 0; i < n->replica_count; i++) {
		struct replica *r = &n->replicas[i];
		/* in order: the queue waits only once */
		for (uint32_t layer = b->first + 1; layer-- > b->last;)
			launch(r, UPDATE1 + layer, 0, layer == b->first ? summed[i] : NULL, NULL);
		if (b->first == LAYERS - 1)
			launch(r, TALLY, 0, NULL, NULL);
		if (summed[i])
			clReleaseEvent(summed[i]);
	}
}

static void layer_forward(struct network *n, uint32_t layer)
{
	if (n->due[n->bucket_of[layer]])
		bucket_update(n, n->bucket_of[layer]);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		struct replica *r = &n->replicas[i];
		launch(r, FORWARD1 + layer, part_first(n, i + 1) - part_first(n, i), NULL, NULL);
		network_check(clFlush(r->queue), "clFlush");
	}
}

void network_step(struct network *n, uint32_t first)
{
	for (uint32_t i = 0; i < n->replica_count; i++) {
		const uint32_t samples = part_first(n, i + 1) - part_first(n, i);
		launch_samples(&n->replicas[i], samples);
		launch_gather(&n->replicas[i], first + part_first(n, i), samples, n->shifts);
	}
	for (uint32_t layer = 0; layer < LAYERS; layer++)
		layer_forward(n, layer);
	for (uint32_t layer = LAYERS; layer-- > 0;)
		layer_backward(n, layer);
}

/* Parameters stay, because gradients and velocities are still zero. */
static void warm(struct network *n)
{
	cl_event summed[REPLICAS_MAX];

	for (uint32_t i = 0; i < n->replica_count; i++)
		for (enum kernel k = UPDATE1; k <= TALLY; k++)
			launch(&n->replicas[i], k, 0, NULL, NULL);
	network_step(n, 0);
	for (uint32_t b = 0; b < n->bucket_count; b++) {
		sum_end(n->sum, b, summed);
		n->due[b] = false;
		for (uint32_t i = 0; i < n->replica_count; i++) {
			if (!summed[i])
				continue;
			network_check(clWaitForEvents(1, &summed[i]), "the first sum");
			clReleaseEvent(summed[i]);
		}
	}
	sum_totals(n->sum);
}

void network_open(struct network *n, const struct options *options, const struct digits *digits)
{
	memset(n, 0, sizeof(*n));
	n->options = options;
	n->sample_count = digits->count;
	devices_find(n);
	if (options->batch < n->replica_count)
		fail("--batch %u: a batch must have a sample for each of %u xPUs", options->batch,
		     n->replica_count);
	buckets_make(n);
	program_build(n);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		launch_open(n, &n->replicas[i], part_max(n));
		write(n, i, IMAGES, digits->images);
		write(n, i, LABELS, digits->labels);
	}
	weights_make(n);
	n->sum = sum_open(options->way, n);
	warm(n);
}

void network_close(struct network *n)
{
	sum_close(n->sum);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		if (n->before[i])
			clReleaseEvent(n->before[i]);
		launch_close(&n->replicas[i]);
	}
	clReleaseProgram(n->program);
	clReleaseContext(n->context);
}

void network_order(struct network *n, const uint32_t *order, uint32_t shifts, float rate)
{
	n->shifts = shifts;
	for (uint32_t i = 0; i < n->replica_count; i++) {
		write(n, i, ORDER, order);
		launch_rate(&n->replicas[i], rate);
	}
}

static struct totals totals_read(struct network *n, uint32_t replica)
{
	static const cl_long zero[2];
	struct replica *r = &n->replicas[replica];
	cl_long found[2];

	network_check(clEnqueueReadBuffer(r->queue, r->buffers[TOTALS], CL_TRUE, 0, sizeof(found),
					  found, 0, NULL, NULL),
		      "clEnqueueReadBuffer");
	write(n, replica, TOTALS, zero);
	return (struct totals){found[0], found[1]};
}

/* Without sums, each replica has those of its own samples. */
struct totals network_finish(struct network *n)
{
	struct totals all = {0, 0};

	for (uint32_t b = n->bucket_count; b-- > 0;)
		if (n->due[b])
			bucket_update(n, b);
	for (uint32_t i = 0; i < n->replica_count; i++) {
		network_check(clFinish(n->replicas[i].queue), "clFinish");
		const struct totals own = totals_read(n, i);
		if (i == 0 || n->options->way->apart) {
			all.loss += own.loss;
			all.hits += own.hits;
		} else if (own.loss != all.loss || own.hits != all.hits) {
			fail("xPU %u has other sums than xPU 0; report this as a fault", i);
		}
	}
	return all;
}

struct totals network_evaluate(struct network *n, uint32_t first, uint32_t count)
{
	const uint32_t most = part_max(n);
	struct totals all = {0, 0};

	for (uint32_t done = 0, i = 0; done < count; done += most, i++) {
		struct replica *r = &n->replicas[i % n->replica_count];
		const uint32_t samples = count - done < most ? count - done : most;
		launch_samples(r, samples);
		launch_gather(r, first + done, samples, 0);
		for (enum kernel k = FORWARD1; k <= FORWARD4; k++)
			launch(r, k, samples, NULL, NULL);
		launch(r, GRADIENT4, samples, NULL, NULL);
		launch(r, TALLY, 0, NULL, NULL);
	}
	for (uint32_t i = 0; i < n->replica_count; i++) {
		const struct totals own = totals_read(n, i);
		all.loss += own.loss;
		all.hits += own.hits;
	}
	return all;
}

uint64_t network_same(struct network *n)
{
	uint64_t hash = 0xcbf29ce484222325;
	uint8_t *texts[2] = {allocate(PARAMETERS3, sizeof(float)),
			     allocate(PARAMETERS3, sizeof(float))};

	for (uint32_t layer = 0; layer < LAYERS; layer++) {
		const size_t bytes = launch_bytes(n, WEIGHTS1 + layer);
		for (uint32_t i = 0; i < n->replica_count; i++) {
			struct replica *r = &n->replicas[i];
			uint8_t *text = texts[i > 0];
			network_check(clEnqueueReadBuffer(r->queue, r->buffers[WEIGHTS1 + layer],
							  CL_TRUE, 0, bytes, text, 0, NULL, NULL),
				      "clEnqueueReadBuffer");
			if (!n->options->way->apart && memcmp(texts[0], text, bytes) != 0)
				fail("xPU %u has other parameters than xPU 0; report this as a "
				     "fault",
				     i);
		}
		for (size_t k = 0; k < bytes; k++)
			hash = (hash ^ texts[0][k]) * 0x100000001b3;
	}
	free(texts[0]);
	free(texts[1]);
	return hash;
}
