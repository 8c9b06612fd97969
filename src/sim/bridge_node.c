/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC's staged memory (struct nic_staged_ops) by a bridge with simulated DMA. The NIC calls in
 * from its own functions, so events are recorded, and reported by the next poll. */
#include "sim/bridge_node.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bridge/limits.h"

/* Freed when neither bridge nor NIC uses it. */
struct nic_staged_write {
	struct bridge_node *node;
	/* NULL: completed with `status` */
	struct bridge_transfer *bridge;
	/* NULL: a PUT, or no more bytes of the GET are needed */
	struct nic_staged_read *read;
	uint64_t left;          /* of a GET: bytes that the NIC has not received */
	uint64_t device, bytes; /* in device memory */
	bool put;
	/* of a PUT: the NIC waits for nic_staged_settled */
	bool requested;
	bool dropped; /* the NIC does not use it any more */
	int status;
	struct nic_staged_write *next;
};

/* The index in `steps` is the tag of a DMA or of a piece of an answer. */
#define STEPS_MAX STAGES_STEPS_MAX
struct step {
	struct bridge_action action;
	bool used;
};

struct bridge_node {
	struct sim *sim;
	uint32_t host, key;
	struct bridge_node_options options;
	struct bridge *bridge;
	struct stages *stages;
	uint8_t *rings[2], *memory;
	struct nic_staged_write *works; /* not freed yet */
	struct step steps[STEPS_MAX];
	struct bridge_node_counters counters;
	uint64_t last_ns; /* last value of the simulator's clock */
};

/* Returns the simulator's time; after destruction began, the last one. */
static uint64_t now_ns(struct bridge_node *n)
{
	if (n->sim)
		n->last_ns = sim_now(n->sim);
	return n->last_ns;
}

static void peaks_read(struct bridge_node *n)
{
	uint32_t used[2];

	bridge_buffers_used(n->bridge, &used[0], &used[1]);
	for (int i = 0; i < 2; i++)
		if (used[i] > n->counters.peak[i])
			n->counters.peak[i] = used[i];
}

static struct nic_staged_write *work_begin(struct bridge_node *n,
					   const struct nic_staged_span *span,
					   struct nic_staged_read *read, int *status)
{
	struct nic_staged_write *w = calloc(1, sizeof(*w));

	*status = DXP_EAGAIN;
	if (!w)
		return NULL;
	*w = (struct nic_staged_write){
		.node = n,
		.device = span->offset,
		.bytes = span->bytes,
		.read = read,
		.left = span->bytes,
		.put = !read,
		.next = n->works,
	};
	const struct bridge_order order = {
		.path = read ? BRIDGE_OUT : BRIDGE_IN,
		.fed = !read,
		.bytes = span->bytes,
		.unit = span->unit,
		.source = span->source,
		.context = w,
	};
	*status = bridge_begin(n->bridge, &order, now_ns(n), &w->bridge);
	if (*status != DXP_OK) {
		free(w);
		return NULL;
	}
	n->works = w;
	n->counters.open++;
	return w;
}

static void work_free(struct nic_staged_write *w)
{
	struct bridge_node *n = w->node;
	struct nic_staged_write **at = &n->works;

	if (w->bridge || !w->dropped)
		return;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	n->counters.open--;
	free(w);
}

/* ---- operations of the NIC ---- */

static struct nic_staged_write *write_begin(void *context, struct nic_staged_span *span)
{
	struct bridge_node *n = context;
	int status;

	n->counters.writes++;
	struct nic_staged_write *w = work_begin(n, span, NULL, &status);
	if (w)
		span->block = bridge_block_bytes(w->bridge);
	return w;
}

static int write_place(void *context, struct nic_staged_write *w, uint64_t at,
		       const uint8_t *payload, uint32_t bytes, bool first)
{
	struct bridge_node *n = context;

	if (!w->bridge)
		return w->status;
	int status = bridge_feed(n->bridge, w->bridge, at, payload, bytes, first, now_ns(n));
	peaks_read(n);
	return status;
}

static int write_settled(void *context, struct nic_staged_write *w)
{
	int status = w->bridge ? bridge_settled(w->bridge) : w->status;

	w->requested = status == DXP_EAGAIN;
	return status;
}

static void write_end(void *context, struct nic_staged_write *w)
{
	struct bridge_node *n = context;

	w->dropped = true;
	w->requested = false;
	if (w->bridge)
		bridge_cancel(n->bridge, w->bridge, DXP_ECANCELED);
	work_free(w);
}

static bool write_touches(void *context, uint64_t offset, uint64_t bytes)
{
	const struct bridge_node *n = context;
	const struct nic_staged_write *w = n->works;

	while (w && !(w->put && w->bridge && w->device < offset + bytes &&
		      offset < w->device + w->bytes))
		w = w->next;
	return w != NULL;
}

