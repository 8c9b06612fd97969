/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduces that kernels start by writing the registers ALLREDUCE_*. A kernel is untrusted: its
 * descriptor may name only groups and memory of its host, which is held until the operation ends.
 * Operations of a group run in the order of posting, one at a time. */
#include <stdlib.h>
#include <string.h>

#include <dxp/device.h>

#include "wire/frame.h"
#include "wire/reduction.h"
#include "xpu/slot_internal.h"

_Static_assert(sizeof(struct dxp_allreduce_descriptor) == 4 * CFG_ALLREDUCE_WORDS,
	       "each word is a register");
_Static_assert(CFG_ALLREDUCE_FROM_LO == DXP_ALLREDUCE_REGISTER, "kernels know the register");

#define RANGES 3 /* input, output, result */

struct kernel_reduce {
	struct kernel_reduce *next;
	struct tenant *tenant;
	struct allreduce_command command;
	uint64_t result; /* device address */
	uint32_t tag;
	uint8_t held; /* ranges held, in the order of ranges_of() */
};

static void ranges_of(const struct kernel_reduce *k, struct range out[RANGES])
{
	const struct allreduce_command *c = &k->command;

	out[0] = (struct range){c->from, c->from + c->bytes};
	out[1] = (struct range){c->to, c->to + c->bytes};
	out[2] = (struct range){k->result, k->result + sizeof(struct dxp_allreduce_result)};
}

static void ranges_drop(struct kernel_reduce *k)
{
	struct range ranges[RANGES];

	ranges_of(k, ranges);
	while (k->held > 0)
		arena_drop(k->tenant->slot->arena, ranges[--k->held].start);
}

static int ranges_hold(struct kernel_reduce *k)
{
	const struct tenant *t = k->tenant;
	struct range ranges[RANGES];
	int status = DXP_OK;

	ranges_of(k, ranges);
	while (k->held < RANGES && status == DXP_OK) {
		const struct range *r = &ranges[k->held];
		status = arena_hold(t->slot->arena, t->owner, r->start, r->end - r->start, NULL);
		k->held += status == DXP_OK;
	}
	return status;
}

/* ---- result ---- */

/* Caller holds the memory. */
static void result_store(const struct tenant *t, uint64_t at, uint32_t tag, int status)
{
	struct dxp_allreduce_result *r =
		(struct dxp_allreduce_result *)(void *)(t->memory->base + at);

	dxp_store_release(&r->error, (uint32_t)-status);
	/* Pairs with the acquire in dxp_allreduce_wait(). */
	dxp_store_release(&r->tag, tag);
}

/* Stores why a descriptor was refused, if its result is memory of the host. */
static void result_refuse(const struct tenant *t, const struct dxp_allreduce_descriptor *d,
			  int status)
{
	struct arena *arena = t->slot->arena;

	if (t->slot->bridged || d->result % sizeof(struct dxp_allreduce_result) != 0 ||
	    arena_hold(arena, t->owner, d->result, sizeof(struct dxp_allreduce_result), NULL) !=
		    DXP_OK)
		return;
	result_store(t, d->result, d->tag, status);
	arena_drop(arena, d->result);
}

static void reduce_end(struct kernel_reduce *k, int status)
{
	struct slot_counters *c = &k->tenant->slot->counters;

	if (status == DXP_OK)
		c->reduces_done++;
	else
		c->reduces_failed++;
	result_store(k->tenant, k->result, k->tag, status);
	ranges_drop(k);
	k->tenant->busy--;
	free(k);
}

