/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fused allreduces: results and events are those of single ones, whatever the order and the
 * place of their buffers. */
#include "test/unit/group_rig.h"

#define GROUP   3
#define TENSORS 12
#define COUNT   40 /* elements of a tensor, at least */

#define FAILURES 24 /* allocations that fail, one at a time: more than the fusion makes */

/* Makes the n-th allocation of this thread from now on fail; 0: none. */
static _Thread_local int failing;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	return failing > 0 && --failing == 0 ? NULL : __real_calloc(count, bytes);
}

struct tensors {
	struct rig *rig;
	uint32_t count;
	uint64_t from[TENSORS], to[TENSORS], elements[TENSORS]; /* offsets in each buffer */
	enum dxp_reduction reductions[TENSORS];
	dxp_event events[TENSORS][GROUP];
	struct dxp_part parts[GROUP];
};

static int open_rig(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	*state = r;
	return r && rig_open(r, "ocl", GROUP, "ocl", 0) ? 0 : -1;
}

static int close_rig(void **state)
{
	rig_close(*state);
	free(*state);
	return 0;
}

static int32_t input(uint32_t tensor, uint32_t member, uint64_t i)
{
	return (int32_t)(tensor * 1000 + member * 100 + i);
}

static int32_t output(const struct tensors *t, uint32_t tensor, uint64_t i)
{
	int32_t sum = 0;

	for (uint32_t m = 0; m < GROUP; m++)
		sum += input(tensor, m, i);
	return t->reductions[tensor] == DXP_MAX ? input(tensor, GROUP - 1, i) : sum;
}

/* Draws tensors with these gaps in bytes between them. */
static struct tensors tensors_make(struct rig *r, uint32_t count, uint64_t gap)
{
	struct tensors t = {.rig = r, .count = count};
	uint64_t at = 0;

	for (uint32_t k = 0; k < count; k++) {
		t.elements[k] = COUNT + k;
		t.from[k] = t.to[k] = at;
		at += t.elements[k] * sizeof(int32_t) + gap;
	}
	return t;
}

static void inputs_write(const struct tensors *t)
{
	int32_t data[COUNT + TENSORS];

	for (uint32_t k = 0; k < t->count; k++)
		for (uint32_t m = 0; m < GROUP; m++) {
			for (uint64_t i = 0; i < t->elements[k]; i++)
				data[i] = input(k, m, i);
			ok(dxp_mem_write(t->rig->xpus[m], t->rig->from[m] + t->from[k], data,
					 t->elements[k] * sizeof(*data)));
		}
}

static void outputs_check(const struct tensors *t)
{
	int32_t data[COUNT + TENSORS];

	for (uint32_t k = 0; k < t->count; k++)
		for (uint32_t m = 0; m < GROUP; m++) {
			ok(dxp_mem_read(t->rig->xpus[m], data, t->rig->to[m] + t->to[k],
					t->elements[k] * sizeof(*data)));
			for (uint64_t i = 0; i < t->elements[k]; i++)
				assert_int_equal(data[i], output(t, k, i));
		}
}

static int tensor_start(struct dxp_group *g, struct tensors *t, uint32_t k, const dxp_event *wait,
			uint32_t wait_count)
{
	for (uint32_t m = 0; m < GROUP; m++)
		t->parts[m] = (struct dxp_part){t->rig->from[m] + t->from[k],
						BUFFER_BYTES - t->from[k],
						t->rig->to[m] + t->to[k],
						BUFFER_BYTES - t->to[k],
						wait,
						wait_count};
	return dxp_allreduce(g, &(struct dxp_collective){.parts = t->parts,
							 .count = t->elements[k],
							 .type = DXP_INT32,
							 .reduction = t->reductions[k],
							 .events = t->events[k]});
}

