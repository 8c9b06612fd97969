/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous commands: marks, and commands that write, read, copy and fill device memory. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/move.h"
#include "nic/limits.h"

static const struct dxp_waits no_waits;

static int range_error(const struct dxp_xpu *x, const char *doing, uint64_t address, uint64_t bytes)
{
	return error_set(DXP_ERANGE, "%s of %llu bytes at %#llx: xPU '%s' has %llu bytes of memory",
			 doing, (unsigned long long)bytes, (unsigned long long)address,
			 x->caps.name, (unsigned long long)x->caps.memory_bytes);
}

static bool in_memory(const struct dxp_xpu *x, uint64_t address, uint64_t bytes)
{
	return bytes <= x->caps.memory_bytes && address <= x->caps.memory_bytes - bytes;
}

static int command_enter(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
			 dxp_event *event)
{
	if (!waits)
		waits = &no_waits;
	c->lazy = waits->lazy;
	host_fabric_enter(x->fabric);
	int status = host_command_start_after(x, c, waits->events, waits->count, event);
	host_fabric_leave(x->fabric);
	return status;
}

int dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event)
{
	struct command c;

	command_begin(&c, COMMAND_MARK);
	return command_enter(xpu, &c, waits, event);
}

/* Checks that one side of a rectangle is inside the memory. Sets the error text. */
static int rect_check(const struct dxp_xpu *x, const struct dxp_rect *r,
		      enum command_rect_side side, uint64_t address, const char *doing)
{
	uint64_t span;

	if (!command_rect_span(r, side, &span))
		return error_set(DXP_EINVAL,
				 "%s: a side of the rectangle is 0, or a pitch of its %s side is "
				 "smaller than a row or slice",
				 doing, side == RECT_FROM ? "from" : "to");
	return in_memory(x, address, span) ? DXP_OK : range_error(x, doing, address, span);
}

int dxp_copy(struct dxp_xpu *xpu, uint64_t from, uint64_t to, const struct dxp_rect *rect,
	     const struct dxp_waits *waits, dxp_event *event)
{
	struct command c;
	int status = rect_check(xpu, rect, RECT_FROM, from, "copy");

	if (status == DXP_OK)
		status = rect_check(xpu, rect, RECT_TO, to, "copy");
	if (status != DXP_OK)
		return status;
	command_begin(&c, COMMAND_COPY);
	c.address = from;
	c.to_address = to;
	c.rect = *rect;
	return command_enter(xpu, &c, waits, event);
}

int dxp_fill(struct dxp_xpu *xpu, uint64_t address, const void *pattern, uint32_t pattern_bytes,
	     const struct dxp_rect *rect, const struct dxp_waits *waits, dxp_event *event)
{
	struct command c;
	int status = rect_check(xpu, rect, RECT_TO, address, "fill");

	if (status != DXP_OK)
		return status;
	if (!pattern || pattern_bytes < 1 || pattern_bytes > DXP_PATTERN_MAX ||
	    rect->row_bytes % pattern_bytes)
		return error_set(DXP_EINVAL,
				 "fill: a pattern has 1 to %d bytes, and rows are a multiple of it",
				 DXP_PATTERN_MAX);
	command_begin(&c, COMMAND_FILL);
	c.address = address;
	c.data = pattern;
	c.data_bytes = pattern_bytes;
	c.rect = *rect;
	c.rect.from_row_pitch = c.rect.from_slice_pitch = 0;
	return command_enter(xpu, &c, waits, event);
}

/* ---- transfers between host and device ---- */

/* Events in a wait list that are still pending. */
struct open_waits {
	uint32_t own;  /* number of pending events of this host */
	uint32_t xpus; /* number of pending events of xPUs */
	bool failed;
};

static int waits_look(struct dxp_fabric *f, const struct dxp_waits *waits, struct open_waits *out)
{
	if (waits->count && !waits->events)
		return error_set(DXP_EINVAL, "wait list: %u events, but the list is NULL",
				 waits->count);
	for (uint32_t i = 0; i < waits->count; i++) {
		struct host_event *entry;
		struct dxp_xpu *x;
		if (!waits->events[i])
			continue;
		if (!events_of(f, waits->events[i], &x, &entry))
			return error_set(DXP_ENOENT,
					 "wait list: event %#llx is unknown or already waited for",
					 (unsigned long long)waits->events[i]);
		if (entry->state == HOST_EVENT_DONE)
			out->failed |= entry->status != DXP_OK;
		else if (x)
			out->xpus++;
		else
			out->own++;
	}
	return DXP_OK;
}

/* Returns true if transfer `m` may run at the same time as `before`, because both write to
 * different ranges of one xPU. */
static bool disjoint(const struct move *m, const struct move *before)
{
	return before && before->state == MOVE_RUNNING && before->xpu == m->xpu &&
	       m->direction == MEMORY_WRITE && before->direction == MEMORY_WRITE &&
	       (m->address + m->bytes <= before->address ||
		before->address + before->bytes <= m->address);
}

/* Records the events that `m` waits for. *beside is set to true if `m` may start before they
 * complete. */
static int waits_note(struct dxp_fabric *f, struct move *m, const struct dxp_waits *waits,
		      uint32_t open, bool *beside)
{
	*beside = !waits->late || open == 0;
	if (open > MOVE_WAITS_INLINE) {
		m->waits = malloc(open * sizeof(*m->waits));
		if (!m->waits) {
			m->waits = m->inline_waits;
			return error_set(DXP_ENOMEM, "out of memory");
		}
	}
	for (uint32_t i = 0; open && i < waits->count; i++) {
		struct host_event *entry;
		struct dxp_xpu *x;
		if (!waits->events[i] || !events_of(f, waits->events[i], &x, &entry) ||
		    entry->state == HOST_EVENT_DONE)
			continue;
		*beside &= disjoint(m, entry->move);
		move_wait_for(m, waits->events[i], entry);
	}
	return DXP_OK;
}

