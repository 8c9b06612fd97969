/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests allreduces among xPUs that switches compute: two xPUs below one switch, two below another,
 * and a switch above both. Results are compared with a
 * ring's. The switches are processes, which the tests kill. */
#include "switch/reduce_half.h"
#include "test/unit/group_rig.h"
#include "test/unit/switch_process.h"
#include "xpu/limits.h"

#define SWITCHED 4 /* members of the groups */
#define LEAVES   2

struct tree {
	struct rig r;
	struct test_switch root, leaves[LEAVES];
};

static void switches_start(struct tree *t)
{
	switch_start(&t->root, 9, NULL);
	for (int i = 0; i < LEAVES; i++)
		switch_start(&t->leaves[i], 10 + i, &t->root);
}

static void switches_kill(struct tree *t)
{
	for (int i = 0; i < LEAVES; i++)
		switch_kill(&t->leaves[i]);
	switch_kill(&t->root);
}

static int open_with(void **state, const char *engine)
{
	static struct tree t;

	switches_start(&t);
	rig_switches[0] = t.leaves[0].address;
	rig_switches[1] = t.leaves[1].address;
	if (!rig_open(&t.r, "ocl", SWITCHED, engine, 2)) {
		switches_kill(&t);
		return 1;
	}
	*state = &t;
	return 0;
}

static int tree_open(void **state)
{
	return open_with(state, "ocl");
}

/* The second pair of xPUs has memory that only DMA can access. */
static int staged_open(void **state)
{
	return open_with(state, "ocl+bridged");
}

static int tree_close(void **state)
{
	struct tree *t = *state;

	rig_close(&t->r);
	switches_kill(t);
	return 0;
}

static struct dxp_group_ways ways_of(struct dxp_group *g)
{
	struct dxp_group_ways w;

	dxp_group_ways(g, &w);
	return w;
}

static void why_has(struct dxp_group *g, const char *part)
{
	const struct dxp_group_ways w = ways_of(g);

	if (!strstr(w.why, part))
		fail_msg("'%s' says nothing of '%s'", w.why, part);
}

/* Stores an integer as element i. Every type can hold 0 .. 108; integers wrap. */
static void element_put(void *data, enum dxp_type type, uint64_t i, int v)
{
	switch (type) {
	case DXP_INT8:
	case DXP_UINT8: ((uint8_t *)data)[i] = (uint8_t)v; break;
	case DXP_INT16:
	case DXP_UINT16: ((uint16_t *)data)[i] = (uint16_t)v; break;
	case DXP_HALF: ((uint16_t *)data)[i] = fp16_of_float((float)v); break;
	case DXP_BFLOAT16: ((uint16_t *)data)[i] = bf16_of_float((float)v); break;
	case DXP_FLOAT: ((float *)data)[i] = (float)v; break;
	case DXP_DOUBLE: ((double *)data)[i] = v; break;
	case DXP_INT64:
	case DXP_UINT64: ((uint64_t *)data)[i] = (uint64_t)v; break;
	default: ((uint32_t *)data)[i] = (uint32_t)v; break;
	}
}

/* Returns element i of the input of a member. */
static int input_of(uint64_t member, uint64_t i)
{
	return (int)((i * 7 + member * 3) % 4) + 1;
}

static int reduced(enum dxp_reduction reduction, int a, int b)
{
	switch (reduction) {
	case DXP_PRODUCT: return a * b;
	case DXP_MIN: return a < b ? a : b;
	case DXP_MAX: return a > b ? a : b;
	default: return a + b;
	}
}

static void inputs_write(struct rig *r, enum dxp_type type, uint64_t count)
{
	void *data = calloc(count, dxp_type_bytes(type));

	assert_non_null(data);
	for (uint32_t m = 0; m < SWITCHED; m++) {
		for (uint64_t i = 0; i < count; i++)
			element_put(data, type, i, input_of(m, i));
		ok(dxp_mem_write(r->xpus[m], r->from[m], data, count * dxp_type_bytes(type)));
	}
	free(data);
}

