/* SPDX-License-Identifier: BSD-3-Clause */
/* Open xPUs. Opening one again returns the same object, because CLOSE frees everything that this
 * host has on the xPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"
#include "host/mpi.h"

struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node)
{
	struct dxp_xpu *x = f->xpus;

	while (x && (x->node != node || x->status != DXP_OK))
		x = x->next;
	return x;
}

struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **entry)
{
	for (*x = f->xpus; *x; *x = (*x)->next)
		if ((*x)->node == EVENT_XPU(event) &&
		    (*entry = events_find(&(*x)->events, EVENT_COUNT(event))))
			return &(*x)->events;
	/* Node ids of hosts and of xPUs differ. So the id in the event's name shows whether the
	 * event belongs to this host. */
	if (EVENT_XPU(event) == node_id(f->node) &&
	    (*entry = events_find(&f->own, EVENT_COUNT(event))))
		return &f->own;
	return NULL;
}

static void xpu_event_ended(void *context, uint32_t count, struct host_event *entry)
{
	struct dxp_xpu *x = context;

	moves_ended(x->fabric, entry, entry->status);
	if (entry->notify)
		completion_put(x->fabric, EVENT_NAME(node_id(x->fabric->node), x->node, count),
			       entry);
}

bool xpus_pull(const struct dxp_fabric *f)
{
	for (const struct dxp_xpu *x = f->xpus; x; x = x->next)
		if (x->events.pulling)
			return true;
	return moves_busy(f);
}

void xpu_end(struct dxp_xpu *x, int status)
{
	if (x->status != DXP_OK)
		return;
	x->status = status;
	moves_lost(x, status);
	events_fail(&x->events, status);
	x->fabric->waits_changed = true;
	request_fail(x->fabric, x, status);
	x->fabric->ended++;
}

int xpu_judge(struct dxp_xpu *x, int status)
{
	if (status == DXP_ETIMEDOUT || status == DXP_EPEERLOST)
		xpu_end(x, DXP_EPEERLOST);
	if (status == DXP_EPEERRESET)
		xpu_end(x, DXP_EPEERRESET);
	return status != DXP_OK && x->status != DXP_OK ? x->status : status;
}

static const struct node_entry *row_of(const struct node_table *table, const char *name)
{
	const struct node_entry *row = node_table_find_name(table, name);
	char *end;

	if (row)
		return row;
	errno = 0;
	unsigned long id = strtoul(name, &end, 10);
	if (errno || end == name || *end || id > WIRE_NODE_LAST)
		return NULL;
	return node_table_find(table, (uint16_t)id);
}

static int choose(struct dxp_fabric *f, const char *name, const struct node_entry **out)
{
	const struct node_entry *row = row_of(node_table(f->node), name);
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (!row)
		return error_set(DXP_ENOENT,
				 "no node named '%s' that this host may use in the fabric of %s; "
				 "`dxp nodes` lists all nodes, `dxp grant` permits a host to use "
				 "an xPU",
				 name, f->manager);
	if (row->kind != MANAGE_XPU)
		return error_set(DXP_EINVAL,
				 "'%s' (node %u) is a host, not an xPU; `dxp nodes` lists the xPUs",
				 name, row->id);
	if (!row->alive)
		return error_set(
			DXP_EPEERLOST,
			"xPU '%s' (node %u at %s) is dead; start it again, or see `dxp nodes`",
			row->name, row->id, address_format(&row->address, address));
	*out = row;
	return DXP_OK;
}

/* Returns the first event count for a new object of this node: after all counts of earlier
 * objects. */
static uint32_t first_count(const struct dxp_fabric *f)
{
	uint32_t first = f->event_base;

	for (const struct dxp_xpu *x = f->xpus; x; x = x->next)
		first = seq_before(first, x->events.next) ? x->events.next : first;
	return first;
}

static int create(struct dxp_fabric *f, const struct node_entry *row, struct dxp_xpu **out)
{
	struct dxp_xpu *x = calloc(1, sizeof(*x));

	if (!x)
		return error_set(DXP_ENOMEM, "out of memory");
	x->fabric = f;
	x->node = row->id;
	x->received_ns = clock_now_ns();
	snprintf(x->caps.name, sizeof(x->caps.name), "%s", row->name);
	snprintf(x->caps.engine, sizeof(x->caps.engine), "%s", row->engine);
	x->caps.node = row->id;
	events_init(&x->events, first_count(f));
	x->events.watch = (struct events_watch){.ended = xpu_event_ended, .context = x};
	x->hurried = x->events.next;
	int status = node_target(f->node, row->id, &x->target);
	if (status != DXP_OK) {
		error_xpu(x, status, "open");
		free(x);
		return status;
	}
	x->next = f->xpus;
	f->xpus = x;
	*out = x;
	return DXP_OK;
}

static void destroy(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;
	struct dxp_xpu **at = &f->xpus;

	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	if (seq_before(f->event_base, x->events.next))
		f->event_base = x->events.next;
	use_write(x);
	events_destroy(&x->events);
	free(x->failures);
	free(x->cycles);
	free(x);
}

