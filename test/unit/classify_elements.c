/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares kernels without a window of pixels, such as fully connected layers, with plain loops. */
#include "classify_bench.h"

static void fully_connected__rows(void **state)
{
	struct bench b;

	bench_open(&b, OP_FULLY_CONNECTED);
	add_input(&b, 2, (int32_t[]){3, 37});
	add_constant(&b, 2, (int32_t[]){41, 37}, true);
	add_constant(&b, 1, (int32_t[]){41}, false);
	float *out = set_output(&b, 2, (int32_t[]){3, 41});
	for (int32_t row = 0; row < 3; row++) {
		for (int32_t o = 0; o < 41; o++) {
			double sum = (double)b.values[2][o];
			for (int32_t i = 0; i < 37; i++)
				sum += (double)b.values[0][row * 37 + i] *
				       (double)b.values[1][o * 37 + i];
			*out++ = (float)sum;
		}
	}
	bench_check(&b, "fully connected");
	bench_close(&b);
}

static void concatenation__each_axis(void **state)
{
	for (int32_t axis = 0; axis < 4; axis++) {
		struct bench b;
		int32_t shape[3][4], whole[4] = {2, 3, 4, 5};
		bench_open(&b, OP_CONCATENATION);
		whole[axis] = 0;
		for (int32_t i = 0; i < 3; i++) {
			memcpy(shape[i], (int32_t[]){2, 3, 4, 5}, sizeof(shape[i]));
			shape[i][axis] = 7 * i + 1;
			whole[axis] += shape[i][axis];
			add_input(&b, 4, shape[i]);
		}
		b.op.axis = axis;
		float *out = set_output(&b, 4, whole);
		int32_t rows = 1, inner = 1;
		for (int32_t d = 0; d < 4; d++)
			*(d < axis ? &rows : &inner) *= d == axis ? 1 : whole[d];
		for (int32_t row = 0; row < rows; row++)
			for (int32_t i = 0; i < 3; i++)
				for (int32_t k = 0; k < shape[i][axis] * inner; k++)
					*out++ = b.values[i][row * shape[i][axis] * inner + k];
		bench_check(&b, "concatenation");
		bench_close(&b);
	}
}

static void binary__repeats(void **state)
{
	for (int32_t i = 0; i < 6; i++) {
		struct bench b;
		static const int32_t whole[] = {1, 9, 13, 17}, channels[] = {17}, one[] = {1};
		bench_open(&b, i % 2 ? OP_MUL : OP_ADD);
		add_input(&b, 4, whole);
		if (i / 2 == 0)
			add_input(&b, 4, whole);
		else
			add_constant(&b, 1, i / 2 == 1 ? channels : one, i / 2 == 1);
		b.op.activation = ACTIVATION_RELU;
		float *out = set_output(&b, 4, whole);
		for (int64_t k = 0; k < b.tensors[0].elements; k++) {
			float x = b.values[0][k], y = b.values[1][k % b.tensors[1].elements];
			out[k] = i % 2 ? x * y : x + y;
		}
		bench_check(&b, "binary");
		bench_close(&b);
	}
}

static void pad__all_sides(void **state)
{
	static const int32_t pairs[] = {0, 0, 1, 2, 3, 0, 0, 1};
	struct bench b;

	bench_open(&b, OP_PAD);
	add_input(&b, 4, (int32_t[]){1, 4, 5, 6});
	int32_t pads = add_constant(&b, 2, (int32_t[]){4, 2}, false);
	b.tensors[pads].type = TENSOR_INT32;
	memcpy(b.constants[pads], pairs, sizeof(pairs));
	float *out = set_output(&b, 4, (int32_t[]){1, 7, 8, 7});
	for (int32_t y = -1; y < 6; y++)
		for (int32_t x = -3; x < 5; x++)
			for (int32_t c = 0; c < 7; c++)
				*out++ = y >= 0 && y < 4 && x >= 0 && c < 6
						 ? b.values[0][(y * 5 + x) * 6 + c]
						 : 0;
	bench_check(&b, "pad");
	bench_close(&b);
}

static void elementwise__each(void **state)
{
	static const enum op_kind kinds[] = {OP_RELU, OP_RELU6, OP_LOGISTIC, OP_RESHAPE,
					     OP_QUANTIZE};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		struct bench b;
		bench_open(&b, kinds[i]);
		add_input(&b, 2, (int32_t[]){3, 701});
		float *out = set_output(&b, 1, (int32_t[]){2103});
		b.op.activation = kinds[i] == OP_RELU    ? ACTIVATION_RELU
				  : kinds[i] == OP_RELU6 ? ACTIVATION_RELU6
							 : ACTIVATION_NONE;
		/* clamped to what 8 bits hold: -0.5 .. 0.775 */
		if (kinds[i] == OP_QUANTIZE) {
			b.scale[0] = 0.005f;
			b.zero[0] = 100;
			b.tensors[1].type = TENSOR_UINT8;
			b.tensors[1].quant_count = 1;
			b.tensors[1].scale = &b.scale[0];
			b.tensors[1].zero = &b.zero[0];
		}
		for (int32_t k = 0; k < 2103; k++) {
			b.values[0][k] *= 10;
			double x = (double)b.values[0][k];
			out[k] = kinds[i] == OP_LOGISTIC ? (float)(1 / (1 + exp(-x))) : (float)x;
		}
		bench_check(&b, op_kind_name(kinds[i]));
		bench_close(&b);
	}
}

static void softmax__rows(void **state)
{
	struct bench b;

	bench_open(&b, OP_SOFTMAX);
	add_input(&b, 2, (int32_t[]){2, 1001});
	b.op.beta = 0.7f;
	float *out = set_output(&b, 2, (int32_t[]){2, 1001});
	for (int32_t k = 0; k < 2002; k++)
		/* exp() overflows unless the kernel first subtracts the largest input. */
		b.values[0][k] *= 90;
	for (int32_t row = 0; row < 2; row++) {
		double sum = 0;
		for (int32_t k = 0; k < 1001; k++)
			sum += exp((double)0.7f * ((double)b.values[0][row * 1001 + k] - 90));
		for (int32_t k = 0; k < 1001; k++)
			*out++ = (float)(exp((double)0.7f *
					     ((double)b.values[0][row * 1001 + k] - 90)) /
					 sum);
	}
	bench_check(&b, "softmax");
	bench_close(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fully_connected__rows), cmocka_unit_test(concatenation__each_axis),
		cmocka_unit_test(binary__repeats),       cmocka_unit_test(pad__all_sides),
		cmocka_unit_test(elementwise__each),     cmocka_unit_test(softmax__rows),
	};

	skip_without_opencl();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
