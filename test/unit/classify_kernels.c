/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operator's kernel against a plain loop in double, over odd sizes: one operator is lowered, its tensors lie in
 * buffers of their own on the local device. */
#include "classify_support.h"

#include "base/rng.h"
#include "kernels.h"
#include "steps.h"

#define TENSORS_MAX 8
#define TOLERANCE   2e-5

static struct backend *device;
static struct rng rng;

/* A model of one operator, built by the cases below. */
struct bench {
	struct model m;
	struct tensor tensors[TENSORS_MAX];
	struct op op;
	float *values[TENSORS_MAX];    /* inputs; what is expected of the output */
	uint8_t *constants[TENSORS_MAX];
	float scale[TENSORS_MAX];
	int32_t zero[TENSORS_MAX];
};

static float random_float(void)
{
	return (float)((double)(rng_next(&rng) >> 40) / (1 << 23) - 1);
}

static void bench_open(struct bench *b, enum op_kind kind)
{
	memset(b, 0, sizeof(*b));
	b->m = (struct model){.path = (char *)"test", .tensors = b->tensors, .ops = &b->op, .op_count = 1};
	b->op.kind = kind;
	b->op.stride_y = b->op.stride_x = b->op.dilation_y = b->op.dilation_x = 1;
	b->op.beta = 1;
}

static void bench_close(struct bench *b)
{
	for (int32_t i = 0; i < TENSORS_MAX; i++) {
		free(b->values[i]);
		free(b->constants[i]);
	}
}

/* Adds a tensor of random values, float and not constant for now; returns its index. */
static int32_t add_tensor(struct bench *b, int32_t dims, const int32_t *shape)
{
	int32_t i = b->m.tensor_count++;
	struct tensor *t = &b->tensors[i];

	*t = (struct tensor){.name = (char *)"tensor", .dims = dims, .elements = 1};
	for (int32_t d = 0; d < dims; d++) {
		t->shape[d] = shape[d];
		t->elements *= shape[d];
	}
	b->values[i] = calloc((size_t)t->elements + 1, sizeof(float));
	for (int64_t k = 0; k < t->elements; k++)
		b->values[i][k] = random_float();
	return i;
}

static int32_t add_input(struct bench *b, int32_t dims, const int32_t *shape)
{
	int32_t i = add_tensor(b, dims, shape);
	b->op.inputs[b->op.input_count++] = i;
	return i;
}

/* A constant input; with `quantised`, 8-bit, and the values become what those bytes stand for. */
static int32_t add_constant(struct bench *b, int32_t dims, const int32_t *shape, bool quantised)
{
	int32_t i = add_input(b, dims, shape);
	struct tensor *t = &b->tensors[i];

	b->constants[i] = malloc((size_t)t->elements * sizeof(float));
	memcpy(b->constants[i], b->values[i], (size_t)t->elements * sizeof(float));
	t->data = b->constants[i];
	if (!quantised)
		return i;
	b->scale[i] = 0.01f;
	b->zero[i] = 120;
	t->type = TENSOR_UINT8;
	t->quant_count = 1;
	t->scale = &b->scale[i];
	t->zero = &b->zero[i];
	for (int64_t k = 0; k < t->elements; k++) {
		b->constants[i][k] = (uint8_t)rng_next(&rng);
		b->values[i][k] = 0.01f * (float)(b->constants[i][k] - 120);
	}
	return i;
}

static float *set_output(struct bench *b, int32_t dims, const int32_t *shape)
{
	b->op.output = add_tensor(b, dims, shape);
	return b->values[b->op.output];
}

/* Buffers for all tensors and the packed constants. */
static void place(struct bench *b, const struct steps *s, uint64_t *addresses, uint64_t *constants)
{
	struct fault fault;
	int status = DXP_OK;

	for (int32_t i = 0; i < b->m.tensor_count; i++) {
		uint64_t bytes = (uint64_t)b->tensors[i].elements * sizeof(float);
		status |= device->ops->alloc(device, 0, bytes, &addresses[i], &fault);
		if (i != b->op.output)
			status |= device->ops->write(device, 0, addresses[i], b->values[i], bytes, &fault);
	}
	status |= device->ops->alloc(device, 0, s->constant_bytes, constants, &fault);
	status |= device->ops->write(device, 0, *constants, s->constants, s->constant_bytes, &fault);
	if (status != DXP_OK)
		fail_msg("%s", fault.text);
}

