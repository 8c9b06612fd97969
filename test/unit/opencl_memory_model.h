/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of memory objects on three devices: what each byte must be, and the kernels and reads
 * that compare it. Each including test has its own state. */
#ifndef TEST_UNIT_OPENCL_MEMORY_MODEL_H
#define TEST_UNIT_OPENCL_MEMORY_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plugins/opencl/memory/memory.h"
#include "test/support/opencl/fake_fabric.h"

#define DEVICES 3
#define QUEUES  6
#define OBJECTS 5
#define CHECKS  4096

static cl_device_id devices[DEVICES];
static cl_context context;
/* one in-order and one out-of-order queue per device */
static cl_command_queue queues[QUEUES];
static uint32_t events_before;

static int setup(void **state)
{
	cl_uint count = 0;
	cl_int error;

	fake_hold(false);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, DEVICES, devices, &count), 0);
	assert_int_equal(count, DEVICES);
	context = dxp_clCreateContext(NULL, DEVICES, devices, NULL, NULL, &error);
	assert_non_null(context);
	events_before = fake_events();
	for (int i = 0; i < QUEUES; i++) {
		queues[i] = dxp_clCreateCommandQueue(
			context, devices[i / 2], i % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
			&error);
		assert_int_equal(error, CL_SUCCESS);
	}
	return 0;
}

static int teardown(void **state)
{
	fake_hold(false);
	for (int i = 0; i < QUEUES; i++) {
		dxp_clFinish(queues[i]);
		assert_int_equal(dxp_clReleaseCommandQueue(queues[i]), CL_SUCCESS);
	}
	assert_int_equal(context->object.holds, 0);
	assert_int_equal(dxp_clReleaseContext(context), CL_SUCCESS);
	assert_true(fake_events() <= events_before + 1);
	return 0;
}

/* ---- kernels that the node runs ---- */

struct kernel {
	const struct dxp_xpu *xpu;
	uint64_t address, bytes;
	uint32_t write_at, write_bytes; /* filled with `value` */
	uint8_t value;
	/* expected bytes, and which are known; behind this struct */
	uint8_t *expected, *known;
};

/* found by kernels; their threads cannot fail a test */
static int wrong_bytes;

static int kernel_act(void *data)
{
	const struct kernel *k = data;
	uint8_t *memory = fake_memory(k->xpu);

	if (!memory)
		return DXP_EPEERLOST;
	for (uint64_t i = 0; i < k->bytes; i++)
		wrong_bytes += k->known[i] && memory[k->address + i] != k->expected[i];
	memset(memory + k->address + k->write_at, k->value, k->write_bytes);
	return DXP_OK;
}

/* ---- the model ---- */

struct thing {
	cl_mem mem;
	uint64_t bytes;
	uint8_t *value, *known;
	uint8_t *host; /* of USE_HOST_PTR */
	/* of the last command; later ones wait for it */
	cl_event last;
	uint8_t *map;
	uint64_t map_at, map_bytes;
	bool map_writes;
	/* 0: a buffer */
	size_t row, rows;
};

struct check {
	uint8_t *got, *expected, *known;
	uint64_t bytes;
};

struct program {
	struct rng rng;
	struct thing objects[OBJECTS];
	struct check checks[CHECKS];
	uint32_t check_count;
};

static struct program *the;

static uint64_t pick(uint64_t n)
{
	return rng_below(&the->rng, n);
}

static cl_command_queue any_queue(void)
{
	return queues[pick(QUEUES)];
}

static void range(const struct thing *o, uint64_t *at, uint64_t *bytes)
{
	*at = pick(o->bytes);
	*bytes = 1 + pick(pick(4) ? (o->bytes - *at < 64 ? o->bytes - *at : 64) : o->bytes - *at);
}

static void keep(struct thing *o, cl_event e)
{
	if (o->last)
		dxp_clReleaseEvent(o->last);
	o->last = e;
}

static void keep_both(struct thing *a, struct thing *b, cl_event e)
{
	keep(a, e);
	if (a == b)
		return;
	dxp_clRetainEvent(e);
	keep(b, e);
}

static cl_uint waits(const struct thing *a, const struct thing *b, cl_event *list)
{
	cl_uint count = 0;

	if (a->last)
		list[count++] = a->last;
	if (b && b != a && b->last)
		list[count++] = b->last;
	return count;
}

#define LIST(count, list) count, (count) ? list : NULL

static uint8_t *copy_of(const void *data, uint64_t bytes)
{
	uint8_t *out = malloc(bytes);

	memcpy(out, data, bytes);
	return out;
}

static void expect(uint8_t *got, const struct thing *o, uint64_t at, uint64_t bytes)
{
	assert_true(the->check_count < CHECKS);
	the->checks[the->check_count++] = (struct check){got, copy_of(o->value + at, bytes),
							 copy_of(o->known + at, bytes), bytes};
}

struct rect {
	size_t origin[3], host_origin[3], region[3], row, slice, host_row, host_slice;
};

static struct rect rect_of(const struct thing *o)
{
	struct rect r = {.row = 1 + pick(40)};
	size_t rows = o->bytes / r.row, per_slice = 1 + pick(rows), slices = rows / per_slice;

	r.slice = r.row * per_slice;
	r.origin[0] = pick(r.row);
	r.origin[1] = pick(per_slice);
	r.origin[2] = pick(slices);
	r.region[0] = 1 + pick(r.row - r.origin[0]);
	r.region[1] = 1 + pick(per_slice - r.origin[1]);
	r.region[2] = 1 + pick(slices - r.origin[2]);
	r.host_row = r.region[0] + pick(3);
	r.host_slice = r.host_row * (r.region[1] + pick(2));
	r.host_origin[0] = pick(3);
	return r;
}

static uint64_t host_bytes(const struct rect *r)
{
	return r->host_slice * r->region[2] + r->host_row * r->region[1] + 3;
}

/* Copies the rows of a rectangle from the object to the host's memory, or back if `to_host` is
 * false. */
static void rect_rows(const struct rect *r, uint8_t *host, uint8_t *object, bool to_host)
{
	for (size_t z = 0; z < r->region[2]; z++) {
		for (size_t y = 0; y < r->region[1]; y++) {
			uint8_t *h = host + r->host_origin[0] + y * r->host_row + z * r->host_slice;
			uint8_t *o = object + r->origin[0] + (y + r->origin[1]) * r->row +
				     (z + r->origin[2]) * r->slice;
			memcpy(to_host ? h : o, to_host ? o : h, r->region[0]);
		}
	}
}

static void objects_make(void)
{
	static const uint64_t sizes[OBJECTS] = {40, 700, 5000, 20000, 6000};
	static const cl_mem_flags flags[OBJECTS] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR,
						    CL_MEM_ALLOC_HOST_PTR, 0};

	for (int i = 0; i < OBJECTS; i++) {
		struct thing *o = &the->objects[i];
		bool filled = flags[i] & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
		cl_int error = 1;
		*o = (struct thing){
			.bytes = sizes[i], .value = malloc(sizes[i]), .known = malloc(sizes[i])};
		memset(o->value, 100 + i, o->bytes);
		memset(o->known, filled, o->bytes);
		uint8_t *host = filled ? copy_of(o->value, o->bytes) : NULL;
		o->mem = dxp_clCreateBuffer(context, flags[i], o->bytes, host, &error);
		assert_int_equal(error, CL_SUCCESS);
		if (flags[i] & CL_MEM_USE_HOST_PTR)
			o->host = host;
		else
			free(host);
	}
}

#endif
