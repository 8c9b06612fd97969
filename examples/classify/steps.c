/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts operators to kernel launches, one function per family. */
#include "steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#define TILE_PIXELS   8 /* same value as in kernels.cl */
#define TILE_CHANNELS 32
#define CHUNK         1024

struct lowering {
	const struct model *m;
	const struct op *op;
	struct steps *steps;
};

struct quad {
	int32_t v[4];
};

static const struct tensor *input_of(const struct lowering *l, int32_t which)
{
	return &l->m->tensors[l->op->inputs[which]];
}

static const struct tensor *output_of(const struct lowering *l)
{
	return &l->m->tensors[l->op->output];
}

/* A tensor without height and width is one row of pixels. */
static struct quad shape_of(const struct tensor *t)
{
	if (t->dims == 4)
		return (struct quad){{t->shape[1], t->shape[2], t->shape[3], 0}};
	int32_t channels = t->dims ? t->shape[t->dims - 1] : 1;
	return (struct quad){{1, (int32_t)(t->elements / channels), channels, 0}};
}

static struct step *step_add(struct steps *s, const char *kernel, uint64_t global0,
			     uint64_t global1)
{
	if (s->count == s->space) {
		uint32_t space = s->space ? s->space * 2 : 64;
		struct step *list = realloc(s->list, space * sizeof(*list));
		if (!list) {
			s->failed = true;
			return NULL;
		}
		s->list = list;
		s->space = space;
	}
	struct step *step = &s->list[s->count++];
	*step = (struct step){.kernel = kernel, .global = {global0, global1}};
	return step;
}

static void argument(struct step *step, enum step_argument_kind kind, uint64_t index)
{
	if (!step)
		return;
	assert(step->argument_count < STEP_ARGUMENTS_MAX);
	step->arguments[step->argument_count++] =
		(struct step_argument){.kind = kind, .index = index};
}

static void value(struct step *step, const void *v, uint32_t bytes)
{
	argument(step, STEP_VALUE, 0);
	if (!step)
		return;
	struct step_argument *a = &step->arguments[step->argument_count - 1];
	a->bytes = bytes;
	memcpy(a->value, v, bytes);
}

static void number(struct step *step, int64_t n)
{
	int32_t v = (int32_t)n;
	value(step, &v, sizeof(v));
}

static void shape(struct step *step, const struct tensor *t)
{
	struct quad v = shape_of(t);
	value(step, &v, sizeof(v));
}

static void four(struct step *step, int32_t a, int32_t b, int32_t c, int32_t d)
{
	struct quad v = {{a, b, c, d}};
	value(step, &v, sizeof(v));
}

static void range(struct step *step, const struct lowering *l)
{
	struct range r = model_range(l->m, l->op);
	value(step, &r, sizeof(r));
}

static uint64_t chunks(int64_t elements)
{
	return (uint64_t)(elements + CHUNK - 1) / CHUNK;
}

static uint64_t pixels_of(const struct tensor *t)
{
	struct quad s = shape_of(t);
	return (uint64_t)s.v[0] * (uint64_t)s.v[1];
}

static uint64_t bias_of(const struct lowering *l, int32_t outputs)
{
	bool given = l->op->input_count > 2 && l->op->inputs[2] >= 0;
	return pack_bias(l->steps, given ? input_of(l, 2) : NULL, outputs);
}

static void lower_convolution(const struct lowering *l)
{
	const struct op *op = l->op;
	const struct tensor *out = output_of(l);
	bool deep = op->kind == OP_DEPTHWISE_CONV_2D;
	uint64_t pixels = pixels_of(out);
	int32_t outputs = out->shape[3];
	uint64_t weights = deep ? pack_depthwise(l->steps, input_of(l, 1))
				: pack_convolution(l->steps, input_of(l, 1));
	uint64_t bias = bias_of(l, outputs);
	struct step *s = deep ? step_add(l->steps, "depthwise", pixels, 1)
			      : step_add(l->steps, "conv", (pixels + TILE_PIXELS - 1) / TILE_PIXELS,
					 ((uint64_t)outputs + TILE_CHANNELS - 1) / TILE_CHANNELS);

	argument(s, STEP_TENSOR, (uint64_t)op->inputs[0]);
	argument(s, STEP_CONSTANT, weights);
	argument(s, STEP_CONSTANT, bias);
	argument(s, STEP_CONSTANT, 0);
	argument(s, STEP_TENSOR, (uint64_t)op->output);
	shape(s, input_of(l, 0));
	shape(s, out);
	four(s, op->window_y, op->window_x, op->stride_y, op->stride_x);
	four(s, op->pad_top, op->pad_left, op->dilation_y, op->dilation_x);
	range(s, l);
}

