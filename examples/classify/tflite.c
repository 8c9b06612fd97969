/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads TFLite's tables (public schema, version 3) into a model. flatbuffer.c keeps reads inside
 * the file, model_check.c checks indices and shapes. This file limits counts, checks sizes of
 * constants, and ignores metadata and signatures. */
#include "tflite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "file.h"
#include "flatbuffer.h"
#include "tflite_names.h"

#define IDENTIFIER_AT 4

enum { MODEL_VERSION, MODEL_OPERATOR_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_DEPRECATED_BUILTIN, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS };
enum { TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANTIZATION };
enum {
	QUANT_MIN,
	QUANT_MAX,
	QUANT_SCALE,
	QUANT_ZERO,
	QUANT_DETAILS_TYPE,
	QUANT_DETAILS,
	QUANT_AXIS
};
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS };
enum { BUFFER_DATA };

struct reader {
	struct flat flat;
	struct model *model;
	struct fault *fault;
	struct flat_vector buffers;
	struct flat_vector codes;
};

static int refuse(struct reader *r, int status, const char *what, uint32_t index, const char *why)
{
	return fault_set(r->fault, status, "%s: %s %u %s", r->model->path, what, index, why);
}

/* Reports truncation, or offsets outside the file. */
static int broken(struct reader *r, const char *what, uint32_t index)
{
	return fault_set(
		r->fault, DXP_EMALFORMED,
		"%s: damaged or cut short (%s %u points outside its %zu bytes); fetch it again",
		r->model->path, what, index, r->flat.bytes);
}

static enum tensor_type type_of(uint8_t stored)
{
	switch (stored) {
	case 0: return TENSOR_FLOAT32;
	case 2: return TENSOR_INT32;
	case 3: return TENSOR_UINT8;
	case 9: return TENSOR_INT8;
	}
	return TENSOR_OTHER;
}

static int read_shape(struct reader *r, const struct flat_table *table, uint32_t index,
		      struct tensor *t)
{
	struct flat_vector shape = flat_elements(&r->flat, table, TENSOR_SHAPE, sizeof(int32_t));

	if (shape.count > MODEL_DIMS_MAX)
		return refuse(r, DXP_EUNSUPPORTED, "tensor", index,
			      "has more than four dimensions");
	t->dims = (int32_t)shape.count;
	t->elements = 1;
	for (uint32_t d = 0; d < shape.count; d++) {
		t->shape[d] = flat_element_i32(&r->flat, &shape, d);
		if (r->flat.broken)
			return broken(r, "tensor", index);
		if (t->shape[d] < 1 || t->shape[d] > MODEL_DIM_MAX)
			return refuse(r, DXP_EUNSUPPORTED, "tensor", index, "has a variable size");
		t->elements *= t->shape[d];
		if (t->elements > MODEL_ELEMENTS_MAX)
			return refuse(r, DXP_EUNSUPPORTED, "tensor", index, "is too large");
	}
	return DXP_OK;
}

/* quant_count is 0 without scales. */
static int read_quantization(struct reader *r, const struct flat_table *table, uint32_t index,
			     struct tensor *t)
{
	struct flat_table q = flat_child(&r->flat, table, TENSOR_QUANTIZATION);
	struct flat_vector scale = flat_elements(&r->flat, &q, QUANT_SCALE, sizeof(float));
	struct flat_vector zero = flat_elements(&r->flat, &q, QUANT_ZERO, sizeof(int64_t));
	int32_t axis = flat_i32(&r->flat, &q, QUANT_AXIS, 0);

	if (r->flat.broken)
		return broken(r, "tensor", index);
	if (scale.count == 0)
		return DXP_OK;
	if ((zero.count != 0 && zero.count != scale.count) ||
	    (scale.count > 1 &&
	     (axis < 0 || axis >= t->dims || scale.count != (uint32_t)t->shape[axis])))
		return refuse(r, DXP_EMALFORMED, "tensor", index,
			      "has scales that do not fit its shape");
	t->scale = calloc(scale.count, sizeof(*t->scale));
	t->zero = calloc(scale.count, sizeof(*t->zero));
	if (!t->scale || !t->zero)
		return refuse(r, DXP_ENOMEM, "tensor", index, "does not fit into memory");
	for (uint32_t i = 0; i < scale.count; i++) {
		int64_t point = zero.count ? flat_element_i64(&r->flat, &zero, i) : 0;
		t->scale[i] = flat_element_f32(&r->flat, &scale, i);
		t->zero[i] = (int32_t)point;
		if (!isfinite(t->scale[i]) || t->scale[i] <= 0 || point < -128 || point > 255)
			return refuse(r, DXP_EMALFORMED, "tensor", index,
				      "has a scale out of range");
	}
	t->quant_count = (int32_t)scale.count;
	t->quant_axis = axis;
	return DXP_OK;
}

