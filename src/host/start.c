/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts asynchronous commands: launches, and transfers between xPUs. */
#include "base/util.h"
#include "base/clock.h"
#include "host/internal.h"
#include "host/launch.h"
#include "host/move.h"

/* Gives the command the name of its event, and posts its message. DXP_EAGAIN: the window is
 * full. */
static int message_post(struct dxp_xpu *x, struct command *c, uint32_t count)
{
	struct dxp_fabric *f = x->fabric;
	uint8_t message[COMMAND_BYTES_MAX];

	c->event = EVENT_NAME(node_id(f->node), x->node, count);
	c->oldest = events_oldest(&x->events);
	int bytes = command_encode(c, message);
	if (bytes < 0)
		return error_set(bytes,
				 "the command does not fit into %d bytes; use fewer arguments",
				 COMMAND_BYTES_MAX);
	int status = dxp_post_nap(f->window, HOST_QP_COMMANDS, &x->target, message, (uint32_t)bytes,
				  0, (c->event & 0xffffffffffffull) << 8 | HOST_CONTEXT_EVENT);
	if (status == DXP_OK)
		events_weigh(&x->events,
			     (uint32_t)bytes + COMMAND_KEPT_ARGUMENTS(c->argument_count));
	if (status == DXP_OK || status == DXP_EAGAIN)
		return status;
	return error_xpu(x, xpu_judge(x, status), "command");
}

static void pull_begin(struct dxp_xpu *x, struct move *m, uint32_t count, struct host_event *entry)
{
	entry->move = m;
	m->count = count;
	move_enter(x->fabric, m, MOVE_PULLED);
	x->fabric->pulls++;
	events_pull(&x->events, count);
}

/* Assigns an event to the command and posts it, in one step. So commands are sent in the order of
 * their event counts, even if several threads wait for space. `m` may be NULL. DXP_EAGAIN: the
 * window is full, and nothing has changed. */
static int command_post(struct dxp_xpu *x, struct command *c, struct move *m, bool silent)
{
	struct host_event *entry;
	uint32_t count;

	if (x->status != DXP_OK)
		return error_xpu(x, x->status, "command");
	int status = events_add(&x->events, &count, &entry);
	if (status != DXP_OK)
		return error_set(status, "out of memory");
	entry->silent = silent;
	entry->lazy = c->lazy;
	entry->notified = c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL ? c->to_node : 0;
	status = message_post(x, c, count);
	if (status != DXP_OK) {
		events_undo(&x->events);
		return status;
	}
	use_started(x, c, entry);
	if (m)
		pull_begin(x, m, count, entry);
	return DXP_OK;
}

/* Returns true if a call of command_post will not return DXP_EAGAIN. */
static bool window_ready(void *context)
{
	const struct dxp_xpu *x = context;
	const struct dxp_window *w = x->fabric->window;
	/* Reads `consumer` before `producer`, as dxp_claim does. */
	uint32_t consumer = dxp_load_acquire(&w->consumer);
	uint32_t producer = dxp_load_acquire(&w->producer);

	return x->status != DXP_OK || dxp_error(w) != DXP_OK || producer - consumer < DXP_DOORBELLS;
}

/* Creates an event that has failed, for a command that will not run. */
static int start_cancelled(struct dxp_xpu *x, dxp_event *event)
{
	struct host_event *entry;
	uint32_t count;

	if (!event)
		return DXP_OK;
	int status = events_add(&x->events, &count, &entry);
	if (status != DXP_OK)
		return error_set(status, "out of memory");
	events_finish(&x->events, count, DXP_ECANCELED, NULL);
	*event = EVENT_NAME(node_id(x->fabric->node), x->node, count);
	return DXP_OK;
}

static int start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		 struct move *m, dxp_event *event)
{
	struct dxp_fabric *f = x->fabric;
	const uint64_t deadline_ns = clock_now_ns() + HOST_REPLY_NS;
	int status, waited = DXP_OK;

	if (waits->failed)
		return start_cancelled(x, event);
	c->wait_count = waits->count;
	for (uint32_t i = 0; i < waits->count; i++)
		c->waits[i] = waits->events[i];
	/* If threads have waited long for completions, no command may be lazy: each completion must
	 * be reported at once. */
	c->lazy = c->lazy && !f->long_waiters;
	watch_begin(x);
	while ((status = command_post(x, c, m, event == NULL)) == DXP_EAGAIN && waited == DXP_OK)
		waited = host_fabric_wait(f, window_ready, x, deadline_ns);
	watch_end(x);
	if (status != DXP_OK)
		return status == DXP_EAGAIN ? waited : status;
	progress_burst(f, x->events.pending == 1);
	if (event)
		*event = c->event;
	return DXP_OK;
}

