/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses cuts by dynamic programming: least multiply-adds of the largest stage, then least bytes
 * across cuts. best[k][i] splits the operators before candidate i into k stages. */
#include "plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#define NEAREST 3 /* cuts that an error message suggests */

uint64_t plan_cut_bytes(const struct model *m, const struct cut *cut)
{
	uint64_t sum = 0;
	for (int32_t i = 0; i < cut->count; i++)
		sum += (uint64_t)m->tensors[cut->tensors[i]].elements * sizeof(float);
	return sum;
}

static int32_t cross(struct cut *out, int32_t tensor, int32_t count)
{
	if (count < CUT_TENSORS_MAX)
		out->tensors[out->count++] = tensor;
	return count + 1;
}

int32_t plan_crossing(const struct model *m, int32_t after, struct cut *out)
{
	int32_t count = 0;

	*out = (struct cut){.after = after};
	if (m->tensors[m->input].last_use > after)
		count = cross(out, m->input, count);
	for (int32_t i = 0; i <= after; i++)
		if (m->tensors[m->ops[i].output].last_use > after)
			count = cross(out, m->ops[i].output, count);
	return count;
}

/* `after` lists the last operator before each cut, rising. */
static void plan_fill(const struct model *m, const int32_t *after, uint32_t cuts, struct plan *out)
{
	*out = (struct plan){.stage_count = cuts + 1};
	for (uint32_t i = 0; i <= cuts; i++) {
		struct stage *s = &out->stages[i];
		s->first = i == 0 ? 0 : after[i - 1] + 1;
		s->last = i == cuts ? m->op_count - 1 : after[i];
		for (int32_t op = s->first; op <= s->last; op++)
			s->macs += m->ops[op].macs;
		plan_crossing(m, s->last, &out->cuts[i]);
	}
}

struct candidates {
	int32_t count;
	int32_t *after;
	int64_t *macs;   /* of all operators up to each */
	uint64_t *bytes; /* that cross each */
};

static void candidates_release(struct candidates *c)
{
	free(c->after);
	free(c->macs);
	free(c->bytes);
}

/* The last entry is the model's end, not a cut. */
static bool candidates_find(const struct model *m, int32_t tensors, struct candidates *c)
{
	size_t space = (size_t)m->op_count;
	int64_t macs = 0;

	*c = (struct candidates){.after = calloc(space, sizeof(*c->after)),
				 .macs = calloc(space, sizeof(*c->macs)),
				 .bytes = calloc(space, sizeof(*c->bytes))};
	if (!c->after || !c->macs || !c->bytes)
		return false;
	for (int32_t i = 0; i < m->op_count; i++) {
		struct cut cut;
		macs += m->ops[i].macs;
		if (i + 1 < m->op_count && plan_crossing(m, i, &cut) > tensors)
			continue;
		c->after[c->count] = i;
		c->macs[c->count] = macs;
		c->bytes[c->count] = i + 1 < m->op_count ? plan_cut_bytes(m, &cut) : 0;
		c->count++;
	}
	return true;
}

struct best {
	int64_t macs; /* of the largest stage; -1: impossible */
	uint64_t bytes;
	int32_t before; /* where the previous stage stops */
};

static bool better(int64_t macs, uint64_t bytes, const struct best *than)
{
	if (than->macs < 0)
		return true;
	return macs != than->macs ? macs < than->macs : bytes < than->bytes;
}

/* Extends `less`, the row with one stage less, to row[i]. */
static void best_extend(const struct candidates *c, const struct best *less, struct best *row)
{
	for (int32_t i = 0; i < c->count; i++) {
		row[i].macs = -1;
		for (int32_t j = 0; j < i; j++) {
			if (less[j].macs < 0)
				continue;
			int64_t own = c->macs[i] - c->macs[j];
			int64_t macs = own > less[j].macs ? own : less[j].macs;
			uint64_t bytes = less[j].bytes + c->bytes[i];
			if (better(macs, bytes, &row[i]))
				row[i] = (struct best){macs, bytes, j};
		}
	}
}

/* Returns false with too few candidates or memory. */
static bool best_cuts(const struct candidates *c, uint32_t stages, int32_t *after)
{
	struct best *table = calloc((size_t)c->count * stages, sizeof(*table));

	if (!table || (uint32_t)c->count < stages) {
		free(table);
		return false;
	}
	for (int32_t i = 0; i < c->count; i++)
		table[i] = (struct best){c->macs[i], c->bytes[i], -1};
	for (uint32_t k = 1; k < stages; k++)
		best_extend(c, &table[(k - 1) * (size_t)c->count], &table[k * (size_t)c->count]);
	int32_t at = c->count - 1;
	for (uint32_t k = stages - 1; k > 0; k--) {
		at = table[k * (size_t)c->count + (size_t)at].before;
		after[k - 1] = c->after[at];
	}
	free(table);
	return true;
}

