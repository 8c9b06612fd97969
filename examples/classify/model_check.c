/* SPDX-License-Identifier: BSD-3-Clause */
/* Proves a model consistent: checks each operator once, in execution order, against tensors
 * computed before. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

/* per operator; the sum over all fits 64 bits */
#define OP_MACS_MAX (1ll << 44)

struct check {
	struct model *model;
	bool *present; /* by tensor: has a value already */
	int32_t index; /* index of the current operator */
	struct fault *fault;
};

static struct tensor *input_of(const struct check *c, int32_t which)
{
	return &c->model->tensors[c->model->ops[c->index].inputs[which]];
}

static struct tensor *output_of(const struct check *c)
{
	return &c->model->tensors[c->model->ops[c->index].output];
}

static int refuse(const struct check *c, int status, const char *why)
{
	const struct model *m = c->model;

	return fault_set(c->fault, status, "%s: operator %d (%s, layer \"%s\"): %s", m->path,
			 c->index, op_kind_name(m->ops[c->index].kind),
			 model_layer_name(m, c->index), why);
}

static int malformed(const struct check *c, const char *why)
{
	return refuse(c, DXP_EMALFORMED, why);
}

static bool is_image(const struct tensor *t)
{
	return t->dims == 4 && t->shape[0] == 1;
}

static bool is_8bit(const struct tensor *t)
{
	return t->type == TENSOR_UINT8 || t->type == TENSOR_INT8;
}

static bool is_activation(const struct tensor *t)
{
	return t->type == TENSOR_FLOAT32 || (is_8bit(t) && t->quant_count == 1);
}

/* Returns false if the window does not fit. */
static bool slide(bool same, int32_t in, int32_t window, int32_t stride, int32_t dilation,
		  int32_t *out, int32_t *before)
{
	int64_t reach = (int64_t)(window - 1) * dilation + 1;

	if (!same && in < reach)
		return false;
	*out = same ? (in + stride - 1) / stride : (int32_t)((in - reach) / stride + 1);
	int64_t missing = (int64_t)(*out - 1) * stride + reach - in;
	*before = missing > 0 ? (int32_t)(missing / 2) : 0;
	return true;
}

static bool in_bounds(int32_t v, int32_t most)
{
	return v >= 1 && v <= most;
}

/* Checks window, stride and dilation of a convolution or pool, and whether they give the declared
 * output size. */
static int check_window(struct check *c, int32_t channels)
{
	struct op *op = &c->model->ops[c->index];
	const struct tensor *in = input_of(c, 0), *out = output_of(c);
	int32_t height, width;

	if (!is_image(in) || !is_image(out))
		return malformed(c, "input and output must be [1,height,width,channels]");
	if (!in_bounds(op->stride_y, MODEL_WINDOW_MAX) ||
	    !in_bounds(op->stride_x, MODEL_WINDOW_MAX) ||
	    !in_bounds(op->dilation_y, MODEL_WINDOW_MAX) ||
	    !in_bounds(op->dilation_x, MODEL_WINDOW_MAX) ||
	    !in_bounds(op->window_y, MODEL_WINDOW_MAX) ||
	    !in_bounds(op->window_x, MODEL_WINDOW_MAX))
		return malformed(c, "stride, dilation or window out of range");
	if (!slide(op->same_padding, in->shape[1], op->window_y, op->stride_y, op->dilation_y,
		   &height, &op->pad_top) ||
	    !slide(op->same_padding, in->shape[2], op->window_x, op->stride_x, op->dilation_x,
		   &width, &op->pad_left))
		return malformed(c, "the window is larger than the image");
	if (out->shape[1] != height || out->shape[2] != width || out->shape[3] != channels)
		return malformed(c, "the output's shape is not what the operator computes");
	return DXP_OK;
}