/* Starts a transfer that this host performs. It begins now, or when the events that it waits for
 * have completed. */
static int run_here(struct move *m, const struct dxp_waits *waits, const struct open_waits *open,
		    dxp_event *event)
{
	struct dxp_fabric *f = m->xpu->fabric;
	struct host_event *entry;
	bool beside;
	int status = waits_note(f, m, waits, open->own + open->xpus, &beside);

	if (status == DXP_OK)
		status = executor_add(f, &m->count, &entry);
	if (status != DXP_OK) {
		move_free(f, m);
		return status;
	}
	m->times = entry->times;
	m->times.started_ns = m->times.queued_ns;
	m->qp = m->bytes <= HOST_SHORT_BYTES ? HOST_QP_DATA : HOST_QP_LONG;
	entry->move = m;
	entry->silent = event == NULL;
	if (event)
		*event = executor_event(f, m->count);
	if (open->failed)
		m->status = DXP_ECANCELED;
	move_enter(f, m, open->failed ? MOVE_READY : beside ? MOVE_RUNNING : MOVE_WAITING);
	watch_arm(f);
	host_fabric_poll(f);
	progress_notify(f);
	return DXP_OK;
}

struct offering {
	struct move *move;
	int status;
};

static bool offered(void *context)
{
	struct offering *o = context;
	struct move *m = o->move;

	o->status = nic_region_register(
		node_nic(m->xpu->fabric->node), 0, m->local, m->bytes,
		m->direction == MEMORY_WRITE ? NIC_REMOTE_READ : NIC_REMOTE_WRITE, &m->key);
	return o->status != DXP_EBUSY;
}

/* Starts a transfer that the xPU performs when the events that it waits for have completed. */
static int run_there(struct move *m, const struct dxp_waits *waits, dxp_event *event)
{
	struct dxp_xpu *x = m->xpu;
	struct dxp_fabric *f = x->fabric;
	struct offering o = {.move = m};
	struct command c;

	host_fabric_wait(f, offered, &o, clock_now_ns() + HOST_REPLY_NS);
	if (o.status != DXP_OK) {
		move_free(f, m);
		return error_set(
			DXP_EAGAIN,
			"all %d memory regions are in use; wait until a transfer completes",
			NIC_REGIONS_MAX);
	}
	command_begin(&c, COMMAND_BRIDGE);
	c.path = m->direction == MEMORY_WRITE ? COMMAND_BRIDGE_IN : COMMAND_BRIDGE_OUT;
	c.address = m->address;
	c.bytes = m->bytes;
	c.to_node = node_id(f->node);
	c.lazy = waits->lazy;
	*(m->direction == MEMORY_WRITE ? &c.from_key : &c.to_key) = m->key;
	m->state = MOVE_WAITING;
	int status = host_command_start_pull(x, &c, waits, m, event);
	if (status == DXP_OK && m->state != MOVE_WAITING) {
		progress_notify(f);
		return DXP_OK;
	}
	/* The command was not sent, so the xPU does not have the key. */
	nic_region_deregister(node_nic(f->node), m->key);
	move_free(f, m);
	return status;
}

int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event)
{
	struct dxp_fabric *f = x->fabric;
	struct open_waits open = {0};
	int status = x->status != DXP_OK ? error_xpu(x, x->status, "command")
					 : waits_look(f, waits, &open);

	if (status != DXP_OK)
		return status;
	struct move *m = move_new(f);
	if (!m)
		return error_set(DXP_ENOMEM, "out of memory");
	m->xpu = x;
	m->direction = (uint8_t)direction;
	m->address = address;
	m->local = local;
	m->bytes = bytes;
	/* A transfer by the xPU needs a memory region from now on, so their number is bounded. */
	bool there = open.xpus && !open.failed && f->pulls < HOST_PULLS_MAX;
	return there ? run_there(m, waits, event) : run_here(m, waits, &open, event);
}

static int move_checked(struct dxp_xpu *x, enum memory_direction direction, uint64_t address,
			void *local, uint64_t bytes, const struct dxp_waits *waits,
			dxp_event *event)
{
	const char *doing = direction == MEMORY_WRITE ? "write" : "read";

	if (!in_memory(x, address, bytes))
		return range_error(x, doing, address, bytes);
	if (bytes == 0)
		return dxp_mark(x, waits, event);
	if (!local)
		return error_set(DXP_EINVAL, "%s: the host memory is NULL", doing);
	host_fabric_enter(x->fabric);
	int status =
		move_start(x, direction, address, local, bytes, waits ? waits : &no_waits, event);
	host_fabric_leave(x->fabric);
	return status;
}

int dxp_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes,
	      const struct dxp_waits *waits, dxp_event *event)
{
	struct command c;

	bool late = waits && waits->late;

	/* The cast removes `const`: a write to the device only reads `from`. */
	if (late || bytes == 0 || bytes > DXP_INLINE_BYTES || !from ||
	    !in_memory(xpu, address, bytes))
		return move_checked(xpu, MEMORY_WRITE, address, (void *)(uintptr_t)from, bytes,
				    waits, event);
	command_begin(&c, COMMAND_WRITE);
	c.address = address;
	c.data = from;
	c.data_bytes = (uint32_t)bytes;
	return command_enter(xpu, &c, waits, event);
}

int dxp_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes,
	     const struct dxp_waits *waits, dxp_event *event)
{
	return move_checked(xpu, MEMORY_READ, address, to, bytes, waits, event);
}