static void launch(const struct step *step, const uint64_t *addresses, uint64_t constants)
{
	struct dxp_argument arguments[STEP_ARGUMENTS_MAX] = {0};
	struct backend_launch l = {.kernel = step->kernel,
				   .global = {step->global[0], step->global[1]},
				   .arguments = arguments,
				   .argument_count = step->argument_count};
	struct fault fault;
	dxp_event event;

	for (uint32_t i = 0; i < step->argument_count; i++) {
		const struct step_argument *a = &step->arguments[i];
		arguments[i].kind = a->kind == STEP_VALUE ? DXP_ARGUMENT_BYTES : DXP_ARGUMENT_BUFFER;
		arguments[i].bytes = a->bytes;
		memcpy(arguments[i].value, a->value, sizeof(a->value));
		arguments[i].address = a->kind == STEP_TENSOR ? addresses[a->index] : constants + a->index;
	}
	if (device->ops->launch(device, 0, &l, &event, &fault) != DXP_OK ||
	    device->ops->wait(device, event, UINT64_MAX, NULL, &fault) != DXP_OK)
		fail_msg("%s: %s", step->kernel, fault.text);
}

/* Runs the operator and compares with what the case expects. */
static void bench_check(struct bench *b, const char *what)
{
	const struct tensor *out = &b->tensors[b->op.output];
	const float *expected = b->values[b->op.output];
	uint64_t addresses[TENSORS_MAX], constants;
	struct steps s;
	struct fault fault;
	struct range r = model_range(&b->m, &b->op);

	assert_int_equal(backend_local_open(1, &device, &fault), DXP_OK);
	assert_int_equal(device->ops->build(device, 0, kernels_source, &fault), DXP_OK);
	assert_int_equal(steps_build(&b->m, 0, 0, NULL, &s), DXP_OK);
	place(b, &s, addresses, &constants);
	for (uint32_t i = 0; i < s.count; i++)
		launch(&s.list[i], addresses, constants);
	float *got = calloc((size_t)out->elements, sizeof(*got));
	assert_int_equal(device->ops->read(device, 0, got, addresses[b->op.output],
					   (uint64_t)out->elements * sizeof(float), &fault),
			 DXP_OK);
	for (int64_t i = 0; i < out->elements; i++) {
		double want = fmin(fmax((double)expected[i], (double)r.low), (double)r.high);
		if (!(fabs((double)got[i] - want) <= TOLERANCE * fmax(1, fabs(want))))
			fail_msg("%s: element %lld is %g, not %g", what, (long long)i, (double)got[i], want);
	}
	free(got);
	steps_release(&s);
	device->ops->close(device);
}

/* Sizes of a convolution or pool. */
struct window_case {
	int32_t height, width, channels, outputs, window_y, window_x, stride_y, stride_x, dilation;
	bool same, quantised, biased;
	enum activation activation;
};

/* Output size and padding, by the rules and not by the code under test. */
static int32_t output_size(bool same, int32_t in, int32_t window, int32_t stride, int32_t dilation,
			   int32_t *before)
{
	int32_t reach = (window - 1) * dilation + 1;
	int32_t out = same ? (in + stride - 1) / stride : (in - reach + stride) / stride;
	int32_t missing = (out - 1) * stride + reach - in;

	*before = same && missing > 0 ? missing / 2 : 0;
	return out;
}

static void set_window(struct bench *b, const struct window_case *c, int32_t *height, int32_t *width)
{
	b->op.stride_y = c->stride_y;
	b->op.stride_x = c->stride_x;
	b->op.dilation_y = b->op.dilation_x = c->dilation;
	b->op.window_y = c->window_y;
	b->op.window_x = c->window_x;
	b->op.same_padding = c->same;
	b->op.activation = c->activation;
	*height = output_size(c->same, c->height, c->window_y, c->stride_y, c->dilation, &b->op.pad_top);
	*width = output_size(c->same, c->width, c->window_x, c->stride_x, c->dilation, &b->op.pad_left);
}

