/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries about a model that was read; model_check.c proves it consistent. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

const char *op_kind_name(enum op_kind kind)
{
#define NAME(name, number) #name,
	static const char *const names[] = {OP_LIST(NAME)};
#undef NAME
	return names[kind];
}

size_t tensor_type_bytes(enum tensor_type type)
{
	switch (type) {
	case TENSOR_FLOAT32:
	case TENSOR_INT32: return 4;
	case TENSOR_UINT8:
	case TENSOR_INT8: return 1;
	case TENSOR_OTHER: break;
	}
	return 0;
}

const char *model_layer_name(const struct model *m, int32_t op)
{
	return m->tensors[m->ops[op].output].name;
}

/* Returns the index of an element's scale: its position along the quantized axis. */
static int32_t quant_index(const struct tensor *t, int64_t index)
{
	if (t->quant_count <= 1)
		return 0;
	for (int32_t d = t->dims - 1; d > t->quant_axis; d--)
		index /= t->shape[d];
	return (int32_t)(index % t->shape[t->quant_axis]);
}

float tensor_value(const struct tensor *t, int64_t index)
{
	const uint8_t *at = t->data + (size_t)index * tensor_type_bytes(t->type);
	int32_t stored = 0;

	if (t->type == TENSOR_FLOAT32) {
		float value;
		memcpy(&value, at, sizeof(value));
		return value;
	}
	if (t->type == TENSOR_INT32)
		memcpy(&stored, at, sizeof(stored));
	else
		stored = t->type == TENSOR_INT8 ? (int8_t)*at : *at;
	if (t->quant_count == 0)
		return (float)stored;
	int32_t q = quant_index(t, index);
	return (float)((double)t->scale[q] * ((double)stored - t->zero[q]));
}

struct range model_range(const struct model *m, const struct op *op)
{
	const struct tensor *t = &m->tensors[op->output];
	struct range r = {-INFINITY, INFINITY};

	if (op->activation == ACTIVATION_RELU || op->activation == ACTIVATION_RELU6)
		r.low = 0;
	if (op->activation == ACTIVATION_RELU6)
		r.high = 6;
	if (op->activation == ACTIVATION_RELU_N1_TO_1)
		r = (struct range){-1, 1};
	if (t->type == TENSOR_UINT8 || t->type == TENSOR_INT8) {
		int32_t lowest = t->type == TENSOR_INT8 ? -128 : 0;
		r.low = fmaxf(r.low, t->scale[0] * (float)(lowest - t->zero[0]));
		r.high = fminf(r.high, t->scale[0] * (float)(lowest + 255 - t->zero[0]));
	}
	return r;
}

int64_t model_macs(const struct model *m)
{
	int64_t sum = 0;
	for (int32_t i = 0; i < m->op_count; i++)
		sum += m->ops[i].macs;
	return sum;
}

/* Skips operators that only reshape. */
static bool ends_in_probabilities(const struct model *m)
{
	int32_t tensor = m->output;

	for (int32_t i = m->op_count - 1; i >= 0; i--) {
		const struct op *op = &m->ops[i];
		if (op->output != tensor)
			continue;
		if (op->kind == OP_SOFTMAX || op->kind == OP_LOGISTIC)
			return true;
		if (op->kind != OP_RESHAPE && op->kind != OP_SQUEEZE && op->kind != OP_QUANTIZE &&
		    op->kind != OP_DEQUANTIZE)
			return false;
		tensor = op->inputs[0];
	}
	return false;
}

int model_end_in_probabilities(struct model *m)
{
	if (ends_in_probabilities(m))
		return DXP_OK;

	char *name = strdup("probabilities");
	struct tensor *tensors =
		realloc(m->tensors, (size_t)(m->tensor_count + 1) * sizeof(*tensors));
	if (tensors)
		m->tensors = tensors;
	struct op *ops = realloc(m->ops, (size_t)(m->op_count + 1) * sizeof(*ops));
	if (ops)
		m->ops = ops;
	if (!name || !tensors || !ops) {
		free(name);
		return DXP_ENOMEM;
	}
	struct tensor t = tensors[m->output];
	tensors[m->output].last_use = m->op_count;
	tensors[m->tensor_count] = (struct tensor){.name = name,
						   .type = TENSOR_FLOAT32,
						   .dims = t.dims,
						   .elements = t.elements,
						   .last_use = m->op_count + 1};
	memcpy(tensors[m->tensor_count].shape, t.shape, sizeof(t.shape));
	ops[m->op_count] = (struct op){.kind = OP_SOFTMAX,
				       .input_count = 1,
				       .inputs = {m->output},
				       .output = m->tensor_count,
				       .beta = 1};
	m->output = m->tensor_count++;
	m->op_count++;
	return DXP_OK;
}

void model_release(struct model *m)
{
	for (int32_t i = 0; m->tensors && i < m->tensor_count; i++) {
		free(m->tensors[i].name);
		free(m->tensors[i].scale);
		free(m->tensors[i].zero);
	}
	free(m->tensors);
	free(m->ops);
	free(m->file);
	free(m->path);
	*m = (struct model){0};
}
