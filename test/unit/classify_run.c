/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whole networks on the local device: known answers in the photos' order, with any split, and
 * byte counts. */
#include "classify_support.h"

#include <jansson.h>

#include "image.h"
#include "labels.h"
#include "plan.h"
#include "run.h"
#include "tflite.h"

#define SIDE    227
#define CLASSES 1000
#define PHOTO   ((size_t)SIDE * SIDE * 3)

static struct model squeeze;
static uint8_t chelsea[PHOTO];

struct rig {
	struct plan plan;
	struct backend *backend;
	struct run *run;
	struct fault fault;
};

static void rig_open(struct rig *r, const struct model *m, const char *split,
		     const struct run_options *options)
{
	int status = split ? plan_layers(m, split, &r->plan, &r->fault)
			   : plan_auto(m, 1, &r->plan, &r->fault);

	if (status == DXP_OK)
		status = backend_local_open(r->plan.stage_count, &r->backend, &r->fault);
	if (status == DXP_OK)
		status = run_open(m, &r->plan, r->backend, options, &r->run, &r->fault);
	if (status != DXP_OK)
		fail_msg("%s", r->fault.text);
}

static void rig_open_squeeze(struct rig *r, const char *split, uint32_t depth)
{
	rig_open(r, &squeeze, split, &(struct run_options){.depth = depth, .line = {1, 0}});
}

static void rig_close(struct rig *r)
{
	run_close(r->run);
	r->backend->ops->close(r->backend);
}

static void rig_run(struct rig *r, const void *photo, struct run_result *result)
{
	if (run_submit(r->run, photo, 1, &r->fault) != DXP_OK ||
	    run_collect(r->run, result, &r->fault) != DXP_OK)
		fail_msg("%s", r->fault.text);
}

static void run__tiny_cnn(void **state)
{
	struct model m;
	struct rig r;
	struct run_result result;
	float concat[8 * 8 * 12];
	size_t bytes;
	uint8_t *input = load(MODELS "tiny-cnn.input.bin", &bytes);

	assert_int_equal(bytes, 16 * 16 * 3 * sizeof(float));
	assert_int_equal(tflite_read(MODELS "tiny-cnn.tflite", &m, &r.fault), DXP_OK);
	rig_open(&r, &m, "concat", &(struct run_options){.floats = true});
	rig_run(&r, input, &result);
	assert_int_equal(result.answer_count, 10);
	assert_true(difference(result.answer, 10, MODELS "tiny-cnn.output.bin") <= 1e-5);
	assert_int_equal(run_peek(r.run, r.plan.cuts[0].tensors[0], concat, &r.fault), DXP_OK);
	assert_true(difference(concat, ARRAY_COUNT(concat), MODELS "tiny-cnn.concat.bin") <= 1e-5);
	assert_int_equal(run_peek(r.run, 3, concat, &r.fault), DXP_ENOENT);
	rig_close(&r);
	model_release(&m);
	free(input);
}

/* Splits: none; as demonstrated; cuts that two tensors cross, also through a whole stage; after
 * each of 15 operators. */
static void run__same_answer_wherever_cut(void **state)
{
	static const char *const splits[] = {NULL,
					     "pool3",
					     "pool5",
					     "fire7/squeeze1x1",
					     "pool3,pool5,fire9/concat",
					     "2,3,fire5/expand1x1",
					     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"};

	for (size_t i = 0; i < ARRAY_COUNT(splits); i++) {
		struct rig r;
		struct run_result result;
		rig_open_squeeze(&r, splits[i], 1);
		rig_run(&r, chelsea, &result);
		assert_int_equal(result.answer_count, CLASSES);
		double most = difference(result.answer, CLASSES, MODELS "chelsea-227.prob.bin");
		if (most > 1e-4)
			fail_msg("split %s: off by %g", splits[i] ? splits[i] : "none", most);
		for (uint32_t s = 0; s < r.plan.stage_count; s++)
			assert_true(result.stage_ns[s] > 0 && result.stage_ns[s] < result.total_ns);
		rig_close(&r);
	}
}

/* These networks contain all operators that the larger one lacks, with 8-bit and float weights. */
static void run__every_cut_of_small_networks(void **state)
{
	static const char *const files[] = {"quantised", "float"};

	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		struct model m;
		struct rig r;
		struct run_result result;
		char path[256], split[16];
		float whole[16];
		snprintf(path, sizeof(path), DXP_SOURCE_DIR "/test/fuzz/corpus/tflite/%s",
			 files[i]);
		assert_int_equal(tflite_read(path, &m, &r.fault), DXP_OK);
		for (int32_t cut = -1; cut + 1 < m.op_count; cut++) {
			snprintf(split, sizeof(split), "%d", cut);
			rig_open(&r, &m, cut < 0 ? NULL : split,
				 &(struct run_options){.line = {0.01f, -1}});
			rig_run(&r, chelsea, &result);
			for (int32_t k = 0; k < result.answer_count; k++) {
				if (cut < 0)
					whole[k] = result.answer[k];
				assert_true(result.answer[k] > 0 && result.answer[k] < 1);
				assert_true(fabsf(result.answer[k] - whole[k]) < 1e-6f);
			}
			rig_close(&r);
		}
		model_release(&m);
	}
}

