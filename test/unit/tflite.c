/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the reader of TFLite files. A damaged file must be rejected or give a consistent model,
 * which sanitizers and a walk over constants check. */
#include "classify_support.h"

#include "plan.h"
#include "tflite.h"

static uint8_t *tiny;
static size_t tiny_bytes;

static int parse(const uint8_t *bytes, size_t count, struct model *m, struct fault *fault)
{
	fault->text[0] = '\0';
	return tflite_parse("file", bytes, count, m, fault);
}

/* A sanitizer detects an inconsistent model. */
static double walk(const struct model *m)
{
	double sum = 0;

	for (int32_t i = 0; i < m->tensor_count; i++) {
		const struct tensor *t = &m->tensors[i];
		for (int64_t k = 0; t->data && t->type != TENSOR_OTHER && k < t->elements; k++)
			sum += tensor_value(t, k);
	}
	for (int32_t i = 0; i < m->op_count; i++) {
		struct cut cut;
		struct range r = model_range(m, &m->ops[i]);
		sum += (double)plan_crossing(m, i, &cut) + (r.low <= r.high);
	}
	return sum;
}

static void tflite_read__tiny(void **state)
{
	struct model m;
	struct fault fault;

	assert_int_equal(tflite_read(MODELS "tiny-cnn.tflite", &m, &fault), DXP_OK);
	assert_int_equal(m.op_count, 9);
	assert_int_equal(m.tensor_count, 20);
	assert_string_equal(model_layer_name(&m, 5), "concat");
	assert_int_equal(m.ops[5].kind, OP_CONCATENATION);
	assert_int_equal(m.ops[5].axis, 3);
	assert_int_equal(m.ops[8].kind, OP_SOFTMAX);
	assert_true(m.ops[8].beta == 1.0f);
	assert_true(m.ops[0].same_padding);
	assert_int_equal(m.ops[0].pad_top, 1);
	/* SAME, 16 to 8 pixels, 3x3, stride 2: the odd pixel of padding is at the end */
	assert_int_equal(m.ops[1].pad_top, 0);
	assert_int_equal(m.ops[0].activation, ACTIVATION_NONE);
	assert_int_equal(m.ops[2].activation, ACTIVATION_RELU);
	assert_int_equal(m.ops[0].macs, 16 * 16 * 8 * 27);
	assert_int_equal(m.tensors[m.input].shape[1], 16);
	assert_int_equal(m.tensors[m.output].elements, 10);
	model_release(&m);
}

static void tflite_read__squeezenet(void **state)
{
	struct model m;
	struct fault fault;

	assert_int_equal(tflite_read(MODELS "squeezenet1.1.tflite", &m, &fault), DXP_OK);
	assert_int_equal(m.op_count, 39);
	assert_int_equal(m.tensor_count, 92);
	assert_int_equal(model_macs(&m), 387747520);
	assert_string_equal(model_layer_name(&m, 10), "pool3");
	model_release(&m);
}

/* A small network like MobileNet with 8-bit weights and activations is read correctly. */
static void tflite_read__quantised(void **state)
{
	struct model m;
	struct fault fault;

	assert_int_equal(
		tflite_read(DXP_SOURCE_DIR "/test/fuzz/corpus/tflite/quantised", &m, &fault),
		DXP_OK);
	assert_int_equal(m.op_count, 7);
	assert_int_equal(m.ops[1].kind, OP_DEPTHWISE_CONV_2D);
	assert_int_equal(m.ops[1].macs, 4 * 4 * 4 * 9);
	assert_int_equal(m.tensors[m.input].type, TENSOR_UINT8);
	assert_int_equal(m.tensors[m.input].zero[0], 128);
	/* no activation; the 8-bit range is that of RELU6 */
	struct range r = model_range(&m, &m.ops[0]);
	assert_true(r.low == 0.0f && fabsf(r.high - 6.0f) < 1e-5f);
	const struct tensor *weights = &m.tensors[m.ops[4].inputs[1]];
	assert_int_equal(weights->type, TENSOR_INT8);
	assert_int_equal(weights->quant_count, 5);
	assert_true(tensor_value(weights, 17) == 0.05f * (float)(int8_t)weights->data[17]);
	assert_int_equal(m.ops[3].window_y, 6);
	model_release(&m);
}

static void tflite_parse__every_length(void **state)
{
	for (size_t count = 0; count < tiny_bytes; count++) {
		struct model m;
		struct fault fault;
		/* exact, so that a sanitizer detects reads past the end */
		uint8_t *cut = malloc(count ? count : 1);
		memcpy(cut, tiny, count);
		int status = parse(cut, count, &m, &fault);
		if (status == DXP_OK)
			fail_msg("%zu of %zu bytes pass for a model", count, tiny_bytes);
		assert_int_equal(status, DXP_EMALFORMED);
		assert_non_null(strstr(fault.text, "file"));
		free(cut);
	}
}

static void try_damaged(uint8_t *bytes, uint32_t *passed)
{
	struct model m;
	struct fault fault;
	int status = parse(bytes, tiny_bytes, &m, &fault);

	if (status == DXP_OK) {
		(void)walk(&m);
		assert_int_equal(model_end_in_probabilities(&m), DXP_OK);
		model_release(&m);
		++*passed;
	} else {
		assert_true(fault.text[0] != '\0');
	}
}