/* Becomes a convolution with a window of one pixel over a row. */
static void lower_fully_connected(const struct lowering *l)
{
	const struct tensor *weights = input_of(l, 1);
	int32_t outputs = weights->shape[0], inputs = weights->shape[1];
	int32_t rows = (int32_t)(input_of(l, 0)->elements / inputs);
	uint64_t packed = pack_convolution(l->steps, weights), bias = bias_of(l, outputs);
	struct step *s =
		step_add(l->steps, "conv", (uint64_t)(rows + TILE_PIXELS - 1) / TILE_PIXELS,
			 ((uint64_t)outputs + TILE_CHANNELS - 1) / TILE_CHANNELS);

	argument(s, STEP_TENSOR, (uint64_t)l->op->inputs[0]);
	argument(s, STEP_CONSTANT, packed);
	argument(s, STEP_CONSTANT, bias);
	argument(s, STEP_CONSTANT, 0);
	argument(s, STEP_TENSOR, (uint64_t)l->op->output);
	four(s, 1, rows, inputs, 0);
	four(s, 1, rows, outputs, 0);
	four(s, 1, 1, 1, 1);
	four(s, 0, 0, 1, 1);
	range(s, l);
}

static void lower_pool(const struct lowering *l)
{
	const struct op *op = l->op;
	/* MEAN: one window as large as the image */
	bool whole = op->kind == OP_MEAN;
	struct step *s =
		step_add(l->steps, op->kind == OP_MAX_POOL_2D ? "max_pool" : "average_pool",
			 whole ? 1 : pixels_of(output_of(l)), 1);

	argument(s, STEP_TENSOR, (uint64_t)op->inputs[0]);
	argument(s, STEP_TENSOR, (uint64_t)op->output);
	shape(s, input_of(l, 0));
	if (whole)
		four(s, 1, 1, input_of(l, 0)->shape[3], 0);
	else
		shape(s, output_of(l));
	four(s, op->window_y, op->window_x, whole ? 1 : op->stride_y, whole ? 1 : op->stride_x);
	four(s, op->pad_top, op->pad_left, 1, 1);
	range(s, l);
}

static void lower_concatenation(const struct lowering *l)
{
	const struct tensor *out = output_of(l);
	int64_t rows = 1, inner = 1, at = 0;

	for (int32_t d = 0; d < out->dims; d++) {
		if (d < l->op->axis)
			rows *= out->shape[d];
		if (d > l->op->axis)
			inner *= out->shape[d];
	}
	for (int32_t i = 0; i < l->op->input_count; i++) {
		int64_t count = input_of(l, i)->shape[l->op->axis] * inner;
		struct step *s = step_add(l->steps, "place", (uint64_t)rows, 1);
		argument(s, STEP_TENSOR, (uint64_t)l->op->inputs[i]);
		argument(s, STEP_TENSOR, (uint64_t)l->op->output);
		number(s, count);
		number(s, out->shape[l->op->axis] * inner);
		number(s, at);
		range(s, l);
		at += count;
	}
}

static void lower_binary(const struct lowering *l)
{
	uint64_t index[2];
	const struct tensor *out = output_of(l);

	for (int32_t i = 0; i < 2; i++)
		index[i] = input_of(l, i)->data ? pack_plain(l->steps, input_of(l, i))
						: (uint64_t)l->op->inputs[i];
	struct step *s = step_add(l->steps, l->op->kind == OP_ADD ? "add" : "multiply",
				  chunks(out->elements), 1);
	for (int32_t i = 0; i < 2; i++)
		argument(s, input_of(l, i)->data ? STEP_CONSTANT : STEP_TENSOR, index[i]);
	argument(s, STEP_TENSOR, (uint64_t)l->op->output);
	number(s, out->elements);
	number(s, input_of(l, 0)->elements);
	number(s, input_of(l, 1)->elements);
	range(s, l);
}

