/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns arena offsets: tensors in falling size each take the lowest offset free during their
 * lifetime. For the networks here, the result is within a few percent of the largest amount alive
 * at once. */
#include "memory.h"

#include <stdlib.h>

#include <dxp/status.h>

#define ALIGNMENT_BYTES 256

/* Lifetime of a tensor in the arena: from the operator that writes it to the last operator that
 * reads it. */
struct lifetime {
	int32_t tensor;
	int32_t from, to;
	uint64_t bytes, at;
};

static uint64_t align(uint64_t bytes)
{
	return (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
}

uint64_t tensor_float_bytes(const struct tensor *t)
{
	return (uint64_t)t->elements * sizeof(float);
}

static int by_size(const void *a, const void *b)
{
	const struct lifetime *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->tensor - y->tensor; /* the same order on every machine */
}

static bool overlap(const struct lifetime *a, const struct lifetime *b)
{
	return a->from <= b->to && b->from <= a->to;
}

/* Moves behind each conflicting tensor until none is left. */
static uint64_t lowest(const struct lifetime *lifetimes, size_t n)
{
	uint64_t at = 0;

	for (bool moved = true; moved;) {
		moved = false;
		for (size_t i = 0; i < n; i++) {
			const struct lifetime *other = &lifetimes[i];
			if (!overlap(other, &lifetimes[n]) ||
			    other->at >= at + lifetimes[n].bytes || at >= other->at + other->bytes)
				continue;
			at = other->at + other->bytes;
			moved = true;
		}
	}
	return at;
}

static uint64_t pack_lifetimes(struct lifetime *lifetimes, size_t count)
{
	uint64_t bytes = 0;

	qsort(lifetimes, count, sizeof(*lifetimes), by_size);
	for (size_t i = 0; i < count; i++) {
		lifetimes[i].at = lowest(lifetimes, i);
		bytes = lifetimes[i].at + lifetimes[i].bytes > bytes
				? lifetimes[i].at + lifetimes[i].bytes
				: bytes;
	}
	return bytes;
}

static void slot_add(const struct model *m, struct layout *l, const struct cut *cut)
{
	for (int32_t i = 0; i < cut->count; i++) {
		struct tensor_memory *p = &l->tensors[cut->tensors[i]];
		if (p->kind == MEMORY_CONSTANT)
			continue; /* crosses both cuts; already has an offset */
		*p = (struct tensor_memory){MEMORY_CONSTANT, l->slot_bytes};
		l->slot_bytes += align(tensor_float_bytes(&m->tensors[cut->tensors[i]]));
	}
}

/* The network input's lifetime starts before the first operator. */
static size_t find_lifetimes(const struct model *m, const struct stage *s, bool first,
			     const struct layout *l, struct lifetime *lifetimes)
{
	size_t count = 0;

	if (first && l->tensors[m->input].kind == MEMORY_NONE)
		lifetimes[count++] = (struct lifetime){.tensor = m->input, .from = s->first - 1};
	for (int32_t i = s->first; i <= s->last; i++)
		if (l->tensors[m->ops[i].output].kind == MEMORY_NONE)
			lifetimes[count++] =
				(struct lifetime){.tensor = m->ops[i].output, .from = i};
	for (size_t i = 0; i < count; i++) {
		const struct tensor *t = &m->tensors[lifetimes[i].tensor];
		lifetimes[i].to = t->last_use > lifetimes[i].from ? t->last_use : lifetimes[i].from;
		lifetimes[i].bytes = align(tensor_float_bytes(t));
	}
	return count;
}

int layout_build(const struct model *m, const struct plan *plan, uint32_t stage,
		 const struct layout_options *options, struct layout *out)
{
	const struct stage *s = &plan->stages[stage];
	struct layout l = {.tensors = calloc((size_t)m->tensor_count, sizeof(*l.tensors))};
	struct lifetime *lifetimes = calloc((size_t)(s->last - s->first + 2), sizeof(*lifetimes));

	if (!l.tensors || !lifetimes) {
		free(l.tensors);
		free(lifetimes);
		return DXP_ENOMEM;
	}
	if (stage == 0 && options->floats)
		slot_add(m, &l, &(struct cut){.count = 1, .tensors = {m->input}});
	else if (stage == 0)
		l.slot_bytes = align((uint64_t)m->tensors[m->input].elements);
	else
		slot_add(m, &l, &plan->cuts[stage - 1]);
	slot_add(m, &l, &plan->cuts[stage]);
	size_t count = find_lifetimes(m, s, stage == 0, &l, lifetimes);
	uint64_t arena_bytes = pack_lifetimes(lifetimes, count);
	for (size_t i = 0; i < count; i++)
		l.tensors[lifetimes[i].tensor] =
			(struct tensor_memory){MEMORY_ARENA, lifetimes[i].at};
	l.arena_at = align(options->constant_bytes);
	l.slots_at = l.arena_at + arena_bytes;
	l.bytes = l.slots_at + l.slot_bytes * options->slots;
	free(lifetimes);
	*out = l;
	return DXP_OK;
}

void layout_release(struct layout *l)
{
	free(l->tensors);
	*l = (struct layout){0};
}

uint64_t layout_tensor(const struct layout *l, int32_t tensor, uint32_t buffer_index)
{
	const struct tensor_memory *p = &l->tensors[tensor];

	return p->kind == MEMORY_ARENA ? l->arena_at + p->at
				       : l->slots_at + buffer_index * l->slot_bytes + p->at;
}

uint64_t layout_photo(const struct layout *l, uint32_t buffer_index)
{
	return l->slots_at + buffer_index * l->slot_bytes + l->photo_at;
}
