/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the n-th operation of each rank in a collective from n. */
#include "model/collective.h"

#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"

static const char *const names[MODEL_COLLECTIVES] = {
	[MODEL_DOUBLING] = "doubling",
	[MODEL_RING] = "ring",
	[MODEL_TREE] = "tree",
	[MODEL_ALL_TO_ALL] = "all-to-all",
};

const char *model_collective_name(enum model_collective_kind kind)
{
	return names[kind];
}

bool model_collective_parse(const char *text, enum model_collective_kind *out)
{
	for (int i = 0; i < MODEL_COLLECTIVES; i++)
		if (strcmp(text, names[i]) == 0) {
			*out = (enum model_collective_kind)i;
			return true;
		}
	return false;
}

static const struct model_collective *self(const struct model_schedule *s)
{
	return CONTAINER_OF(s, const struct model_collective, schedule);
}

/* ---- recursive doubling ---- */

/* `power` is the largest power of two up to the ranks; rest = ranks - power. Ranks below 2 x rest
 * form pairs: the even one sends its vector to the odd one, and gets the result at the end. */
enum fold { FOLD_NONE, FOLD_SENDS, FOLD_RECEIVES };

static enum fold fold_of(const struct model_collective *c, uint32_t rank)
{
	uint32_t rest = c->schedule.ranks - c->power;

	if (rank >= 2 * rest)
		return FOLD_NONE;
	return rank % 2 ? FOLD_RECEIVES : FOLD_SENDS;
}

static uint32_t doubling_peer(const struct model_collective *c, uint32_t rank, uint32_t round)
{
	uint32_t rest = c->schedule.ranks - c->power;
	uint32_t place = rank < 2 * rest ? rank / 2 : rank - rest;

	place ^= 1u << round;
	return place < rest ? 2 * place + 1 : place + rest;
}

static uint32_t doubling_count(const struct model_schedule *s, uint32_t rank)
{
	const struct model_collective *c = self(s);

	switch (fold_of(c, rank)) {
	case FOLD_SENDS: return 2;
	case FOLD_RECEIVES: return 2 * c->rounds + 2;
	default: return 2 * c->rounds;
	}
}

static void doubling_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
			struct model_task *out)
{
	const struct model_collective *c = self(s);
	enum fold fold = fold_of(c, rank);

	*out = (struct model_task){.bytes = c->bytes, .kind = MODEL_SEND};
	if (fold == FOLD_SENDS) {
		out->peer = rank + 1;
		out->kind = index == 0 ? MODEL_SEND : MODEL_RECEIVE;
		out->tag = index == 0 ? 0 : c->rounds + 1;
		return;
	}
	if (fold == FOLD_RECEIVES) {
		out->peer = rank - 1;
		out->kind = index == 0 ? MODEL_RECEIVE : MODEL_SEND;
		out->tag = index == 0 ? 0 : c->rounds + 1;
		if (index == 0 || index == 2 * c->rounds + 1)
			return;
		index--;
	}
	out->peer = doubling_peer(c, rank, index / 2);
	out->kind = index % 2 ? MODEL_RECEIVE : MODEL_SEND;
	out->tag = index / 2 + 1;
}

/* ---- ring ---- */

static uint32_t ring_count(const struct model_schedule *s, uint32_t rank)
{
	return 4 * (s->ranks - 1);
}

/* If the vector does not divide evenly, the first parts are one byte longer. */
static void ring_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		    struct model_task *out)
{
	const struct model_collective *c = self(s);
	uint32_t n = s->ranks, step = index / 2, sends = index % 2 == 0;
	uint32_t from = (rank + n - 1) % n;
	/* In step k, a sender sends part number sender - k. */
	uint32_t part = ((sends ? rank : from) + 2 * n - step % n) % n;

	*out = (struct model_task){
		.bytes = c->bytes / n + (part < c->bytes % n),
		.peer = sends ? (rank + 1) % n : from,
		.tag = step,
		.kind = sends ? MODEL_SEND : MODEL_RECEIVE,
	};
}

/* ---- tree ---- */

uint32_t model_tree_children(uint32_t count, uint32_t member)
{
	uint32_t children = 0;

	for (uint64_t bit = 1; bit < count && !(member & bit) && member + bit < count; bit *= 2)
		children++;
	return children;
}

uint32_t model_tree_parent(uint32_t member)
{
	return member & (member - 1);
}

static uint32_t tree_count(const struct model_schedule *s, uint32_t rank)
{
	return 2 * model_tree_children(s->ranks, rank) + (rank ? 2 : 0);
}

static void tree_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		    struct model_task *out)
{
	uint32_t children = model_tree_children(s->ranks, rank);

	*out = (struct model_task){.bytes = self(s)->bytes, .kind = MODEL_RECEIVE};
	if (index < children) {
		out->peer = rank + (1u << index);
		return;
	}
	index -= children;
	if (rank && index < 2) {
		out->peer = model_tree_parent(rank);
		out->kind = index == 0 ? MODEL_SEND : MODEL_RECEIVE;
		out->tag = index;
		return;
	}
	index -= rank ? 2 : 0;
	out->peer = rank + (1u << (children - 1 - index));
	out->kind = MODEL_SEND;
	out->tag = 1;
}

/* ---- all-to-all ---- */

static uint32_t all_count(const struct model_schedule *s, uint32_t rank)
{
	return 2 * (s->ranks - 1);
}

static void all_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out)
{
	uint32_t n = s->ranks, step = index / 2 + 1;
	bool sends = index % 2 == 0;

	*out = (struct model_task){
		.bytes = self(s)->bytes,
		.peer = (uint32_t)(((uint64_t)rank + (sends ? step : n - step)) % n),
		.kind = sends ? MODEL_SEND : MODEL_RECEIVE,
	};
}

static const struct {
	uint32_t (*count)(const struct model_schedule *s, uint32_t rank);
	void (*op)(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out);
} kinds[MODEL_COLLECTIVES] = {
	[MODEL_DOUBLING] = {doubling_count, doubling_op},
	[MODEL_RING] = {ring_count, ring_op},
	[MODEL_TREE] = {tree_count, tree_op},
	[MODEL_ALL_TO_ALL] = {all_count, all_op},
};

int model_collective_make(enum model_collective_kind kind, uint32_t ranks, uint64_t bytes,
			  struct model_collective *out)
{
	if (ranks < 1 || ranks > MODEL_RANKS_MAX)
		return error_set(DXP_EINVAL, "%u ranks are out of range; choose 1 .. %u", ranks,
				 MODEL_RANKS_MAX);
	if (bytes > MODEL_BYTES_MAX)
		return error_set(DXP_EINVAL, "%llu bytes are out of range; choose 0 .. %llu",
				 (unsigned long long)bytes, MODEL_BYTES_MAX);
	*out = (struct model_collective){
		.schedule = {.ranks = ranks, .count = kinds[kind].count, .op = kinds[kind].op},
		.kind = kind,
		.bytes = bytes,
		.power = 1,
	};
	for (; out->power <= ranks / 2; out->power *= 2)
		out->rounds++;
	uint64_t ops = (uint64_t)ranks * kinds[kind].count(&out->schedule, ranks - 1);
	if (ops > MODEL_COLLECTIVE_OPS_MAX)
		return error_set(DXP_EINVAL,
				 "%s of %u ranks has %llu operations, more than %llu; choose fewer "
				 "ranks",
				 names[kind], ranks, (unsigned long long)ops,
				 MODEL_COLLECTIVE_OPS_MAX);
	return DXP_OK;
}