/* golden.json holds values of tensors inside the network. */
static void check_tensor(struct rig *r, const char *name, const json_t *expected)
{
	const struct cut *cut = NULL;
	const char *index;
	json_t *value;

	for (uint32_t i = 0; i + 1 < r->plan.stage_count; i++)
		if (strcmp(squeeze.tensors[r->plan.cuts[i].tensors[0]].name, name) == 0)
			cut = &r->plan.cuts[i];
	if (!cut)
		return; /* no cut passes this tensor */
	const struct tensor *t = &squeeze.tensors[cut->tensors[0]];
	float *got = calloc((size_t)t->elements, sizeof(*got));
	double most = json_real_value(json_object_get(expected, "max"));
	assert_int_equal(run_peek(r->run, cut->tensors[0], got, &r->fault), DXP_OK);
	json_object_foreach(json_object_get(expected, "at"), index, value)
	{
		int64_t at = strtoll(index, NULL, 10);
		assert_true(at >= 0 && at < t->elements);
		if (fabs((double)got[at] - json_real_value(value)) > 1e-5 * most)
			fail_msg("%s[%s]: %g, not %g", name, index, (double)got[at],
				 json_real_value(value));
	}
	free(got);
}

static json_t *golden(void)
{
	json_t *all = json_load_file(MODELS "golden.json", 0, NULL);
	assert_non_null(all);
	return all;
}

static void run__tensors_inside(void **state)
{
	struct rig r;
	struct run_result result;
	json_t *all = golden(), *expected;
	const char *name;

	rig_open_squeeze(&r, "conv1,pool1,pool3,pool5,fire9/concat", 0);
	rig_run(&r, chelsea, &result);
	json_t *tensors =
		json_object_get(json_array_get(json_object_get(all, "results"), 0), "tensors");
	assert_int_equal(json_object_size(tensors), 6);
	json_object_foreach(tensors, name, expected) check_tensor(&r, name, expected);
	rig_close(&r);
	json_decref(all);
}

/* The best class must be the same, the best five within the tolerance. */
static void check_top(const json_t *result, const float *answer)
{
	double tolerance = json_real_value(json_object_get(result, "tolerance"));
	int32_t best[2];
	size_t i;
	json_t *entry;

	json_array_foreach(json_object_get(result, "top5"), i, entry)
	{
		int32_t index = (int32_t)json_integer_value(json_object_get(entry, "index"));
		double p = json_real_value(json_object_get(entry, "p"));
		if (fabs((double)answer[index] - p) > tolerance)
			fail_msg("%s: class %d is %g, not %g",
				 json_string_value(json_object_get(result, "photo")), index,
				 (double)answer[index], p);
		if (i == 0) {
			labels_top(answer, CLASSES, 1, best);
			assert_int_equal(best[0], index);
		}
	}
}

static void run__golden_photos(void **state)
{
	static uint8_t square[PHOTO];
	struct rig r;
	json_t *all = golden(), *entry;
	size_t i, seen = 0;

	rig_open_squeeze(&r, "pool5", 1);
	json_array_foreach(json_object_get(all, "results"), i, entry)
	{
		const char *how = json_string_value(json_object_get(entry, "resize"));
		struct image image;
		struct run_result result;
		char path[256];
		if (strcmp(json_string_value(json_object_get(entry, "model")),
			   "squeezenet1.1.tflite") != 0)
			continue;
		snprintf(path, sizeof(path), MODELS "%s",
			 json_string_value(json_object_get(entry, "photo")));
		assert_int_equal(image_read(path, &image, &r.fault), DXP_OK);
		assert_int_equal(image_square(&image, SIDE,
					      strcmp(how, "pil_bilinear") ? RESIZE_BILINEAR
									  : RESIZE_PIL_BILINEAR,
					      square),
				 DXP_OK);
		rig_run(&r, square, &result);
		check_top(entry, result.answer);
		image_release(&image);
		seen++;
	}
	assert_int_equal(seen, 5);
	rig_close(&r);
	json_decref(all);
}

