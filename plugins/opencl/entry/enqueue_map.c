/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that map buffers and images, and clEnqueueMigrateMemObjects. */
#include "plugins/opencl/memory/memory.h"

static cl_int map_buffer(struct command *c, cl_mem m, cl_map_flags flags, size_t offset,
			 size_t size, void **out)
{
	cl_int error = memory_check_buffer(m, c->e.queue);

	if (error != CL_SUCCESS)
		return error;
	if (!size || offset > m->bytes || size > m->bytes - offset || !map_flags_valid(flags))
		return CL_INVALID_VALUE;
	if (!map_flags_allowed(m, flags))
		return CL_INVALID_OPERATION;
	const struct dxp_rect line = {size, 1, 1, size, size, size, size};
	return map_make(c, m, offset, &line, flags, out);
}

static void *end(struct command *c, cl_mem m, cl_int error, void *at, cl_bool blocking,
		 cl_event *event, cl_int *error_ret)
{
	error = command_end(c, error, blocking, event);
	/* The map could not be posted, or it failed. */
	if (error != CL_SUCCESS && at)
		map_cancel(m, at);
	if (error_ret)
		*error_ret = error;
	return error != CL_SUCCESS ? NULL : at;
}

CL_API_ENTRY void *CL_API_CALL dxp_clEnqueueMapBuffer(cl_command_queue queue, cl_mem m,
						      cl_bool blocking, cl_map_flags flags,
						      size_t offset, size_t size, cl_uint count,
						      const cl_event *list, cl_event *event,
						      cl_int *error_ret)
{
	struct command c;
	void *at = NULL;

	cl_int error = command_begin(&c, queue, CL_COMMAND_MAP_BUFFER, blocking, count, list);
	if (error != CL_SUCCESS) {
		if (error_ret)
			*error_ret = error;
		return NULL;
	}
	error = map_buffer(&c, m, flags, offset, size, &at);
	return end(&c, m, error, at, blocking, event, error_ret);
}

struct pitches {
	size_t *row, *slice;
};

static cl_int map_image(struct command *c, cl_mem m, cl_map_flags flags, const size_t *origin,
			const size_t *region, const struct pitches *out_pitches, void **out)
{
	uint64_t at;
	struct dxp_rect rect;

	cl_int error = memory_check_image(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	bool sliced = m->type == CL_MEM_OBJECT_IMAGE3D || m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
		      m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	if (!map_flags_valid(flags) || !out_pitches->row || (sliced && !out_pitches->slice) ||
	    !image_region(m, origin, region, &at, &rect))
		return CL_INVALID_VALUE;
	if (!map_flags_allowed(m, flags))
		return CL_INVALID_OPERATION;
	error = map_make(c, m, at, &rect, flags, out);
	if (error != CL_SUCCESS)
		return error;
	*out_pitches->row = m->image.row_pitch;
	if (out_pitches->slice)
		*out_pitches->slice = sliced ? m->image.slice_pitch : 0;
	return CL_SUCCESS;
}

CL_API_ENTRY void *CL_API_CALL dxp_clEnqueueMapImage(cl_command_queue queue, cl_mem m,
						     cl_bool blocking, cl_map_flags flags,
						     const size_t *origin, const size_t *region,
						     size_t *row_pitch, size_t *slice_pitch,
						     cl_uint count, const cl_event *list,
						     cl_event *event, cl_int *error_ret)
{
	const struct pitches pitches = {row_pitch, slice_pitch};
	struct command c;
	void *at = NULL;

	cl_int error = command_begin(&c, queue, CL_COMMAND_MAP_IMAGE, blocking, count, list);
	if (error != CL_SUCCESS) {
		if (error_ret)
			*error_ret = error;
		return NULL;
	}
	error = map_image(&c, m, flags, origin, region, &pitches, &at);
	return end(&c, m, error, at, blocking, event, error_ret);
}

/* Moves bytes before a command needs them. */

#define FLAGS (CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)

static cl_int migrate(struct command *c, cl_mem m, cl_mem_migration_flags flags)
{
	uint64_t at = 0;
	cl_mem root = memory_root(m, &at);
	uint64_t end = at + m->bytes;
	struct copy *to = &root->copies->host;

	cl_int error = enqueue_hold(&c->e, m);
	if (error != CL_SUCCESS)
		return error;
	if (flags & CL_MIGRATE_MEM_OBJECT_HOST)
		memory_settle(root);
	else
		error = memory_here(&c->e, root, &to);
	if (error != CL_SUCCESS)
		return error;
	if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) {
		if (!copies_reserve(root->copies, 2))
			return CL_OUT_OF_HOST_MEMORY;
		copies_undefine(root->copies, at, end);
		return CL_SUCCESS;
	}
	error = memory_order(&c->e, to, at, end, MEMORY_READ);
	return error != CL_SUCCESS ? error : memory_bring(&c->e, root, to, at, end);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueMigrateMemObjects(
	cl_command_queue queue, cl_uint object_count, const cl_mem *objects,
	cl_mem_migration_flags flags, cl_uint count, const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	if (!object_count || !objects || flags & ~(cl_mem_migration_flags)FLAGS)
		error = CL_INVALID_VALUE;
	for (cl_uint i = 0; i < object_count && error == CL_SUCCESS; i++)
		error = memory_check(objects[i], queue);
	for (cl_uint i = 0; i < object_count && error == CL_SUCCESS; i++)
		error = migrate(&c, objects[i], flags);
	return command_end(&c, error, false, event);
}