static int read_constant(struct reader *r, const struct flat_table *table, uint32_t index,
			 struct tensor *t)
{
	uint32_t buffer = flat_u32(&r->flat, table, TENSOR_BUFFER, 0);

	if (r->flat.broken || buffer >= r->buffers.count)
		return broken(r, "tensor", index);
	struct flat_table b = flat_element_table(&r->flat, &r->buffers, buffer);
	struct flat_vector data = flat_elements(&r->flat, &b, BUFFER_DATA, 1);
	if (r->flat.broken)
		return broken(r, "buffer", buffer);
	if (data.count == 0)
		return DXP_OK;
	size_t size = tensor_type_bytes(t->type);
	if (size == 0)
		return DXP_OK; /* no supported operator accepts this type */
	if (data.count != (uint64_t)t->elements * size)
		return refuse(r, DXP_EMALFORMED, "tensor", index, "has a constant of another size");
	t->data = r->flat.data + data.at;
	return DXP_OK;
}

static int read_tensor(struct reader *r, const struct flat_vector *tensors, uint32_t index)
{
	struct tensor *t = &r->model->tensors[index];
	struct flat_table table = flat_element_table(&r->flat, tensors, index);
	char name[MODEL_NAME_MAX + 1];

	t->type = type_of(flat_u8(&r->flat, &table, TENSOR_TYPE, 0));
	flat_string(&r->flat, &table, TENSOR_NAME, name, sizeof(name));
	if (r->flat.broken)
		return broken(r, "tensor", index);
	t->name = strdup(name);
	if (!t->name)
		return refuse(r, DXP_ENOMEM, "tensor", index, "does not fit into memory");
	int status = read_shape(r, &table, index, t);
	if (status == DXP_OK)
		status = read_quantization(r, &table, index, t);
	return status == DXP_OK ? read_constant(r, &table, index, t) : status;
}

/* Old files store the code in 7 bits; new ones in both fields, above 127 only in the larger. So the
 * larger value is right. */
static int read_kind(struct reader *r, const struct flat_table *table, uint32_t index,
		     struct op *op)
{
	uint32_t code = flat_u32(&r->flat, table, OPERATOR_CODE, 0);

	if (r->flat.broken || code >= r->codes.count)
		return broken(r, "operator", index);
	struct flat_table entry = flat_element_table(&r->flat, &r->codes, code);
	int32_t old = (int8_t)flat_u8(&r->flat, &entry, CODE_DEPRECATED_BUILTIN, 0);
	int32_t builtin = flat_i32(&r->flat, &entry, CODE_BUILTIN, 0);
	char custom[MODEL_NAME_MAX + 1];
	flat_string(&r->flat, &entry, CODE_CUSTOM, custom, sizeof(custom));
	if (r->flat.broken)
		return broken(r, "operator code", code);
	if (old > builtin)
		builtin = old;
	int kind = tflite_op_kind(builtin);
	if (kind < 0)
		return fault_set(
			r->fault, DXP_EUNSUPPORTED,
			"%s: operator %u is %s%s%s (code %d), which this program does not support",
			r->model->path, index, tflite_op_name(builtin), *custom ? " " : "", custom,
			builtin);
	op->kind = (enum op_kind)kind;
	return DXP_OK;
}

