/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation has its own range of the target memory with guard bytes behind it, so a wrong
 * order of arrival cannot hide an error. */
#include "test/support/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "test/support/invariants.h"

#define NAP_HEAD 16
#define GUARD    32
#define WORD     8

void world_wrong(struct world *w, const char *what, uint32_t host, uint32_t number)
{
	if (w->wrong[0])
		return;
	if (host == WORLD_NONE)
		snprintf(w->wrong, sizeof(w->wrong), "%s", what);
	else if (number == WORLD_NONE)
		snprintf(w->wrong, sizeof(w->wrong), "host %u: %s", host, what);
	else
		snprintf(w->wrong, sizeof(w->wrong), "host %u, operation %u: %s", host, number,
			 what);
}

static uint8_t pattern(uint32_t host, uint32_t number, uint32_t i)
{
	return (uint8_t)(host * 71 + number * 131 + i * 13 + (i >> 8) * 7) | 1;
}

/* Returns the offset of operation k of host `writer`: in the target's memory, or for a GET in the
 * writer's own memory. */
static uint64_t memory_offset(const struct world *w, uint32_t writer, uint32_t k)
{
	uint64_t base = 0;

	for (uint32_t i = 0; i < writer; i++)
		base += w->hosts[i].extent;
	return base + w->hosts[writer].operations[k].offset;
}

static uint64_t target_bytes(const struct world *w)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < w->count; i++)
		bytes += w->hosts[i].extent;
	return bytes;
}

static int host_register(struct world *w, uint32_t i)
{
	struct nic *n = sim_nic(w->sim, i);
	struct world_host *h = &w->hosts[i];
	int status = nic_region_register(n, 0, h->source, WORLD_OPERATIONS * WORLD_BYTES_MAX,
					 NIC_REMOTE_READ, &h->source_key);

	if (status != DXP_OK)
		return status;
	return nic_region_register(n, 0, h->target, target_bytes(w),
				   NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &h->target_key);
}

static void operations_draw(struct world *w, uint32_t i)
{
	struct world_host *h = &w->hosts[i];

	for (uint32_t k = 0; k < WORLD_OPERATIONS; k++) {
		uint32_t roll = (uint32_t)rng_below(&w->rng, 10);
		uint8_t op = roll < 3   ? DXP_OP_PUT
			     : roll < 6 ? DXP_OP_GET
			     : roll < 9 ? DXP_OP_NAP
					: DXP_OP_FETCH_ADD;
		uint32_t most = op == DXP_OP_NAP ? NIC_NAP_BYTES_MAX - NAP_HEAD : WORLD_BYTES_MAX;
		uint32_t to = (uint32_t)rng_below(&w->rng, w->count - 1);
		h->operations[k] = (struct world_operation){
			.op = op,
			.qp = (uint8_t)rng_below(&w->rng, WORLD_QPS),
			.to = (uint8_t)((i + 1 + to) % w->count),
			.bytes =
				1 + (uint32_t)rng_below(&w->rng, rng_below(&w->rng, 3) ? 64 : most),
			.offset = h->extent,
		};
		if (op == DXP_OP_FETCH_ADD)
			h->operations[k].bytes = WORD;
		if (op != DXP_OP_NAP)
			h->extent += h->operations[k].bytes + GUARD;
		h->extent = (h->extent + WORD - 1) / WORD * WORD;
	}
	h->extent += GUARD;
}

static int host_prepare(struct world *w, uint32_t i)
{
	struct world_host *h = &w->hosts[i];

	h->source = malloc(WORLD_OPERATIONS * WORLD_BYTES_MAX);
	h->target = calloc(1, target_bytes(w));
	if (!h->source || !h->target)
		return DXP_ENOMEM;
	for (uint32_t k = 0; k < WORLD_OPERATIONS; k++) {
		uint32_t most = 0;
		for (uint32_t g = 0; g < w->count; g++)
			most = (uint32_t)max_u64(most, w->hosts[g].operations[k].bytes);
		for (uint32_t b = 0; b < most; b++)
			h->source[k * WORLD_BYTES_MAX + b] = pattern(i, k, b);
	}
	return host_register(w, i);
}

int world_create(struct world *w, const struct sim_options *options, bool may_fail)
{
	*w = (struct world){.rng = {~options->seed},
			    .count = options->hosts,
			    .until = WORLD_OPERATIONS,
			    .may_fail = may_fail};
	int status = sim_create(options, &w->sim);
	if (status != DXP_OK)
		return status;
	w->witness = witness_create(sim_net(w->sim));
	if (!w->witness)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < w->count; i++)
		operations_draw(w, i);
	for (uint32_t i = 0; i < w->count && status == DXP_OK; i++)
		status = host_prepare(w, i);
	return status;
}

void world_destroy(struct world *w)
{
	sim_destroy(w->sim);
	witness_destroy(w->witness);
	for (uint32_t i = 0; i < w->count; i++) {
		free(w->hosts[i].source);
		free(w->hosts[i].target);
	}
}

