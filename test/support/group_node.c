/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated xPU: messages, the command graph, the engine's queue, and reports to the host, as
 * src/xpu/work.c, work_start.c and reply.c do it. */
#include "test/support/group_node.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

#define HOLD_NS   (1 * MS_NS)  /* delay of lazy reports */
#define KERNEL_NS (20 * US_NS) /* longest run of a command by the engine */
#define SLOW      200          /* times as long, at a slow member */

/* ---- reports ---- */

static void held_flush(struct gsim_node *x)
{
	const struct dxp_target to = sim_target(x->sim->sim, x->sim->options.members, 0);

	if (x->held_bytes)
		outbox_nap(x->outbox, OUTBOX_HOST, &to, x->held, x->held_bytes, NULL, NULL);
	x->held_bytes = 0;
}

static void event_report(struct gsim_node *x, const struct command_event *e, bool lazy)
{
	if (x->held_bytes == 0)
		x->held_since_ns = gsim_now(x->sim);
	x->held_bytes += (uint32_t)command_event_encode(e, x->held + x->held_bytes);
	if (!lazy || e->status != DXP_OK || x->held_bytes + COMMAND_EVENT_BYTES > sizeof(x->held) ||
	    graph_count(x->graph) == 0)
		held_flush(x);
}

void gsim_lost_report(struct gsim_node *x, const struct command_lost *lost)
{
	const struct dxp_target to = sim_target(x->sim->sim, x->sim->options.members, 0);
	uint8_t data[COMMAND_BYTES_MAX];

	held_flush(x);
	outbox_nap(x->outbox, OUTBOX_HOST, &to, data, (uint32_t)command_lost_encode(lost, data),
		   NULL, NULL);
}

void gsim_work_report(struct gsim_work *w, int status)
{
	struct gsim_node *x = w->node;
	const struct notice_host host = {gsim_host_id(x->sim), 1};
	const bool hidden = x->sim->options.defect == GSIM_FAILURE_HIDDEN;
	const struct command_event e = {.event = w->graph.event,
					.status = hidden ? DXP_OK : status};

	if (w->to_node && e.event)
		notice_send(x->notices, &host, w->to_node, &e);
	if (e.event)
		event_report(x, &e, w->lazy);
	free(w);
}

void gsim_work_done(struct gsim_work *w, int status)
{
	const bool hidden = w->node->sim->options.defect == GSIM_FAILURE_HIDDEN;

	graph_done(w->node->graph, &w->graph, hidden ? DXP_OK : status);
	gsim_work_report(w, status);
}

/* ---- the engine ---- */

static bool needs_failed(const struct gsim_node *x, const struct gsim_work *w)
{
	for (uint8_t i = 0; i < w->need_count; i++)
		for (uint32_t k = 0; k < x->failed_count; k++)
			if (x->failed_events[k] == w->needs[i])
				return true;
	return false;
}

static void failed_note(struct gsim_node *x, uint64_t event)
{
	if (x->failed_count == x->failed_space) {
		x->failed_space = x->failed_space ? 2 * x->failed_space : 16;
		x->failed_events =
			realloc(x->failed_events, x->failed_space * sizeof(*x->failed_events));
	}
	x->failed_events[x->failed_count++] = event;
}

static void engine_issue(struct gsim_work *w)
{
	struct gsim_node *x = w->node;

	w->need_count = graph_unfinished(x->graph, &w->graph, w->needs);
	w->early = rng_below(&x->rng, 2);
	w->next = NULL;
	*x->running_tail = w;
	x->running_tail = &w->next;
}

static void engine_act(struct gsim_work *w)
{
	struct command c;

	if (command_decode(w->message, w->message_bytes, &c) == DXP_OK)
		gsim_device_run(w->node, &c);
}

static void engine_begin(struct gsim_node *x, uint64_t now_ns)
{
	const bool slow = x->member < x->sim->options.slow && x->running->op != COMMAND_MARK;

	if (x->running->early && !needs_failed(x, x->running))
		engine_act(x->running);
	x->running_end_ns = now_ns + 1 + rng_below(&x->rng, KERNEL_NS * (slow ? SLOW : 1));
}

static uint32_t engine_advance(struct gsim_node *x, uint64_t now_ns)
{
	struct gsim_work *w;
	uint32_t work = 0;

	while ((w = x->running)) {
		if (x->running_end_ns == 0)
			engine_begin(x, now_ns);
		if (x->running_end_ns > now_ns)
			return work;
		const int status = needs_failed(x, w) ? DXP_ECANCELED : DXP_OK;
		x->running = w->next;
		if (!x->running)
			x->running_tail = &x->running;
		x->running_end_ns = 0;
		if (status == DXP_OK && !w->early)
			engine_act(w);
		if (status != DXP_OK)
			failed_note(x, w->graph.event);
		gsim_work_done(w, status);
		work++;
	}
	return work;
}

