/* SPDX-License-Identifier: BSD-3-Clause */
/* Lowers a stage (consecutive operators of a model) to kernel launches and one block of packed
 * constants. Names tensors by index; memory.h decides their addresses. */
#ifndef CLASSIFY_STEPS_H
#define CLASSIFY_STEPS_H

#include "model.h"

enum step_argument_kind {
	STEP_TENSOR,   /* buffer: tensor `index` */
	STEP_CONSTANT, /* buffer: byte `index` of the constants */
	STEP_PHOTO,    /* buffer: the bytes of the photo */
	STEP_VALUE,    /* `bytes` of `value` */
};

struct step_argument {
	enum step_argument_kind kind;
	uint32_t bytes;
	uint64_t index;
	uint8_t value[16];
};

/* One launch. Work-groups hold one work-item. */
struct step {
	const char *kernel;
	uint64_t global[2];
	uint32_t argument_count;
	struct step_argument arguments[STEP_ARGUMENTS_MAX];
};

/* Launches in execution order. */
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

/* Builds the launches of operators first .. last, preceded by the photo's conversion if `photo` is
 * not NULL. The caller releases *out. Error: DXP_ENOMEM. */
int steps_build(const struct model *m, int32_t first, int32_t last, const struct photo_line *photo,
		struct steps *out);
void steps_release(struct steps *s);

/* Reserves `count` zeroed floats in the constants, 256-byte aligned; returns their byte offset. *at
 * is valid until the next reservation; NULL if out of memory. */
uint64_t steps_reserve(struct steps *s, size_t count, float **at);

/* Pack weights in the order of the kernels; return the byte offset. */
uint64_t pack_convolution(struct steps *s, const struct tensor *weights);
uint64_t pack_depthwise(struct steps *s, const struct tensor *weights);
uint64_t pack_bias(struct steps *s, const struct tensor *bias, int32_t outputs);
uint64_t pack_plain(struct steps *s, const struct tensor *t);

#endif
