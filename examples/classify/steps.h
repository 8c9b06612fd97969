/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a stage (consecutive operators of a model) to kernel launches and one block of packed
 * constants. Arguments name tensors by index; memory.h decides their addresses. */
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

/* One launch. Each work-group holds one work-item. */
struct step {
	const char *kernel;
	uint64_t global[2];
	uint32_t argument_count;
	struct step_argument arguments[STEP_ARGUMENTS_MAX];
};

/* Launches in execution order, and their constants. */
struct steps {
	struct step *list;
	uint32_t count, space;
	uint8_t *constants; /* begins with the zeros that convolutions read outside an image */
	size_t constant_bytes, constant_space;
	bool failed; /* out of memory while building */
};

/* Conversion of a photo's bytes to a float input: real = byte * scale + offset. An 8-bit input has
 * its own scale, which overrides this one. */
struct photo_line {
	float scale, offset;
};

/* Builds the launches of operators first .. last. If `photo` is not NULL, the conversion of the
 * photo comes first. The caller releases *out. Error: DXP_ENOMEM. */
int steps_build(const struct model *m, int32_t first, int32_t last, const struct photo_line *photo,
		struct steps *out);
void steps_release(struct steps *s);

/* Reserves `count` zeroed floats in the constants, 256-byte aligned. Returns their byte offset. *at
 * points to them until the next reservation; it is NULL if out of memory. */
uint64_t steps_reserve(struct steps *s, size_t count, float **at);

/* Pack weights in the order of the kernels. Return the byte offset of the packed weights in the
 * constants. */
uint64_t pack_convolution(struct steps *s, const struct tensor *weights);
uint64_t pack_depthwise(struct steps *s, const struct tensor *weights);
uint64_t pack_bias(struct steps *s, const struct tensor *bias, int32_t outputs);
uint64_t pack_plain(struct steps *s, const struct tensor *t);

#endif
