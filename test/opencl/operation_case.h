/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one operation of the extension cl_dxp_collective on buffers with an offset, and compares the
 * results with those of a reference on the host. */
#ifndef TEST_OPENCL_OPERATION_CASE_H
#define TEST_OPENCL_OPERATION_CASE_H

#include "operations.h"

#define MEMBERS_MAX 4
#define COUNT_MAX   100003u
/* bytes of a buffer: an offset, and one part of the longest elements for each device */
#define BUFFER_BYTES (64 + MEMBERS_MAX * COUNT_MAX * sizeof(double))

static const size_t element_bytes[] = {
#define TYPE_BYTES(name, bytes, text) bytes,
	DXP_TYPE_LIST(TYPE_BYTES)
#undef TYPE_BYTES
};

static cl_mem from[MEMBERS_MAX], to[MEMBERS_MAX];
static cl_uint members;
static void *block, *wanted;

static void begin(void)
{
	operations_find();
	members = rig.device_count < MEMBERS_MAX ? rig.device_count : MEMBERS_MAX;
	CHECK(members >= 2);
	for (cl_uint m = 0; m < members; m++) {
		from[m] = rig_buffer(CL_MEM_READ_WRITE, BUFFER_BYTES, NULL);
		to[m] = rig_buffer(CL_MEM_READ_WRITE, BUFFER_BYTES, NULL);
	}
	block = rig_memory(BUFFER_BYTES);
	wanted = rig_memory(BUFFER_BYTES);
}

static void end(void)
{
	for (cl_uint m = 0; m < members; m++) {
		OK(clReleaseMemObject(from[m]));
		OK(clReleaseMemObject(to[m]));
	}
}

/* Where the input and the output of each member are. */
struct places {
	cl_mem in[MEMBERS_MAX], out[MEMBERS_MAX];
	size_t in_at[MEMBERS_MAX], out_at[MEMBERS_MAX];
};

static size_t part_bytes(const struct call *c)
{
	return c->count * element_bytes[c->type];
}

static size_t parts_of(enum parts parts, const struct call *c, cl_uint member)
{
	if (parts == ROOT)
		return member == c->root;
	return parts == N ? c->n : 1;
}

static void places_set(struct places *p, const struct call *c)
{
	for (cl_uint m = 0; m < c->n; m++) {
		p->in[m] = from[m];
		p->out[m] = to[m];
		p->in_at[m] = c->from_at;
		p->out_at[m] = c->to_at;
	}
}

/* Makes the operation run in place, except an all-to-all, which cannot. */
static void places_join(struct places *p, enum reference operation, struct call *c)
{
	for (cl_uint m = 0; m < c->n; m++) {
		if (operation == ALL_GATHER) {
			p->in[m] = p->out[m];
			p->in_at[m] = c->to_at + m * part_bytes(c);
		} else if (operation == REDUCE_SCATTER) {
			p->out[m] = p->in[m];
			p->out_at[m] = c->from_at + m * part_bytes(c);
		} else if (operation != ALL_TO_ALL) {
			p->out_at[m] = c->from_at;
			if (operation == ALLREDUCE || m == c->root)
				p->out[m] = p->in[m];
		}
	}
	if (operation == ALL_GATHER) {
		c->from = NULL;
		c->from_at = 0;
	} else if (operation == REDUCE_SCATTER) {
		c->to = NULL;
		c->to_at = 0;
	} else if (operation != ALL_TO_ALL) {
		c->to_at = c->from_at;
	}
}

/* Any queue may write the input: its bytes reach the member's device before the operation. */
static void inputs_write(const struct places *p, enum reference operation, const struct call *c)
{
	for (cl_uint m = 0; m < c->n; m++) {
		const size_t count = c->count * parts_of(operations[operation].from, c, m);
		for (size_t i = 0; i < count; i++)
			element_set(block, (enum dxp_type)c->type, i,
				    input_of((enum dxp_type)c->type, m, i));
		if (count)
			OK(clEnqueueWriteBuffer(c->queue, p->in[m], CL_TRUE, p->in_at[m],
						count * element_bytes[c->type], block, 0, NULL,
						NULL));
	}
}

static void outputs_check(const struct places *p, enum reference operation, const struct call *c)
{
	const struct dxp_collective shape = {.count = c->count,
					     .type = (enum dxp_type)c->type,
					     .reduction = (enum dxp_reduction)c->reduction,
					     .root = c->root};

	for (cl_uint m = 0; m < c->n; m++) {
		const size_t count = c->count * parts_of(operations[operation].to, c, m);
		if (!count)
			continue;
		OK(clEnqueueReadBuffer(c->queue, p->out[m], CL_TRUE, p->out_at[m],
				       count * element_bytes[c->type], block, 0, NULL, NULL));
		for (size_t i = 0; i < count; i++)
			element_set(wanted, shape.type, i, expected(&shape, operation, c->n, m, i));
		for (size_t i = 0; i < count; i++)
			if (element_get(block, shape.type, i) != element_get(wanted, shape.type, i))
				rig_fail(__FILE__, __LINE__,
					 "%s: type %u, reduction %u, %u devices, %zu elements, "
					 "device %u: element %zu is %g, not %g",
					 operations[operation].name, c->type, c->reduction, c->n,
					 c->count, m, i, element_get(block, shape.type, i),
					 element_get(wanted, shape.type, i));
	}
}

/* Fills in what the caller left out, runs the operation and checks the results. */
static void run_case(enum reference operation, struct call c, bool in_place)
{
	struct places p;
	cl_event done = NULL;

	c.devices = c.devices ? c.devices : rig.devices;
	c.queue = c.queue ? c.queue : rig.queues[c.count % rig.device_count];
	c.from_at = 16;
	c.to_at = 40;
	places_set(&p, &c);
	c.from = p.in;
	c.to = p.out;
	if (in_place)
		places_join(&p, operation, &c);
	inputs_write(&p, operation, &c);
	OK(operation_call(operation, &c, 0, NULL, &done));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	outputs_check(&p, operation, &c);
}

#endif