int host_command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		       dxp_event *event)
{
	return start(x, c, waits, NULL, event);
}

static bool space(void *context)
{
	const struct dxp_xpu *x = context;

	return x->status != DXP_OK || x->events.bytes < HOST_COMMANDS_BYTES;
}

int host_command_space(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;

	while (!space(x)) {
		uint32_t pending = x->events.pending;
		/* Waits for space. If the pending commands wait for events that only this program
		 * can set, they may never complete during this wait. */
		if (host_fabric_wait(f, space, x, clock_now_ns() + HOST_SPACE_NS) != DXP_OK &&
		    pending == x->events.pending && f->own.pending)
			return error_set(
				DXP_EAGAIN,
				"%u commands of xPU '%s' are outstanding and use %llu MiB there, "
				"the limit of one host; set the events that they wait for",
				pending, x->caps.name,
				(unsigned long long)(HOST_COMMANDS_BYTES >> 20));
	}
	return DXP_OK;
}

static int start_after(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
		       struct move *m, dxp_event *event)
{
	struct command_waits resolved;

	if (x->status != DXP_OK)
		return error_xpu(x, x->status, "command");
	int status = host_command_space(x);
	if (status == DXP_OK)
		status = waits_resolve(x, waits->events, waits->count, &resolved);
	return status == DXP_OK ? start(x, c, &resolved, m, event) : status;
}

int host_command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			     uint32_t wait_count, dxp_event *event)
{
	const struct dxp_waits waits = {.events = wait, .count = wait_count};

	return start_after(x, c, &waits, NULL, event);
}

int host_command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
			    struct move *m, dxp_event *event)
{
	return start_after(x, c, waits, m, event);
}

int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event)
{
	struct command c;
	uint8_t packed[COMMAND_PACKED_BYTES];

	command_begin(&c, COMMAND_RUN);
	c.lazy = launch->lazy;
	if (!launch->program || launch->program->xpu != xpu)
		return error_set(DXP_EINVAL, "run: the program was not built on xPU '%s'",
				 xpu->caps.name);
	c.program = launch->program->id;
	int status = launch_check(launch, xpu->caps.memory_bytes, xpu->nic, packed, &c);
	if (status != DXP_OK)
		return status;
	host_fabric_enter(xpu->fabric);
	status = host_command_start_after(xpu, &c, launch->wait, launch->wait_count, event);
	host_fabric_leave(xpu->fabric);
	return status;
}

static int transfer_check(const struct dxp_xpu *from, const struct dxp_xpu *to,
			  const struct dxp_transfer *t)
{
	if (from->fabric != to->fabric)
		return error_set(
			DXP_EINVAL,
			"send: the two xPUs belong to different fabrics; open both through one");
	if (from->node == to->node)
		return error_set(DXP_EINVAL,
				 "send: from and to are both xPU '%s'; copy with a kernel",
				 from->caps.name);
	if (t->bytes == 0 || t->bytes > from->caps.memory_bytes ||
	    t->from_address > from->caps.memory_bytes - t->bytes)
		return error_set(DXP_ERANGE,
				 "send: %llu bytes at %#llx are not in the memory of xPU '%s'",
				 (unsigned long long)t->bytes, (unsigned long long)t->from_address,
				 from->caps.name);
	if (t->bytes > to->caps.memory_bytes || t->to_address > to->caps.memory_bytes - t->bytes)
		return error_set(DXP_ERANGE,
				 "send: %llu bytes at %#llx are not in the memory of xPU '%s'",
				 (unsigned long long)t->bytes, (unsigned long long)t->to_address,
				 to->caps.name);
	return DXP_OK;
}

int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *transfer,
	     dxp_event *event)
{
	struct command c;
	int status = transfer_check(from, to, transfer);

	if (status != DXP_OK)
		return status;
	command_begin(&c, COMMAND_SEND);
	c.lazy = transfer->lazy;
	c.address = transfer->from_address;
	c.bytes = transfer->bytes;
	c.to_node = to->node;
	c.to_key = to->memory_key;
	c.to_address = transfer->to_address;
	host_fabric_enter(from->fabric);
	status = to->status != DXP_OK ? error_xpu(to, to->status, "send")
				      : host_command_start_after(from, &c, transfer->wait,
								 transfer->wait_count, event);
	host_fabric_leave(from->fabric);
	return status;
}