/* Every third NAP has none: 0. */
static uint64_t trailer_of(uint32_t host, uint32_t number)
{
	return number % 3 ? (uint64_t)number << 32 | (host + 1) : 0;
}

static int nap_post(struct world *w, uint32_t i, uint32_t k, const struct dxp_target *to)
{
	const struct world_operation *op = &w->hosts[i].operations[k];
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, op->qp, to, k);
	uint8_t data[NIC_NAP_BYTES_MAX];

	for (uint32_t b = 0; b < op->bytes; b++)
		data[b] = pattern(i, k, b);
	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = (uint16_t)op->bytes;
	d.imm = 1 + k;
	d.trailer = trailer_of(i, k);
	return dxp_post(sim_window(w->sim, i), &d, NULL, data);
}

/* Adds the pattern to a word that is 0, so that the sum must be the pattern. */
static int add_post(struct world *w, uint32_t i, uint32_t k, const struct dxp_target *to)
{
	const struct world_operation *op = &w->hosts[i].operations[k];
	const struct dxp_entry at = {memory_offset(w, i, k), WORD, w->hosts[op->to].target_key};
	uint8_t sum[WORD];
	uint64_t operand;

	for (uint32_t b = 0; b < WORD; b++)
		sum[b] = pattern(i, k, b);
	memcpy(&operand, sum, sizeof(operand));
	return dxp_post_atomic(sim_window(w->sim, i), op->qp, to, DXP_OP_FETCH_ADD, &at, operand, 0,
			       k);
}

static int operation_post(struct world *w, uint32_t i, uint32_t k)
{
	struct world_host *h = &w->hosts[i];
	struct world_operation *op = &h->operations[k];
	const struct world_host *peer = &w->hosts[op->to];
	struct dxp_target to = sim_target(w->sim, op->to, op->qp);
	uint32_t half = op->bytes / 2;
	struct dxp_entry own = {0, op->bytes, 0}, remote[2];
	struct nic_lists lists = {&own, remote, 1, half ? 2 : 1};
	bool put = op->op == DXP_OP_PUT;

	op->generation = peer->generation;
	if (op->op == DXP_OP_NAP)
		return nap_post(w, i, k, &to);
	if (op->op == DXP_OP_FETCH_ADD)
		return add_post(w, i, k, &to);
	uint64_t source = (uint64_t)k * WORLD_BYTES_MAX, offset = memory_offset(w, i, k);
	own.key = put ? h->source_key : h->target_key;
	own.offset = put ? source : offset;
	uint64_t there = put ? offset : source;
	remote[0] = (struct dxp_entry){there, op->bytes - half,
				       put ? peer->target_key : peer->source_key};
	remote[1] = (struct dxp_entry){there + op->bytes - half, half, remote[0].key};
	return put ? nic_user_put(sim_window(w->sim, i), op->qp, &to, &lists, k)
		   : nic_user_get(sim_window(w->sim, i), op->qp, &to, &lists, k);
}

static bool status_allowed(const struct world *w, int status)
{
	switch (status) {
	case DXP_OK: return true;
	case DXP_EACCESS: /* the key or magic belonged to a process that has exited */
	case DXP_ETIMEDOUT:
	case DXP_EPATH: /* the path carries smaller packets than before */
	case DXP_EPEERRESET:
	case DXP_EPEERLOST:
	case DXP_ENOENT: return w->may_fail;
	default: return false;
	}
}

static void operation_check(struct world *w, uint32_t i, uint32_t k)
{
	const struct world_operation *op = &w->hosts[i].operations[k];
	bool put = op->op != DXP_OP_GET;
	const struct world_host *where = &w->hosts[put ? op->to : i];
	const uint8_t *offset = where->target + memory_offset(w, i, k);

	if (put && op->generation != where->generation)
		return; /* the memory vanished with its process */
	for (uint32_t b = 0; b < op->bytes; b++)
		if (offset[b] != pattern(put ? i : op->to, k, b))
			world_wrong(w, "ended well, but its data is not in place", i, k);
}

static void completion_dequeue(struct world *w, uint32_t i, const struct dxp_nic_event *e)
{
	struct world_host *h = &w->hosts[i];
	uint32_t k = (uint32_t)e->context, *next = &h->next[e->qp];

	while (*next < h->posted && h->operations[*next].qp != e->qp)
		++*next;
	if (k != *next || k >= h->posted || h->operations[k].ended)
		world_wrong(w, "ended twice or out of order", i, k);
	else if (!status_allowed(w, e->status))
		world_wrong(w, dxp_status_name(e->status), i, k);
	else if (e->status == DXP_OK && h->operations[k].op != DXP_OP_NAP)
		operation_check(w, i, k);
	if (e->imm != 0)
		world_wrong(w, "something was there before what was added once", i, k);
	++*next;
	if (k < WORLD_OPERATIONS) {
		h->operations[k].ended = true;
		h->operations[k].good = e->status == DXP_OK;
	}
}