static void events_end(const struct tensors *t, uint32_t first, uint32_t end)
{
	for (uint32_t k = first; k < end; k++)
		for (uint32_t m = 0; m < GROUP; m++) {
			ok(dxp_event_wait(t->rig->fabric, t->events[k][m], LONG_NS, NULL));
			dxp_event_forget(t->rig->fabric, t->events[k][m]);
		}
}

static struct dxp_group_ways ways_of(struct dxp_group *g)
{
	struct dxp_group_ways ways;

	dxp_group_ways(g, &ways);
	return ways;
}

/* Runs all tensors in one fusion. Returns the number of operations that they became. */
static uint64_t fused_run(struct rig *r, struct tensors *t, enum dxp_way way)
{
	struct dxp_group *g = group_open(r, GROUP, way);

	inputs_write(t);
	ok(dxp_fusion_begin(g));
	for (uint32_t k = 0; k < t->count; k++)
		ok(tensor_start(g, t, k, NULL, 0));
	assert_int_equal(ways_of(g).operations[DXP_WAY_TREE], 0);
	ok(dxp_fusion_end(g));
	events_end(t, 0, t->count);
	ok(dxp_group_wait(g, LONG_NS));
	outputs_check(t);
	const struct dxp_group_ways ways = ways_of(g);
	dxp_group_destroy(g);
	return ways.operations[DXP_WAY_TREE] + ways.operations[DXP_WAY_RING];
}

static void group_fusion__without_gaps(void **state)
{
	struct tensors t = tensors_make(*state, TENSORS, 0);

	assert_int_equal(fused_run(*state, &t, DXP_WAY_TREE), 1);
	assert_int_equal(fused_run(*state, &t, DXP_WAY_RING), 1);
}

static void group_fusion__with_copies(void **state)
{
	struct tensors t = tensors_make(*state, TENSORS, 64);

	assert_int_equal(fused_run(*state, &t, DXP_WAY_TREE), 1);
	assert_int_equal(fused_run(*state, &t, DXP_WAY_RING), 1);
}

/* Buffers of two allocations may be neighbours, but no command may pass from one to the other. */
static void group_fusion__neighbouring_allocations(void **state)
{
	const uint64_t bytes = 4096;
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_TREE);
	uint64_t buffers[2][GROUP];
	int32_t numbers[1024], got[1024];

	for (int i = 0; i < 1024; i++)
		numbers[i] = i;
	for (uint32_t m = 0; m < GROUP; m++)
		for (int k = 0; k < 2; k++) {
			ok(dxp_mem_alloc(r->xpus[m], bytes, &buffers[k][m]));
			ok(dxp_mem_write(r->xpus[m], buffers[k][m], numbers, bytes));
		}
	ok(dxp_fusion_begin(g));
	for (int k = 0; k < 2; k++) {
		struct dxp_part parts[GROUP] = {0};
		for (uint32_t m = 0; m < GROUP; m++)
			parts[m] = (struct dxp_part){.from = buffers[k][m],
						     .from_bytes = bytes,
						     .to = buffers[k][m],
						     .to_bytes = bytes};
		ok(dxp_allreduce(g, &(struct dxp_collective){
					    .parts = parts, .count = 1024, .type = DXP_INT32}));
	}
	ok(dxp_fusion_end(g));
	ok(dxp_group_wait(g, LONG_NS));
	for (uint32_t m = 0; m < GROUP; m++)
		for (int k = 0; k < 2; k++) {
			ok(dxp_mem_read(r->xpus[m], got, buffers[k][m], bytes));
			for (int i = 0; i < 1024; i++)
				assert_int_equal(got[i], (int)GROUP * i);
			ok(dxp_mem_free(r->xpus[m], buffers[k][m]));
		}
	dxp_group_destroy(g);
}

