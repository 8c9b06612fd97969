/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests allreduces among xPUs that switches compute. Results are compared with a ring's. */
#include <stdatomic.h>

#include "host/group.h"
#include "host/internal.h"
#include "host/limits.h"
#include "test/unit/group_tree.h"
#include "xpu/limits.h"

/* Checks the results of each type and reduction. *runs: number of operations. */
static struct dxp_group_ways all_run(struct rig *r, uint64_t *runs)
{
	static const uint64_t counts[] = {1, 97, 4001, BUFFER_BYTES / 8};
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);

	*runs = 0;
	for (int t = 0; t < DXP_TYPES; t++)
		for (int k = DXP_SUM; k <= DXP_MAX; k++, ++*runs) {
			const struct dxp_collective c = {.count = counts[*runs % 4],
							 .type = (enum dxp_type)t,
							 .reduction = (enum dxp_reduction)k};
			inputs_write(r, c.type, c.count);
			outputs_clear(r, c.count * dxp_type_bytes(c.type));
			allreduce(r, g, c);
			output_check(r, &c);
		}
	const struct dxp_group_ways w = ways_of(g);
	dxp_group_destroy(g);
	return w;
}

/* Switches compute all of them. On a busy machine, an attempt may miss the deadline of an
 * operation. */
static void group_switches__types_and_reductions(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
	uint64_t runs;
	struct dxp_group_ways w = all_run(r, &runs);

	for (int i = 0; i < 10 && (w.continued || w.operations[DXP_WAY_SWITCH] != runs); i++)
		w = all_run(r, &runs);
	assert_string_equal(w.why, "");
	assert_int_equal(w.operations[DXP_WAY_SWITCH], runs);
	assert_int_equal(w.continued, 0);
}

/* The table of `dxp run` counts the bytes to and from switches. */
static void group_switches__bytes_are_counted(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	const struct dxp_collective c = {.count = 1000, .type = DXP_INT32};
	struct host_use before[SWITCHED];

	inputs_write(r, c.type, c.count);
	for (uint32_t m = 0; m < SWITCHED; m++)
		before[m] = r->xpus[m]->use;
	allreduce(r, g, c);
	dxp_group_destroy(g);
	for (uint32_t m = 0; m < SWITCHED; m++) {
		assert_int_equal(r->xpus[m]->use.from_bytes, before[m].from_bytes + 4000);
		assert_int_equal(r->xpus[m]->use.to_bytes, before[m].to_bytes + 4000);
	}
}

/* Sums of integers by switches equal those of a ring, to the last bit. */
static void group_switches__as_a_ring(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
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

/* Each operation of one group has a way of its own. */
static void group_switches__a_way_for_each_operation(void **state)
{
	static const enum dxp_way group_ways[] = {DXP_WAY_AUTO, DXP_WAY_RING, DXP_WAY_SWITCH};
	struct rig *r = &((struct switch_tree *)*state)->r;

	inputs_write(r, DXP_INT32, 97);
	for (size_t k = 0; k < ARRAY_COUNT(group_ways); k++) {
		struct dxp_group *g = group_open(r, SWITCHED, group_ways[k]);
		for (int way = DXP_WAY_RING; way <= DXP_WAY_SWITCH; way++) {
			enum dxp_way started = DXP_WAY_AUTO;
			const struct dxp_collective c = {.count = 97,
							 .type = DXP_INT32,
							 .way = (enum dxp_way)way,
							 .started = &started};
			outputs_clear(r, 97 * sizeof(int32_t));
			allreduce(r, g, c);
			output_check(r, &c);
			assert_int_equal(started, way);
			assert_int_equal(ways_of(g).operations[way], 1);
		}
		dxp_group_destroy(g);
	}
}

/* Memory behind DMA passes through a buffer, in several pieces. */
static void group_switches__staged_memory(void **state)
{
	static const uint64_t counts[] = {1, 4001, BUFFER_BYTES / 4};
	struct rig *r = &((struct switch_tree *)*state)->r;
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
	struct rig *r = &((struct switch_tree *)*state)->r;
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
	struct rig *r = &((struct switch_tree *)*state)->r;
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
	struct rig *r = &((struct switch_tree *)*state)->r;
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
	why_has(g, "an event of its wait lists has failed");
	dxp_group_destroy(g);
	dxp_event_forget(r->fabric, gate);
}

/* Starts an allreduce in which three members wait for the last one, which waits for *gate. */
static struct dxp_group *gated_start(struct rig *r, dxp_event *gate, dxp_event ends[SWITCHED])
{
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	struct dxp_collective c = {
		.parts = parts_of(r), .count = 100, .type = DXP_INT32, .events = ends};

	ok(dxp_event_create(r->fabric, gate));
	r->parts[SWITCHED - 1].wait = gate;
	r->parts[SWITCHED - 1].wait_count = 1;
	ok(dxp_allreduce(g, &c));
	return g;
}

/* Destroys a group after an abort, while three members wait for the fourth. Their commands complete
 * before the event that the fourth waits for. Without the abort, dxp_group_destroy() would wait for
 * HOST_GROUP_END_NS. */
static void group_switches__an_abort(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
	dxp_event gate, ends[SWITCHED];
	struct dxp_group *g = gated_start(r, &gate, ends);
	const struct dxp_collective again = {.parts = parts_of(r), .count = 1, .type = DXP_INT32};

	dxp_group_abort(g);
	assert_int_equal(dxp_group_status(g), DXP_ECLOSED);
	assert_int_equal(dxp_allreduce(g, &again), DXP_ECLOSED);
	has_text("aborted");
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_ECLOSED);
	const uint64_t begin_ns = clock_now_ns();
	dxp_group_destroy(g);
	assert_in_range(clock_now_ns() - begin_ns, 0, HOST_GROUP_END_NS - 1);
	for (uint32_t m = 0; m < SWITCHED - 1; m++)
		assert_int_equal(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL), DXP_ECANCELED);
	assert_int_equal(dxp_event_done(r->fabric, ends[SWITCHED - 1]), 0);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	assert_true(dxp_event_wait(r->fabric, ends[SWITCHED - 1], LONG_NS, NULL) < 0);
	dxp_event_forget(r->fabric, gate);
}