static int check_constants(struct check *c, int32_t outputs)
{
	const struct op *op = &c->model->ops[c->index];
	const struct tensor *weights = input_of(c, 1);

	if (!weights->data)
		return refuse(c, DXP_EUNSUPPORTED, "weights that are not constants");
	if (weights->elements / outputs > MODEL_INNER_MAX)
		return refuse(c, DXP_EUNSUPPORTED, "more than 2^24 weights for one output");
	if (weights->type != TENSOR_FLOAT32 && !(is_8bit(weights) && weights->quant_count > 0))
		return refuse(c, DXP_EUNSUPPORTED,
			      "weights that are neither float32 nor scaled 8-bit");
	if (op->input_count < 3 || op->inputs[2] < 0)
		return DXP_OK;
	const struct tensor *bias = input_of(c, 2);
	if (!bias->data || bias->elements != outputs)
		return malformed(c, "the bias is no constant of one value per output channel");
	if (bias->type != TENSOR_FLOAT32 && !(bias->type == TENSOR_INT32 && bias->quant_count > 0))
		return refuse(c, DXP_EUNSUPPORTED,
			      "a bias that is neither float32 nor scaled int32");
	return DXP_OK;
}

static int check_convolution(struct check *c)
{
	struct op *op = &c->model->ops[c->index];
	const struct tensor *in = input_of(c, 0), *weights = input_of(c, 1);
	bool deep = op->kind == OP_DEPTHWISE_CONV_2D;

	if (in->dims != 4 || weights->dims != 4)
		return malformed(c, "image and weights must have four dimensions");
	if (deep ? weights->shape[0] != 1 || weights->shape[3] % in->shape[3] != 0
		 : weights->shape[3] != in->shape[3])
		return malformed(c, "the weights do not fit the input's channels");
	int32_t outputs = deep ? weights->shape[3] : weights->shape[0];
	op->window_y = weights->shape[1];
	op->window_x = weights->shape[2];
	int status = check_constants(c, outputs);
	if (status == DXP_OK)
		status = check_window(c, outputs);
	op->macs = (int64_t)op->window_y * op->window_x * (deep ? 1 : in->shape[3]);
	op->macs *= output_of(c)->elements;
	return status;
}

static int check_fully_connected(struct check *c)
{
	struct op *op = &c->model->ops[c->index];
	const struct tensor *in = input_of(c, 0), *weights = input_of(c, 1), *out = output_of(c);

	if (weights->dims != 2 || in->elements % weights->shape[1] != 0)
		return malformed(c, "the weights do not fit the input");
	int64_t rows = in->elements / weights->shape[1];
	if (out->elements != rows * weights->shape[0])
		return malformed(c, "the output's shape is not what the operator computes");
	op->macs = rows * weights->elements;
	return check_constants(c, weights->shape[0]);
}

static int check_pool(struct check *c)
{
	struct op *op = &c->model->ops[c->index];

	op->dilation_y = op->dilation_x = 1;
	if (!is_image(input_of(c, 0)))
		return malformed(c, "input and output must be [1,height,width,channels]");
	return check_window(c, input_of(c, 0)->shape[3]);
}

static int check_concatenation(struct check *c)
{
	struct op *op = &c->model->ops[c->index];
	const struct tensor *out = output_of(c);
	int64_t along = 0;

	if (op->axis < 0)
		op->axis += out->dims;
	if (op->axis < 0 || op->axis >= out->dims)
		return malformed(c, "axis out of range");
	for (int32_t i = 0; i < op->input_count; i++) {
		const struct tensor *in = input_of(c, i);
		if (in->dims != out->dims)
			return malformed(c, "inputs of different dimensions");
		for (int32_t d = 0; d < in->dims; d++)
			if (d != op->axis && in->shape[d] != out->shape[d])
				return malformed(c, "inputs of different shapes");
		along += in->shape[op->axis];
	}
	if (along != out->shape[op->axis])
		return malformed(c, "the output's shape is not what the operator computes");
	return DXP_OK;
}

/* Returns whether an operand, without leading ones, equals the output's last dimensions: its index
 * is then the output's, modulo its size. */
static bool repeats(const struct tensor *in, const struct tensor *out)
{
	int32_t d = in->dims - 1, e = out->dims - 1;
	int32_t first = 0;

	while (first < in->dims && in->shape[first] == 1)
		first++;
	for (; d >= first; d--, e--)
		if (e < 0 || in->shape[d] != out->shape[e])
			return false;
	return true;
}