/* More photos than may be in progress at once. */
static void run__pipelined_photos_stay_apart(void **state)
{
	enum { COUNT = 9 };
	static uint8_t photos[COUNT][PHOTO];
	static float alone[COUNT][CLASSES];
	struct rig r;
	struct run_result result;
	uint64_t next = 0;

	rig_open_squeeze(&r, NULL, 1);
	for (size_t i = 0; i < COUNT; i++) {
		for (size_t k = 0; k < PHOTO; k++)
			photos[i][k] = (uint8_t)(chelsea[(k + i * 3 * 5000) % PHOTO] / (i % 3 + 1));
		rig_run(&r, photos[i], &result);
		memcpy(alone[i], result.answer, sizeof(alone[i]));
	}
	rig_close(&r);
	rig_open_squeeze(&r, "3,pool5", 3);
	for (size_t i = 0; i < COUNT || run_pending(r.run) > 0;) {
		if (i < COUNT && run_pending(r.run) < run_depth(r.run)) {
			assert_int_equal(run_submit(r.run, photos[i], 100 + i, &r.fault), DXP_OK);
			i++;
			continue;
		}
		assert_int_equal(run_collect(r.run, &result, &r.fault), DXP_OK);
		assert_int_equal(result.tag, 100 + next);
		for (int32_t k = 0; k < CLASSES; k++)
			assert_true(fabsf(result.answer[k] - alone[next][k]) <= 1e-4f);
		next++;
	}
	assert_int_equal(next, COUNT);
	const struct run_bytes *bytes = run_bytes(r.run);
	assert_int_equal(bytes->photos, COUNT * PHOTO);
	assert_int_equal(bytes->answers, COUNT * CLASSES * sizeof(float));
	assert_int_equal(bytes->links[0], COUNT * plan_cut_bytes(&squeeze, &r.plan.cuts[0]));
	assert_int_equal(bytes->links[1], COUNT * 200704);
	assert_true(bytes->model > 1235496 * sizeof(float) &&
		    bytes->model < 1300000 * sizeof(float));
	rig_close(&r);
}

/* The default model, if downloaded, has 8-bit weights and raw scores. */
static void run__inception_names_the_coffee(void **state)
{
	static const char path[] = DXP_SOURCE_DIR "/models/inception_v3.tflite";
	static uint8_t square[299 * 299 * 3];
	static float answers[2][1001];
	static const char *const splits[] = {NULL, "Mixed_6a,Mixed_6c/concat"};
	struct model m;
	struct rig r;
	struct image image;
	struct run_result result;
	int32_t best[2];

	if (access(path, R_OK) != 0) {
		print_message("skipped: no %s; tools/model fetches it\n", path);
		skip();
	}
	assert_int_equal(tflite_read(path, &m, &r.fault), DXP_OK);
	assert_int_equal(model_end_in_probabilities(&m), DXP_OK);
	assert_int_equal(image_read(MODELS "coffee.jpg", &image, &r.fault), DXP_OK);
	assert_int_equal(image_square(&image, 299, RESIZE_BILINEAR, square), DXP_OK);
	for (size_t i = 0; i < 2; i++) {
		rig_open(&r, &m, splits[i], &(struct run_options){.depth = 1});
		rig_run(&r, square, &result);
		assert_int_equal(result.answer_count, 1001);
		memcpy(answers[i], result.answer, sizeof(answers[i]));
		rig_close(&r);
	}
	labels_top(answers[0], 1001, 1, best);
	assert_int_equal(best[0], 968); /* espresso, if class 0 is "background" */
	assert_true(answers[0][968] > 0.9f);
	for (size_t i = 0; i < 1001; i++)
		assert_true(fabsf(answers[0][i] - answers[1][i]) <= 1e-4f);
	image_release(&image);
	model_release(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(run__tiny_cnn),
		cmocka_unit_test(run__same_answer_wherever_cut),
		cmocka_unit_test(run__every_cut_of_small_networks),
		cmocka_unit_test(run__tensors_inside),
		cmocka_unit_test(run__golden_photos),
		cmocka_unit_test(run__pipelined_photos_stay_apart),
		cmocka_unit_test(run__inception_names_the_coffee),
	};
	struct image image;
	struct fault fault;

	skip_without_models();
	skip_without_opencl();
	if (tflite_read(MODELS "squeezenet1.1.tflite", &squeeze, &fault) != DXP_OK ||
	    image_read(MODELS "chelsea-227.ppm", &image, &fault) != DXP_OK) {
		printf("%s\n", fault.text);
		return 1;
	}
	memcpy(chelsea, image.rgb, PHOTO);
	image_release(&image);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	model_release(&squeeze);
	return failed;
}
