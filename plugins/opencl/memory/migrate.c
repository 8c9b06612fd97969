/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves bytes of memory objects to the device or host that needs them, directly between nodes. Host
 * memory is used only if it has the latest bytes or is mapped.
 *
 *  Order of transfers. A program must order commands that use the same bytes, so a transfer for a
 *  command may start when the command may: it gets the command's wait list. It also waits for
 *  commands that write the bytes which it moves. A program that reads while it writes gets
 *  undefined bytes, but these must not stay in a copy after the write.
 *
 *  The program cannot order transfers, because it does not know of them. They are recorded as uses
 *  of the copies, so that later commands and transfers wait for them. Host memory changes only by
 *  maps, which are recorded too. So a transfer from host memory waits for nothing else, and can
 *  start before its command. */
#include <stdlib.h>

#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

static void transfer_ended(void *context, int status)
{
	struct transfer *t = context;
	cl_mem root = t->root;

	t->status = status < 0 ? status : 1;
	memory_transfer_drop(t);
	object_drop(root);
}

static int use_ended(const struct use *u)
{
	if (u->transfer)
		return u->transfer->status;
	return event_open(u->event) ? 0 : 1;
}

void memory_settle(cl_mem root)
{
	struct copies *c = root->copies;

	copies_settle(c, use_ended, memory_transfer_drop);
	for (struct copy *next, *x = c->host.next; x; x = next) {
		next = x->next;
		if (!x->device->xpu || x->device->generation != x->generation)
			copies_forget(c, x, memory_transfer_drop);
	}
}

cl_int memory_here(struct enqueue *e, cl_mem root, struct copy **out)
{
	cl_device_id d = e->device;
	uint64_t address;

	memory_settle(root);
	*out = copies_of(root->copies, d);
	if (*out)
		return CL_SUCCESS;
	cl_int error = heap_allocate(d, root->bytes, &address);
	if (error != CL_SUCCESS)
		return error;
	/* heap_allocate may have released the lock, and another thread may have created the
	 * copy. */
	memory_settle(root);
	*out = copies_of(root->copies, d);
	if (*out) {
		heap_give(d, d->generation, address);
		return CL_SUCCESS;
	}
	*out = copies_add(root->copies, d, d->generation, address);
	if (*out)
		return CL_SUCCESS;
	heap_give(d, d->generation, address);
	return CL_OUT_OF_HOST_MEMORY;
}

static bool use_matters(const struct use *u, uint64_t start, uint64_t end,
			enum memory_access access)
{
	return !u->queue && u->start < end && start < u->end &&
	       (u->into || (access & MEMORY_WRITE)) && event_open(u->event);
}

cl_int memory_order(struct enqueue *e, const struct copy *copy, uint64_t start, uint64_t end,
		    enum memory_access access)
{
	for (uint32_t i = 0; i < copy->use_count; i++) {
		const struct use *u = &copy->uses[i];
		if (!use_matters(u, start, end, access))
			continue;
		cl_int error = enqueue_wait(e, u->event);
		if (error != CL_SUCCESS)
			return error;
	}
	return CL_SUCCESS;
}

bool memory_filling(const struct copy *copy, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < copy->use_count; i++) {
		if (use_matters(&copy->uses[i], start, end, MEMORY_READ))
			return true;
	}
	return false;
}

cl_int memory_both_here(struct enqueue *e, cl_mem a, struct copy **a_copy, cl_mem b,
			struct copy **b_copy)
{
	do {
		cl_int error = memory_here(e, a, a_copy);
		if (error == CL_SUCCESS)
			error = memory_here(e, b, b_copy);
		if (error != CL_SUCCESS)
			return error;
		/* The lock may have been released for `b`, and the device lost with the copy of
		 * `a`: check again. */
	} while (copies_of(a->copies, e->device) != *a_copy);
	return CL_SUCCESS;
}