/* Absent fields have the schema's default, zero or one. */
static void read_options(struct reader *r, struct op *op, const struct flat_table *o)
{
	struct flat *f = &r->flat;
	uint8_t activation = 0;

	switch (op->kind) {
	case OP_CONV_2D:
	case OP_DEPTHWISE_CONV_2D: {
		/* one field more (depth multiplier) comes before these */
		unsigned deep = op->kind == OP_DEPTHWISE_CONV_2D;
		op->same_padding = flat_u8(f, o, 0, 0) == 0;
		op->stride_x = flat_i32(f, o, 1, 0);
		op->stride_y = flat_i32(f, o, 2, 0);
		activation = flat_u8(f, o, 3 + deep, 0);
		op->dilation_x = flat_i32(f, o, 4 + deep, 1);
		op->dilation_y = flat_i32(f, o, 5 + deep, 1);
		break;
	}
	case OP_AVERAGE_POOL_2D:
	case OP_MAX_POOL_2D:
		op->same_padding = flat_u8(f, o, 0, 0) == 0;
		op->stride_x = flat_i32(f, o, 1, 0);
		op->stride_y = flat_i32(f, o, 2, 0);
		op->window_x = flat_i32(f, o, 3, 0);
		op->window_y = flat_i32(f, o, 4, 0);
		activation = flat_u8(f, o, 5, 0);
		break;
	case OP_CONCATENATION:
		op->axis = flat_i32(f, o, 0, 0);
		activation = flat_u8(f, o, 1, 0);
		break;
	case OP_SOFTMAX: op->beta = flat_f32(f, o, 0, 0); break;
	case OP_ADD:
	case OP_MUL:
	case OP_FULLY_CONNECTED: activation = flat_u8(f, o, 0, 0); break;
	case OP_RELU: activation = ACTIVATION_RELU; break;
	case OP_RELU6: activation = ACTIVATION_RELU6; break;
	default: break;
	}
	op->activation =
		activation <= ACTIVATION_RELU6 ? (enum activation)activation : ACTIVATION_NONE;
	if (activation > ACTIVATION_RELU6)
		f->broken = true;
}

static int read_op(struct reader *r, const struct flat_vector *operators, uint32_t index)
{
	struct op *op = &r->model->ops[index];
	struct flat_table table = flat_element_table(&r->flat, operators, index);
	int status = read_kind(r, &table, index, op);

	if (status != DXP_OK)
		return status;
	struct flat_vector inputs =
		flat_elements(&r->flat, &table, OPERATOR_INPUTS, sizeof(int32_t));
	struct flat_vector outputs =
		flat_elements(&r->flat, &table, OPERATOR_OUTPUTS, sizeof(int32_t));
	struct flat_table options = flat_child(&r->flat, &table, OPERATOR_OPTIONS);
	if (r->flat.broken)
		return broken(r, "operator", index);
	if (inputs.count > OP_INPUTS_MAX || outputs.count != 1)
		return refuse(r, DXP_EUNSUPPORTED, "operator", index,
			      "has too many inputs or outputs");
	op->input_count = (int32_t)inputs.count;
	for (uint32_t i = 0; i < inputs.count; i++)
		op->inputs[i] = flat_element_i32(&r->flat, &inputs, i);
	op->output = flat_element_i32(&r->flat, &outputs, 0);
	for (int32_t i = 0; i < op->input_count; i++)
		if (op->inputs[i] < -1 || op->inputs[i] >= r->model->tensor_count)
			return refuse(r, DXP_EMALFORMED, "operator", index,
				      "names an unknown tensor");
	if (op->output < 0 || op->output >= r->model->tensor_count)
		return refuse(r, DXP_EMALFORMED, "operator", index, "names an unknown tensor");
	read_options(r, op, &options);
	return r->flat.broken ? broken(r, "operator", index) : DXP_OK;
}

static int read_end(struct reader *r, const struct flat_table *graph, unsigned field,
		    int32_t *tensor)
{
	struct flat_vector v = flat_elements(&r->flat, graph, field, sizeof(int32_t));

	if (r->flat.broken)
		return broken(r, "subgraph", 0);
	if (v.count != 1)
		return refuse(r, DXP_EUNSUPPORTED, "subgraph", 0,
			      "does not have one input and one output");
	*tensor = flat_element_i32(&r->flat, &v, 0);
	if (*tensor < 0 || *tensor >= r->model->tensor_count)
		return refuse(r, DXP_EMALFORMED, "subgraph", 0, "names an unknown tensor");
	return DXP_OK;
}

