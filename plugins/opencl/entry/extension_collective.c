/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements cl_dxp_collective: an allreduce over buffers of several devices. The command belongs
 * to one queue. At each member, the operation waits for its whole wait list. */
#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/entry/groups.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

_Static_assert(CL_TYPE_DOUBLE_DXP == DXP_DOUBLE && CL_TYPE_HALF_DXP == DXP_HALF &&
		       CL_REDUCTION_AVERAGE_DXP == DXP_AVERAGE && CL_REDUCTION_MIN_DXP == DXP_MIN,
	       "they have the numbers of dxp/collective.h");

struct allreduce {
	cl_uint members;
	const cl_device_id *devices;
	const cl_mem *from, *to;
	uint64_t from_offset, to_offset, bytes;
	size_t count;
	cl_uint type, reduction;
};

/* Indexed by member. */
struct prepared {
	struct dxp_part parts[DXP_GROUP_MEMBERS_MAX];
	uint32_t generations[DXP_GROUP_MEMBERS_MAX];
	dxp_event ends[DXP_GROUP_MEMBERS_MAX];
};

static cl_int range_check(cl_mem m, cl_command_queue q, uint64_t offset, uint64_t bytes)
{
	cl_int error = memory_check_buffer(m, q);

	if (error == CL_SUCCESS && (offset > m->bytes || bytes > m->bytes - offset))
		error = CL_INVALID_VALUE;
	return error;
}

static bool overlaps(cl_mem a, uint64_t a_offset, cl_mem b, uint64_t b_offset, uint64_t bytes)
{
	return memory_root(a, &a_offset) == memory_root(b, &b_offset) &&
	       a_offset < b_offset + bytes && b_offset < a_offset + bytes;
}

static bool in_place(const struct allreduce *a, cl_uint i)
{
	uint64_t from = a->from_offset, to = a->to_offset;

	return memory_root(a->from[i], &from) == memory_root(a->to[i], &to) && from == to;
}

/* The output may be equal to the input of the same member (in place). */
static bool output_overlaps(const struct allreduce *a, cl_uint i)
{
	for (cl_uint j = 0; j < a->members; j++) {
		if (j != i && overlaps(a->to[i], a->to_offset, a->to[j], a->to_offset, a->bytes))
			return true;
		if (!(j == i && in_place(a, i)) &&
		    overlaps(a->to[i], a->to_offset, a->from[j], a->from_offset, a->bytes))
			return true;
	}
	return false;
}

static cl_int check(struct allreduce *a, cl_command_queue q)
{
	const size_t element_bytes = dxp_type_bytes((enum dxp_type)a->type);

	if (a->members < 1 || a->members > DXP_GROUP_MEMBERS_MAX || !a->devices || !a->from ||
	    !a->to || !element_bytes || a->reduction >= DXP_REDUCTIONS || a->count == 0 ||
	    a->count > SIZE_MAX / element_bytes || a->from_offset % element_bytes ||
	    a->to_offset % element_bytes)
		return CL_INVALID_VALUE;
	a->bytes = a->count * element_bytes;
	for (cl_uint i = 0; i < a->members; i++) {
		if (!object_is(a->devices[i], OBJECT_DEVICE) ||
		    !context_has(q->context, a->devices[i]))
			return CL_INVALID_DEVICE;
		cl_int error = range_check(a->from[i], q, a->from_offset, a->bytes);
		if (error == CL_SUCCESS)
			error = range_check(a->to[i], q, a->to_offset, a->bytes);
		if (error != CL_SUCCESS)
			return error;
	}
	for (cl_uint i = 0; i < a->members; i++)
		if (output_overlaps(a, i))
			return CL_MEM_COPY_OVERLAP;
	return CL_SUCCESS;
}

/* Prepares the memory of one member on its own device, which need not be the queue's device. */
static cl_int member_ready(struct enqueue *e, const struct allreduce *a, cl_uint i,
			   struct prepared *p)
{
	const cl_device_id queue_device = e->device;
	cl_int error = device_connect(a->devices[i]);

	if (error != CL_SUCCESS)
		return error;
	e->device = a->devices[i];
	p->generations[i] = e->device->generation;
	p->parts[i] = (struct dxp_part){.from_bytes = a->bytes, .to_bytes = a->bytes};
	error = memory_ready(e, a->from[i], a->from_offset, a->bytes, MEMORY_READ,
			     &p->parts[i].from);
	if (error == CL_SUCCESS)
		error = memory_ready(e, a->to[i], a->to_offset, a->bytes, MEMORY_WRITE,
				     &p->parts[i].to);
	e->device = queue_device;
	return error;
}