/* ---- commands ---- */

static void network_start(struct gsim_work *w)
{
	switch (w->op) {
	case COMMAND_ALLREDUCE: gsim_reduction_start(w); break;
	case COMMAND_SETTLE: gsim_reduction_settle(w); break;
	default: gsim_transfer_start(w);
	}
}

static void failed_report(struct gsim_work *w, int status)
{
	if (w->op == COMMAND_ALLREDUCE)
		gsim_reduction_abandon(w->node);
	if (w->op == COMMAND_SETTLE)
		gsim_reduction_settle_cancelled(w);
	gsim_work_report(w, status);
}

static uint32_t commands_advance(struct gsim_node *x)
{
	struct graph_command *c;
	uint32_t work = 0;

	for (; (c = graph_next(x->graph, GRAPH_ENGINE)); work++)
		engine_issue((struct gsim_work *)c);
	for (; (c = graph_next(x->graph, GRAPH_NETWORK)); work++)
		network_start((struct gsim_work *)c);
	for (; (c = graph_failed(x->graph)); work++)
		failed_report((struct gsim_work *)c, c->status);
	return work;
}

/* Waits for events of lost nodes would never complete. */
static void lost_note(struct gsim_node *x, const struct command *c)
{
	for (uint8_t i = 0; i < c->wait_count; i++) {
		const uint32_t member = EVENT_XPU(c->waits[i]) - 1u;
		if (member < x->sim->options.members && x->knows_lost[member])
			graph_lost(x->graph, EVENT_XPU(c->waits[i]));
	}
}

static bool op_of_engine(uint8_t op)
{
	return op == COMMAND_RUN || op == COMMAND_COPY || op == COMMAND_MARK;
}

static void command_post(struct gsim_node *x, const struct command *c, const uint8_t *data,
			 uint32_t bytes)
{
	struct gsim_work *w = calloc(1, sizeof(*w) + bytes);
	const struct graph_posting p = {.queue = op_of_engine(c->op) ? GRAPH_ENGINE : GRAPH_NETWORK,
					.event = c->event,
					.oldest = c->oldest,
					.waits = c->waits,
					.wait_count = c->wait_count,
					.bytes = COMMAND_KEPT_BYTES(bytes)};

	if (!w)
		return;
	w->node = x;
	w->op = c->op;
	w->lazy = c->lazy;
	w->to_node = c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL ? c->to_node : 0;
	w->message_bytes = bytes;
	memcpy(w->message, data, bytes);
	const int status = graph_add(x->graph, &w->graph, &p);
	if (status == DXP_OK) {
		lost_note(x, c);
		return;
	}
	gsim_wrong(x->sim, "member %u rejects a command %u: %s", x->member, c->op,
		   dxp_status_text(status));
	gsim_work_report(w, status);
}

static void message_receive(struct gsim_node *x, const struct dxp_nic_event *from,
			    const uint8_t *data)
{
	static struct command c;
	struct command_event e;

	if (command_op(data, from->bytes) == COMMAND_EVENT) {
		if (command_event_decode(data, from->bytes, &e) != DXP_OK ||
		    EVENT_XPU(e.event) != from->node ||
		    graph_event(x->graph, e.event, e.status) != DXP_OK)
			gsim_wrong(x->sim, "member %u rejects an event", x->member);
	} else if (command_decode(data, from->bytes, &c) == DXP_OK) {
		command_post(x, &c, data, from->bytes);
	} else {
		gsim_wrong(x->sim, "member %u: a message does not parse", x->member);
	}
}

static uint32_t messages_receive(struct gsim_node *x)
{
	struct dxp_window *w = sim_window(x->sim->sim, x->member);
	const struct dxp_nic_event *from;
	const uint8_t *data;
	uint32_t work = 0;

	for (; (from = nic_user_received_peek(w, &data)); work++) {
		message_receive(x, from, data);
		dxp_received_release(w);
	}
	return work;
}

/* ---- polls ---- */

static void node_poll(void *context, uint64_t now_ns)
{
	struct gsim_node *x = context;
	uint32_t work;

	if (x->dead)
		return;
	do {
		work = messages_receive(x);
		work += engine_advance(x, now_ns);
		work += notices_advance(x->notices);
		work += commands_advance(x);
		work += outbox_service(x->outbox);
	} while (work > 0);
	if (x->held_bytes && now_ns >= x->held_since_ns + HOLD_NS) {
		held_flush(x);
		outbox_service(x->outbox);
	}
}