/* Neighbours with another reduction, or a dependency, are other operations. */
static void group_fusion__parts_that_differ(void **state)
{
	struct rig *r = *state;
	struct tensors t = tensors_make(r, 6, 64);

	t.reductions[2] = t.reductions[3] = DXP_MAX;
	assert_int_equal(fused_run(r, &t, DXP_WAY_TREE), 3);
	t = tensors_make(r, 4, 128 << 10);
	for (uint32_t k = 0; k < 4; k++)
		t.elements[k] = COUNT;
	assert_int_equal(fused_run(r, &t, DXP_WAY_TREE), 1);
}

/* The second allreduce sums the output of the first one. */
static void group_fusion__dependency(void **state)
{
	struct rig *r = *state;
	struct tensors t = tensors_make(r, 1, 0);
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);
	int32_t got;

	inputs_write(&t);
	ok(dxp_fusion_begin(g));
	ok(tensor_start(g, &t, 0, NULL, 0));
	const struct dxp_collective again = {
		.parts = t.parts, .count = COUNT, .type = DXP_INT32, .reduction = DXP_SUM};
	for (uint32_t m = 0; m < GROUP; m++)
		t.parts[m].from = t.parts[m].to;
	ok(dxp_allreduce(g, &again));
	ok(dxp_fusion_end(g));
	ok(dxp_group_wait(g, LONG_NS));
	assert_int_equal(ways_of(g).fused, 0);
	ok(dxp_mem_read(r->xpus[1], &got, r->to[1], sizeof(got)));
	assert_int_equal(got, GROUP * output(&t, 0, 0));
	events_end(&t, 0, 1);
	dxp_group_destroy(g);
}

/* Longer than one command's wait list, and released before the end of the fusion. Inputs are
 * written before the events that the allreduces wait for. */
static void group_fusion__wait_lists(void **state)
{
	static const uint8_t zeros[4096];
	struct rig *r = *state;

	for (uint64_t gap = 0; gap <= 64; gap += 64) {
		struct tensors t = tensors_make(r, 4, gap);
		struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);
		dxp_event gates[20], *list = malloc(sizeof(gates));
		assert_non_null(list);
		for (uint32_t m = 0; m < GROUP; m++)
			ok(dxp_mem_write(r->xpus[m], r->from[m], zeros, sizeof(zeros)));
		for (uint32_t i = 0; i < ARRAY_COUNT(gates); i++)
			ok(dxp_event_create(r->fabric, &gates[i]));
		memcpy(list, gates, sizeof(gates));
		ok(dxp_fusion_begin(g));
		for (uint32_t k = 0; k < t.count; k++)
			ok(tensor_start(g, &t, k, list, k == 2 ? ARRAY_COUNT(gates) : k + 1));
		free(list);
		ok(dxp_fusion_end(g));
		inputs_write(&t);
		for (uint32_t i = 0; i < ARRAY_COUNT(gates); i++) {
			assert_int_equal(dxp_event_done(r->fabric, t.events[2][0]), 0);
			ok(dxp_event_set(r->fabric, gates[i], DXP_OK));
		}
		events_end(&t, 0, t.count);
		outputs_check(&t);
		assert_int_equal(ways_of(g).fused, t.count);
		dxp_group_destroy(g);
		for (uint32_t i = 0; i < ARRAY_COUNT(gates); i++)
			dxp_event_forget(r->fabric, gates[i]);
	}
}

/* A barrier between two allreduces starts the first one. */
static void group_fusion__other_operations(void **state)
{
	struct rig *r = *state;
	struct tensors t = tensors_make(r, 2, 0);
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);

	inputs_write(&t);
	ok(dxp_fusion_begin(g));
	ok(tensor_start(g, &t, 0, NULL, 0));
	ok(dxp_barrier(g, &(struct dxp_collective){0}));
	events_end(&t, 0, 1);
	ok(tensor_start(g, &t, 1, NULL, 0));
	ok(dxp_fusion_end(g));
	events_end(&t, 1, 2);
	outputs_check(&t);
	assert_int_equal(ways_of(g).fused, 0);
	dxp_group_destroy(g);
}