static int read_subgraph(struct reader *r, const struct flat_table *graph)
{
	struct model *m = r->model;
	struct flat_vector tensors =
		flat_elements(&r->flat, graph, SUBGRAPH_TENSORS, sizeof(uint32_t));
	struct flat_vector ops =
		flat_elements(&r->flat, graph, SUBGRAPH_OPERATORS, sizeof(uint32_t));

	if (r->flat.broken)
		return broken(r, "subgraph", 0);
	if (tensors.count > MODEL_TENSORS_MAX || ops.count > MODEL_OPS_MAX)
		return refuse(r, DXP_EUNSUPPORTED, "subgraph", 0,
			      "has too many tensors or operators");
	if (tensors.count == 0 || ops.count == 0)
		return refuse(r, DXP_EMALFORMED, "subgraph", 0, "has no operators");
	m->tensors = calloc(tensors.count, sizeof(*m->tensors));
	m->ops = calloc(ops.count, sizeof(*m->ops));
	if (!m->tensors || !m->ops)
		return refuse(r, DXP_ENOMEM, "subgraph", 0, "does not fit into memory");
	m->tensor_count = (int32_t)tensors.count;
	m->op_count = (int32_t)ops.count;

	int status = DXP_OK;
	for (uint32_t i = 0; status == DXP_OK && i < tensors.count; i++)
		status = read_tensor(r, &tensors, i);
	for (uint32_t i = 0; status == DXP_OK && i < ops.count; i++)
		status = read_op(r, &ops, i);
	if (status == DXP_OK)
		status = read_end(r, graph, SUBGRAPH_INPUTS, &m->input);
	return status == DXP_OK ? read_end(r, graph, SUBGRAPH_OUTPUTS, &m->output) : status;
}

static int read_model(struct reader *r)
{
	struct flat *f = &r->flat;

	if (f->bytes < IDENTIFIER_AT + 4 || memcmp(f->data + IDENTIFIER_AT, "TFL3", 4) != 0)
		return fault_set(r->fault, DXP_EMALFORMED,
				 "%s: not a TFLite model (no \"TFL3\" at byte 4)", r->model->path);
	struct flat_table root = flat_root(f);
	uint32_t version = flat_u32(f, &root, MODEL_VERSION, 0);
	r->codes = flat_elements(f, &root, MODEL_OPERATOR_CODES, sizeof(uint32_t));
	r->buffers = flat_elements(f, &root, MODEL_BUFFERS, sizeof(uint32_t));
	struct flat_vector subgraphs = flat_elements(f, &root, MODEL_SUBGRAPHS, sizeof(uint32_t));
	if (f->broken)
		return broken(r, "root table", 0);
	if (version != 3)
		return fault_set(r->fault, DXP_EUNSUPPORTED, "%s: schema version %u, not 3",
				 r->model->path, version);
	if (subgraphs.count != 1 || r->codes.count > MODEL_CODES_MAX)
		return fault_set(r->fault, DXP_EUNSUPPORTED, "%s: %u subgraphs, not 1",
				 r->model->path, subgraphs.count);
	struct flat_table graph = flat_element_table(f, &subgraphs, 0);
	return f->broken ? broken(r, "subgraph", 0) : read_subgraph(r, &graph);
}

static int parse(struct model *m, size_t count, struct model *out, struct fault *fault)
{
	struct reader r = {.flat = {.data = m->file, .bytes = count}, .model = m, .fault = fault};
	int status = read_model(&r);

	if (status == DXP_OK)
		status = model_check(m, fault);
	if (status == DXP_OK)
		*out = *m;
	else
		model_release(m);
	return status;
}

int tflite_parse(const char *name, const void *bytes, size_t count, struct model *out,
		 struct fault *fault)
{
	struct model m = {.path = strdup(name), .file = malloc(count ? count : 1)};

	if (!m.path || !m.file) {
		model_release(&m);
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", name);
	}
	if (count)
		memcpy(m.file, bytes, count);
	return parse(&m, count, out, fault);
}

int tflite_read(const char *path, struct model *out, struct fault *fault)
{
	struct model m = {0};
	size_t count = 0;
	int status = file_read(path, MODEL_BYTES_MAX, &m.file, &count, fault);

	if (status != DXP_OK)
		return status;
	m.path = strdup(path);
	if (!m.path) {
		model_release(&m);
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", path);
	}
	return parse(&m, count, out, fault);
}