/* Reads the outputs of all members, which must be equal. */
static uint8_t *output_read(struct rig *r, uint64_t bytes)
{
	uint8_t *first = malloc(bytes), *other = malloc(bytes);

	assert_true(first && other);
	for (uint32_t m = 0; m < SWITCHED; m++) {
		ok(dxp_mem_read(r->xpus[m], m ? other : first, r->parts[m].to, bytes));
		if (m)
			assert_memory_equal(first, other, bytes);
	}
	free(other);
	return first;
}

static void outputs_clear(struct rig *r, uint64_t bytes)
{
	uint8_t *zeros = calloc(1, bytes);

	assert_non_null(zeros);
	for (uint32_t m = 0; m < SWITCHED; m++)
		ok(dxp_mem_write(r->xpus[m], r->to[m], zeros, bytes));
	free(zeros);
}

static void allreduce(struct rig *r, struct dxp_group *g, struct dxp_collective c)
{
	c.parts = parts_of(r);
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
}

static void output_check(struct rig *r, const struct dxp_collective *c)
{
	const uint64_t bytes = c->count * dxp_type_bytes(c->type);
	uint8_t *want = calloc(1, bytes), *got = output_read(r, bytes);

	assert_non_null(want);
	for (uint64_t i = 0; i < c->count; i++) {
		int v = input_of(0, i);
		for (uint64_t m = 1; m < SWITCHED; m++)
			v = reduced(c->reduction, v, input_of(m, i));
		element_put(want, c->type, i, v);
	}
	if (memcmp(got, want, bytes) != 0)
		fail_msg("%s of %u %s is wrong", dxp_reduction_text(c->reduction),
			 (unsigned)c->count, dxp_type_text(c->type));
	free(want);
	free(got);
}

static void group_switches__types_and_reductions(void **state)
{
	static const uint64_t counts[] = {1, 97, 4001, BUFFER_BYTES / 8};
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	uint64_t runs = 0;

	for (int t = 0; t < DXP_TYPES; t++)
		for (int k = DXP_SUM; k <= DXP_MAX; k++, runs++) {
			const struct dxp_collective c = {.count = counts[runs % 4],
							 .type = (enum dxp_type)t,
							 .reduction = (enum dxp_reduction)k};
			inputs_write(r, c.type, c.count);
			outputs_clear(r, c.count * dxp_type_bytes(c.type));
			allreduce(r, g, c);
			output_check(r, &c);
		}
	const struct dxp_group_ways w = ways_of(g);
	assert_string_equal(w.why, "");
	assert_int_equal(w.operations[DXP_WAY_SWITCH], runs);
	assert_int_equal(w.continued, 0);
	dxp_group_destroy(g);
}

/* Sums of integers by switches equal those of a ring, to the last bit. */
static void group_switches__as_a_ring(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	const uint64_t bytes = BUFFER_BYTES / 2;
	const struct dxp_collective c = {.count = bytes / 4, .type = DXP_INT32};
	struct rng rng = {7};
	uint32_t *data = malloc(bytes);

	assert_non_null(data);
	for (uint32_t m = 0; m < SWITCHED; m++) {
		for (uint64_t i = 0; i < c.count; i++)
			data[i] = (uint32_t)rng_next(&rng);
		ok(dxp_mem_write(r->xpus[m], r->from[m], data, bytes));
	}
	for (int way = DXP_WAY_RING; way <= DXP_WAY_SWITCH; way++) {
		struct dxp_group *g = group_open(r, SWITCHED, (enum dxp_way)way);
		allreduce(r, g, c);
		assert_int_equal(ways_of(g).operations[way], 1);
		uint8_t *got = output_read(r, bytes);
		if (way == DXP_WAY_RING)
			memcpy(data, got, bytes);
		assert_memory_equal(got, data, bytes);
		free(got);
		dxp_group_destroy(g);
	}
	free(data);
}

