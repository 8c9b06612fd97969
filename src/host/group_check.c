/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the arguments of a group's operation before anything is posted. */
#include "host/group.h"
#include "host/internal.h"

/* Memory that an operation needs at one member, in bytes. */
struct need {
	uint64_t from_bytes, to_bytes; /* 0: the operation does not use this range */
	/* offsets for "in place": the ranges start so that from + from_place == to + to_place */
	uint64_t from_place, to_place;
	bool in_place; /* true: the operation may run in place */
};

static struct need need_of(const struct dxp_group *g, enum plan_operation operation,
			   const struct dxp_collective *c, uint32_t member)
{
	const uint64_t one = c->count * dxp_type_bytes(c->type), all = one * g->members;
	const bool root = member == c->root;

	switch (operation) {
	case PLAN_REDUCE: return (struct need){one, root ? one : 0, 0, 0, true};
	case PLAN_REDUCE_SCATTER: return (struct need){all, one, member * one, 0, true};
	case PLAN_ALL_GATHER: return (struct need){one, all, 0, member * one, true};
	case PLAN_BROADCAST: return (struct need){root ? one : 0, one, 0, 0, true};
	case PLAN_ALL_TO_ALL: return (struct need){all, all, 0, 0, false};
	default: return (struct need){one, one, 0, 0, true};
	}
}

static int range_check(const struct dxp_xpu *x, const char *name, uint64_t address, uint64_t bytes,
		       uint64_t needed, size_t element_bytes)
{
	if (!needed)
		return DXP_OK;
	if (bytes < needed)
		return error_set(DXP_EINVAL,
				 "`%s` has %llu bytes, but the operation needs %llu; all members "
				 "use the same count",
				 name, (unsigned long long)bytes, (unsigned long long)needed);
	if (address % element_bytes)
		return error_set(DXP_EINVAL,
				 "`%s` is %#llx, which is no multiple of the element's %zu bytes",
				 name, (unsigned long long)address, element_bytes);
	if (needed > x->caps.memory_bytes || address > x->caps.memory_bytes - needed)
		return error_set(DXP_ERANGE,
				 "`%s`: %llu bytes at %#llx are outside its memory of %llu bytes",
				 name, (unsigned long long)needed, (unsigned long long)address,
				 (unsigned long long)x->caps.memory_bytes);
	return DXP_OK;
}

static int overlap_check(const struct dxp_part *p, const struct need *n, bool *in_place)
{
	if (!n->from_bytes || !n->to_bytes)
		return DXP_OK;
	*in_place = n->in_place && p->from + n->from_place == p->to + n->to_place;
	if (*in_place || p->from >= p->to + n->to_bytes || p->to >= p->from + n->from_bytes)
		return DXP_OK;
	return error_set(DXP_EINVAL, "`from` and `to` overlap, but not as in place");
}

static int part_check(const struct dxp_group *g, enum plan_operation operation,
		      const struct dxp_collective *c, uint32_t member, bool *in_place)
{
	const struct dxp_part *p = &c->parts[member];
	const struct need need = need_of(g, operation, c, member);
	const size_t bytes = dxp_type_bytes(c->type);

	if (p->wait_count && !p->wait)
		return error_set(DXP_EINVAL, "wait list: %u events, but the list is NULL",
				 p->wait_count);
	if (operation == PLAN_BARRIER || c->count == 0)
		return DXP_OK;
	int status = range_check(g->xpus[member], "from", p->from, p->from_bytes, need.from_bytes,
				 bytes);
	if (status == DXP_OK)
		status = range_check(g->xpus[member], "to", p->to, p->to_bytes, need.to_bytes,
				     bytes);
	return status == DXP_OK ? overlap_check(p, &need, in_place) : status;
}

static int shape_check(const struct dxp_group *g, enum plan_operation operation,
		       const struct dxp_collective *c)
{
	const char *text = group_text(operation);
	const size_t bytes = dxp_type_bytes(c->type);

	if ((unsigned)c->way >= DXP_WAYS)
		return error_set(DXP_EINVAL, "%s: way %d; use an enum dxp_way", text, (int)c->way);
	if (operation == PLAN_BARRIER)
		return DXP_OK;
	if (!c->parts)
		return error_set(DXP_EINVAL, "%s: `parts` is NULL; give one for each member", text);
	if (!bytes)
		return error_set(DXP_EINVAL, "%s: type %d; use an enum dxp_type", text,
				 (int)c->type);
	if ((unsigned)c->reduction >= DXP_REDUCTIONS)
		return error_set(DXP_EINVAL, "%s: reduction %d; use an enum dxp_reduction", text,
				 (int)c->reduction);
	if (c->root >= g->members)
		return error_set(DXP_EINVAL, "%s: root %u; the group has %u members", text, c->root,
				 g->members);
	if (c->count > (uint64_t)INT64_MAX / bytes / g->members)
		return error_set(DXP_EINVAL, "%s: %llu elements are more than memory can have",
				 text, (unsigned long long)c->count);
	return DXP_OK;
}

int group_check(const struct dxp_group *g, enum plan_operation operation,
		const struct dxp_collective *c, uint64_t *in_place)
{
	int status = shape_check(g, operation, c);

	for (uint32_t m = 0; m < g->members && c->parts && status == DXP_OK; m++) {
		bool same = false;
		status = part_check(g, operation, c, m, &same);
		if (status != DXP_OK)
			return group_blame(g, operation, m, status);
		*in_place |= (uint64_t)same << m;
	}
	return status;
}
