/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a model into stages: the cuts, and the tensors that cross each cut.
 *
 * A cut is named by the last operator before it. A tensor crosses a cut if it exists before the cut
 * (because it was computed or is the network's input) and is used after the cut. Usually one tensor
 * crosses; up to CUT_TENSORS_MAX may. */
#ifndef CLASSIFY_PLAN_H
#define CLASSIFY_PLAN_H

#include "model.h"

struct cut {
	int32_t after; /* index of the last operator before the cut */
	int32_t count; /* number of tensors that cross the cut */
	int32_t tensors[CUT_TENSORS_MAX];
};

struct stage {
	int32_t first, last; /* indices of operators */
	int64_t macs;
};

struct plan {
	uint32_t stage_count;
	struct stage stages[STAGES_MAX];
	/* cuts[i] is between stages i and i + 1; the entry of the last stage holds the answer */
	struct cut cuts[STAGES_MAX];
};

/* Finds the tensors that cross a cut after operator `after`. Returns their number, which may be
 * larger than CUT_TENSORS_MAX; out->count is not. */
int32_t plan_crossing(const struct model *m, int32_t after, struct cut *out);

/* Returns the bytes that cross a cut for one photo. */
uint64_t plan_cut_bytes(const struct model *m, const struct cut *cut);

/* Plans `stages` stages. Minimizes the multiply-adds of the largest stage, then the bytes that
 * cross. Uses only cuts that one tensor crosses, unless there are too few of them. Returns
 * DXP_EINVAL if the model has too few cuts. */
int plan_auto(const struct model *m, uint32_t stages, struct plan *out, struct fault *fault);

/* Cuts after the layers of a comma-separated list, which must be in the order of the model. A layer
 * is the name of a tensor, the number of an operator, or a part of a name. The part must match only
 * one layer, or only one layer after which one tensor crosses. Returns DXP_EINVAL with a message
 * that suggests cuts. */
int plan_layers(const struct model *m, const char *layers, struct plan *out, struct fault *fault);

#endif