/* Memory behind DMA passes through a buffer, in several pieces. */
static void group_switches__staged_memory(void **state)
{
	static const uint64_t counts[] = {1, 4001, BUFFER_BYTES / 4};
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);

	for (size_t k = 0; k < ARRAY_COUNT(counts); k++) {
		const struct dxp_collective c = {.count = counts[k], .type = DXP_INT32};
		inputs_write(r, DXP_INT32, counts[k]);
		outputs_clear(r, counts[k] * 4);
		allreduce(r, g, c);
		output_check(r, &c);
	}
	assert_int_equal(ways_of(g).operations[DXP_WAY_SWITCH], ARRAY_COUNT(counts));
	dxp_group_destroy(g);
}

/* Starts many operations in place without waiting. An average and a broadcast among them use other
 * ways. */
static void group_switches__many_outstanding(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_AUTO);
	uint64_t numbers[300];

	parts_of(r);
	for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
		numbers[i] = i;
	for (uint32_t m = 0; m < SWITCHED; m++) {
		r->parts[m].to = r->parts[m].from;
		ok(dxp_mem_write(r->xpus[m], r->from[m], numbers, sizeof(numbers)));
	}
	struct dxp_collective c = {
		.parts = r->parts, .count = ARRAY_COUNT(numbers), .type = DXP_UINT64};
	for (uint32_t i = 0; i < 12; i++) {
		ok(dxp_allreduce(g, &c));
		c.reduction = DXP_AVERAGE;
		ok(dxp_allreduce(g, &c));
		c.reduction = DXP_SUM;
		ok(dxp_broadcast(g, &c));
	}
	ok(dxp_group_wait(g, LONG_NS));
	assert_int_equal(ways_of(g).operations[DXP_WAY_SWITCH], 12);
	uint8_t *got = output_read(r, sizeof(numbers));
	for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
		assert_true(((uint64_t *)(void *)got)[i] ==
			    i * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4 * 4);
	free(got);
	dxp_group_destroy(g);
}

/* A member whose buffer is freed fails the operation. The others do not wait for it. */
static void group_switches__a_freed_buffer(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	const struct dxp_collective c = {.parts = parts_of(r), .count = 100, .type = DXP_INT32};

	ok(dxp_mem_free(r->xpus[1], r->from[1]));
	ok(dxp_allreduce(g, &c));
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_ERANGE);
	has_text("member 1");
	dxp_group_destroy(g);
	ok(dxp_mem_alloc(r->xpus[1], BUFFER_BYTES, &r->from[1]));
}

/* An event of a wait list fails, so one member never starts. The others do not wait for it: their
 * events complete while the group exists. */
static void group_switches__a_failed_wait(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	struct dxp_collective c = {.parts = parts_of(r), .count = 100, .type = DXP_INT32};
	dxp_event gate, ends[SWITCHED];

	ok(dxp_event_create(r->fabric, &gate));
	r->parts[3].wait = &gate;
	r->parts[3].wait_count = 1;
	c.events = ends;
	ok(dxp_allreduce(g, &c));
	ok(dxp_event_set(r->fabric, gate, DXP_EDEVICE));
	for (uint32_t m = 0; m < SWITCHED; m++)
		assert_int_equal(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL), DXP_ECANCELED);
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_ECANCELED);
	dxp_group_destroy(g);
	dxp_event_forget(r->fabric, gate);
}

/* Destroys a group after an abort, while three members wait for the fourth. */
static void group_switches__an_abort(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	struct dxp_collective c = {.parts = parts_of(r), .count = 100, .type = DXP_INT32};
	dxp_event gate, ends[SWITCHED];

	ok(dxp_event_create(r->fabric, &gate));
	r->parts[0].wait = &gate;
	r->parts[0].wait_count = 1;
	c.events = ends;
	ok(dxp_allreduce(g, &c));
	dxp_group_abort(g);
	dxp_group_destroy(g);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	for (uint32_t m = 0; m < SWITCHED; m++)
		assert_int_not_equal(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL), DXP_OK);
	dxp_event_forget(r->fabric, gate);
}

