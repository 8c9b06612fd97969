/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everything of a stage lies in the memory of its xPU: one region,
 *
 *   constants | arena | slot 0 | slot 1 | ...
 *
 * The arena holds the tensors that live inside the stage; two that are never needed at the same
 * time may share bytes. A slot holds what comes from and goes to others for one photo: the photo
 * itself or the tensors of the cut before, the tensors of the cut behind or the answer. There is
 * one slot for each photo under way, so a stage computes one photo while the next one arrives and
 * the last one leaves. Every place is 256-byte aligned. */
#ifndef CLASSIFY_MEMORY_H
#define CLASSIFY_MEMORY_H

#include "model.h"
#include "plan.h"

enum place_kind { PLACE_NONE, PLACE_ARENA, PLACE_SLOT };

struct place {
	enum place_kind kind;
	uint64_t at; /* in the arena, or in each slot */
};

struct layout {
	struct place *places; /* by tensor */
	uint64_t photo_at;    /* in each slot of the first stage */
	uint64_t arena_at;    /* in the region; the constants end before */
	uint64_t slots_at;
	uint64_t slot_bytes;
	uint64_t bytes; /* of the region */
};

struct layout_options {
	uint64_t constant_bytes;
	uint32_t slots;
	bool floats; /* the network's input comes as floats, not as the bytes of a photo */
};

/* Lays out stage `stage` of the plan. *out must be released. DXP_ENOMEM. */
int layout_build(const struct model *m, const struct plan *plan, uint32_t stage,
		 const struct layout_options *options, struct layout *out);
void layout_release(struct layout *l);

/* Offset in the region of a tensor that the stage knows, for the photo in slot `slot`. */
uint64_t layout_tensor(const struct layout *l, int32_t tensor, uint32_t slot);
uint64_t layout_photo(const struct layout *l, uint32_t slot);

uint64_t tensor_float_bytes(const struct tensor *t);

#endif
