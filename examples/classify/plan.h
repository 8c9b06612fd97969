/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a model into stages: the cuts, and the tensors that cross each.
 *
 * A cut is named by the last operator before it. A tensor crosses if it exists before the cut
 * (computed, or the network's input) and is used behind it. Usually one tensor crosses; up to
 * CUT_TENSORS_MAX may. */
#ifndef CLASSIFY_PLAN_H
#define CLASSIFY_PLAN_H

#include "model.h"

struct cut {
	int32_t after; /* operator */
	int32_t count; /* tensors that cross */
	int32_t tensors[CUT_TENSORS_MAX];
};

struct stage {
	int32_t first, last; /* operators */
	int64_t macs;
};

struct plan {
	uint32_t stage_count;
	struct stage stages[STAGES_MAX];
	/* [i]: between stage i and i + 1; behind the last stage: the answer */
	struct cut cuts[STAGES_MAX];
};

/* Finds the tensors that cross after operator `after`. Returns their number; out->count is at most
 * CUT_TENSORS_MAX. */
int32_t plan_crossing(const struct model *m, int32_t after, struct cut *out);

/* Returns the bytes that cross a cut for one photo. */
uint64_t plan_cut_bytes(const struct model *m, const struct cut *cut);

/* Minimizes the multiply-adds of the largest stage, then the bytes that cross. Uses cuts with
 * one tensor only, unless there are too few. Returns DXP_EINVAL if the model cannot be cut that
 * often. */
int plan_auto(const struct model *m, uint32_t stages, struct plan *out, struct fault *fault);

/* Cuts behind the layers of a comma-separated list, in the model's order. A layer is a tensor's
 * name, an operator's number, or a part of a name. The part must match one layer only, or only one
 * layer behind which one tensor crosses. Returns DXP_EINVAL with a message that suggests cuts. */
int plan_layers(const struct model *m, const char *layers, struct plan *out, struct fault *fault);

#endif
