/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of several posted parts. When these have completed, the host may copy bytes, which
 * completes the command. */
#include <stdlib.h>

#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

#define ABANDON_NS 1000000000ull /* ns that a failed command waits for each of its parts */

struct unpack {
	struct unpack *next;
	void *to;
	const void *from;
	struct dxp_rect rect;
};

/* A range of host memory that a command which has not completed writes. */
struct pending {
	uintptr_t start, end;
	dxp_event event;
};

static struct pending *pending;
static uint32_t pending_count, pending_space;
/* A range was not recorded because memory was short. From then on, all host memory counts as
 * pending: writes read their bytes later than necessary, but never too early. */
static bool pending_incomplete;

static void pending_prune(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < pending_count; i++) {
		if (event_open(pending[i].event))
			pending[kept++] = pending[i];
	}
	pending_count = kept;
}

static void pending_add(const void *at, uint64_t bytes, dxp_event event)
{
	if (pending_count == pending_space)
		pending_prune();
	/* Keeps half of the array free, so that it is rarely searched for completed entries. */
	if (2 * pending_count >= pending_space) {
		uint32_t space = pending_space ? 2 * pending_space : 64;
		struct pending *more = realloc(pending, space * sizeof *more);
		if (!more) {
			pending_incomplete = true;
			return;
		}
		pending = more;
		pending_space = space;
	}
	pending[pending_count++] = (struct pending){(uintptr_t)at, (uintptr_t)at + bytes, event};
}

bool command_host_is_pending(const void *at, uint64_t bytes)
{
	uintptr_t start = (uintptr_t)at;

	if (pending_incomplete)
		return true;
	for (uint32_t i = 0; i < pending_count; i++) {
		if (pending[i].start < start + bytes && start < pending[i].end &&
		    event_open(pending[i].event))
			return true;
	}
	return false;
}

cl_int command_begin(struct command *c, cl_command_queue queue, cl_command_type type, bool blocking,
		     cl_uint count, const cl_event *list)
{
	*c = (struct command){0};
	cl_int error = enqueue_begin(&c->e, queue, type, count, list);
	c->e.waits.lazy = !blocking;
	c->parts = c->few;
	c->space = sizeof c->few / sizeof *c->few;
	return error;
}

static bool parts_space(struct command *c)
{
	if (c->count < c->space)
		return true;
	dxp_event *more = malloc(2 * c->space * sizeof *more);
	if (!more)
		return false;
	for (uint32_t i = 0; i < c->count; i++)
		more[i] = c->parts[i];
	if (c->parts != c->few)
		free(c->parts);
	c->parts = more;
	c->space *= 2;
	return true;
}

cl_int command_part(struct command *c, cl_device_id d, int status, dxp_event part)
{
	if (status < 0)
		return device_judge(d, status);
	/* The times of the event are from the clock of this device. */
	c->e.event->device = d;
	if (!parts_space(c)) {
		dxp_event_forget(opencl_fabric(), part);
		return CL_OUT_OF_HOST_MEMORY;
	}
	c->parts[c->count++] = part;
	return CL_SUCCESS;
}

static void step_ended(void *context, int status)
{
	object_drop(context);
}

cl_int command_step(struct command *c, cl_device_id d, int status, dxp_event step, void *hold)
{
	if (status < 0)
		return device_judge(d, status);
	cl_int error = event_track(step, step_ended, hold);
	if (error != CL_SUCCESS) {
		dxp_event_forget(opencl_fabric(), step);
		return error;
	}
	object_hold(hold);
	return enqueue_wait(&c->e, step);
}

cl_int command_unpack(struct command *c, void *to, const void *from, const struct dxp_rect *rect)
{
	struct unpack *u = malloc(sizeof *u);

	if (!u)
		return CL_OUT_OF_HOST_MEMORY;
	*u = (struct unpack){NULL, to, from, *rect};
	/* The copies run in order: a copy may read bytes that an earlier one wrote. */
	if (c->unpack)
		c->unpack_last->next = u;
	else
		c->unpack = u;
	c->unpack_last = u;
	return CL_SUCCESS;
}

static void unpack_all(struct unpack *u, bool copy)
{
	for (struct unpack *next; u; u = next) {
		next = u->next;
		if (copy)
			rect_copy(&u->rect, u->to, u->from);
		free(u);
	}
}

static cl_int finish(cl_event e, cl_int status, void *context)
{
	unpack_all(context, status >= CL_SUCCESS);
	return status;
}

/* Waits for the posted parts of a failed command: until they complete, their memory must not be
 * reused. */
static void abandon(struct command *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		if (dxp_event_wait(opencl_fabric(), c->parts[i], ABANDON_NS, NULL) == DXP_ETIMEDOUT)
			dxp_event_forget(opencl_fabric(), c->parts[i]);
	}
	unpack_all(c->unpack, false);
}

static cl_int join(struct command *c, dxp_event *source)
{
	const struct dxp_waits all = {c->parts, c->count, c->e.waits.lazy, false};

	if (c->count <= 1) {
		*source = c->count ? c->parts[0] : 0;
		return CL_SUCCESS;
	}
	c->e.event->device = c->e.device;
	int status = dxp_mark(c->e.device->xpu, &all, source);
	if (status < 0)
		return device_judge(c->e.device, status);
	for (uint32_t i = 0; i < c->count; i++)
		dxp_event_forget(opencl_fabric(), c->parts[i]);
	return CL_SUCCESS;
}

void command_writes(struct command *c, cl_mem root, uint64_t start, uint64_t end)
{
	if (!c->wrote || start < c->wrote_start)
		c->wrote_start = start;
	if (!c->wrote || end > c->wrote_end)
		c->wrote_end = end;
	c->wrote = root;
}

cl_int command_end(struct command *c, cl_int error, bool blocking, cl_event *out)
{
	dxp_event source = 0;

	if (error == CL_SUCCESS)
		error = join(c, &source);
	if (error != CL_SUCCESS) {
		abandon(c);
		source = 0;
	} else if (c->unpack && !c->count && !c->e.waits.count) {
		unpack_all(c->unpack, true);
	} else if (c->unpack) {
		enqueue_finish_with(&c->e, finish, c->unpack);
	}
	if (error == CL_SUCCESS && c->wrote)
		memory_writer(&c->e, c->wrote, c->wrote_start, c->wrote_end, source);
	if (error == CL_SUCCESS && c->to && source && !blocking)
		pending_add(c->to, c->to_bytes, source);
	if (c->parts != c->few)
		free(c->parts);
	return enqueue_end(&c->e, error, source, blocking, out);
}
