/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts a collective. The command belongs to one queue, and its operation to a group of devices. At
 * each member, the operation waits for the whole wait list. */
#include "plugins/opencl/entry/collective.h"

#include "base/util.h"
#include "plugins/opencl/entry/groups.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

/* Indexed by member. */
struct prepared {
	struct dxp_part parts[DXP_GROUP_MEMBERS_MAX];
	uint32_t generations[DXP_GROUP_MEMBERS_MAX];
	dxp_event ends[DXP_GROUP_MEMBERS_MAX];
};

static cl_int span_ready(struct enqueue *e, const struct span *s, enum memory_access access,
			 uint64_t *address)
{
	if (!s->bytes)
		return CL_SUCCESS;
	return memory_ready(e, s->buffer, s->offset, s->bytes, access, address);
}

/* Prepares the memory of one member on its own device, which need not be the queue's device. */
static cl_int member_ready(struct enqueue *e, const struct collective *c, cl_uint member,
			   struct prepared *p)
{
	const cl_device_id queue_device = e->device;
	struct dxp_part *part = &p->parts[member];
	cl_int error = device_connect(c->devices[member]);

	if (error != CL_SUCCESS)
		return error;
	e->device = c->devices[member];
	p->generations[member] = e->device->generation;
	part->from_bytes = c->inputs[member].bytes;
	part->to_bytes = c->outputs[member].bytes;
	error = span_ready(e, &c->inputs[member], MEMORY_READ, &part->from);
	if (error == CL_SUCCESS)
		error = span_ready(e, &c->outputs[member], MEMORY_WRITE, &part->to);
	e->device = queue_device;
	return error;
}

/* While a later member was prepared, an earlier device may have been found lost. */
static bool all_connected(const struct enqueue *e, const struct collective *c,
			  const struct prepared *p)
{
	bool connected = e->device->xpu != NULL;

	for (cl_uint i = 0; i < c->members; i++)
		connected = connected && c->devices[i]->xpu &&
			    c->devices[i]->generation == p->generations[i];
	return connected;
}

static cl_int judge(const struct collective *c, int status)
{
	for (cl_uint i = 0; i < c->members; i++)
		device_judge(c->devices[i], status);
	return result_of(status);
}

/* The command's event completes when the operation has completed at all members. */
static int ends_join(const struct enqueue *e, const struct collective *c, const struct prepared *p,
		     dxp_event *event)
{
	const struct dxp_waits all = {p->ends, c->members, true, false};

	return dxp_mark(e->device->xpu, &all, event);
}

/* A call that fails may have set some of them. */
static void ends_forget(const struct collective *c, const struct prepared *p)
{
	for (cl_uint i = 0; i < c->members; i++)
		if (p->ends[i])
			dxp_event_forget(opencl_fabric(), p->ends[i]);
}

static cl_int start(struct enqueue *e, const struct collective *c, struct prepared *p,
		    dxp_event *event)
{
	const struct dxp_collective arguments = {.parts = p->parts,
						 .count = c->count,
						 .type = (enum dxp_type)c->type,
						 .reduction = (enum dxp_reduction)c->reduction,
						 .root = c->root,
						 .events = p->ends,
						 .way = (enum dxp_way)c->way,
						 .started = &e->event->way};
	int status;

	for (cl_uint i = 0; i < c->members; i++) {
		p->parts[i].wait = e->waits.events;
		p->parts[i].wait_count = e->waits.count;
	}
	struct dxp_group *g = groups_get(c->devices, c->members, &status);
	if (!g)
		return judge(c, status);
	status = c->operation->start(g, &arguments, sizeof(arguments));
	const bool started = status == DXP_OK;
	if (started)
		status = ends_join(e, c, p, event);
	ends_forget(c, p);
	if (status == DXP_OK)
		return CL_SUCCESS;
	/* Commands of the operation may be outstanding, and their memory must not be reused before.
	 * Destroying the group waits for them. If nothing was started, earlier operations of the
	 * group continue. */
	if (started || dxp_group_status(g) != DXP_OK)
		groups_drop(g);
	return judge(c, status);
}

static void results_note(struct enqueue *e, const struct collective *c, dxp_event event)
{
	const cl_device_id queue_device = e->device;
	uint64_t in_bytes = 0, out_bytes = 0;

	for (cl_uint i = 0; i < c->members; i++) {
		const struct span *in = &c->inputs[i], *out = &c->outputs[i];
		e->device = c->devices[i];
		if (in->bytes)
			memory_used(e, in->buffer, in->offset, in->bytes, MEMORY_READ, event);
		if (out->bytes)
			memory_used(e, out->buffer, out->offset, out->bytes, MEMORY_WRITE, event);
		in_bytes += in->bytes;
		out_bytes += out->bytes;
	}
	e->device = queue_device;
	e->event->bytes = max_u64(in_bytes, out_bytes);
}

cl_int collective_post(struct enqueue *e, const struct collective *c, dxp_event *event)
{
	struct prepared p = {0};
	cl_int error = CL_SUCCESS;

	for (cl_uint i = 0; i < c->members && error == CL_SUCCESS; i++)
		error = member_ready(e, c, i, &p);
	if (error == CL_SUCCESS && !all_connected(e, c, &p))
		error = CL_DEVICE_NOT_AVAILABLE;
	if (error == CL_SUCCESS)
		error = start(e, c, &p, event);
	if (error == CL_SUCCESS)
		results_note(e, c, *event);
	return error;
}