static void group_fusion__rejected(void **state)
{
	struct rig *r = *state;
	struct tensors t = tensors_make(r, 2, 0);
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);

	assert_int_equal(dxp_fusion_end(g), DXP_EINVAL);
	has_text("dxp_fusion_begin");
	ok(dxp_fusion_begin(g));
	assert_int_equal(dxp_fusion_begin(g), DXP_EINVAL);
	has_text("dxp_fusion_end");
	t.to[0] = 3;
	assert_int_equal(tensor_start(g, &t, 0, NULL, 0), DXP_EINVAL);
	has_text("multiple");
	ok(dxp_fusion_end(g));
	/* Dropped without a start. */
	ok(dxp_fusion_begin(g));
	t.to[0] = 0;
	ok(tensor_start(g, &t, 0, NULL, 0));
	dxp_group_abort(g);
	assert_int_equal(dxp_fusion_end(g), DXP_ECLOSED);
	assert_int_equal(dxp_fusion_begin(g), DXP_ECLOSED);
	dxp_group_destroy(g);
	g = group_open(r, GROUP, DXP_WAY_AUTO);
	ok(dxp_fusion_begin(g));
	ok(tensor_start(g, &t, 0, NULL, 0));
	dxp_group_destroy(g);
}

/* A fusion whose n-th allocation fails completes all of its allreduces, or reports the failure. */
static void memory_short(struct rig *r, uint64_t gap)
{
	bool failed = true;

	for (int n = 1; failed && n <= FAILURES; n++) {
		struct tensors t = tensors_make(r, 3, gap);
		struct dxp_group *g = group_open(r, GROUP, DXP_WAY_TREE);
		inputs_write(&t);
		failing = n;
		int status = dxp_fusion_begin(g);
		for (uint32_t k = 0; k < t.count && status == DXP_OK; k++)
			status = tensor_start(g, &t, k, NULL, 0);
		if (status == DXP_OK)
			status = dxp_fusion_end(g);
		failed = failing == 0;
		failing = 0;
		if (status == DXP_OK) {
			events_end(&t, 0, t.count);
			outputs_check(&t);
		} else {
			assert_int_equal(status, DXP_ENOMEM);
		}
		dxp_group_destroy(g);
	}
}

static void group_fusion__memory_is_short(void **state)
{
	memory_short(*state, 0);
	memory_short(*state, 64);
}

static void group_fusion__freed_buffer(void **state)
{
	struct rig *r = *state;
	struct tensors t = tensors_make(r, 2, 0);
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_TREE);
	uint64_t freed;

	/* The group's own memory fits before the address that is used. */
	ok(dxp_mem_alloc(r->xpus[1], 2 * BUFFER_BYTES, &freed));
	ok(dxp_mem_free(r->xpus[1], freed));
	freed += BUFFER_BYTES;
	inputs_write(&t);
	ok(dxp_fusion_begin(g));
	ok(tensor_start(g, &t, 0, NULL, 0));
	t.elements[1] = COUNT;
	const uint64_t kept = r->from[1];
	r->from[1] = freed - t.from[1];
	ok(tensor_start(g, &t, 1, NULL, 0));
	r->from[1] = kept;
	ok(dxp_fusion_end(g));
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_EACCESS);
	has_text("member 1");
	dxp_group_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_fusion__without_gaps),
		cmocka_unit_test(group_fusion__with_copies),
		cmocka_unit_test(group_fusion__neighbouring_allocations),
		cmocka_unit_test(group_fusion__parts_that_differ),
		cmocka_unit_test(group_fusion__dependency),
		cmocka_unit_test(group_fusion__wait_lists),
		cmocka_unit_test(group_fusion__other_operations),
		cmocka_unit_test(group_fusion__rejected),
		cmocka_unit_test(group_fusion__memory_is_short),
		cmocka_unit_test(group_fusion__freed_buffer),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