static int hello_exchange(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;
	struct command c = {.op = COMMAND_OPEN,
			    .reply_qp = HOST_QP_COMMANDS,
			    .reply_magic = f->window->qp_magic[HOST_QP_COMMANDS]};
	struct command_reply reply;
	int status = request_call(x, &c, &reply, f->timeout_ns);

	if (status == DXP_EBUSY)
		return error_set(status,
				 "open: xPU '%s' is open in the maximum number of programs; close "
				 "one, or start its dxpd with a larger --hosts",
				 x->caps.name);
	if (status != DXP_OK)
		return error_xpu(x, status, "open");
	x->memory_key = reply.memory_key;
	for (uint8_t q = 0; q < COMMAND_QPS; q++) {
		x->data[q] = x->target;
		x->data[q].qp = q;
		x->data[q].magic = reply.qp_magic[q];
	}
	x->caps.memory_bytes = reply.memory_bytes;
	x->caps.free_bytes = reply.free_bytes;
	x->caps.compute_units = reply.compute_units;
	x->caps.memory_kind = (enum dxp_memory_kind)reply.memory_kind;
	x->caps.streams = reply.streams;
	x->caps.buffers = reply.buffers;
	x->caps.buffer_bytes = reply.buffer_bytes;
	snprintf(x->caps.device, sizeof(x->caps.device), "%s", reply.text);
	return DXP_OK;
}

static int open_once(struct dxp_fabric *f, const char *name, struct dxp_xpu **out)
{
	const struct node_entry *row = NULL;
	int status = choose(f, name, &row);

	if (status != DXP_OK)
		return status;
	struct dxp_xpu *x = xpu_find(f, row->id);
	if (!x) {
		status = create(f, row, &x);
		if (status != DXP_OK)
			return status;
	}
	/* Takes a reference, so that no other thread closes the xPU during the wait. */
	x->references++;
	status = hello_exchange(x);
	if (status == DXP_OK)
		*out = x;
	else if (--x->references == 0)
		destroy(x);
	return status;
}

/* Opens an xPU, with a second attempt. The first may fail because the xPU closed the session while
 * this host did not run. */
static int open_locked(struct dxp_fabric *f, const char *name, struct dxp_xpu **out)
{
	int status = open_once(f, name, out);

	return status == DXP_EPEERRESET ? open_once(f, name, out) : status;
}

int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out)
{
	if (!name || !*name)
		return error_set(DXP_EINVAL,
				 "neither name nor id of an xPU is given; `dxp nodes` lists them");
	host_fabric_enter(fabric);
	int status = open_locked(fabric, name, out);
	host_fabric_leave(fabric);
	return status;
}

void dxp_xpu_close(struct dxp_xpu *xpu)
{
	if (!xpu)
		return;
	struct dxp_fabric *f = xpu->fabric;
	struct command c = {.op = COMMAND_CLOSE};
	struct command_reply reply;

	host_fabric_enter(f);
	const bool last = xpu->references == 1;
	host_fabric_leave(f);
	if (last) {
		mpi_buffers_forget(xpu, NULL);
		mpi_xpu_release(xpu);
	}
	host_fabric_enter(f);
	if (xpu->references == 1 && xpu->status == DXP_OK)
		request_call(xpu, &c, &reply, f->timeout_ns);
	if (xpu->references == 1) {
		bridges_close(xpu);
		moves_close(xpu);
		events_fail(&xpu->events, DXP_ECLOSED);
	}
	if (--xpu->references == 0)
		destroy(xpu);
	host_fabric_leave(f);
}

int dxp_xpu_caps_sized(struct dxp_xpu *xpu, struct dxp_xpu_caps *out, size_t out_bytes)
{
	struct command c = {.op = COMMAND_OPEN,
			    .reply_qp = HOST_QP_COMMANDS,
			    .reply_magic = xpu->fabric->window->qp_magic[HOST_QP_COMMANDS]};
	struct command_reply reply;

	/* OPEN again changes nothing on the xPU; its reply contains the free memory. */
	host_fabric_enter(xpu->fabric);
	int status = request_call(xpu, &c, &reply, HOST_REPLY_NS);
	if (status == DXP_OK) {
		xpu->caps.free_bytes = reply.free_bytes;
		host_copy_sized(out, out_bytes, &xpu->caps, sizeof(xpu->caps));
	} else {
		error_xpu(xpu, status, "query of the capabilities");
	}
	host_fabric_leave(xpu->fabric);
	return status;
}

/* For programs that were built with a release without dxp_xpu_caps_sized: returns the struct as it
 * was in that release. */
#undef dxp_xpu_caps
int dxp_xpu_caps(struct dxp_xpu *xpu, struct dxp_xpu_caps *out)
{
	return dxp_xpu_caps_sized(xpu, out, HOST_STRUCT_BYTES(struct dxp_xpu_caps, buffer_bytes));
}

static int nic_error(struct dxp_xpu *x, int status)
{
	switch (status) {
	case DXP_EUNSUPPORTED:
		return error_set(status,
				 "NIC: kernels of xPU '%s' (engine '%s') cannot use its NIC; use "
				 "an xPU with an OpenCL CPU device (dxp up --engine ocl)",
				 x->caps.name, x->caps.engine);
	case DXP_EBUSY:
		return error_set(
			status,
			"NIC: all virtual functions of xPU '%s' are in use; `dxp vf` lists "
			"them",
			x->caps.name);
	default: return error_xpu(x, status, "open the NIC");
	}
}

int dxp_xpu_nic(struct dxp_xpu *xpu, struct dxp_xpu_nic *out)
{
	struct command c = {.op = COMMAND_NIC};
	struct command_reply reply;

	host_fabric_enter(xpu->fabric);
	int status = request_call(xpu, &c, &reply, HOST_REPLY_NS);
	if (status == DXP_OK) {
		xpu->nic = true;
		*out = (struct dxp_xpu_nic){.node = xpu->node,
					    .function = reply.function,
					    .memory_key = reply.memory_key};
		memcpy(out->qp_magic, reply.qp_magic, sizeof(out->qp_magic));
	} else {
		nic_error(xpu, status);
	}
	host_fabric_leave(xpu->fabric);
	return status;
}