static void nap_dequeue(struct world *w, uint32_t i, const struct dxp_nic_event *e,
			const uint8_t *data)
{
	uint32_t from = e->node - 1u, k = (uint32_t)e->imm - 1;

	if (from >= w->count || e->qp >= WORLD_QPS || k >= w->hosts[from].posted ||
	    w->hosts[from].operations[k].to != i || w->hosts[from].operations[k].qp != e->qp ||
	    w->hosts[from].operations[k].bytes != e->bytes) {
		world_wrong(w, "a NAP without a sender", i, k);
		return;
	}
	struct world_operation *op = &w->hosts[from].operations[k];
	if (k + 1 <= w->hosts[i].nap_seen[from][e->qp])
		world_wrong(w, "a NAP came twice or out of order", from, k);
	if (op->generation != w->hosts[i].generation)
		world_wrong(w, "a NAP for a process that is gone", from, k);
	w->hosts[i].nap_seen[from][e->qp] = k + 1;
	op->delivered = true;
	if (e->context != trailer_of(from, k))
		world_wrong(w, "a NAP with another trailer", from, k);
	for (uint32_t b = 0; b < e->bytes; b++)
		if (data[b] != pattern(from, k, b))
			world_wrong(w, "a NAP is not what was sent", from, k);
}

static void events_dequeue(struct world *w, uint32_t i)
{
	struct dxp_window *window = sim_window(w->sim, i);
	const struct dxp_nic_event *received;
	struct dxp_nic_event event;
	const uint8_t *data;

	while (dxp_sent_dequeue(window, &event))
		completion_dequeue(w, i, &event);
	if (sim_now(w->sim) < w->hosts[i].stalled_until_ns)
		return;
	while ((received = nic_user_received_peek(window, &data)) != NULL) {
		nap_dequeue(w, i, received, data);
		dxp_received_release(window);
	}
}

static void accounts_check(struct world *w, uint32_t i)
{
	const char *broken = invariants_broken(sim_nic(w->sim, i));

	if (!broken)
		broken = witness_verdict(w->witness);
	if (!broken && sim_counters(w->sim)->spins > 0)
		broken = "a host asks for turns and does nothing with them";
	if (broken)
		world_wrong(w, broken, i, WORLD_NONE);
}

bool world_step(void *context)
{
	struct world *w = context;
	bool finished = true;

	for (uint32_t i = 0; i < w->count; i++) {
		struct world_host *h = &w->hosts[i];
		events_dequeue(w, i);
		while (h->posted < w->until && operation_post(w, i, h->posted) == DXP_OK)
			h->posted++;
		for (uint32_t k = h->first; k < w->until && finished; k++)
			finished = h->operations[k].ended;
		if (w->steps % 16 == i)
			accounts_check(w, i);
	}
	w->steps++;
	return finished || w->wrong[0];
}

int world_restart(struct world *w, uint32_t i, bool announce)
{
	struct world_host *h = &w->hosts[i];

	witness_forget(w->witness, i);
	int status = sim_restart(w->sim, i, announce);
	if (status != DXP_OK)
		return status;
	memset(h->target, 0, target_bytes(w));
	memset(h->nap_seen, 0, sizeof(h->nap_seen));
	h->generation++;
	h->first = h->posted;
	for (int q = 0; q < WORLD_QPS; q++)
		h->next[q] = h->posted;
	return host_register(w, i);
}

/* Operation k of host `writer` may have changed its range in the memory of host i. */
static bool may_write(const struct world *w, uint32_t i, uint32_t writer, uint32_t k)
{
	const struct world_host *h = &w->hosts[writer];
	const struct world_operation *op = &h->operations[k];

	if (k >= h->posted || op->op == DXP_OP_NAP)
		return false;
	if (op->op == DXP_OP_GET)
		return writer == i && k >= h->first;
	return op->to == i && op->generation == w->hosts[i].generation;
}

static bool zeros(const uint8_t *p, uint64_t bytes)
{
	return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

static void memory_check(struct world *w, uint32_t i, uint32_t writer)
{
	const struct world_host *h = &w->hosts[writer];
	const uint8_t *at = w->hosts[i].target + memory_offset(w, writer, 0);

	for (uint32_t k = 0; k < WORLD_OPERATIONS; k++) {
		const struct world_operation *op = &h->operations[k];
		if (op->op == DXP_OP_NAP)
			continue;
		uint32_t own = may_write(w, i, writer, k) ? op->bytes : 0;
		if (own > 0 && op->op == DXP_OP_FETCH_ADD && !zeros(at + op->offset, own))
			operation_check(w, writer, k);
		if (!zeros(at + op->offset + own, op->bytes + GUARD - own))
			world_wrong(w, "bytes changed that no operation may write", writer, k);
	}
}

void world_finish(struct world *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		accounts_check(w, i);
		for (uint32_t k = 0; k < w->hosts[i].posted; k++) {
			const struct world_operation *op = &w->hosts[i].operations[k];
			if (op->op == DXP_OP_NAP && op->good && !op->delivered &&
			    w->hosts[op->to].first == 0)
				world_wrong(w, "a NAP ended well and never came", i, k);
		}
		for (uint32_t writer = 0; writer < w->count; writer++)
			memory_check(w, i, writer);
	}
}
