/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of ranges of root objects. Bytes are read directly from a copy that has them, so bytes
 * that are read once are transferred once. */
#include "plugins/opencl/memory/memory.h"

static uint64_t part_of(uint64_t bytes)
{
	return bytes < TRANSFER_PART_BYTES ? bytes : TRANSFER_PART_BYTES;
}

static cl_int read_piece(struct command *c, cl_mem root, const struct piece *p, uint8_t *to)
{
	uint64_t bytes = p->end - p->start;
	cl_device_id d = p->from->device;
	dxp_event event;

	cl_int error = memory_order(&c->e, p->from, p->start, p->end, MEMORY_READ);
	if (error != CL_SUCCESS)
		return error;
	if (!d) {
		const struct dxp_rect line = {bytes, 1, 1, bytes, bytes, bytes, bytes};
		return command_unpack(c, to, memory_host(root) + p->start, &line);
	}
	trace_moved(d, NULL, bytes);
	int status = dxp_read(d->xpu, to, p->from->address + p->start, bytes, &c->e.waits, &event);
	return command_part(c, d, status, event);
}

cl_int transfer_read(struct command *c, cl_mem root, uint64_t at, void *to, uint64_t bytes)
{
	uint64_t end = at + bytes, start = at;
	struct piece p;

	memory_settle(root);
	c->e.event->bytes += bytes;
	while (start < end) {
		const struct copy *near = copies_of(root->copies, c->e.device);
		enum copies_found found = copies_next(root->copies, NULL, near, start, end, &p);
		if (found == COPIES_NONE)
			break;
		if (found == COPIES_LOST)
			return CL_DEVICE_NOT_AVAILABLE;
		p.end = p.start + part_of(p.end - p.start);
		cl_int error = read_piece(c, root, &p, (uint8_t *)to + (p.start - at));
		if (error != CL_SUCCESS)
			return error;
		start = p.end;
	}
	return CL_SUCCESS;
}

/* Returns the device copy to write a range to. After the write, only it has the latest bytes. */
static cl_int target(struct command *c, cl_mem root, uint64_t start, uint64_t end,
		     struct copy **out)
{
	cl_int error = memory_here(&c->e, root, out);

	if (error == CL_SUCCESS && !copies_reserve(root->copies, 2))
		error = CL_OUT_OF_HOST_MEMORY;
	return error != CL_SUCCESS ? error : memory_order(&c->e, *out, start, end, MEMORY_WRITE);
}

static cl_int write_at(struct command *c, uint64_t address, const void *from, uint64_t bytes)
{
	cl_device_id d = c->e.device;
	struct dxp_waits w = c->e.waits;
	dxp_event event;

	/* `late`: read the bytes after the waits, because a pending command may still write them. A
	 * blocking write without waits also sets it: this selects a PUT, which is faster than a
	 * command for any length. */
	w.late = c->e.settled ? !w.lazy : command_host_is_pending(from, bytes);
	trace_moved(NULL, d, bytes);
	for (uint64_t done = 0, part; done < bytes; done += part) {
		part = part_of(bytes - done);
		int status = dxp_write(d->xpu, address + done, (const uint8_t *)from + done, part,
				       &w, &event);
		cl_int error = command_part(c, d, status, event);
		if (error != CL_SUCCESS)
			return error;
	}
	return CL_SUCCESS;
}

cl_int transfer_write(struct command *c, cl_mem root, uint64_t at, const void *from, uint64_t bytes)
{
	struct copy *here;
	cl_int error = target(c, root, at, at + bytes, &here);

	c->e.event->bytes += bytes;
	if (error == CL_SUCCESS)
		error = write_at(c, here->address + at, from, bytes);
	if (error == CL_SUCCESS)
		copies_wrote(root->copies, here, at, at + bytes);
	command_writes(c, root, at, at + bytes);
	return error;
}

static int copy_piece(struct command *c, cl_mem from, const struct piece *p, uint64_t to,
		      dxp_event *event)
{
	uint64_t bytes = p->end - p->start, at = p->from->address + p->start;
	cl_device_id d = c->e.device;
	const struct dxp_rect line = {bytes, 1, 1, bytes, bytes, bytes, bytes};

	if (p->from->device == d)
		return dxp_copy(d->xpu, at, to, &line, &c->e.waits, event);
	trace_moved(p->from->device, d, bytes);
	if (!p->from->device) {
		struct dxp_waits w = c->e.waits;
		w.late = memory_filling(p->from, p->start, p->end);
		return dxp_write(d->xpu, to, memory_host(from) + p->start, bytes, &w, event);
	}
	const struct dxp_transfer t = {
		.from_address = at,
		.to_address = to,
		.bytes = bytes,
		.wait = c->e.waits.events,
		.wait_count = c->e.waits.count,
	};
	return dxp_send(p->from->device->xpu, d->xpu, &t, event);
}

static cl_int copy_pieces(struct command *c, cl_mem from, uint64_t at, uint64_t end, uint64_t to)
{
	uint64_t start = at;
	struct piece p;

	while (start < end) {
		const struct copy *near = copies_of(from->copies, c->e.device);
		enum copies_found found = copies_next(from->copies, NULL, near, start, end, &p);
		if (found == COPIES_NONE)
			break;
		if (found == COPIES_LOST)
			return CL_DEVICE_NOT_AVAILABLE;
		dxp_event event = 0;
		p.end = p.start + part_of(p.end - p.start);
		cl_int error = memory_order(&c->e, p.from, p.start, p.end, MEMORY_READ);
		if (error != CL_SUCCESS)
			return error;
		int status = copy_piece(c, from, &p, to + (p.start - at), &event);
		cl_device_id d = p.from->device ? p.from->device : c->e.device;
		error = command_part(c, d, status, event);
		if (error != CL_SUCCESS)
			return error;
		start = p.end;
	}
	return CL_SUCCESS;
}

cl_int transfer_copy(struct command *c, cl_mem from, uint64_t from_at, cl_mem to, uint64_t to_at,
		     uint64_t bytes)
{
	struct copy *here;
	cl_int error = target(c, to, to_at, to_at + bytes, &here);

	c->e.event->bytes += bytes;
	memory_settle(from);
	if (error == CL_SUCCESS)
		error = copy_pieces(c, from, from_at, from_at + bytes, here->address + to_at);
	if (error == CL_SUCCESS)
		copies_wrote(to->copies, here, to_at, to_at + bytes);
	command_writes(c, to, to_at, to_at + bytes);
	return error;
}