/* Aborts a group whose switches die before the operation has all its members. Its commands fail,
 * and nothing continues. */
static void group_switches__an_abort_without_switches(void **state)
{
	struct switch_tree *t = *state;
	struct rig *r = &t->r;
	dxp_event gate, ends[SWITCHED];
	struct dxp_group *g = gated_start(r, &gate, ends);

	switches_kill(t);
	dxp_group_abort(g);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	for (uint32_t m = 0; m < SWITCHED; m++)
		assert_int_equal(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL), DXP_ECANCELED);
	assert_int_equal(ways_of(g).continued, 0);
	dxp_group_destroy(g);
	dxp_event_forget(r->fabric, gate);
	switches_start(t);
}

/* Each dxp_group_destroy() of this program passes here. */
void __real_group_scratch_free(struct dxp_group *g, bool all, bool give);
void __wrap_group_scratch_free(struct dxp_group *g, bool all, bool give);

void __wrap_group_scratch_free(struct dxp_group *g, bool all, bool give)
{
	if (all)
		assert_false(g->rescuer_started);
	__real_group_scratch_free(g, all, give);
}

/* ---- failures of the switches' client, in the xPUs of this process ---- */

/* Status of the next `fake_count` starts, or of the next `fake_ends` results, of an allreduce. */
static atomic_int fake_count, fake_ends, fake_status;

int __real_dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				   size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				   struct dxp_inc_operation **out);
int __wrap_dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				   size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				   struct dxp_inc_operation **out);

int __wrap_dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				   size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				   struct dxp_inc_operation **out)
{
	if (atomic_fetch_sub(&fake_count, 1) > 0)
		return fake_status;
	return __real_dxp_inc_allreduce_start(group, send, receive, count, type, op, out);
}

int __real_dxp_inc_wait(struct dxp_inc_operation *operation, size_t *done_elements);
int __wrap_dxp_inc_wait(struct dxp_inc_operation *operation, size_t *done_elements);

int __wrap_dxp_inc_wait(struct dxp_inc_operation *operation, size_t *done_elements)
{
	int status = __real_dxp_inc_wait(operation, done_elements);

	if (atomic_fetch_sub(&fake_ends, 1) <= 0)
		return status;
	*done_elements = 0;
	return fake_status;
}

static void fakes_set(int starts, int ends, int status)
{
	fake_status = status;
	fake_count = starts;
	fake_ends = ends;
}

/* A failure that is no lost switch reaches the program, with its member and its cause. */
static void group_switches__a_failure_is_no_loss(void **state)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {{DXP_ENOMEM, "out of memory"},
		    {DXP_ENOENT, "this xPU is not in the group of switches"},
		    {DXP_EINVAL, "the members disagree"}};
	struct rig *r = &((struct switch_tree *)*state)->r;

	inputs_write(r, DXP_INT32, 100);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
		const struct dxp_collective c = {
			.parts = parts_of(r), .count = 100, .type = DXP_INT32};
		allreduce(r, g, c);
		fakes_set(1, 0, rows[i].status);
		ok(dxp_allreduce(g, &c));
		assert_int_equal(dxp_group_wait(g, LONG_NS), rows[i].status);
		has_text("allreduce, member");
		has_text(rows[i].text);
		why_has(g, rows[i].text);
		assert_null(strstr(ways_of(g).why, "lost"));
		assert_int_equal(ways_of(g).continued, 0);
		dxp_group_destroy(g);
	}
	fakes_set(0, 0, DXP_OK);
}

/* Loses the switches of one member while the others have the result. Returns the time until the
 * group is destroyed. */