static void group_switches__too_many_groups(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_group *groups[XPU_SWITCH_GROUPS_MAX + 1];

	inputs_write(r, DXP_INT32, 100);
	for (int i = 0; i <= XPU_SWITCH_GROUPS_MAX; i++) {
		groups[i] = group_open(r, SWITCHED, DXP_WAY_SWITCH);
		allreduce(r, groups[i], (struct dxp_collective){.count = 100, .type = DXP_INT32});
	}
	assert_string_equal(ways_of(groups[XPU_SWITCH_GROUPS_MAX - 1]).why, "");
	why_has(groups[XPU_SWITCH_GROUPS_MAX], "64 groups of switches, the limit; destroy groups");
	assert_int_equal(ways_of(groups[XPU_SWITCH_GROUPS_MAX]).operations[DXP_WAY_TREE], 1);
	for (int i = 0; i <= XPU_SWITCH_GROUPS_MAX; i++)
		dxp_group_destroy(groups[i]);
}

/* A member twice, and xPUs without a switch: other ways, with the reason. */
static void group_switches__members_that_do_not_suit(void **state)
{
	struct rig *r = &((struct tree *)*state)->r;
	struct dxp_xpu *const second = r->xpus[1];

	inputs_write(r, DXP_INT32, 100);
	r->xpus[1] = r->xpus[0];
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	allreduce(r, g, (struct dxp_collective){.count = 0, .type = DXP_INT32});
	const struct dxp_collective c = {.parts = parts_of(r), .count = 100, .type = DXP_INT32};
	r->parts[1].from = r->from[0] + 4096;
	r->parts[1].to = r->to[0] + 4096;
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
	why_has(g, "member 1 (xPU 'xpu1'): it is a member twice");
	dxp_group_destroy(g);
	r->xpus[1] = second;
}

/* Kills all switches while members 0 to 2 wait for member 3. The members agree that nothing is
 * complete, and continue by a tree or ring; events of the operation complete after that. */
static void continue_check(struct tree *t, struct dxp_group *g, uint64_t count)
{
	struct rig *r = &t->r;
	const uint64_t bytes = count * sizeof(int32_t);
	struct dxp_collective c = {.parts = parts_of(r), .count = count, .type = DXP_INT32};
	const uint64_t before = ways_of(g).continued;
	dxp_event gate, ends[SWITCHED];

	ok(dxp_event_create(r->fabric, &gate));
	r->parts[3].wait = &gate;
	r->parts[3].wait_count = 1;
	c.events = ends;
	outputs_clear(r, bytes);
	ok(dxp_allreduce(g, &c));
	switches_kill(t);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	for (uint32_t m = 0; m < SWITCHED; m++)
		ok(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL));
	uint8_t *got = output_read(r, bytes);
	ok(dxp_group_wait(g, LONG_NS));
	const struct dxp_collective ring = {
		.parts = parts_of(r), .count = count, .type = DXP_INT32};
	struct dxp_group *other = group_open(r, SWITCHED, DXP_WAY_RING);
	ok(dxp_allreduce(other, &ring));
	ok(dxp_group_wait(other, LONG_NS));
	uint8_t *want = output_read(r, bytes);
	assert_memory_equal(got, want, bytes);
	assert_int_equal(ways_of(g).continued, before + 1);
	why_has(g, "the switches were lost");
	free(got);
	free(want);
	dxp_group_destroy(other);
	dxp_event_forget(r->fabric, gate);
}

