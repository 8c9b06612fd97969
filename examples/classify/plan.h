/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a model into stages. A cut is named by the last operator before it. A tensor crosses if it
 * exists before the cut (computed, or the network's input) and is used after; usually one does, up
 * to CUT_TENSORS_MAX may. */
#ifndef CLASSIFY_PLAN_H
#define CLASSIFY_PLAN_H

#include "model.h"

struct cut {
	int32_t after; /* last operator before the cut */
	int32_t count; /* crossing tensors */
	int32_t tensors[CUT_TENSORS_MAX];
};

struct stage {
	int32_t first, last; /* indices of operators */
	int64_t macs;
};

struct plan {
	uint32_t stage_count;
	struct stage stages[STAGES_MAX];
	/* cuts[i]: between stages i and i + 1; the last entry holds the answer */
	struct cut cuts[STAGES_MAX];
};

/* Finds the tensors that cross after operator `after`. Returns their number, which may exceed
 * CUT_TENSORS_MAX; out->count does not. */
int32_t plan_crossing(const struct model *m, int32_t after, struct cut *out);

/* Returns the bytes per photo. */
uint64_t plan_cut_bytes(const struct model *m, const struct cut *cut);

/* Minimizes the largest stage's multiply-adds, then the crossing bytes. Prefers cuts that one
 * tensor crosses. Returns DXP_EINVAL if the model has too few cuts. */
int plan_auto(const struct model *m, uint32_t stages, struct plan *out, struct fault *fault);

/* Cuts after a comma-separated list of layers in model order. A layer is a tensor's name, an
 * operator's number, or a part of a name that matches one layer, or one layer after which one
 * tensor crosses. Returns DXP_EINVAL with suggested cuts. */
int plan_layers(const struct model *m, const char *layers, struct plan *out, struct fault *fault);

#endif