/* While a later member was prepared, an earlier device may have been found lost. */
static bool all_connected(const struct enqueue *e, const struct allreduce *a,
			  const struct prepared *p)
{
	bool connected = e->device->xpu != NULL;

	for (cl_uint i = 0; i < a->members; i++)
		connected = connected && a->devices[i]->xpu &&
			    a->devices[i]->generation == p->generations[i];
	return connected;
}

static cl_int judge(const struct allreduce *a, int status)
{
	for (cl_uint i = 0; i < a->members; i++)
		device_judge(a->devices[i], status);
	return result_of(status);
}

/* The command's event completes when the operation has completed at all members. */
static int ends_join(struct enqueue *e, const struct allreduce *a, const struct prepared *p,
		     dxp_event *event)
{
	const struct dxp_waits all = {p->ends, a->members, true, false};
	int status = dxp_mark(e->device->xpu, &all, event);

	for (cl_uint i = 0; i < a->members; i++)
		dxp_event_forget(opencl_fabric(), p->ends[i]);
	return status;
}

static cl_int start(struct enqueue *e, const struct allreduce *a, struct prepared *p,
		    dxp_event *event)
{
	const struct dxp_collective c = {.parts = p->parts,
					 .count = a->count,
					 .type = (enum dxp_type)a->type,
					 .reduction = (enum dxp_reduction)a->reduction,
					 .events = p->ends};
	int status;

	for (cl_uint i = 0; i < a->members; i++) {
		p->parts[i].wait = e->waits.events;
		p->parts[i].wait_count = e->waits.count;
	}
	struct dxp_group *g = groups_get(a->devices, a->members, &status);
	if (!g)
		return judge(a, status);
	status = dxp_allreduce(g, &c);
	if (status == DXP_OK)
		status = ends_join(e, a, p, event);
	if (status == DXP_OK)
		return CL_SUCCESS;
	/* Commands of the group may be outstanding, and their memory must not be reused before.
	 * Destroying the group waits for them. */
	groups_drop(g);
	return judge(a, status);
}

static void results_note(struct enqueue *e, const struct allreduce *a, dxp_event event)
{
	const cl_device_id queue_device = e->device;

	e->event->bytes = a->bytes * a->members;
	for (cl_uint i = 0; i < a->members; i++) {
		e->device = a->devices[i];
		memory_used(e, a->from[i], a->from_offset, a->bytes, MEMORY_READ, event);
		memory_used(e, a->to[i], a->to_offset, a->bytes, MEMORY_WRITE, event);
	}
	e->device = queue_device;
}

static cl_int post(struct enqueue *e, const struct allreduce *a, dxp_event *event)
{
	struct prepared p = {0};
	cl_int error = CL_SUCCESS;

	for (cl_uint i = 0; i < a->members && error == CL_SUCCESS; i++)
		error = member_ready(e, a, i, &p);
	if (error == CL_SUCCESS && !all_connected(e, a, &p))
		error = CL_DEVICE_NOT_AVAILABLE;
	if (error == CL_SUCCESS)
		error = start(e, a, &p, event);
	if (error == CL_SUCCESS)
		results_note(e, a, *event);
	return error;
}

cl_int CL_API_CALL dxp_clEnqueueAllreduceDXP(cl_command_queue queue, cl_uint num_devices,
					     const cl_device_id *devices, const cl_mem *src,
					     const cl_mem *dst, size_t src_offset,
					     size_t dst_offset, size_t count, cl_uint type,
					     cl_uint reduction, cl_uint wait_count,
					     const cl_event *wait, cl_event *event)
{
	struct allreduce a = {.members = num_devices,
			      .devices = devices,
			      .from = src,
			      .to = dst,
			      .from_offset = src_offset,
			      .to_offset = dst_offset,
			      .count = count,
			      .type = type,
			      .reduction = reduction};
	struct enqueue e;
	dxp_event source = 0;
	cl_int error = enqueue_begin(&e, queue, CL_COMMAND_ALLREDUCE_DXP, wait_count, wait);

	if (error != CL_SUCCESS)
		return error;
	error = check(&a, queue);
	if (error == CL_SUCCESS)
		error = post(&e, &a, &source);
	return enqueue_end(&e, error, source, false, event);
}