static int check_binary(struct check *c)
{
	const struct tensor *a = input_of(c, 0), *b = input_of(c, 1), *out = output_of(c);

	for (int32_t i = 0; i < 2; i++) {
		const struct tensor *in = input_of(c, i);
		if (in->data ? in->type != TENSOR_FLOAT32 && !(is_8bit(in) && in->quant_count > 0)
			     : !is_activation(in))
			return refuse(c, DXP_EUNSUPPORTED, "operands that are not real numbers");
	}
	if (a->elements != out->elements && b->elements != out->elements)
		return refuse(c, DXP_EUNSUPPORTED, "both operands repeat");
	if (!repeats(a, out) || !repeats(b, out))
		return refuse(c, DXP_EUNSUPPORTED, "operands whose shapes do not repeat in order");
	return DXP_OK;
}

static int check_mean(struct check *c)
{
	struct op *op = &c->model->ops[c->index];
	const struct tensor *in = input_of(c, 0), *axes = input_of(c, 1);
	unsigned set = 0;

	if (!is_image(in) || !axes->data || axes->type != TENSOR_INT32)
		return refuse(c, DXP_EUNSUPPORTED, "only the mean of an image over constant axes");
	for (int64_t i = 0; i < axes->elements; i++) {
		int32_t axis;
		memcpy(&axis, axes->data + (size_t)i * sizeof(axis), sizeof(axis));
		if (axis < -4 || axis > 3)
			return malformed(c, "axis out of range");
		set |= 1u << ((axis + 4) % 4);
	}
	if (set != 0x6)
		return refuse(c, DXP_EUNSUPPORTED, "only the mean over height and width");
	if (output_of(c)->elements != in->shape[3])
		return malformed(c, "the output's shape is not what the operator computes");
	op->window_y = in->shape[1];
	op->window_x = in->shape[2];
	return DXP_OK;
}

static int check_pad(struct check *c)
{
	const struct tensor *in = input_of(c, 0), *pads = input_of(c, 1), *out = output_of(c);

	if (!pads->data || pads->type != TENSOR_INT32 || pads->elements != 2 * (int64_t)in->dims)
		return refuse(c, DXP_EUNSUPPORTED, "padding that is not constant int32 pairs");
	if (in->dims != out->dims)
		return malformed(c, "input and output differ in dimensions");
	for (int32_t d = 0; d < in->dims; d++) {
		int32_t pair[2];
		memcpy(pair, pads->data + (size_t)d * sizeof(pair), sizeof(pair));
		if (pair[0] < 0 || pair[1] < 0 ||
		    (int64_t)in->shape[d] + pair[0] + pair[1] != out->shape[d])
			return malformed(c, "the output's shape is not what the operator computes");
	}
	return DXP_OK;
}

static int check_same_size(struct check *c)
{
	if (input_of(c, 0)->elements != output_of(c)->elements)
		return malformed(c, "input and output differ in size");
	return DXP_OK;
}

static int check_softmax(struct check *c)
{
	const struct op *op = &c->model->ops[c->index];
	const struct tensor *in = input_of(c, 0), *out = output_of(c);

	if (!isfinite(op->beta) || op->beta <= 0)
		return malformed(c, "beta out of range");
	if (in->dims < 1 || out->dims < 1 || in->shape[in->dims - 1] != out->shape[out->dims - 1])
		return malformed(c, "input and output differ in shape");
	return check_same_size(c);
}

struct rule {
	int (*check)(struct check *c);
	int32_t inputs_least, inputs_most;
};

static const struct rule rules[OP_KINDS] = {
	[OP_ADD] = {check_binary, 2, 2},
	[OP_AVERAGE_POOL_2D] = {check_pool, 1, 1},
	[OP_CONCATENATION] = {check_concatenation, 1, OP_INPUTS_MAX},
	[OP_CONV_2D] = {check_convolution, 2, 3},
	[OP_DEPTHWISE_CONV_2D] = {check_convolution, 2, 3},
	[OP_DEQUANTIZE] = {check_same_size, 1, 1},
	[OP_FULLY_CONNECTED] = {check_fully_connected, 2, 3},
	[OP_LOGISTIC] = {check_same_size, 1, 1},
	[OP_MAX_POOL_2D] = {check_pool, 1, 1},
	[OP_MUL] = {check_binary, 2, 2},
	[OP_RELU] = {check_same_size, 1, 1},
	[OP_RELU6] = {check_same_size, 1, 1},
	[OP_RESHAPE] = {check_same_size, 1, 2},
	[OP_SOFTMAX] = {check_softmax, 1, 1},
	[OP_PAD] = {check_pad, 2, 2},
	[OP_MEAN] = {check_mean, 2, 2},
	[OP_SQUEEZE] = {check_same_size, 1, 1},
	[OP_QUANTIZE] = {check_same_size, 1, 1},
};

