/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs constants as floats in the kernels' order. Weights are converted to real numbers once, at
 * load. */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#define LANES           16 /* same value as in kernels.cl */
#define ALIGNMENT_BYTES 256

uint64_t steps_reserve(struct steps *s, size_t count, float **at)
{
	size_t bytes =
		(count * sizeof(float) + ALIGNMENT_BYTES - 1) & ~(size_t)(ALIGNMENT_BYTES - 1);
	size_t start = s->constant_bytes;

	*at = NULL;
	if (start + bytes > s->constant_space) {
		size_t space = (start + bytes) * 3 / 2;
		uint8_t *larger = s->failed ? NULL : realloc(s->constants, space);
		if (!larger) {
			s->failed = true;
			return 0;
		}
		s->constants = larger;
		s->constant_space = space;
	}
	*at = (float *)(void *)(s->constants + start);
	memset(*at, 0, bytes);
	s->constant_bytes = start + bytes;
	return start;
}

/* Keeps the file's order. 8-bit constants with one scale use a table of 256 values. */
static void to_real(const struct tensor *t, float *out)
{
	bool table = (t->type == TENSOR_UINT8 || t->type == TENSOR_INT8) && t->quant_count <= 1;
	float real[256];

	if (t->type == TENSOR_FLOAT32) {
		memcpy(out, t->data, (size_t)t->elements * sizeof(float));
		return;
	}
	for (int byte = 0; table && byte < 256; byte++) {
		uint8_t stored = (uint8_t)byte;
		struct tensor one = *t;
		one.data = &stored;
		real[byte] = tensor_value(&one, 0);
	}
	for (int64_t i = 0; i < t->elements; i++)
		out[i] = table ? real[t->data[i]] : tensor_value(t, i);
}

/* [output][y][x][input] or [output][input] to [block of 16][y][x][input][16]. */
uint64_t pack_convolution(struct steps *s, const struct tensor *weights)
{
	int64_t outputs = weights->shape[0], inner = weights->elements / outputs;
	int64_t blocks = (outputs + LANES - 1) / LANES;
	float *real = malloc((size_t)weights->elements * sizeof(*real));
	float *packed;
	uint64_t at = steps_reserve(s, (size_t)(blocks * inner * LANES), &packed);

	if (!real || !packed) {
		s->failed = true;
		free(real);
		return 0;
	}
	to_real(weights, real);
	for (int64_t o = 0; o < outputs; o++) {
		float *to = packed + o / LANES * inner * LANES + o % LANES;
		for (int64_t k = 0; k < inner; k++)
			to[k * LANES] = real[o * inner + k];
	}
	free(real);
	return at;
}

uint64_t pack_depthwise(struct steps *s, const struct tensor *weights)
{
	return pack_plain(s, weights);
}

uint64_t pack_bias(struct steps *s, const struct tensor *bias, int32_t outputs)
{
	size_t padded = ((size_t)outputs + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
	float *to;
	uint64_t at = steps_reserve(s, padded, &to);

	for (int32_t i = 0; to && bias && i < outputs; i++)
		to[i] = tensor_value(bias, i);
	return at;
}

uint64_t pack_plain(struct steps *s, const struct tensor *t)
{
	float *to;
	uint64_t at = steps_reserve(s, (size_t)t->elements, &to);

	if (to)
		to_real(t, to);
	return at;
}
