/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares kernels that slide a window over an image with loops in double precision, at odd
 * sizes. */
#include "classify_bench.h"

struct window_case {
	int32_t height, width, channels, outputs, window_y, window_x, stride_y, stride_x, dilation;
	bool same, quantised, biased;
	enum activation activation;
};

/* TensorFlow Lite's paddings SAME and VALID; *before: padding in front. */
static int32_t output_size(bool same, int32_t in, int32_t window, int32_t stride, int32_t dilation,
			   int32_t *before)
{
	int32_t reach = (window - 1) * dilation + 1;
	int32_t out = same ? (in + stride - 1) / stride : (in - reach + stride) / stride;
	int32_t missing = (out - 1) * stride + reach - in;

	*before = same && missing > 0 ? missing / 2 : 0;
	return out;
}

static void set_window(struct bench *b, const struct window_case *c, int32_t *height,
		       int32_t *width)
{
	b->op.stride_y = c->stride_y;
	b->op.stride_x = c->stride_x;
	b->op.dilation_y = b->op.dilation_x = c->dilation;
	b->op.window_y = c->window_y;
	b->op.window_x = c->window_x;
	b->op.same_padding = c->same;
	b->op.activation = c->activation;
	*height = output_size(c->same, c->height, c->window_y, c->stride_y, c->dilation,
			      &b->op.pad_top);
	*width = output_size(c->same, c->width, c->window_x, c->stride_x, c->dilation,
			     &b->op.pad_left);
}

static bool pixel(const struct bench *b, int32_t oy, int32_t ox, int32_t ky, int32_t kx, size_t *at)
{
	const int32_t *shape = b->tensors[0].shape;
	int32_t y = oy * b->op.stride_y - b->op.pad_top + ky * b->op.dilation_y;
	int32_t x = ox * b->op.stride_x - b->op.pad_left + kx * b->op.dilation_x;

	*at = ((size_t)y * (size_t)shape[2] + (size_t)x) * (size_t)shape[3];
	return y >= 0 && x >= 0 && y < shape[1] && x < shape[2];
}

static double convolve(const struct bench *b, const struct window_case *c, bool deep, int32_t oy,
		       int32_t ox, int32_t o)
{
	double sum = c->biased ? (double)b->values[2][o] : 0;
	size_t at;

	for (int32_t ky = 0; ky < c->window_y; ky++) {
		for (int32_t kx = 0; kx < c->window_x; kx++) {
			if (!pixel(b, oy, ox, ky, kx, &at))
				continue;
			int32_t tap = ky * c->window_x + kx, taps = c->window_y * c->window_x;
			if (deep) {
				sum += (double)b->values[0][at + (size_t)(o * c->channels /
									  c->outputs)] *
				       (double)b->values[1][tap * c->outputs + o];
				continue;
			}
			for (int32_t i = 0; i < c->channels; i++)
				sum += (double)b->values[0][at + (size_t)i] *
				       (double)b->values[1][(o * taps + tap) * c->channels + i];
		}
	}
	return sum;
}

static void convolution_case(const struct window_case *c, bool deep)
{
	struct bench b;
	int32_t height, width;
	char what[128];

	bench_open(&b, deep ? OP_DEPTHWISE_CONV_2D : OP_CONV_2D);
	add_input(&b, 4, (int32_t[]){1, c->height, c->width, c->channels});
	add_constant(&b, 4,
		     deep ? (int32_t[]){1, c->window_y, c->window_x, c->outputs}
			  : (int32_t[]){c->outputs, c->window_y, c->window_x, c->channels},
		     c->quantised);
	if (c->biased)
		add_constant(&b, 1, (int32_t[]){c->outputs}, false);
	set_window(&b, c, &height, &width);
	float *out = set_output(&b, 4, (int32_t[]){1, height, width, c->outputs});
	for (int32_t y = 0; y < height; y++)
		for (int32_t x = 0; x < width; x++)
			for (int32_t o = 0; o < c->outputs; o++)
				*out++ = (float)convolve(&b, c, deep, y, x, o);
	snprintf(what, sizeof(what), "%dx%dx%d to %d by %dx%d", c->height, c->width, c->channels,
		 c->outputs, c->window_y, c->window_x);
	bench_check(&b, what);
	bench_close(&b);
}