/* Input at a place that may lie outside: false then. */
static bool pixel(const struct bench *b, int32_t oy, int32_t ox, int32_t ky, int32_t kx, size_t *at)
{
	const int32_t *shape = b->tensors[0].shape;
	int32_t y = oy * b->op.stride_y - b->op.pad_top + ky * b->op.dilation_y;
	int32_t x = ox * b->op.stride_x - b->op.pad_left + kx * b->op.dilation_x;

	*at = ((size_t)y * (size_t)shape[2] + (size_t)x) * (size_t)shape[3];
	return y >= 0 && x >= 0 && y < shape[1] && x < shape[2];
}

static double convolve(const struct bench *b, const struct window_case *c, bool deep, int32_t oy, int32_t ox,
		       int32_t o)
{
	double sum = c->biased ? (double)b->values[2][o] : 0;
	size_t at;

	for (int32_t ky = 0; ky < c->window_y; ky++) {
		for (int32_t kx = 0; kx < c->window_x; kx++) {
			if (!pixel(b, oy, ox, ky, kx, &at))
				continue;
			int32_t tap = ky * c->window_x + kx, taps = c->window_y * c->window_x;
			if (deep) {
				sum += (double)b->values[0][at + (size_t)(o * c->channels / c->outputs)] *
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
	snprintf(what, sizeof(what), "%dx%dx%d to %d by %dx%d", c->height, c->width, c->channels, c->outputs,
		 c->window_y, c->window_x);
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

static float pooled(const struct bench *b, const struct window_case *c, bool mean, int32_t oy, int32_t ox,
		    int32_t o)
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
				sum += (double)b.values[0][row * 37 + i] * (double)b.values[1][o * 37 + i];
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
				*out++ = y >= 0 && y < 4 && x >= 0 && c < 6 ? b.values[0][(y * 5 + x) * 6 + c]
									     : 0;
	bench_check(&b, "pad");
	bench_close(&b);
}

static void elementwise__each(void **state)
{
	static const enum op_kind kinds[] = {OP_RELU, OP_RELU6, OP_LOGISTIC, OP_RESHAPE, OP_QUANTIZE};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		struct bench b;
		bench_open(&b, kinds[i]);
		add_input(&b, 2, (int32_t[]){3, 701});
		float *out = set_output(&b, 1, (int32_t[]){2103});
		b.op.activation = kinds[i] == OP_RELU	 ? ACTIVATION_RELU
				  : kinds[i] == OP_RELU6 ? ACTIVATION_RELU6
							 : ACTIVATION_NONE;
		if (kinds[i] == OP_QUANTIZE) { /* the range of the type clamps: -0.5 .. 0.775 */
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
		b.values[0][k] *= 90; /* exp() of that without the largest one taken off is infinite */
	for (int32_t row = 0; row < 2; row++) {
		double sum = 0;
		for (int32_t k = 0; k < 1001; k++)
			sum += exp((double)0.7f * ((double)b.values[0][row * 1001 + k] - 90));
		for (int32_t k = 0; k < 1001; k++)
			*out++ = (float)(exp((double)0.7f * ((double)b.values[0][row * 1001 + k] - 90)) / sum);
	}
	bench_check(&b, "softmax");
	bench_close(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(conv__odd_shapes),	   cmocka_unit_test(depthwise__odd_shapes),
		cmocka_unit_test(pools__odd_shapes),	   cmocka_unit_test(mean__over_the_image),
		cmocka_unit_test(fully_connected__rows),   cmocka_unit_test(concatenation__each_axis),
		cmocka_unit_test(binary__repeats),	   cmocka_unit_test(pad__all_sides),
		cmocka_unit_test(elementwise__each),	   cmocka_unit_test(softmax__rows),
	};

	skip_without_opencl();
	rng.state = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
