/* SPDX-License-Identifier: BSD-3-Clause */
/* A neural network: tensors, operators in execution order, one photo in, one answer out; no file
 * format, no device. model_check() proves consistency: indices are in range, inputs exist before
 * their operator, outputs have the computed shape. Later code indexes without checks.
 *
 * Activations are float32. 8-bit integers mean real = scale * (stored - zero); weights and biases
 * are converted once. An 8-bit activation stays float, clamped to the 8-bit range, by which such
 * models express RELU and RELU6, but not rounded to 256 steps. So answers are nearer to the float
 * network, and differ from 8-bit kernels by up to a few hundredths of probability. */
#ifndef CLASSIFY_MODEL_H
#define CLASSIFY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "bounds.h"

enum tensor_type { TENSOR_FLOAT32, TENSOR_INT32, TENSOR_UINT8, TENSOR_INT8, TENSOR_OTHER };

struct tensor {
	char *name;
	enum tensor_type type;
	int32_t dims;
	int32_t shape[MODEL_DIMS_MAX]; /* each >= 1 */
	int64_t elements;
	/* Derived: last reader; op_count for the answer; -1: none. */
	int32_t last_use;
	const uint8_t *data; /* constants: elements * size bytes, any alignment; else NULL */

	/* 8- and 32-bit integers: real = scale * (stored - zero), one pair for the tensor or per
	 * index of quant_axis. */
	int32_t quant_count; /* 0: none */
	int32_t quant_axis;
	float *scale;
	int32_t *zero;
};

/* X(name, number in TFLite), in this program's order. */
#define OP_LIST(X)              \
	X(ADD, 0)               \
	X(AVERAGE_POOL_2D, 1)   \
	X(CONCATENATION, 2)     \
	X(CONV_2D, 3)           \
	X(DEPTHWISE_CONV_2D, 4) \
	X(DEQUANTIZE, 6)        \
	X(FULLY_CONNECTED, 9)   \
	X(LOGISTIC, 14)         \
	X(MAX_POOL_2D, 17)      \
	X(MUL, 18)              \
	X(RELU, 19)             \
	X(RELU6, 21)            \
	X(RESHAPE, 22)          \
	X(SOFTMAX, 25)          \
	X(PAD, 34)              \
	X(MEAN, 40)             \
	X(SQUEEZE, 43)          \
	X(QUANTIZE, 114)

#define OP_ENUM(name, number) OP_##name,
enum op_kind { OP_LIST(OP_ENUM) OP_KINDS };
#undef OP_ENUM

enum activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU_N1_TO_1, ACTIVATION_RELU6 };

struct op {
	enum op_kind kind;
	int32_t input_count;
	int32_t inputs[OP_INPUTS_MAX]; /* tensors; -1: an absent optional one */
	int32_t output;

	enum activation activation;
	bool same_padding; /* SAME; otherwise VALID */
	int32_t stride_y, stride_x;
	int32_t dilation_y, dilation_x;
	/* pools: as in the file; convolutions: as the weights; MEAN: as the image */
	int32_t window_y, window_x;
	int32_t pad_top, pad_left; /* derived; for PAD from its tensor */
	int32_t axis;              /* of CONCATENATION; not negative after the check */
	float beta;                /* factor of SOFTMAX */
	int64_t macs;              /* multiply-adds, derived */
};

struct model {
	char *path;    /* file name for messages */
	uint8_t *file; /* owns the tensors' constants */
	struct tensor *tensors;
	int32_t tensor_count;
	struct op *ops;
	int32_t op_count;
	int32_t input;  /* tensor of the photo */
	int32_t output; /* tensor of the answer */
};

const char *op_kind_name(enum op_kind kind);
size_t tensor_type_bytes(enum tensor_type type);

/* Returns the name of the operator's output tensor. */
const char *model_layer_name(const struct model *m, int32_t op);

float tensor_value(const struct tensor *t, int64_t index);

/* Intersection of an activation function's limits and the 8-bit type's range; infinite where
 * neither sets a limit. */
struct range {
	float low, high;
};
struct range model_range(const struct model *m, const struct op *op);

/* Proves consistency as above; derives macs, padding and windows. Errors: DXP_EMALFORMED or
 * DXP_EUNSUPPORTED; the message names operator, index and file. */
int model_check(struct model *m, struct fault *fault);

/* Appends SOFTMAX if the network returns raw scores, as Inception v3 for TFLite does. Call after
 * model_check(). Error: DXP_ENOMEM. */
int model_end_in_probabilities(struct model *m);

int64_t model_macs(const struct model *m);

/* Accepts zeroed memory. */
void model_release(struct model *m);

#endif