static void tflite_parse__every_byte_damaged(void **state)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	uint32_t passed = 0;

	for (size_t at = 0; at < tiny_bytes; at++) {
		for (size_t i = 0; i < ARRAY_COUNT(flips); i++) {
			tiny[at] ^= flips[i];
			try_damaged(tiny, &passed);
			tiny[at] ^= flips[i];
		}
	}
	/* most bytes are weights, for which any value is valid */
	assert_true(passed > tiny_bytes && passed < 3 * tiny_bytes);
}

static void tflite_parse__words_damaged(void **state)
{
	static const uint32_t words[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
	uint32_t passed = 0;

	for (size_t at = 0; at + 4 <= tiny_bytes; at += 4) {
		uint8_t saved[4];
		memcpy(saved, tiny + at, sizeof(saved));
		for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
			memcpy(tiny + at, &words[i], sizeof(words[i]));
			try_damaged(tiny, &passed);
		}
		memcpy(tiny + at, saved, sizeof(saved));
	}
	assert_true(passed > 0);
}

/* SOFTMAX (25) becomes the schema's next number, SPACE_TO_DEPTH. */
static void tflite_parse__unknown_operator(void **state)
{
	bool reported = false;

	for (size_t at = 0; at < tiny_bytes && !reported; at++) {
		struct model m;
		struct fault fault;
		if (tiny[at] != 25)
			continue;
		tiny[at] = 26;
		if (parse(tiny, tiny_bytes, &m, &fault) == DXP_OK)
			model_release(&m);
		else
			reported = strstr(fault.text, "operator 8 is SPACE_TO_DEPTH") &&
				   strstr(fault.text, "file");
		tiny[at] = 25;
	}
	assert_true(reported);
}

static void tflite_read__not_a_model(void **state)
{
	struct model m;
	struct fault fault;

	assert_int_equal(tflite_read(MODELS "chelsea.jpg", &m, &fault), DXP_EMALFORMED);
	assert_non_null(strstr(fault.text, "not a TFLite model"));
	assert_int_equal(tflite_read(MODELS "no-such-file", &m, &fault), DXP_ENOENT);
	assert_int_equal(tflite_read(MODELS, &m, &fault), DXP_EIO);
}

static void tensor_value__scales(void **state)
{
	float scale[] = {0.5f, 2.0f};
	int32_t zero[] = {10, -1};
	uint8_t bytes[] = {10, 12, 0x80, 0xff};
	struct tensor t = {.type = TENSOR_UINT8,
			   .dims = 2,
			   .shape = {2, 2},
			   .elements = 4,
			   .data = bytes,
			   .quant_count = 1,
			   .scale = scale,
			   .zero = zero};

	assert_true(tensor_value(&t, 0) == 0.0f);
	assert_true(tensor_value(&t, 3) == 122.5f);
	t.type = TENSOR_INT8;
	t.quant_count = 2; /* per row */
	assert_true(tensor_value(&t, 1) == 1.0f);
	assert_true(tensor_value(&t, 2) == -254.0f);
	t.quant_axis = 1; /* per column */
	assert_true(tensor_value(&t, 1) == 26.0f);
	assert_true(tensor_value(&t, 2) == -69.0f);
}

static void model_range__by_type_and_activation(void **state)
{
	float scale = 0.1f;
	int32_t zero = 0;
	struct tensor t = {.type = TENSOR_UINT8, .quant_count = 1, .scale = &scale, .zero = &zero};
	struct model m = {.tensors = &t, .tensor_count = 1};
	struct op op = {.kind = OP_CONV_2D};

	/* the 8-bit range acts as RELU with a maximum of 25.5 */
	struct range r = model_range(&m, &op);
	assert_true(r.low == 0.0f && fabsf(r.high - 25.5f) < 1e-5f);
	op.activation = ACTIVATION_RELU6;
	assert_true(model_range(&m, &op).high == 6.0f);
	zero = 128;
	op.activation = ACTIVATION_NONE;
	assert_true(fabsf(model_range(&m, &op).low + 12.8f) < 1e-5f);
	t.type = TENSOR_FLOAT32;
	assert_true(isinf(model_range(&m, &op).low) && isinf(model_range(&m, &op).high));
	op.activation = ACTIVATION_RELU;
	assert_true(model_range(&m, &op).low == 0.0f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tflite_read__tiny),
		cmocka_unit_test(tflite_read__squeezenet),
		cmocka_unit_test(tflite_read__quantised),
		cmocka_unit_test(tflite_parse__every_length),
		cmocka_unit_test(tflite_parse__every_byte_damaged),
		cmocka_unit_test(tflite_parse__words_damaged),
		cmocka_unit_test(tflite_parse__unknown_operator),
		cmocka_unit_test(tflite_read__not_a_model),
		cmocka_unit_test(tensor_value__scales),
		cmocka_unit_test(model_range__by_type_and_activation),
	};

	skip_without_models();
	tiny = load(MODELS "tiny-cnn.tflite", &tiny_bytes);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(tiny);
	return failed;
}