static int read_begin(void *context, struct nic_staged_read *r, uint64_t offset, uint64_t bytes)
{
	struct bridge_node *n = context;
	const struct nic_staged_span span = {.offset = offset, .bytes = bytes};
	int status;

	n->counters.reads++;
	work_begin(n, &span, r, &status);
	return status;
}

static void read_cancel(void *context, struct nic_staged_read *r)
{
	struct bridge_node *n = context;

	for (struct nic_staged_write *w = n->works; w; w = w->next) {
		if (w->read != r)
			continue;
		w->read = NULL;
		w->dropped = true;
		if (w->bridge)
			bridge_cancel(n->bridge, w->bridge, DXP_ECANCELED);
		work_free(w);
		return;
	}
}

static void read_sent(void *context, void *piece, int status)
{
	struct bridge_node *n = context;

	struct step *d = piece;

	d->used = false;
	bridge_done(n->bridge, d->action.id, status, now_ns(n));
}

static const struct nic_staged_ops staged_ops = {
	.write_begin = write_begin,
	.write_place = write_place,
	.write_settled = write_settled,
	.write_end = write_end,
	.read_begin = read_begin,
	.read_cancel = read_cancel,
	.read_sent = read_sent,
	.write_touches = write_touches,
};

/* ---- poll ---- */

static struct step *step_reserve(struct bridge_node *n, const struct bridge_action *a)
{
	for (uint32_t i = 0; i < STEPS_MAX; i++) {
		if (n->steps[i].used)
			continue;
		n->steps[i] = (struct step){.action = *a, .used = true};
		return &n->steps[i];
	}
	return NULL;
}

static bool drain_start(struct bridge_node *n, const struct bridge_action *a, struct step *d)
{
	struct nic_staged_write *w = a->context;

	if (!w->read) {
		read_sent(n, d, DXP_ECANCELED);
		return true;
	}
	if (nic_staged_answer(sim_nic(n->sim, n->host), w->read, a->at, a->out, a->bytes, d,
			      now_ns(n)) != DXP_OK)
		return false;
	w->left -= a->bytes;
	if (w->left == 0) { /* complete, so the NIC does not use it any more */
		w->read = NULL;
		w->dropped = true;
	}
	return true;
}

static bool dma_start(struct bridge_node *n, const struct bridge_action *a, const struct step *d)
{
	enum stages_step step = a->step == BRIDGE_DMA_IN ? STAGES_IN : STAGES_OUT;

	return bridge_stages_start(n->stages, step, a->bytes, (uint64_t)(d - n->steps)) == DXP_OK;
}

static void actions_run(struct bridge_node *n)
{
	struct bridge_action a;

	while (bridge_next(n->bridge, now_ns(n), &a)) {
		peaks_read(n);
		struct step *d = step_reserve(n, &a);
		if (d && (a.step == BRIDGE_DRAIN ? drain_start(n, &a, d) : dma_start(n, &a, d)))
			continue;
		if (d)
			d->used = false;
		bridge_later(n->bridge, a.id);
	}
}

/* Copies the bytes now, because device memory changes only when a DMA completes. */
static void dma_end(struct bridge_node *n, struct step *d, int status)
{
	const struct nic_staged_write *w = d->action.context;
	uint8_t *memory = n->memory + w->device + d->action.at;

	if (status == DXP_OK && d->action.step == BRIDGE_DMA_IN)
		memcpy(memory, d->action.in, d->action.bytes);
	else if (status == DXP_OK)
		memcpy(d->action.out, memory, d->action.bytes);
	d->used = false;
	bridge_done(n->bridge, d->action.id, status, now_ns(n));
}

static void dmas_dequeue(struct bridge_node *n)
{
	uint64_t tag;
	int status;

	while (bridge_stages_dequeue(n->stages, &tag, &status))
		dma_end(n, &n->steps[tag], status);
}

static void transfers_end(struct bridge_node *n)
{
	struct nic *nic = sim_nic(n->sim, n->host);
	struct bridge_end end;

	while (bridge_ended(n->bridge, &end)) {
		struct nic_staged_write *w = end.context;
		w->bridge = NULL;
		w->status = end.status;
		if (w->put && !w->dropped && (w->requested || w->status != DXP_OK)) {
			w->requested = false;
			nic_staged_settled(nic, w, now_ns(n));
			continue; /* `w` may be freed now */
		}
		if (!w->put && !w->dropped) {
			w->dropped = true;
			if (end.status != DXP_OK)
				nic_staged_refuse(nic, w->read, end.status, now_ns(n));
		}
		work_free(w);
	}
}

