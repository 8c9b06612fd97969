/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements clEnqueueMigrateMemObjects: moves bytes before a command needs them. */
#include "plugins/opencl/memory.h"

#define FLAGS (CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)

static cl_int migrate(struct command *c, cl_mem m, cl_mem_migration_flags flags)
{
	uint64_t at = 0;
	cl_mem root = memory_root(m, &at);
	uint64_t end = at + m->bytes;
	struct copy *to = &root->copies->host;

	cl_int error = enqueue_hold(&c->e, m);
	if (error)
		return error;
	if (flags & CL_MIGRATE_MEM_OBJECT_HOST)
		memory_settle(root);
	else
		error = memory_here(&c->e, root, &to);
	if (error)
		return error;
	if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) {
		if (!copies_reserve(root->copies, 2))
			return CL_OUT_OF_HOST_MEMORY;
		copies_undefine(root->copies, at, end);
		return CL_SUCCESS;
	}
	error = memory_order(&c->e, to, at, end, MEMORY_READ);
	return error ? error : memory_bring(&c->e, root, to, at, end);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueMigrateMemObjects(
	cl_command_queue queue, cl_uint object_count, const cl_mem *objects,
	cl_mem_migration_flags flags, cl_uint count, const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false, count, list);
	if (error)
		return error;
	if (!object_count || !objects || flags & ~(cl_mem_migration_flags)FLAGS)
		error = CL_INVALID_VALUE;
	for (cl_uint i = 0; i < object_count && !error; i++)
		error = memory_check(objects[i], queue);
	for (cl_uint i = 0; i < object_count && !error; i++)
		error = migrate(&c, objects[i], flags);
	return command_end(&c, error, false, event);
}