static void conv__odd_shapes(void **state)
{
	static const struct window_case cases[] = {
		/* height width in out  window stride dilation same quantised biased */
		{1, 1, 1, 1, 1, 1, 1, 1, 1, false, false, false, ACTIVATION_NONE},
		{5, 7, 3, 16, 3, 3, 1, 1, 1, true, false, true, ACTIVATION_RELU},
		{9, 9, 5, 17, 3, 3, 2, 2, 1, true, true, true, ACTIVATION_RELU6},
		{8, 11, 16, 32, 1, 1, 1, 1, 1, false, false, true, ACTIVATION_NONE},
		{8, 11, 7, 33, 1, 1, 1, 1, 1, true, true, false, ACTIVATION_NONE},
		{13, 6, 4, 48, 5, 5, 1, 1, 1, true, false, true, ACTIVATION_RELU_N1_TO_1},
		{17, 17, 6, 31, 1, 7, 1, 1, 1, true, false, true, ACTIVATION_RELU},
		{17, 17, 6, 64, 7, 1, 1, 1, 1, true, true, true, ACTIVATION_RELU},
		{12, 10, 9, 15, 3, 3, 1, 2, 1, false, false, true, ACTIVATION_NONE},
		{15, 15, 3, 70, 3, 3, 1, 1, 2, true, false, true, ACTIVATION_NONE},
		{2, 3, 2, 10, 5, 5, 3, 3, 1, true, false, true, ACTIVATION_NONE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		convolution_case(&cases[i], false);
}

/* The smaller tiles serve devices with fewer registers. */
static void conv__narrow_tiles(void **state)
{
	char *narrow;

	if (asprintf(&narrow, "#undef __AVX512F__\n%s", kernels_source) < 0)
		fail();
	source = narrow;
	conv__odd_shapes(state);
	source = kernels_source;
	free(narrow);
}

static void depthwise__odd_shapes(void **state)
{
	static const struct window_case cases[] = {
		{7, 9, 32, 32, 3, 3, 1, 1, 1, true, false, true, ACTIVATION_RELU6},
		{9, 7, 19, 19, 3, 3, 2, 2, 1, true, true, true, ACTIVATION_NONE},
		{6, 6, 5, 15, 3, 3, 1, 1, 1, false, false, true, ACTIVATION_NONE},
		{11, 5, 16, 32, 5, 3, 2, 1, 1, true, false, false, ACTIVATION_RELU},
		{10, 10, 8, 8, 3, 3, 1, 1, 3, true, false, true, ACTIVATION_NONE},
		{1, 1, 1, 1, 1, 1, 1, 1, 1, false, false, true, ACTIVATION_NONE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		convolution_case(&cases[i], true);
}

static float pooled(const struct bench *b, const struct window_case *c, bool mean, int32_t oy,
		    int32_t ox, int32_t o)
{
	double sum = 0, most = -INFINITY;
	int32_t count = 0;
	size_t at;

	for (int32_t ky = 0; ky < c->window_y; ky++) {
		for (int32_t kx = 0; kx < c->window_x; kx++) {
			if (!pixel(b, oy, ox, ky, kx, &at))
				continue;
			double v = (double)b->values[0][at + (size_t)o];
			sum += v;
			most = fmax(most, v);
			count++;
		}
	}
	return (float)(mean ? sum / count : most);
}

static void pools__odd_shapes(void **state)
{
	static const struct window_case cases[] = {
		{8, 8, 16, 16, 3, 3, 2, 2, 1, true, false, false, ACTIVATION_NONE},
		{7, 9, 19, 19, 3, 3, 1, 1, 1, true, false, false, ACTIVATION_RELU},
		{7, 9, 35, 35, 3, 2, 2, 3, 1, false, false, false, ACTIVATION_NONE},
		{14, 14, 5, 5, 14, 14, 1, 1, 1, false, false, false, ACTIVATION_NONE},
	};

	for (size_t i = 0; i < 2 * ARRAY_COUNT(cases); i++) {
		const struct window_case *c = &cases[i / 2];
		struct bench b;
		int32_t height, width;
		bench_open(&b, i % 2 ? OP_AVERAGE_POOL_2D : OP_MAX_POOL_2D);
		add_input(&b, 4, (int32_t[]){1, c->height, c->width, c->channels});
		set_window(&b, c, &height, &width);
		float *out = set_output(&b, 4, (int32_t[]){1, height, width, c->channels});
		for (int32_t y = 0; y < height; y++)
			for (int32_t x = 0; x < width; x++)
				for (int32_t o = 0; o < c->channels; o++)
					*out++ = pooled(&b, c, i % 2, y, x, o);
		bench_check(&b, i % 2 ? "average" : "max");
		bench_close(&b);
	}
}

static void mean__over_the_image(void **state)
{
	struct bench b;

	bench_open(&b, OP_MEAN);
	add_input(&b, 4, (int32_t[]){1, 7, 5, 21});
	b.op.window_y = 7;
	b.op.window_x = 5;
	float *out = set_output(&b, 2, (int32_t[]){1, 21});
	for (int32_t c = 0; c < 21; c++) {
		double sum = 0;
		for (int32_t i = 0; i < 35; i++)
			sum += (double)b.values[0][i * 21 + c];
		out[c] = (float)(sum / 35);
	}
	bench_check(&b, "mean");
	bench_close(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(conv__odd_shapes),      cmocka_unit_test(conv__narrow_tiles),
		cmocka_unit_test(depthwise__odd_shapes), cmocka_unit_test(pools__odd_shapes),
		cmocka_unit_test(mean__over_the_image),
	};

	skip_without_opencl();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
