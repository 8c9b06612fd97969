/* SPDX-License-Identifier: BSD-3-Clause */
/* A stage's memory on its xPU is one region:
 *
 *   constants | arena | photo buffer 0 | photo buffer 1 | ...
 *
 * The arena holds the tensors inside the stage, which share bytes if their lifetimes are disjoint.
 * A photo buffer (`buffer_index`) holds input (photo or previous cut) and output (next cut or
 * answer) of one photo in progress. So a stage computes one photo while the next arrives and the
 * previous leaves. Every offset is 256-byte aligned. */
#ifndef CLASSIFY_MEMORY_H
#define CLASSIFY_MEMORY_H

#include "model.h"
#include "plan.h"

enum memory_kind { MEMORY_NONE, MEMORY_ARENA, MEMORY_CONSTANT };

struct tensor_memory {
	enum memory_kind kind;
	uint64_t at; /* offset in the arena or each photo buffer */
};

struct layout {
	struct tensor_memory *tensors; /* indexed by tensor */
	uint64_t photo_at;             /* in each photo buffer; first stage only */
	uint64_t arena_at;             /* in the region, behind the constants */
	uint64_t slots_at;
	uint64_t slot_bytes;
	uint64_t bytes; /* size of the region */
};

struct layout_options {
	uint64_t constant_bytes;
	uint32_t slots;
	bool floats; /* the network's input is floats, not bytes */
};

/* The caller releases *out. Error: DXP_ENOMEM. */
int layout_build(const struct model *m, const struct plan *plan, uint32_t stage,
		 const struct layout_options *options, struct layout *out);
void layout_release(struct layout *l);

/* Returns a tensor's offset in the region; one in photo buffers, in buffer `buffer_index`. */
uint64_t layout_tensor(const struct layout *l, int32_t tensor, uint32_t buffer_index);
uint64_t layout_photo(const struct layout *l, uint32_t buffer_index);

uint64_t tensor_float_bytes(const struct tensor *t);

#endif