static uint64_t differ_ns(struct rig *r)
{
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	const struct dxp_collective c = {.parts = parts_of(r), .count = 100, .type = DXP_INT32};

	inputs_write(r, DXP_INT32, 100);
	allreduce(r, g, c);
	fakes_set(0, 1, DXP_EPEERLOST);
	const uint64_t begin_ns = clock_now_ns();
	ok(dxp_allreduce(g, &c));
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_EPEERLOST);
	has_text("different parts of the result");
	dxp_group_destroy(g);
	fakes_set(0, 0, DXP_OK);
	return clock_now_ns() - begin_ns;
}

/* The group is lost at once: one attempt ends before HOST_GROUP_END_NS. On a busy machine, others
 * may take longer without a defect. */
static void group_switches__members_that_differ(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
	uint64_t least_ns = differ_ns(r);

	for (int i = 0; i < 2 && least_ns >= HOST_GROUP_END_NS; i++)
		least_ns = min_u64(least_ns, differ_ns(r));
	assert_in_range(least_ns, 0, HOST_GROUP_END_NS - 1);
}

/* Switches refuse an operation, at its start or in its results: it continues, and the next one of
 * this kind does not try. */
static void group_switches__an_unsupported_operation(void **state)
{
	static const struct {
		int starts, ends;
	} rows[] = {{1, 0}, {SWITCHED, 0}, {0, SWITCHED}};
	struct rig *r = &((struct switch_tree *)*state)->r;
	const struct dxp_collective c = {.count = 97, .type = DXP_INT16, .reduction = DXP_MAX};

	inputs_write(r, c.type, c.count);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
		allreduce(r, g, (struct dxp_collective){.count = 1, .type = DXP_INT32});
		outputs_clear(r, c.count * sizeof(int16_t));
		fakes_set(rows[i].starts, rows[i].ends, DXP_EUNSUPPORTED);
		allreduce(r, g, c);
		output_check(r, &c);
		assert_int_equal(ways_of(g).continued, 1);
		why_has(g, "the switches do not support the max of int16");
		allreduce(r, g, c);
		output_check(r, &c);
		assert_int_equal(ways_of(g).operations[DXP_WAY_SWITCH], 2);
		assert_int_equal(ways_of(g).operations[DXP_WAY_TREE], 1);
		dxp_group_destroy(g);
	}
	fakes_set(0, 0, DXP_OK);
}

/* One host gets half of an xPU's groups. */
static void group_switches__too_many_groups(void **state)
{
	enum { SHARE = XPU_SWITCH_GROUPS_MAX / 2 };
	struct rig *r = &((struct switch_tree *)*state)->r;
	struct dxp_group *groups[SHARE + 1];

	inputs_write(r, DXP_INT32, 100);
	for (int i = 0; i <= SHARE; i++) {
		groups[i] = group_open(r, SWITCHED, DXP_WAY_SWITCH);
		allreduce(r, groups[i], (struct dxp_collective){.count = 100, .type = DXP_INT32});
	}
	assert_string_equal(ways_of(groups[SHARE - 1]).why, "");
	why_has(groups[SHARE], "this program has 32 groups of switches there and 32 are free");
	assert_int_equal(ways_of(groups[SHARE]).operations[DXP_WAY_TREE], 1);
	for (int i = 0; i <= SHARE; i++)
		dxp_group_destroy(groups[i]);
}

/* A member twice, and xPUs without a switch: other ways, with the reason. */
static void group_switches__members_that_do_not_suit(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
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

static void group_switches__lost_switches(void **state)
{
	static const uint64_t counts[] = {97, BUFFER_BYTES / sizeof(int32_t)};
	struct switch_tree *t = *state;
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
	struct switch_tree *t = *state;
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
	struct switch_tree *t = *state;
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
		cmocka_unit_test(group_switches__bytes_are_counted),
		cmocka_unit_test(group_switches__as_a_ring),
		cmocka_unit_test(group_switches__a_way_for_each_operation),
		cmocka_unit_test(group_switches__many_outstanding),
		cmocka_unit_test(group_switches__a_freed_buffer),
		cmocka_unit_test(group_switches__a_failed_wait),
		cmocka_unit_test(group_switches__an_abort),
		cmocka_unit_test(group_switches__an_abort_without_switches),
		cmocka_unit_test(group_switches__a_failure_is_no_loss),
		cmocka_unit_test(group_switches__members_that_differ),
		cmocka_unit_test(group_switches__an_unsupported_operation),
		cmocka_unit_test(group_switches__too_many_groups),
		cmocka_unit_test(group_switches__members_that_do_not_suit),
		cmocka_unit_test(group_switches__lost_switches),
		cmocka_unit_test(group_switches__lost_in_the_middle),
		cmocka_unit_test(group_switches__no_switch_there),
	};

	const struct CMUnitTest staged[] = {
		cmocka_unit_test(group_switches__staged_memory),
		cmocka_unit_test(group_switches__a_freed_buffer),
		cmocka_unit_test(group_switches__lost_switches),
		cmocka_unit_test(group_switches__lost_in_the_middle),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device with memory that this process shares\n");
		return 77;
	}
	int failed = cmocka_run_group_tests_name("memory", tests, tree_open, tree_close);
	return failed +
	       cmocka_run_group_tests_name("memory behind DMA", staged, staged_open, tree_close);
}
