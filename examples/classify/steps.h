/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a stage (consecutive operators) to kernel launches and packed constants. Arguments name
 * tensors; memory.h decides addresses. */
#ifndef CLASSIFY_STEPS_H
#define CLASSIFY_STEPS_H

#include "model.h"

enum step_argument_kind {
	STEP_TENSOR,   /* address of tensor `index` */
	STEP_CONSTANT, /* address of byte `index` of the constants */
	STEP_PHOTO,    /* address of the photo's bytes */
	STEP_VALUE,    /* `bytes` bytes of `value` */
};

struct step_argument {
	enum step_argument_kind kind;
	uint32_t bytes;
	uint64_t index;
	uint8_t value[16];
};

/* One work-item per work-group. */
struct step {
	const char *kernel;
	uint64_t global[2];
	uint32_t argument_count;
	struct step_argument arguments[STEP_ARGUMENTS_MAX];
};

struct steps {
	struct step *list;
	uint32_t count, space;
	uint8_t *constants; /* first the zeros that convolutions read outside an image */
	size_t constant_bytes, constant_space;
	bool failed; /* out of memory while building */
};

/* Float input: real = byte * scale + offset. An 8-bit input's own scale overrides this. */
struct photo_line {
	float scale, offset;
};

/* Builds launches of operators first .. last, after the photo's conversion unless `photo` is NULL.
 * The caller releases *out. Error: DXP_ENOMEM. */
int steps_build(const struct model *m, int32_t first, int32_t last, const struct photo_line *photo,
		struct steps *out);
void steps_release(struct steps *s);

/* Reserves zeroed floats, 256-byte aligned; returns their byte offset. *at is valid until the next
 * reservation; NULL: out of memory. */
uint64_t steps_reserve(struct steps *s, size_t count, float **at);

/* Return the packed weights' byte offset in the constants. */
uint64_t pack_convolution(struct steps *s, const struct tensor *weights);
uint64_t pack_depthwise(struct steps *s, const struct tensor *weights);
uint64_t pack_bias(struct steps *s, const struct tensor *bias, int32_t outputs);
uint64_t pack_plain(struct steps *s, const struct tensor *t);

#endif