/* ---- checks ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b ? b - a < a_bytes : a - b < b_bytes;
}

static int layout_check(const struct dxp_allreduce_descriptor *d, uint64_t element_bytes)
{
	const uint64_t result_bytes = sizeof(struct dxp_allreduce_result);

	if (d->count == 0 || (d->from | d->to) % element_bytes != 0 ||
	    d->result % result_bytes != 0)
		return DXP_EINVAL;
	if (d->count > XPU_MEMORY_MAX / element_bytes)
		return DXP_ERANGE;
	const uint64_t bytes = d->count * element_bytes;
	if ((d->from != d->to && overlap(d->from, bytes, d->to, bytes)) ||
	    overlap(d->result, result_bytes, d->from, bytes) ||
	    overlap(d->result, result_bytes, d->to, bytes))
		return DXP_EINVAL;
	return DXP_OK;
}

static int descriptor_check(const struct tenant *t, const struct dxp_allreduce_descriptor *d)
{
	const struct switch_member *m = tenant_switches_find(t, d->group);
	const enum dxp_inc_type type = reduction_type((enum dxp_type)d->type);
	const enum dxp_inc_op op = reduction_op((enum dxp_reduction)d->reduction);

	if (t->slot->bridged)
		return DXP_EUNSUPPORTED;
	if (!m || !m->created)
		return DXP_ENOENT;
	if (d->type >= DXP_TYPES || d->reduction >= DXP_REDUCTIONS)
		return DXP_EINVAL;
	if (!dxp_inc_defined(op, type))
		return DXP_EUNSUPPORTED;
	return layout_check(d, dxp_inc_type_bytes(type));
}

/* ---- queue ---- */

static struct kernel_reduce *kernel_reduce_create(struct tenant *t,
						  const struct dxp_allreduce_descriptor *d)
{
	const enum dxp_inc_type type = reduction_type((enum dxp_type)d->type);
	struct kernel_reduce *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->tenant = t;
	k->result = d->result;
	k->tag = d->tag;
	k->command = (struct allreduce_command){
		.from = d->from,
		.to = d->to,
		.bytes = d->count * dxp_inc_type_bytes(type),
		.group = d->group,
		.type = (uint8_t)type,
		.reduction = (uint8_t)reduction_op((enum dxp_reduction)d->reduction),
	};
	return k;
}

/* NULL: the queue is full. */
static struct kernel_reduce **queue_end(struct switch_member *m)
{
	struct kernel_reduce **at = &m->kernels;

	for (uint32_t count = 0; *at; at = &(*at)->next)
		if (++count >= DXP_ALLREDUCES_MAX)
			return NULL;
	return at;
}

static int descriptor_post(struct tenant *t, const struct dxp_allreduce_descriptor *d)
{
	int status = descriptor_check(t, d);

	if (status != DXP_OK)
		return status;
	struct switch_member *m = tenant_switches_find(t, d->group);
	struct kernel_reduce **end = queue_end(m);
	if (!end)
		return DXP_EBUSY;
	struct kernel_reduce *k = kernel_reduce_create(t, d);
	if (!k)
		return DXP_ENOMEM;
	status = ranges_hold(k);
	if (status != DXP_OK) {
		ranges_drop(k);
		free(k);
		return status;
	}
	t->busy++;
	*end = k;
	kernel_reduces_advance(m);
	return DXP_OK;
}

static uint8_t nack_of(int status)
{
	switch (status) {
	case DXP_ENOENT: return WIRE_NACK_RIGHTS;
	case DXP_EUNSUPPORTED: return WIRE_NACK_UNSUPPORTED;
	case DXP_EBUSY:
	case DXP_ENOMEM: return WIRE_NACK_RESOURCE;
	default: return WIRE_NACK_BOUNDS;
	}
}

uint8_t kernel_reduce_post(struct tenant *t, const uint32_t words[CFG_ALLREDUCE_WORDS])
{
	struct dxp_allreduce_descriptor d;

	memcpy(&d, words, sizeof(d));
	int status = descriptor_post(t, &d);
	if (status == DXP_OK)
		return 0;
	t->slot->counters.reduces_refused++;
	tenant_complain(t, "allreduce of a kernel with group %u: %s", d.group,
			dxp_status_text(status));
	result_refuse(t, &d, status);
	return nack_of(status);
}

void kernel_reduces_advance(struct switch_member *m)
{
	while (m->kernels && !m->reduction && !m->leaving) {
		struct kernel_reduce *k = m->kernels;
		m->kernels = k->next;
		allreduce_kernel_start(k->tenant, &k->command, k, reduce_end);
	}
}

void kernel_reduces_cancel(struct switch_member *m)
{
	struct kernel_reduce *k;

	while ((k = m->kernels)) {
		m->kernels = k->next;
		reduce_end(k, DXP_ECANCELED);
	}
}