static uint64_t node_deadline(void *context)
{
	const struct gsim_node *x = context;
	uint64_t at = notices_deadline(x->notices);

	if (x->dead)
		return UINT64_MAX;
	if (x->running)
		at = min_u64(at, x->running_end_ns);
	if (x->held_bytes)
		at = min_u64(at, x->held_since_ns + HOLD_NS);
	if (outbox_blocked(x->outbox))
		at = min_u64(at, gsim_now(x->sim) + 5 * US_NS);
	return at;
}

static const struct sim_beside node_ops = {node_poll, node_deadline};

void gsim_node_learn(struct gsim_node *x, uint32_t lost)
{
	if (x->dead || x->knows_lost[lost] || x->sim->options.defect == GSIM_LOSS_UNNOTICED)
		return;
	x->knows_lost[lost] = true;
	graph_lost(x->graph, gsim_member_id(lost));
	nic_peer_lost(sim_nic(x->sim->sim, x->member), gsim_member_id(lost), DXP_EPEERLOST);
	outbox_drop(x->outbox, gsim_member_id(lost), DXP_EPEERLOST);
	net_touch(sim_net(x->sim->sim), x->member);
}

bool gsim_node_idle(const struct gsim_node *x)
{
	return x->dead || (graph_count(x->graph) == 0 && !x->running && x->transfers == 0 &&
			   !x->reduction && !x->lost && x->held_bytes == 0);
}

/* ---- notices ---- */

static int notice_find(void *context, uint16_t node, uint32_t *magic)
{
	const struct gsim_node *x = context;

	if (node < 1 || node > x->sim->options.members || x->knows_lost[node - 1])
		return DXP_EINVAL;
	*magic = sim_target(x->sim->sim, node - 1u, 0).magic;
	return DXP_OK;
}

static int notice_queue(void *context, uint16_t node, uint32_t magic, const struct command_event *e,
			outbox_done done, void *done_context)
{
	struct gsim_node *x = context;
	uint8_t data[COMMAND_BYTES_MAX];
	const struct dxp_target to = {.node = node, .magic = magic};

	return outbox_nap(x->outbox, OUTBOX_PEER, &to, data,
			  (uint32_t)command_event_encode(e, data), done, done_context);
}

static bool notice_needed(void *context, const struct notice_host *host)
{
	(void)context;
	(void)host;
	return true;
}

static uint64_t notice_now_ns(void *context)
{
	return gsim_now(((const struct gsim_node *)context)->sim);
}

static void notice_failed(void *context, const struct notice_host *host, uint16_t node, int status)
{
	struct gsim_node *x = context;

	(void)host;
	gsim_wrong(x->sim, "member %u cannot notify node %u: %s", x->member, node,
		   dxp_status_text(status));
}

static const struct notices_hooks notice_hooks = {.find = notice_find,
						  .send = notice_queue,
						  .now_ns = notice_now_ns,
						  .needed = notice_needed,
						  .failed = notice_failed};

/* ---- begin and end ---- */

int gsim_node_open(struct gsim *g, uint32_t member)
{
	struct gsim_node *x = &g->nodes[member];

	*x = (struct gsim_node){
		.sim = g, .member = member, .rng = {g->options.net_seed * 71 + member}};
	x->running_tail = &x->running;
	x->memory = calloc(1, gsim_memory_bytes(g));
	int status = x->memory ? DXP_OK : DXP_ENOMEM;
	if (status == DXP_OK)
		status = graph_create(gsim_host_id(g), gsim_member_id(member), &x->graph);
	if (status == DXP_OK)
		status = outbox_create(sim_window(g->sim, member), &x->outbox);
	if (status == DXP_OK)
		status = notices_create(&notice_hooks, x, &x->notices);
	if (status == DXP_OK)
		status = nic_region_register(sim_nic(g->sim, member), 0, x->memory,
					     gsim_memory_bytes(g),
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &x->key);
	if (status == DXP_OK)
		sim_beside_set(g->sim, member, &node_ops, x);
	return status;
}

void gsim_node_close(struct gsim_node *x)
{
	struct graph_command *c;

	if (!x->sim)
		return;
	x->dead = true; /* no checks any more */
	if (x->graph)
		graph_cancel(x->graph, DXP_ECLOSED);
	if (x->outbox)
		outbox_end(x->outbox, DXP_ECLOSED);
	gsim_reductions_close(x);
	while (x->running) {
		struct gsim_work *w = x->running;
		x->running = w->next;
		graph_done(x->graph, &w->graph, DXP_ECLOSED);
		free(w);
	}
	while (x->graph && (c = graph_failed(x->graph)))
		free(c);
	if (x->outbox)
		outbox_end(x->outbox, DXP_ECLOSED);
	notices_destroy(x->notices);
	outbox_destroy(x->outbox);
	graph_destroy(x->graph);
	free(x->failed_events);
	free(x->memory);
}