int plan_auto(const struct model *m, uint32_t stages, struct plan *out, struct fault *fault)
{
	static const int32_t tensors[] = {1, CUT_TENSORS_MAX};
	int32_t after[STAGES_MAX];
	int32_t most = 0;

	if (stages < 1 || stages > STAGES_MAX)
		return fault_set(fault, DXP_EINVAL, "%u stages; 1 to %d are possible", stages,
				 STAGES_MAX);
	for (size_t i = 0; i < ARRAY_COUNT(tensors); i++) {
		struct candidates c;
		bool found = candidates_find(m, tensors[i], &c) && best_cuts(&c, stages, after);
		most = c.count;
		candidates_release(&c);
		if (found) {
			plan_fill(m, after, stages - 1, out);
			return DXP_OK;
		}
	}
	return fault_set(fault, DXP_EINVAL,
			 "%s cannot be split into %u stages, at most %d; use fewer xPUs", m->path,
			 stages, most);
}

/* Writes the one-tensor cuts nearest to operator `near`: "name (number), ...". */
static void suggest(const struct model *m, int32_t near, char *out, size_t size)
{
	int32_t given = 0;
	size_t used = 0;

	out[0] = '\0';
	for (int32_t d = 0; d < m->op_count && given < NEAREST; d++) {
		int32_t sides[2] = {near - d, near + d};
		for (int32_t s = d ? 0 : 1; s < 2 && given < NEAREST; s++) {
			struct cut cut;
			if (sides[s] < 0 || sides[s] >= m->op_count - 1 ||
			    plan_crossing(m, sides[s], &cut) != 1)
				continue;
			int n = snprintf(out + used, size - used, "%s%s (%d)", given ? ", " : "",
					 model_layer_name(m, sides[s]), sides[s]);
			if (n < 0 || (size_t)n >= size - used)
				return;
			used += (size_t)n;
			given++;
		}
	}
}

static int refuse(const struct model *m, int32_t near, struct fault *fault, const char *layer,
		  const char *why)
{
	char nearest[512];

	suggest(m, near, nearest, sizeof(nearest));
	return fault_set(fault, DXP_EINVAL,
			 "--split: \"%s\" %s; the nearest cuts are %s; --list-layers shows all",
			 layer, why, nearest[0] ? nearest : "none");
}

static bool layer_number(const char *layer, int32_t *op)
{
	char *end;

	if (!isdigit((unsigned char)layer[0]))
		return false;
	errno = 0;
	long number = strtol(layer, &end, 10);
	if (*end || errno || number > MODEL_OPS_MAX)
		return false;
	*op = (int32_t)number;
	return true;
}

static int layer_part(const struct model *m, const char *layer, int32_t *op, struct fault *fault)
{
	int32_t matches = 0, match = 0, singles = 0, single = 0;

	for (int32_t i = 0; i < m->op_count; i++) {
		struct cut cut;
		if (!strstr(model_layer_name(m, i), layer))
			continue;
		matches++;
		match = i;
		if (i + 1 < m->op_count && plan_crossing(m, i, &cut) == 1) {
			singles++;
			single = i;
		}
	}
	if (matches == 0)
		return refuse(m, m->op_count / 2, fault, layer, "is part of no layer's name");
	if (matches > 1 && singles != 1)
		return refuse(m, singles ? single : match, fault, layer,
			      "is part of several names");
	*op = matches == 1 ? match : single;
	return DXP_OK;
}

static int layer_find(const struct model *m, const char *layer, int32_t *op, struct fault *fault)
{
	for (int32_t i = 0; i < m->op_count; i++) {
		if (strcmp(model_layer_name(m, i), layer) == 0) {
			*op = i;
			return DXP_OK;
		}
	}
	if (layer_number(layer, op))
		return DXP_OK;
	return layer_part(m, layer, op, fault);
}

static int layer_cut(const struct model *m, const char *layer, int32_t before, int32_t *op,
		     struct fault *fault)
{
	struct cut cut;
	int status = *layer ? layer_find(m, layer, op, fault)
			    : refuse(m, m->op_count / 2, fault, layer, "names no layer");

	if (status != DXP_OK)
		return status;
	if (*op >= m->op_count - 1)
		return refuse(m, m->op_count - 1, fault, layer, "leaves no layer for the next xPU");
	if (*op <= before)
		return refuse(m, *op, fault, layer,
			      "does not follow the previous layer of the list");
	if (plan_crossing(m, *op, &cut) > CUT_TENSORS_MAX)
		return refuse(m, *op, fault, layer, "cuts more tensors than one stage can send");
	return DXP_OK;
}

int plan_layers(const struct model *m, const char *layers, struct plan *out, struct fault *fault)
{
	int32_t after[STAGES_MAX];
	uint32_t cuts = 0;
	int status = DXP_OK;
	char *list = strdup(layers), *rest = list;

	if (!list)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	for (char *layer; status == DXP_OK && (layer = strsep(&rest, ","));) {
		if (cuts == STAGES_MAX - 1)
			status = fault_set(fault, DXP_EINVAL, "--split: more than %d layers",
					   STAGES_MAX - 1);
		else
			status = layer_cut(m, layer, cuts ? after[cuts - 1] : -1, &after[cuts],
					   fault);
		cuts++;
	}
	free(list);
	if (status == DXP_OK)
		plan_fill(m, after, cuts, out);
	return status;
}