static void list_add(struct dxp_waits *w, dxp_event *list, dxp_event event)
{
	for (uint32_t i = 0; i < w->count; i++) {
		if (list[i] == event)
			return;
	}
	list[w->count++] = event;
}

/* Collects the events that the transfer of piece `p` must wait for. The caller frees out->events.
 * Returns false if memory is short. */
static bool gather(const struct enqueue *e, const struct piece *p, const struct copy *to,
		   struct dxp_waits *out)
{
	bool from_host = !p->from->device;
	uint32_t most = e->given + p->from->use_count + to->use_count;
	dxp_event *list = malloc((most + 1) * sizeof *list);

	*out = (struct dxp_waits){.events = list, .lazy = true};
	if (!list)
		return false;
	for (uint32_t i = 0; i < e->given && !from_host; i++)
		list[out->count++] = e->waits.events[i];
	for (uint32_t i = 0; i < p->from->use_count; i++) {
		const struct use *u = &p->from->uses[i];
		bool writer =
			u->queue && u->start < p->end && p->start < u->end && event_open(u->event);
		if (writer || use_matters(u, p->start, p->end, MEMORY_READ))
			list_add(out, list, u->event);
	}
	for (uint32_t i = 0; i < to->use_count; i++) {
		if (use_matters(&to->uses[i], p->start, p->end, MEMORY_WRITE))
			list_add(out, list, to->uses[i].event);
	}
	out->late = from_host && out->count > 0;
	return true;
}

/* w->late: the bytes in host memory may still be written, so they are read only after the waits. */
static int send_piece(cl_mem root, const struct piece *p, const struct copy *to,
		      const struct dxp_waits *w, dxp_event *event)
{
	const struct copy *from = p->from;
	uint64_t bytes = p->end - p->start;

	if (!from->device)
		return dxp_write(to->device->xpu, to->address + p->start,
				 memory_host(root) + p->start, bytes, w, event);
	if (!to->device)
		return dxp_read(from->device->xpu, memory_host(root) + p->start,
				from->address + p->start, bytes, w, event);
	const struct dxp_transfer t = {
		.from_address = from->address + p->start,
		.to_address = to->address + p->start,
		.bytes = bytes,
		.wait = w->events,
		.wait_count = w->count,
	};
	return dxp_send(from->device->xpu, to->device->xpu, &t, event);
}

static cl_device_id worker(const struct piece *p, const struct copy *to)
{
	return p->from->device ? p->from->device : to->device;
}

/* Records the transfer on both copies, and requests its completion. Removes uses that it waits for
 * (`w`), so that wait lists of long chains stay short. */
static cl_int note(cl_mem root, const struct piece *p, struct copy *to, const struct dxp_waits *w,
		   dxp_event event)
{
	struct transfer *t = malloc(sizeof *t);

	if (!t)
		return CL_OUT_OF_HOST_MEMORY;
	*t = (struct transfer){.root = root, .holds = 1};
	struct use u = {.start = p->start, .end = p->end, .event = event, .transfer = t};
	object_hold(root);
	cl_int error = event_track(event, transfer_ended, t);
	if (error != CL_SUCCESS) {
		object_drop(root);
		free(t);
		return error;
	}
	copies_follow(p->from, &u, w->events, w->count, memory_transfer_drop);
	if (!copies_use(p->from, &u))
		return CL_OUT_OF_HOST_MEMORY;
	t->holds++;
	u.into = u.makes = true;
	copies_follow(to, &u, w->events, w->count, memory_transfer_drop);
	if (!copies_use(to, &u))
		return CL_OUT_OF_HOST_MEMORY;
	t->holds++;
	copies_shared(to, p->start, p->end);
	return CL_SUCCESS;
}