static void grants_dequeue(struct bridge_node *n)
{
	struct bridge_grant grant;

	while (bridge_granted(n->bridge, now_ns(n), &grant)) {
		n->counters.grants++;
		nic_staged_granted(sim_nic(n->sim, n->host), grant.context, grant.bytes, now_ns(n));
	}
}

static void poll(void *context, uint64_t now)
{
	struct bridge_node *n = context;
	uint64_t ps = now * STAGES_NS;

	while (bridge_stages_next_ps(n->stages) <= ps) {
		bridge_stages_advance(n->stages, bridge_stages_next_ps(n->stages));
		dmas_dequeue(n);
		transfers_end(n);
		actions_run(n);
	}
	bridge_stages_advance(n->stages, ps);
	if (bridge_deadline(n->bridge) <= now && bridge_expire(n->bridge, now)) {
		n->counters.resets++;
		bridge_stages_device_reset(n->stages);
		dmas_dequeue(n);
	}
	transfers_end(n);
	actions_run(n);
	transfers_end(n);
	grants_dequeue(n);
}

static uint64_t deadline(void *context)
{
	const struct bridge_node *n = context;
	uint64_t ps = bridge_stages_next_ps(n->stages);
	uint64_t dma_ns = ps == STAGES_NEVER ? UINT64_MAX : (ps + STAGES_NS - 1) / STAGES_NS;

	return min_u64(dma_ns, bridge_deadline(n->bridge));
}

static const struct sim_beside beside = {poll, deadline};

/* ---- creation and destruction ---- */

static int node_fill(struct bridge_node *n)
{
	const struct bridge_node_options *o = &n->options;
	uint64_t ring = (uint64_t)(o->buffers ? o->buffers : BRIDGE_BUFFERS) * o->buffer_bytes;
	int status = bridge_stages_create(&o->stages, &n->stages);

	if (status != DXP_OK)
		return status;
	n->rings[0] = malloc(ring ? ring : 1);
	n->rings[1] = malloc(ring ? ring : 1);
	n->memory = calloc(1, o->memory_bytes);
	if (!n->rings[0] || !n->rings[1] || !n->memory)
		return DXP_ENOMEM;
	const struct bridge_options b = {.buffers = o->buffers,
					 .buffer_bytes = o->buffer_bytes,
					 .to_device = n->rings[0],
					 .from_device = n->rings[1],
					 .dmas = o->dmas,
					 .stall_ns = o->stall_ns};
	status = bridge_create(&b, &n->bridge);
	if (status != DXP_OK)
		return status;
	bridge_stages_advance(n->stages, now_ns(n) * STAGES_NS);
	return nic_region_register_staged(sim_nic(n->sim, n->host), 0, &staged_ops, n,
					  o->memory_bytes, NIC_REMOTE_READ | NIC_REMOTE_WRITE,
					  &n->key);
}

int bridge_node_create(struct sim *s, uint32_t host, const struct bridge_node_options *options,
		       struct bridge_node **out)
{
	struct bridge_node *n = calloc(1, sizeof(*n));

	if (!n)
		return DXP_ENOMEM;
	n->sim = s;
	n->host = host;
	n->options = *options;
	int status = node_fill(n);
	if (status != DXP_OK) {
		bridge_node_destroy(n);
		return status;
	}
	sim_beside_set(s, host, &beside, n);
	*out = n;
	return DXP_OK;
}

/* Cancels all transfers: no event will complete them any more. */
static void works_end(struct bridge_node *n)
{
	struct bridge_end end;

	for (struct nic_staged_write *w = n->works; w; w = w->next) {
		w->dropped = true;
		if (w->bridge)
			bridge_cancel(n->bridge, w->bridge, DXP_ECANCELED);
	}
	for (uint32_t i = 0; i < STEPS_MAX; i++)
		if (n->steps[i].used)
			read_sent(n, &n->steps[i], DXP_ECANCELED);
	while (bridge_ended(n->bridge, &end)) {
		struct nic_staged_write *w = end.context;
		w->bridge = NULL;
		work_free(w);
	}
	assert(!n->works);
}

void bridge_node_destroy(struct bridge_node *n)
{
	if (!n)
		return;
	n->sim = NULL;
	if (n->bridge)
		works_end(n);
	bridge_destroy(n->bridge);
	bridge_stages_destroy(n->stages);
	free(n->rings[0]);
	free(n->rings[1]);
	free(n->memory);
	free(n);
}

uint32_t bridge_node_key(const struct bridge_node *n)
{
	return n->key;
}

uint8_t *bridge_node_memory(struct bridge_node *n)
{
	return n->memory;
}

struct bridge *bridge_node_core(struct bridge_node *n)
{
	return n->bridge;
}

struct stages *bridge_node_stages(struct bridge_node *n)
{
	return n->stages;
}

struct bridge_node_counters bridge_node_counters(const struct bridge_node *n)
{
	return n->counters;
}
