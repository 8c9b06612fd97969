/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of sums by switches: two xPUs below one switch, two below another, and a
 * switch above both. The switches are processes, which the tests kill. */
#ifndef TEST_UNIT_GROUP_TREE_H
#define TEST_UNIT_GROUP_TREE_H

#include "switch/reduce_half.h"
#include "test/unit/group_rig.h"
#include "test/unit/switch_process.h"

#define SWITCHED 4 /* members of the groups */
#define LEAVES   2

struct switch_tree {
	struct rig r;
	struct test_switch root, leaves[LEAVES];
};

static void switches_start(struct switch_tree *t)
{
	switch_start(&t->root, 9, NULL);
	for (int i = 0; i < LEAVES; i++)
		switch_start(&t->leaves[i], 10 + i, &t->root);
}

static void switches_kill(struct switch_tree *t)
{
	for (int i = 0; i < LEAVES; i++)
		switch_kill(&t->leaves[i]);
	switch_kill(&t->root);
}

static int open_with(void **state, const char *engine)
{
	static struct switch_tree t;

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
UNUSED static int staged_open(void **state)
{
	return open_with(state, "ocl+bridged");
}

static int tree_close(void **state)
{
	struct switch_tree *t = *state;

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

/* Kills all switches while members 0 to 2 wait for member 3. The members agree that nothing is
 * complete, and continue by a tree or ring; events of the operation complete after that. */
static void continue_check(struct switch_tree *t, struct dxp_group *g, uint64_t count)
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

#endif
