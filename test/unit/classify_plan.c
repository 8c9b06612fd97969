/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the cuts of the test networks into stages, and the memory layout of stages. */
#include "classify_support.h"

#include "memory.h"
#include "plan.h"
#include "tflite.h"

static struct model tiny, squeeze;

static void expect(const struct plan *p, const int32_t *lasts, uint32_t count)
{
	assert_int_equal(p->stage_count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(p->stages[i].last, lasts[i]);
		assert_int_equal(p->stages[i].first, i ? lasts[i - 1] + 1 : 0);
	}
}

static void plan_crossing__counts(void **state)
{
	struct cut cut;

	assert_int_equal(plan_crossing(&squeeze, 10, &cut), 1);
	assert_int_equal(cut.tensors[0], 25);
	assert_int_equal(plan_cut_bytes(&squeeze, &cut), 401408);
	/* The cut crosses fire2's squeezed tensor and its first branch's output. */
	assert_int_equal(plan_crossing(&squeeze, 3, &cut), 2);
	assert_int_equal(cut.count, 2);
	assert_int_equal(plan_crossing(&squeeze, 38, &cut), 1);
	assert_int_equal(cut.tensors[0], squeeze.output);
}

static void plan_layers__by_name_number_part(void **state)
{
	static const char *const ways[] = {"pool3,pool5", "10,19", "ool3,pool5", "10,ool5"};
	struct plan p;
	struct fault fault;

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		if (plan_layers(&squeeze, ways[i], &p, &fault) != DXP_OK)
			fail_msg("%s", fault.text);
		expect(&p, (int32_t[]){10, 19, 38}, 3);
		assert_int_equal(p.stages[0].macs, 95923904);
		assert_int_equal(p.stages[1].macs + p.stages[2].macs, 291823616);
		assert_int_equal(p.cuts[0].count, 1);
	}
	/* after the first of two branches */
	assert_int_equal(plan_layers(&tiny, "expand1x1", &p, &fault), DXP_OK);
	assert_int_equal(p.stages[0].last, 3);
	assert_int_equal(p.cuts[0].count, 2);
}

static void plan_layers__errors(void **state)
{
	static const struct {
		const char *layers, *words;
	} cases[] = {
		{"nothing_like_it", "part of no layer's name"},
		{"fire9/", "part of several names"},
		{"prob", "leaves no layer"},
		{"38", "leaves no layer"},
		{"4000", "leaves no layer"},
		{"pool5,pool3", "does not follow"},
		{"pool3,pool3", "does not follow"},
		{"pool3,", "names no layer"},
		{"", "names no layer"},
		{"99999999999999999999", "part of no layer's name"},
	};
	struct plan p;
	struct fault fault;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_int_equal(plan_layers(&squeeze, cases[i].layers, &p, &fault), DXP_EINVAL);
		if (!strstr(fault.text, cases[i].words) || !strstr(fault.text, "nearest cuts are "))
			fail_msg("%s: %s", cases[i].layers, fault.text);
	}
	/* The message suggests a valid cut nearby. */
	plan_layers(&squeeze, "pool5,pool3", &p, &fault);
	assert_non_null(strstr(fault.text, "pool3 (10)"));
}

/* The largest stage must be no larger than that of the best split, which tries all cuts that one
 * tensor crosses. */
static void plan_auto__is_the_best(void **state)
{
	struct plan p;
	struct fault fault;
	int64_t best = INT64_MAX;

	assert_int_equal(plan_auto(&squeeze, 2, &p, &fault), DXP_OK);
	for (int32_t i = 0; i + 1 < squeeze.op_count; i++) {
		struct cut cut;
		int64_t before = 0;
		if (plan_crossing(&squeeze, i, &cut) != 1)
			continue;
		for (int32_t k = 0; k <= i; k++)
			before += squeeze.ops[k].macs;
		int64_t behind = model_macs(&squeeze) - before;
		int64_t most = before > behind ? before : behind;
		best = most < best ? most : best;
	}
	int64_t largest = p.stages[0].macs > p.stages[1].macs ? p.stages[0].macs : p.stages[1].macs;
	assert_int_equal(largest, best);
	assert_int_equal(p.cuts[0].count, 1);
}

