/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation has its own range of the target memory, so a wrong order of arrival cannot hide an
 * error. Remote lists have one or two entries, local ones up to nine; the bytes are cut at
 * random. */
#include "test/support/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/limits.h"

#define SIDES      2
#define PIECES_MAX 9
#define UNTOUCHED  0xEE
#define NAP_QPS    2

enum kind { KIND_PUT, KIND_GET, KIND_NAP };

struct operation {
	enum kind kind;
	uint8_t qp;
	uint32_t bytes, source; /* length; offset in the source memory */
	uint32_t number;        /* of the NAP on its queue pair */
};

struct side {
	/* sent, or read by the peer's GETs; written by GETs and the peer's PUTs */
	uint8_t *source, *target;
	uint64_t memory;
	uint32_t source_key, target_key;
	struct operation *operations;
	uint32_t posted, completed;
	/* per queue pair, the operation that must complete next */
	uint32_t completed_on[NIC_QPS_PER_FUNCTION];
	uint32_t naps_sent[NAP_QPS], naps_received[NAP_QPS];
};

struct workload {
	struct sim *sim;
	struct rng rng;
	struct workload_options options;
	struct side sides[SIDES];
	char wrong[160];
};

static uint8_t pattern(uint32_t side, uint64_t i)
{
	return (uint8_t)(i * 131 + (i >> 8) * 17 + side * 71 + 1);
}

static void operation_draw(struct workload *w, struct side *side, struct operation *op)
{
	uint32_t roll = (uint32_t)rng_below(&w->rng, 10);

	op->kind = roll < 4 ? KIND_PUT : roll < 7 ? KIND_GET : KIND_NAP;
	op->qp = (uint8_t)rng_below(&w->rng, NAP_QPS);
	uint32_t bound = op->kind == KIND_NAP ? NIC_NAP_BYTES_MAX : w->options.bytes_max;
	/* a quarter has any length up to the bound, the others are short */
	op->bytes = 1 + (uint32_t)rng_below(&w->rng, rng_below(&w->rng, 4) ? bound / 8 + 1 : bound);
	op->source = (uint32_t)rng_below(&w->rng, side->memory - op->bytes + 1);
	if (op->kind == KIND_NAP)
		op->number = side->naps_sent[op->qp]++;
}

static int side_create(struct workload *w, uint32_t i)
{
	struct side *side = &w->sides[i];
	struct nic *nic = sim_nic(w->sim, i);

	side->memory = (uint64_t)w->options.operations * w->options.bytes_max + 64;
	side->source = malloc(side->memory);
	side->target = malloc(side->memory);
	side->operations = calloc(w->options.operations, sizeof(*side->operations));
	if (!side->source || !side->target || !side->operations)
		return DXP_ENOMEM;
	for (uint64_t k = 0; k < side->memory; k++)
		side->source[k] = pattern(i, k);
	memset(side->target, UNTOUCHED, side->memory);
	for (uint32_t k = 0; k < w->options.operations; k++)
		operation_draw(w, side, &side->operations[k]);
	int status = nic_region_register(nic, 0, side->source, side->memory, NIC_REMOTE_READ,
					 &side->source_key);
	if (status == DXP_OK)
		status = nic_region_register(nic, 0, side->target, side->memory, NIC_REMOTE_WRITE,
					     &side->target_key);
	return status;
}

struct workload *workload_create(struct sim *s, uint64_t seed,
				 const struct workload_options *options)
{
	struct workload *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sim = s;
	w->rng.state = seed ^ 0x5eed;
	w->options = *options;
	for (uint32_t i = 0; i < SIDES; i++) {
		if (side_create(w, i) != DXP_OK) {
			workload_destroy(w);
			return NULL;
		}
	}
	return w;
}

void workload_destroy(struct workload *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < SIDES; i++) {
		free(w->sides[i].source);
		free(w->sides[i].target);
		free(w->sides[i].operations);
	}
	free(w);
}

/* Cuts `bytes` from `offset` into 1 .. count_max list entries at random. Returns the number of
 * entries. */
static uint16_t list_cut(struct workload *w, struct dxp_entry *list, uint32_t count_max,
			 uint64_t offset, uint32_t bytes, uint32_t key)
{
	uint16_t count = 0;

	while (bytes > 0) {
		uint32_t part =
			count + 1u == count_max ? bytes : 1 + (uint32_t)rng_below(&w->rng, bytes);
		list[count++] = (struct dxp_entry){offset, part, key};
		offset += part;
		bytes -= part;
	}
	return count;
}

/* A PUT writes in the peer's target memory, a GET in the host's own. */
static uint64_t target_offset(const struct workload *w, uint32_t k)
{
	return (uint64_t)k * w->options.bytes_max;
}

