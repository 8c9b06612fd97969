/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a stage (consecutive operators of a model) into kernel launches and one block of packed
 * constants. Tensors are named by index here; where they lie is decided in memory.h. */
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

/* In the order in which they run. */
struct steps {
	struct step *list;
	uint32_t count, room;
	uint8_t *constants; /* begins with the zeros that convolutions read outside an image */
	size_t constant_bytes, constant_room;
	bool failed; /* memory ran out while building */
};

/* How a photo's bytes become the network's input when its tensor is float: real = byte * scale +
 * offset. 8-bit inputs carry their own scale, which then counts. */
struct photo_line {
	float scale, offset;
};

/* Builds the launches of operators first .. last, and of the photo's conversion when `photo` is not
 * NULL. *out must be released. DXP_ENOMEM. */
int steps_build(const struct model *m, int32_t first, int32_t last, const struct photo_line *photo,
		struct steps *out);
void steps_release(struct steps *s);

/* Reserves `count` zeroed floats among the constants, 256-byte aligned, and returns their byte
 * offset; *at is NULL when memory ran out. Valid until the next reservation. */
uint64_t steps_reserve(struct steps *s, size_t count, float **at);

/* Weights as the kernels want them, each returning the byte offset. */
uint64_t pack_convolution(struct steps *s, const struct tensor *weights);
uint64_t pack_depthwise(struct steps *s, const struct tensor *weights);
uint64_t pack_bias(struct steps *s, const struct tensor *bias, int32_t outputs);
uint64_t pack_plain(struct steps *s, const struct tensor *t);

#endif