static void lower_pad(const struct lowering *l)
{
	const struct tensor *in = input_of(l, 0), *out = output_of(l);
	struct quad from = {{1, 1, 1, 1}}, to = {{1, 1, 1, 1}}, before = {{0, 0, 0, 0}};

	for (int32_t d = 0; d < in->dims; d++) {
		int32_t at = 4 - in->dims + d;
		from.v[at] = in->shape[d];
		to.v[at] = out->shape[d];
		memcpy(&before.v[at], input_of(l, 1)->data + (size_t)d * 2 * sizeof(int32_t),
		       sizeof(int32_t));
	}
	struct step *s = step_add(l->steps, "pad", (uint64_t)to.v[0] * (uint64_t)to.v[1], 1);
	argument(s, STEP_TENSOR, (uint64_t)l->op->inputs[0]);
	argument(s, STEP_TENSOR, (uint64_t)l->op->output);
	value(s, &from, sizeof(from));
	value(s, &to, sizeof(to));
	value(s, &before, sizeof(before));
}

static void lower_softmax(const struct lowering *l)
{
	const struct tensor *t = output_of(l);
	int32_t count = t->shape[t->dims - 1];
	struct step *s = step_add(l->steps, "softmax", (uint64_t)(t->elements / count), 1);

	argument(s, STEP_TENSOR, (uint64_t)l->op->inputs[0]);
	argument(s, STEP_TENSOR, (uint64_t)l->op->output);
	number(s, count);
	value(s, &l->op->beta, sizeof(l->op->beta));
	range(s, l);
}

static void lower_elementwise(const struct lowering *l)
{
	struct step *s = step_add(l->steps, l->op->kind == OP_LOGISTIC ? "logistic" : "copy",
				  chunks(output_of(l)->elements), 1);

	argument(s, STEP_TENSOR, (uint64_t)l->op->inputs[0]);
	argument(s, STEP_TENSOR, (uint64_t)l->op->output);
	number(s, output_of(l)->elements);
	range(s, l);
}

static void lower(const struct lowering *l)
{
	switch (l->op->kind) {
	case OP_CONV_2D:
	case OP_DEPTHWISE_CONV_2D: lower_convolution(l); return;
	case OP_FULLY_CONNECTED: lower_fully_connected(l); return;
	case OP_AVERAGE_POOL_2D:
	case OP_MAX_POOL_2D:
	case OP_MEAN: lower_pool(l); return;
	case OP_CONCATENATION: lower_concatenation(l); return;
	case OP_ADD:
	case OP_MUL: lower_binary(l); return;
	case OP_PAD: lower_pad(l); return;
	case OP_SOFTMAX: lower_softmax(l); return;
	case OP_LOGISTIC:
	case OP_RELU:
	case OP_RELU6:
	case OP_RESHAPE:
	case OP_SQUEEZE:
	case OP_QUANTIZE:
	case OP_DEQUANTIZE: lower_elementwise(l); return;
	case OP_KINDS: break;
	}
	assert(!"an unknown operator passed model_check");
}

/* An 8-bit input stores the byte, or the byte minus 128; its own scale replaces `line`. */
static void lower_photo(const struct model *m, const struct photo_line *line, struct steps *steps)
{
	const struct tensor *t = &m->tensors[m->input];
	struct photo_line own = *line;

	if (t->type != TENSOR_FLOAT32) {
		int32_t zero = t->zero[0] + (t->type == TENSOR_INT8 ? 128 : 0);
		own = (struct photo_line){t->scale[0], -t->scale[0] * (float)zero};
	}
	struct step *s = step_add(steps, "photo", chunks(t->elements), 1);
	argument(s, STEP_PHOTO, 0);
	argument(s, STEP_TENSOR, (uint64_t)m->input);
	number(s, t->elements);
	value(s, &own, sizeof(own));
}

/* One zero per channel of the widest input. */
static void reserve_zeros(const struct model *m, int32_t first, int32_t last, struct steps *s)
{
	int32_t channels = 16;
	float *zeros;

	for (int32_t i = first; i <= last; i++) {
		const struct tensor *in = &m->tensors[m->ops[i].inputs[0]];
		if (in->dims == 4 && in->shape[3] > channels)
			channels = in->shape[3];
	}
	steps_reserve(s, (size_t)channels, &zeros);
}

int steps_build(const struct model *m, int32_t first, int32_t last, const struct photo_line *photo,
		struct steps *out)
{
	struct steps s = {0};

	reserve_zeros(m, first, last, &s);
	if (photo)
		lower_photo(m, photo, &s);
	for (int32_t i = first; i <= last && !s.failed; i++)
		lower(&(struct lowering){.m = m, .op = &m->ops[i], .steps = &s});
	if (s.failed) {
		steps_release(&s);
		return DXP_ENOMEM;
	}
	*out = s;
	return DXP_OK;
}

void steps_release(struct steps *s)
{
	free(s->list);
	free(s->constants);
	*s = (struct steps){0};
}