static void group_switches__lost_switches(void **state)
{
	static const uint64_t counts[] = {100, BUFFER_BYTES / sizeof(int32_t)};
	struct tree *t = *state;
	struct rig *r = &t->r;

	inputs_write(r, DXP_INT32, BUFFER_BYTES / sizeof(int32_t));
	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
		allreduce(r, g, (struct dxp_collective){.count = 10, .type = DXP_INT32});
		assert_string_equal(ways_of(g).why, "");
		continue_check(t, g, counts[i]);
		/* The next operation of the group does not try the switches. */
		allreduce(r, g, (struct dxp_collective){.count = 10, .type = DXP_INT32});
		assert_int_equal(ways_of(g).operations[DXP_WAY_TREE], 1);
		dxp_group_destroy(g);
		switches_start(t);
	}
}

/* Kills all switches while long operations in place are under way. Each multiplies all numbers by
 * the number of members, so no element may be summed twice or left out. */
static void group_switches__lost_in_the_middle(void **state)
{
	struct tree *t = *state;
	struct rig *r = &t->r;
	const uint64_t count = BUFFER_BYTES / sizeof(uint64_t);
	uint64_t *numbers = malloc(BUFFER_BYTES);
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	dxp_event ends[SWITCHED];

	assert_non_null(numbers);
	parts_of(r);
	for (uint64_t i = 0; i < count; i++)
		numbers[i] = i;
	for (uint32_t m = 0; m < SWITCHED; m++) {
		r->parts[m].to = r->parts[m].from;
		ok(dxp_mem_write(r->xpus[m], r->from[m], numbers, BUFFER_BYTES));
	}
	struct dxp_collective c = {.parts = r->parts, .count = count, .type = DXP_UINT64};
	for (int i = 0; i < 10; i++) {
		c.events = i == 2 ? ends : NULL;
		ok(dxp_allreduce(g, &c));
	}
	ok(dxp_event_wait(r->fabric, ends[0], LONG_NS, NULL));
	switches_kill(t);
	for (uint32_t m = 1; m < SWITCHED; m++)
		ok(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL));
	ok(dxp_group_wait(g, LONG_NS));
	assert_in_range(ways_of(g).continued, 1, 8);
	uint8_t *got = output_read(r, BUFFER_BYTES);
	for (uint64_t i = 0; i < count; i++)
		assert_true(((uint64_t *)(void *)got)[i] == i << 20);
	free(got);
	free(numbers);
	dxp_group_destroy(g);
	switches_start(t);
}

/* No switch answers: the group works without, and has the reason. */
static void group_switches__no_switch_there(void **state)
{
	struct tree *t = *state;
	struct rig *r = &t->r;

	switches_kill(t);
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	allreduce(r, g, (struct dxp_collective){.count = 10, .type = DXP_INT32});
	why_has(g, "nothing listens on its UDP port 4791; start dxp-switch there");
	assert_int_equal(ways_of(g).operations[DXP_WAY_TREE], 1);
	dxp_group_destroy(g);
	switches_start(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_switches__types_and_reductions),
		cmocka_unit_test(group_switches__as_a_ring),
		cmocka_unit_test(group_switches__many_outstanding),
		cmocka_unit_test(group_switches__a_freed_buffer),
		cmocka_unit_test(group_switches__a_failed_wait),
		cmocka_unit_test(group_switches__an_abort),
		cmocka_unit_test(group_switches__too_many_groups),
		cmocka_unit_test(group_switches__members_that_do_not_suit),
		cmocka_unit_test(group_switches__lost_switches),
		cmocka_unit_test(group_switches__lost_in_the_middle),
		cmocka_unit_test(group_switches__no_switch_there),
	};

	const struct CMUnitTest staged[] = {
		cmocka_unit_test(group_switches__staged_memory),
		cmocka_unit_test(group_switches__a_freed_buffer),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device with memory that this process shares\n");
		return 77;
	}
	int failed = cmocka_run_group_tests_name("memory", tests, tree_open, tree_close);
	return failed +
	       cmocka_run_group_tests_name("memory behind DMA", staged, staged_open, tree_close);
}
