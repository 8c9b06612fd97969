/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Doubles the size of an array until `needed` entries fit. Returns false if out of memory. */
static bool grow(void **array, uint32_t *space, uint64_t needed, size_t entry_bytes)
{
	uint64_t more = *space ? *space : 64;

	if (needed <= *space)
		return true;
	while (more < needed)
		more *= 2;
	void *larger = more <= COLLECTIVE_STEPS ? realloc(*array, more * entry_bytes) : NULL;
	if (!larger)
		return false;
	*array = larger;
	*space = (uint32_t)more;
	return true;
}

uint32_t build_step(struct plan *p, const struct plan_step *step, const uint32_t *waits,
		    uint32_t wait_count)
{
	void *steps = p->steps, *list = p->waits;

	p->failed = p->failed ||
		    !grow(&steps, &p->step_space, p->step_count + 1ull, sizeof(*p->steps)) ||
		    !grow(&list, &p->wait_space, (uint64_t)p->wait_count + wait_count,
			  sizeof(*p->waits));
	p->steps = steps;
	p->waits = list;
	if (p->failed)
		return 0;
	struct plan_step *s = &p->steps[p->step_count];
	*s = *step;
	s->first_wait = p->wait_count;
	for (uint32_t i = 0; i < wait_count; i++)
		if (waits[i] != BUILD_NONE)
			p->waits[p->wait_count++] = waits[i];
	s->wait_count = p->wait_count - s->first_wait;
	return p->step_count++;
}

uint32_t build_mark(struct plan *p, uint32_t member, const uint32_t *waits, uint32_t wait_count)
{
	return build_step(p, &(struct plan_step){.kind = PLAN_MARK, .member = member}, waits,
			  wait_count);
}

void build_lap_add(struct build_lap *lap, uint32_t step)
{
	lap->waits[lap->count++] = step;
}

uint32_t build_lap_mark(struct plan *p, uint32_t member, struct build_lap *lap, uint32_t before)
{
	build_lap_add(lap, before);
	uint32_t mark = build_mark(p, member, lap->waits, lap->count);
	lap->count = 0;
	return mark;
}

int build_segments(const struct plan_request *r, uint64_t most, uint32_t inputs,
		   struct build_segments *out)
{
	uint64_t half_bytes = r->scratch_bytes / 2 / inputs / COLLECTIVE_ALIGN * COLLECTIVE_ALIGN;
	uint64_t slice = min_u64(half_bytes, COLLECTIVE_SLICE) / r->element_bytes;

	if (slice == 0)
		return DXP_ENOMEM;
	out->slices = (most + slice - 1) / slice;
	out->slice = (most + out->slices - 1) / out->slices;
	out->pitch = (out->slice * r->element_bytes + COLLECTIVE_ALIGN - 1) / COLLECTIVE_ALIGN *
		     COLLECTIVE_ALIGN;
	out->inputs = inputs;
	return DXP_OK;
}