static int operation_post(struct workload *w, uint32_t i, uint32_t k)
{
	struct side *side = &w->sides[i], *peer = &w->sides[1 - i];
	const struct operation *op = &side->operations[k];
	struct dxp_window *window = sim_window(w->sim, i);
	struct dxp_target to = sim_target(w->sim, 1 - i, op->qp);
	struct dxp_entry local[PIECES_MAX], remote[2];
	struct nic_lists lists = {local, remote, 0, 0};

	if (op->kind == KIND_NAP)
		return dxp_post_nap(window, op->qp, &to, side->source + op->source, op->bytes,
				    k + 1, k);
	if (op->kind == KIND_PUT) {
		lists.local_count =
			list_cut(w, local, PIECES_MAX, op->source, op->bytes, side->source_key);
		lists.remote_count =
			list_cut(w, remote, 2, target_offset(w, k), op->bytes, peer->target_key);
		return nic_user_put(window, op->qp, &to, &lists, k);
	}
	lists.local_count =
		list_cut(w, local, PIECES_MAX, target_offset(w, k), op->bytes, side->target_key);
	lists.remote_count = list_cut(w, remote, 2, op->source, op->bytes, peer->source_key);
	return nic_user_get(window, op->qp, &to, &lists, k);
}

static void completion_check(struct workload *w, uint32_t i, const struct dxp_nic_event *event)
{
	struct side *side = &w->sides[i];
	uint32_t *next = &side->completed_on[event->qp];

	while (*next < side->posted && side->operations[*next].qp != event->qp)
		++*next;
	if (event->status != DXP_OK || event->context != *next)
		snprintf(w->wrong, sizeof(w->wrong),
			 "side %u qp %u: completion of %llu with %s, expected %u", i, event->qp,
			 (unsigned long long)event->context, dxp_status_name(event->status), *next);
	++*next;
	side->completed++;
}

static void nap_check(struct workload *w, uint32_t i, const struct dxp_nic_event *event,
		      const uint8_t *data)
{
	struct side *sender = &w->sides[1 - i];
	uint32_t k = (uint32_t)event->imm - 1;
	const struct operation *op = &sender->operations[k];

	if (k >= sender->posted || op->kind != KIND_NAP || event->bytes != op->bytes ||
	    event->qp != op->qp || op->number != w->sides[i].naps_received[op->qp]++ ||
	    memcmp(data, sender->source + op->source, op->bytes) != 0)
		snprintf(w->wrong, sizeof(w->wrong),
			 "side %u: NAP %u is not what was sent, or not in order", i, k);
}

bool workload_step(void *context)
{
	struct workload *w = context;
	bool finished = true;

	for (uint32_t i = 0; i < SIDES; i++) {
		struct side *side = &w->sides[i];
		struct dxp_nic_event event;
		const struct dxp_nic_event *received;
		const uint8_t *data;
		while (dxp_sent_dequeue(sim_window(w->sim, i), &event))
			completion_check(w, i, &event);
		while ((received = nic_user_received_peek(sim_window(w->sim, i), &data)) != NULL) {
			nap_check(w, i, received, data);
			dxp_received_release(sim_window(w->sim, i));
		}
		while (side->posted < w->options.operations &&
		       operation_post(w, i, side->posted) == DXP_OK)
			side->posted++;
		finished &= side->completed == w->options.operations;
	}
	return finished || w->wrong[0];
}

/* Its own GETs and the peer's PUTs write the target memory of host i. */
static void memory_check(struct workload *w, uint32_t i)
{
	const struct side *side = &w->sides[i], *peer = &w->sides[1 - i];

	for (uint32_t k = 0; k < w->options.operations; k++) {
		for (uint32_t b = 0; b < w->options.bytes_max; b++) {
			const struct operation *put = &peer->operations[k],
					       *get = &side->operations[k];
			uint8_t is = side->target[target_offset(w, k) + b], must = UNTOUCHED,
				other = UNTOUCHED;
			if (put->kind == KIND_PUT && b < put->bytes)
				must = other = peer->source[put->source + b];
			if (get->kind == KIND_GET && b < get->bytes)
				other = peer->source[get->source + b];
			/* a GET and a PUT may both write range k at the same time, so both values
			 * are right */
			if (put->kind != KIND_PUT || b >= put->bytes)
				must = other;
			if (is != must && is != other) {
				snprintf(w->wrong, sizeof(w->wrong),
					 "side %u: byte %u of operation %u", i, b, k);
				return;
			}
		}
	}
}

const char *workload_verdict(struct workload *w)
{
	for (uint32_t i = 0; i < SIDES && !w->wrong[0]; i++) {
		if (w->sides[i].completed != w->options.operations)
			snprintf(w->wrong, sizeof(w->wrong),
				 "side %u: %u of %u operations completed", i, w->sides[i].completed,
				 w->options.operations);
		for (uint32_t q = 0; q < NAP_QPS && !w->wrong[0]; q++)
			if (w->sides[i].naps_received[q] != w->sides[1 - i].naps_sent[q])
				snprintf(w->wrong, sizeof(w->wrong), "side %u: NAPs are missing",
					 i);
		if (!w->wrong[0])
			memory_check(w, i);
	}
	return w->wrong[0] ? w->wrong : NULL;
}