static cl_int move(struct enqueue *e, cl_mem root, const struct piece *p, struct copy *to,
		   dxp_event *event)
{
	struct dxp_waits w;

	if (!ranges_reserve(&to->latest, 1) || !gather(e, p, to, &w))
		return CL_OUT_OF_HOST_MEMORY;
	int status = send_piece(root, p, to, &w, event);
	if (status < 0) {
		free((void *)(uintptr_t)w.events);
		return device_judge(worker(p, to), status);
	}
	/* The transfer waits for the whole wait list, and the command for the transfer. So the
	 * command need not wait for the list itself. */
	e->carried |= p->from->device != NULL;
	trace_moved(p->from->device, to->device, p->end - p->start);
	cl_int error = note(root, p, to, &w, *event);
	free((void *)(uintptr_t)w.events);
	if (error != CL_SUCCESS && !event_open(*event)) {
		dxp_event_forget(opencl_fabric(), *event);
		*event = 0;
	}
	return error;
}

struct moved {
	dxp_event *events;
	uint32_t count, space;
	dxp_event few[16];
};

static bool moved_space(struct moved *m)
{
	if (m->count < m->space)
		return true;
	dxp_event *more = malloc(2 * m->space * sizeof *more);
	if (!more)
		return false;
	for (uint32_t i = 0; i < m->count; i++)
		more[i] = m->events[i];
	if (m->events != m->few)
		free(m->events);
	m->events = more;
	m->space *= 2;
	return true;
}

static cl_int move_all(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start,
		       uint64_t end, struct moved *m)
{
	struct piece p;

	while (start < end) {
		enum copies_found found = copies_next(root->copies, to, NULL, start, end, &p);
		if (found == COPIES_NONE)
			break;
		if (found == COPIES_LOST)
			return CL_DEVICE_NOT_AVAILABLE;
		if (p.end - p.start > TRANSFER_PART_BYTES)
			p.end = p.start + TRANSFER_PART_BYTES;
		if (!moved_space(m))
			return CL_OUT_OF_HOST_MEMORY;
		cl_int error = move(e, root, &p, to, &m->events[m->count]);
		if (error != CL_SUCCESS)
			return error;
		m->count++;
		start = p.end;
	}
	return CL_SUCCESS;
}

cl_int memory_bring(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start, uint64_t end)
{
	struct moved m = {.space = 16};
	struct piece p;

	if (copies_next(root->copies, to, NULL, start, end, &p) == COPIES_NONE)
		return CL_SUCCESS;
	if (!to->device && !memory_host(root))
		return CL_OUT_OF_HOST_MEMORY;
	m.events = m.few;
	cl_int error = move_all(e, root, to, start, end, &m);
	for (uint32_t i = 0; i < m.count && error == CL_SUCCESS; i++)
		error = enqueue_wait(e, m.events[i]);
	if (m.events != m.few)
		free(m.events);
	return error;
}

cl_int memory_ready(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		    enum memory_access access, uint64_t *address)
{
	cl_mem root = memory_root(m, &offset);
	struct copy *here;

	cl_int error = enqueue_hold(e, m);
	if (error == CL_SUCCESS)
		error = memory_here(e, root, &here);
	if (error == CL_SUCCESS && (access & MEMORY_READ))
		error = memory_bring(e, root, here, offset, offset + bytes);
	/* Runs after memory_bring, which removes those uses that its transfers wait for. */
	if (error == CL_SUCCESS)
		error = memory_order(e, here, offset, offset + bytes, access);
	/* Memory is reserved here, so memory_used cannot fail. */
	if (error == CL_SUCCESS && !copies_reserve(root->copies, 2))
		error = CL_OUT_OF_HOST_MEMORY;
	if (error == CL_SUCCESS)
		*address = here->address + offset;
	return error;
}

void memory_used(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		 enum memory_access access, dxp_event event)
{
	cl_mem root = memory_root(m, &offset);
	struct copy *here = copies_of(root->copies, e->device);

	if (here && (access & MEMORY_WRITE)) {
		copies_wrote(root->copies, here, offset, offset + bytes);
		memory_writer(e, root, offset, offset + bytes, event);
	}
}