static void plan_auto__every_count(void **state)
{
	struct fault fault;

	for (uint32_t n = 1; n <= STAGES_MAX; n++) {
		struct plan p;
		assert_int_equal(plan_auto(&squeeze, n, &p, &fault), DXP_OK);
		assert_int_equal(p.stage_count, n);
		assert_int_equal(p.stages[n - 1].last, squeeze.op_count - 1);
		int64_t sum = 0;
		for (uint32_t i = 0; i < n; i++) {
			assert_true(p.stages[i].first <= p.stages[i].last);
			sum += p.stages[i].macs;
		}
		assert_int_equal(sum, model_macs(&squeeze));
	}
	struct plan p;
	/* tiny-cnn has 9 operators, and one tensor crosses 7 of its cuts, so 9 stages need a cut of
	 * two tensors. */
	assert_int_equal(plan_auto(&tiny, 9, &p, &fault), DXP_OK);
	assert_int_equal(plan_auto(&tiny, 10, &p, &fault), DXP_EINVAL);
	assert_non_null(strstr(fault.text, "at most 9"));
	assert_int_equal(plan_auto(&tiny, 0, &p, &fault), DXP_EINVAL);
	assert_int_equal(plan_auto(&tiny, STAGES_MAX + 1, &p, &fault), DXP_EINVAL);
}

/* First and last operator that use the tensor; -1: none. */
static void alive(const struct model *m, int32_t tensor, int32_t *from, int32_t *to)
{
	*from = *to = -1;
	for (int32_t i = 0; i < m->op_count; i++) {
		if (m->ops[i].output == tensor)
			*from = *to = i;
		for (int32_t k = 0; k < m->ops[i].input_count; k++)
			if (m->ops[i].inputs[k] == tensor)
				*to = i;
	}
}

static void expect_apart(const struct model *m, const struct layout *l)
{
	for (int32_t a = 0; a < m->tensor_count; a++) {
		for (int32_t b = 0; b < a; b++) {
			int32_t a_from, a_to, b_from, b_to;
			if (l->tensors[a].kind == MEMORY_NONE ||
			    l->tensors[a].kind != l->tensors[b].kind)
				continue;
			alive(m, a, &a_from, &a_to);
			alive(m, b, &b_from, &b_to);
			if (l->tensors[a].kind == MEMORY_ARENA && (a_from > b_to || b_from > a_to))
				continue;
			uint64_t a_end = l->tensors[a].at + tensor_float_bytes(&m->tensors[a]);
			uint64_t b_end = l->tensors[b].at + tensor_float_bytes(&m->tensors[b]);
			assert_true(a_end <= l->tensors[b].at || b_end <= l->tensors[a].at);
		}
	}
}

static void layout_build__nothing_overlaps(void **state)
{
	struct plan p;
	struct fault fault;

	assert_int_equal(plan_layers(&squeeze, "3,fire5/expand3x3,pool5", &p, &fault), DXP_OK);
	for (uint32_t i = 0; i < p.stage_count; i++) {
		struct layout l;
		assert_int_equal(
			layout_build(&squeeze, &p, i, &(struct layout_options){1000, 3, false}, &l),
			DXP_OK);
		expect_apart(&squeeze, &l);
		assert_int_equal(l.arena_at, 1024);
		assert_int_equal(l.bytes, l.slots_at + 3 * l.slot_bytes);
		for (int32_t k = 0; k < p.cuts[i].count; k++)
			assert_int_equal(l.tensors[p.cuts[i].tensors[k]].kind, MEMORY_CONSTANT);
		layout_release(&l);
	}
}

/* The arena is less than half of the tensors' sum. */
static void layout_build__reuses(void **state)
{
	struct plan p;
	struct layout l;
	struct fault fault;
	uint64_t all = 0;

	assert_int_equal(plan_auto(&squeeze, 1, &p, &fault), DXP_OK);
	assert_int_equal(layout_build(&squeeze, &p, 0, &(struct layout_options){0, 1, false}, &l),
			 DXP_OK);
	for (int32_t i = 0; i < squeeze.op_count; i++)
		all += tensor_float_bytes(&squeeze.tensors[squeeze.ops[i].output]);
	/* conv1 and pool1 need their outputs at the same time. */
	uint64_t least = tensor_float_bytes(&squeeze.tensors[squeeze.ops[0].output]) +
			 tensor_float_bytes(&squeeze.tensors[squeeze.ops[1].output]);
	uint64_t arena = l.slots_at - l.arena_at;
	assert_true(arena >= least && arena <= least + least / 50 && arena < all / 2);
	layout_release(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_crossing__counts),
		cmocka_unit_test(plan_layers__by_name_number_part),
		cmocka_unit_test(plan_layers__errors),
		cmocka_unit_test(plan_auto__is_the_best),
		cmocka_unit_test(plan_auto__every_count),
		cmocka_unit_test(layout_build__nothing_overlaps),
		cmocka_unit_test(layout_build__reuses),
	};
	struct fault fault;

	skip_without_models();
	if (tflite_read(MODELS "tiny-cnn.tflite", &tiny, &fault) != DXP_OK ||
	    tflite_read(MODELS "squeezenet1.1.tflite", &squeeze, &fault) != DXP_OK) {
		printf("%s\n", fault.text);
		return 1;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	model_release(&tiny);
	model_release(&squeeze);
	return failed;
}
