/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/entry/collective.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

static bool lists_given(const struct collective *c)
{
	const struct operation *o = c->operation;
	const bool from_part = o->from == EXTENT_ONE && o->to == EXTENT_ALL && !c->from_offset;
	const bool to_part = o->to == EXTENT_ONE && o->from == EXTENT_ALL && !c->to_offset;

	return c->devices && (c->from || (from_part && c->to)) && (c->to || (to_part && c->from));
}

static bool values_valid(const struct collective *c)
{
	const size_t element_bytes = dxp_type_bytes((enum dxp_type)c->type);

	return c->members >= 1 && c->members <= DXP_GROUP_MEMBERS_MAX && element_bytes &&
	       c->reduction < DXP_REDUCTIONS && c->way < DXP_WAYS && c->root < c->members &&
	       c->count >= 1 && c->count <= SIZE_MAX / element_bytes / c->members &&
	       c->from_offset % element_bytes == 0 && c->to_offset % element_bytes == 0;
}

static uint64_t part_bytes(const struct collective *c)
{
	return c->count * dxp_type_bytes((enum dxp_type)c->type);
}

static struct span span_of(const struct collective *c, enum extent extent, const cl_mem *buffers,
			   uint64_t offset, cl_uint member)
{
	struct span s = {.offset = offset, .bytes = part_bytes(c)};

	if (extent == EXTENT_ROOT && member != c->root)
		return (struct span){0};
	s.buffer = buffers[extent == EXTENT_ROOT ? 0 : member];
	if (extent == EXTENT_ALL)
		s.bytes *= c->members;
	return s;
}

static void spans_set(struct collective *c, cl_uint member)
{
	const uint64_t bytes = part_bytes(c), at = member * bytes;
	struct span *in = &c->inputs[member], *out = &c->outputs[member];

	if (c->from)
		*in = span_of(c, c->operation->from, c->from, c->from_offset, member);
	if (c->to)
		*out = span_of(c, c->operation->to, c->to, c->to_offset, member);
	if (!c->from)
		*in = (struct span){out->buffer, out->offset + at, bytes};
	if (!c->to)
		*out = (struct span){in->buffer, in->offset + at, bytes};
}

static cl_int span_check(const struct span *s, cl_command_queue q, cl_device_id d)
{
	if (!s->bytes)
		return CL_SUCCESS;
	cl_int error = memory_check_buffer_of(s->buffer, q, d);
	if (error == CL_SUCCESS &&
	    (s->offset > s->buffer->bytes || s->bytes > s->buffer->bytes - s->offset))
		error = CL_INVALID_VALUE;
	return error;
}

static cl_int member_check(const struct collective *c, cl_command_queue q, cl_uint member)
{
	const cl_device_id d = c->devices[member];

	if (!object_is(d, OBJECT_DEVICE) || !context_has(q->context, d))
		return CL_INVALID_DEVICE;
	cl_int error = span_check(&c->inputs[member], q, d);
	return error == CL_SUCCESS ? span_check(&c->outputs[member], q, d) : error;
}

/* Distance in bytes from `from` to `to`, if both are in one root object. */
static bool distance(const struct span *from, const struct span *to, int64_t *bytes)
{
	uint64_t start = from->offset, end = to->offset;

	if (!from->bytes || !to->bytes ||
	    memory_root(from->buffer, &start) != memory_root(to->buffer, &end))
		return false;
	*bytes = (int64_t)(end - start);
	return true;
}

static bool overlaps(const struct span *a, const struct span *b)
{
	int64_t bytes;

	return distance(a, b, &bytes) && bytes < (int64_t)a->bytes && -bytes < (int64_t)b->bytes;
}

static bool in_place(const struct collective *c, cl_uint member)
{
	const bool from_all = c->operation->from == EXTENT_ALL;
	const bool to_all = c->operation->to == EXTENT_ALL;
	const int64_t part = (int64_t)(member * part_bytes(c));
	int64_t bytes;

	return !(from_all && to_all) && distance(&c->inputs[member], &c->outputs[member], &bytes) &&
	       bytes == (from_all ? part
			 : to_all ? -part
				  : 0);
}

static bool output_overlaps(const struct collective *c, cl_uint member)
{
	const struct span *out = &c->outputs[member];

	for (cl_uint i = 0; i < c->members; i++) {
		if (i != member && overlaps(out, &c->outputs[i]))
			return true;
		if (!(i == member && in_place(c, i)) && overlaps(out, &c->inputs[i]))
			return true;
	}
	return false;
}

cl_int collective_check(struct collective *c, cl_command_queue queue)
{
	if (!lists_given(c) || !values_valid(c))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < c->members; i++) {
		spans_set(c, i);
		cl_int error = member_check(c, queue, i);
		if (error != CL_SUCCESS)
			return error;
	}
	for (cl_uint i = 0; i < c->members; i++)
		if (output_overlaps(c, i))
			return CL_MEM_COPY_OVERLAP;
	return CL_SUCCESS;
}