/* Checks which inputs are activations: all of a CONCATENATION, one of an ADD or MUL, the first of
 * others. */
static int check_inputs(struct check *c)
{
	const struct op *op = &c->model->ops[c->index];
	bool binary = op->kind == OP_ADD || op->kind == OP_MUL;
	int32_t computed = 0;

	for (int32_t i = 0; i < op->input_count; i++) {
		if (op->inputs[i] < 0) {
			if (i != 2)
				return malformed(c, "an input is missing");
			continue;
		}
		const struct tensor *in = input_of(c, i);
		if (in->data)
			continue;
		if (!c->present[op->inputs[i]])
			return malformed(c, "an input is used before it is computed");
		computed++;
	}
	int32_t needed = op->kind == OP_CONCATENATION ? op->input_count : 1;
	if (computed < needed ||
	    (!binary && (input_of(c, 0)->data || !is_activation(input_of(c, 0)))))
		return refuse(c, DXP_EUNSUPPORTED,
			      "an input that is a constant or of another type");
	return DXP_OK;
}

static int check_op(struct check *c)
{
	const struct op *op = &c->model->ops[c->index];
	const struct rule *rule = &rules[op->kind];

	if (op->input_count < rule->inputs_least || op->input_count > rule->inputs_most)
		return malformed(c, "wrong number of inputs");
	int status = check_inputs(c);
	if (status != DXP_OK)
		return status;
	const struct tensor *out = output_of(c);
	if (out->data || c->present[op->output])
		return malformed(c, "the output has a value already");
	if (!is_activation(out))
		return refuse(c, DXP_EUNSUPPORTED,
			      "an output that is neither float32 nor scaled 8-bit");
	status = rule->check(c);
	if (status == DXP_OK && op->macs > OP_MACS_MAX)
		return refuse(c, DXP_EUNSUPPORTED, "more than 2^44 multiply-adds");
	c->present[op->output] = true;
	return status;
}

static int check_photo(struct check *c)
{
	const struct model *m = c->model;
	const struct tensor *in = &m->tensors[m->input];

	if (!is_image(in) || in->shape[3] != 3 || in->shape[1] != in->shape[2] || in->data ||
	    !is_activation(in))
		return fault_set(c->fault, DXP_EUNSUPPORTED,
				 "%s: input \"%s\" is not one square RGB photo [1,n,n,3]", m->path,
				 in->name);
	return DXP_OK;
}

static void find_last_uses(struct model *m)
{
	for (int32_t i = 0; i < m->tensor_count; i++)
		m->tensors[i].last_use = -1;
	for (int32_t i = 0; i < m->op_count; i++)
		for (int32_t k = 0; k < m->ops[i].input_count; k++)
			if (m->ops[i].inputs[k] >= 0)
				m->tensors[m->ops[i].inputs[k]].last_use = i;
	m->tensors[m->output].last_use = m->op_count;
}

int model_check(struct model *m, struct fault *fault)
{
	struct check c = {.model = m, .fault = fault};

	c.present = calloc((size_t)m->tensor_count + 1, sizeof(*c.present));
	if (!c.present)
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", m->path);
	int status = check_photo(&c);
	c.present[m->input] = true;
	for (; status == DXP_OK && c.index < m->op_count; c.index++)
		status = check_op(&c);
	if (status == DXP_OK && (!c.present[m->output] || m->output == m->input))
		status = fault_set(fault, DXP_EMALFORMED, "%s: nothing computes the output \"%s\"",
				   m->path, m->tensors[m->output].name);
	if (status == DXP_OK && m->tensors[m->output].elements > LABELS_MAX)
		status = fault_set(fault, DXP_EUNSUPPORTED, "%s: more than %d classes", m->path,
				   LABELS_MAX);
	free(c.present);
	if (status == DXP_OK)
		find_last_uses(m);
	return status;
}
