/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a model into stages: where to cut, and which tensors cross each cut.
 *
 * A cut is named by the last operator before it. A tensor crosses when it exists before the cut
 * (computed, or the network's input) and is used behind it. Cuts that one tensor crosses are the
 * usual ones; up to CUT_TENSORS_MAX may. */
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
	struct cut cuts[STAGES_MAX]; /* [i]: between stage i and i + 1; behind the last stage: the
					answer */
};

/* The tensors that cross after operator `after`. Returns how many there are; out->count is at most
 * CUT_TENSORS_MAX. */
int32_t plan_crossing(const struct model *m, int32_t after, struct cut *out);

/* Bytes that cross a cut for one photo. */
uint64_t plan_cut_bytes(const struct model *m, const struct cut *cut);

/* Cuts so that the largest stage has as few multiply-adds as possible, among those the one that
 * moves the fewest bytes. Cuts with one tensor only, unless there are not enough of them.
 * DXP_EINVAL when the model cannot be cut that often. */
int plan_auto(const struct model *m, uint32_t stages, struct plan *out, struct fault *fault);

/* Cuts behind the layers of a list separated by commas, in the model's order. A layer is the name
 * of a tensor, the number of an operator, or a part of a name that only one layer has, or only one
 * of those behind which one tensor crosses. DXP_EINVAL with a sentence that names cuts that would
 * do. */
int plan_layers(const struct model *m, const char *layers, struct plan *out, struct fault *fault);

#endif
