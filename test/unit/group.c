/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares groups of xPUs with a reference on the host: all types, operators, operations and ways,
 * lengths 0, 1 and primes, 1 to 8 members. */
#include <math.h>

#include "collective/limits.h"
#include "test/support/elements.h"
#include "test/unit/group_rig.h"
#include "xpu/limits.h"

#define ELEMENTS_MAX 4001

_Static_assert(XPU_ALIGN % COLLECTIVE_KERNEL_ALIGN == 0,
	       "a kernel's address rounded down is in the same allocation");

struct operation {
	const char *name;
	int (*start)(struct dxp_group *group, const struct dxp_collective *c, size_t bytes);
	bool combines, from_all, to_all, root_only;
};

static const struct operation operations[] = {
	{"allreduce", dxp_allreduce_sized, true, false, false, false},
	{"reduce", dxp_reduce_sized, true, false, false, true},
	{"reduce-scatter", dxp_reduce_scatter_sized, true, true, false, false},
	{"all-gather", dxp_all_gather_sized, false, false, true, false},
	{"broadcast", dxp_broadcast_sized, false, false, false, false},
	{"all-to-all", dxp_all_to_all_sized, false, true, true, false},
};

static void inputs_write(struct rig *r, const struct dxp_collective *c, uint32_t operation,
			 uint32_t members)
{
	static double block[ELEMENTS_MAX + 1];
	const uint64_t count = c->count * (operations[operation].from_all ? members : 1);

	for (uint32_t m = 0; m < members; m++) {
		for (uint64_t i = 0; i < count; i++)
			element_set(block, c->type, i, input_of(c->type, m, i));
		ok(dxp_mem_write(r->xpus[m], c->parts[m].from, block,
				 count * dxp_type_bytes(c->type)));
	}
}

static void outputs_check(struct rig *r, const struct dxp_collective *c, uint32_t operation,
			  uint32_t members)
{
	static double got[ELEMENTS_MAX + 1], want[ELEMENTS_MAX + 1];
	const uint64_t count = c->count * (operations[operation].to_all ? members : 1);
	const size_t bytes = count * dxp_type_bytes(c->type);

	for (uint32_t m = 0; m < members; m++) {
		if (operations[operation].root_only && m != c->root)
			continue;
		ok(dxp_mem_read(r->xpus[m], got, c->parts[m].to, bytes));
		for (uint64_t i = 0; i < count; i++)
			element_set(want, c->type, i, expected(c, operation, members, m, i));
		for (uint64_t i = 0; i < count; i++)
			if (element_get(got, c->type, i) != element_get(want, c->type, i))
				fail_msg("%s %s of %s, %u members, %u elements, member %u: element "
					 "%u is %g, not %g",
					 operations[operation].name,
					 dxp_reduction_text(c->reduction), dxp_type_text(c->type),
					 members, (unsigned)c->count, m, (unsigned)i,
					 element_get(got, c->type, i),
					 element_get(want, c->type, i));
	}
}

static void case_run(struct rig *r, struct dxp_group *g, uint32_t members, uint32_t operation,
		     struct dxp_collective c, bool in_place)
{
	const uint64_t bytes = c.count * dxp_type_bytes(c.type);

	c.parts = parts_of(r);
	for (uint32_t m = 0; m < members && in_place; m++) {
		if (operation == ALL_GATHER)
			r->parts[m].from = r->parts[m].to + m * bytes;
		else if (operation == REDUCE_SCATTER)
			r->parts[m].to = r->parts[m].from + m * bytes;
		else if (operation != ALL_TO_ALL)
			r->parts[m].to = r->parts[m].from;
	}
	if (bytes)
		inputs_write(r, &c, operation, members);
	ok(operations[operation].start(g, &c, sizeof(c)));
	ok(dxp_group_wait(g, LONG_NS));
	outputs_check(r, &c, operation, members);
}

/* ---- results ---- */

static void group__types_and_reductions(void **state)
{
	struct rig *r = *state;
	struct dxp_group *ring = group_open(r, 3, DXP_WAY_RING);
	struct dxp_group *tree = group_open(r, 3, DXP_WAY_TREE);

	for (int t = 0; t < DXP_TYPES; t++)
		for (int k = 0; k < DXP_REDUCTIONS; k++) {
			const struct dxp_collective c = {.count = 97,
							 .type = (enum dxp_type)t,
							 .reduction = (enum dxp_reduction)k};
			case_run(r, ring, 3, ALLREDUCE, c, t % 2);
			case_run(r, tree, 3, ALLREDUCE, c, k % 2);
		}
	dxp_group_destroy(ring);
	dxp_group_destroy(tree);
}

static void group__operations_and_lengths(void **state)
{
	static const uint64_t counts[] = {0, 1, 2, 7, 61, 499};
	struct rig *r = *state;

	for (uint32_t n = 1; n <= MEMBERS; n++)
		for (int way = DXP_WAY_RING; way <= DXP_WAY_TREE; way++) {
			struct dxp_group *g = group_open(r, n, (enum dxp_way)way);
			for (uint32_t o = 0; o < ARRAY_COUNT(operations); o++)
				for (uint32_t k = 0; k < ARRAY_COUNT(counts); k++) {
					const struct dxp_collective c = {.count = counts[k],
									 .type = DXP_INT32,
									 .root = (n + k) % n};
					case_run(r, g, n, o, c, (k + n) % 2);
				}
			dxp_group_destroy(g);
		}
}

/* A program's struct may end with `events`, or be longer. */
static void group__structs_of_other_releases(void **state)
{
	struct rig *r = *state;
	struct {
		struct dxp_collective c;
		uint8_t later[16];
	} longer = {.later = {0x5a}};
	struct dxp_collective *c = &longer.c;
	struct dxp_group *g = group_open(r, 2, DXP_WAY_RING);
	const size_t shorter = offsetof(struct dxp_collective, way);
	enum dxp_way started = DXP_WAY_AUTO;
	struct dxp_group_ways ways;

	*c = (struct dxp_collective){.parts = parts_of(r), .count = 7, .type = DXP_INT32};
	c->way = DXP_WAY_TREE;
	c->started = &started;
	inputs_write(r, c, ALLREDUCE, 2);
	ok(dxp_allreduce_sized(g, c, sizeof(longer)));
	assert_int_equal(started, DXP_WAY_TREE);
	memset((char *)c + shorter, 0x5a, sizeof(*c) - shorter);
	ok(dxp_allreduce_sized(g, c, shorter));
	ok((dxp_allreduce)(g, c));
	ok(dxp_group_wait(g, LONG_NS));
	outputs_check(r, c, ALLREDUCE, 2);
	dxp_group_ways(g, &ways);
	assert_int_equal(ways.operations[DXP_WAY_TREE], 1);
	assert_int_equal(ways.operations[DXP_WAY_RING], 2);
	dxp_group_destroy(g);
}

static uint64_t host_bytes(struct rig *r)
{
	struct dxp_node_info nodes[64];
	struct dxp_link_bytes link;
	uint64_t sum = 0;
	int count = dxp_fabric_nodes(r->fabric, nodes, 64);

	for (int i = 0; i < count; i++)
		if (nodes[i].kind == DXP_NODE_XPU) {
			ok(dxp_fabric_traffic(r->fabric, nodes[i].id, &link));
			sum += link.sent_bytes + link.received_bytes;
		}
	return sum;
}

/* The host exchanges commands with the xPUs, but no data. */
static void group__nothing_through_the_host(void **state)
{
	struct rig *r = *state;
	const uint64_t count = BUFFER_BYTES / sizeof(uint32_t);
	uint32_t *data = malloc(BUFFER_BYTES);
	struct dxp_group *g;

	assert_non_null(data);
	ok(dxp_group_create(r->fabric, r->xpus, 4, NULL, &g));
	for (uint64_t i = 0; i < count; i++)
		data[i] = (uint32_t)i;
	for (uint32_t m = 0; m < 4; m++)
		ok(dxp_mem_write(r->xpus[m], r->from[m], data, BUFFER_BYTES));
	/* The first operation builds the kernels; its messages carry the source. */
	ok(dxp_allreduce(
		g, &(struct dxp_collective){.parts = parts_of(r), .count = 1, .type = DXP_UINT32}));
	ok(dxp_group_wait(g, LONG_NS));
	const uint64_t before = host_bytes(r);
	ok(dxp_allreduce(g, &(struct dxp_collective){
				    .parts = parts_of(r), .count = count, .type = DXP_UINT32}));
	ok(dxp_group_wait(g, LONG_NS));
	assert_in_range(host_bytes(r) - before, 1, BUFFER_BYTES / 20);
	for (uint32_t m = 0; m < 4; m++) {
		ok(dxp_mem_read(r->xpus[m], data, r->to[m], BUFFER_BYTES));
		for (uint64_t i = 0; i < count; i++)
			assert_int_equal(data[i], (uint32_t)i * 4);
	}
	dxp_group_destroy(g);
	free(data);
}

/* Starts many operations in place without waiting in between. Each multiplies all numbers by the
 * number of members. */
static void group__many_outstanding(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, 5, DXP_WAY_AUTO);
	uint64_t numbers[300], power = 1;

	parts_of(r);
	for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
		numbers[i] = i;
	for (uint32_t m = 0; m < 5; m++) {
		r->parts[m].to = r->parts[m].from;
		ok(dxp_mem_write(r->xpus[m], r->from[m], numbers, sizeof(numbers)));
	}
	struct dxp_collective c = {
		.parts = r->parts, .count = ARRAY_COUNT(numbers), .type = DXP_UINT64};
	for (uint32_t i = 0; i < 40; i++) {
		c.root = i % 5;
		power *= 5;
		/* The broadcast copies the root's sum to all. */
		if (i % 3) {
			ok(dxp_allreduce(g, &c));
		} else {
			ok(dxp_reduce(g, &c));
			ok(dxp_broadcast(g, &c));
		}
	}
	ok(dxp_group_wait(g, LONG_NS));
	for (uint32_t m = 0; m < 5; m++) {
		ok(dxp_mem_read(r->xpus[m], numbers, r->from[m], sizeof(numbers)));
		for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
			assert_true(numbers[i] == i * power);
	}
	dxp_group_destroy(g);
}

static void random_floats(struct rig *r, uint32_t members, uint64_t count)
{
	struct rng rng = {5};
	float *data = malloc(count * sizeof(float));

	assert_non_null(data);
	for (uint32_t m = 0; m < members; m++) {
		for (uint64_t i = 0; i < count; i++)
			data[i] = ldexpf((float)rng_below(&rng, 1 << 24) - (1 << 23),
					 (int)rng_below(&rng, 40) - 40);
		ok(dxp_mem_write(r->xpus[m], r->from[m], data, count * sizeof(float)));
	}
	free(data);
}

/* Floating-point sums depend on the order, but all members and runs have the same bits. */
static void group__same_bits(void **state)
{
	struct rig *r = *state;
	const uint64_t count = 100003, bytes = count * sizeof(float);
	float *first = malloc(bytes), *other = malloc(bytes);

	assert_true(first && other);
	random_floats(r, 7, count);
	for (int run = 0; run < 4; run++) {
		struct dxp_group *g = group_open(r, 7, DXP_WAY_AUTO);
		const struct dxp_collective c = {
			.parts = parts_of(r), .count = count, .type = DXP_FLOAT};
		ok(dxp_allreduce(g, &c));
		ok(dxp_group_wait(g, LONG_NS));
		for (uint32_t m = 0; m < 7; m++) {
			float *to = run + m ? other : first;
			ok(dxp_mem_read(r->xpus[m], to, r->to[m], bytes));
			assert_memory_equal(first, to, bytes);
		}
		dxp_group_destroy(g);
	}
	free(first);
	free(other);
}

static void group__nan_and_infinity(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, 2, DXP_WAY_AUTO);
	const float in[2][4] = {{NAN, 1, INFINITY, INFINITY}, {1, NAN, 1, -INFINITY}};
	float out[4];

	for (uint32_t m = 0; m < 2; m++)
		ok(dxp_mem_write(r->xpus[m], r->from[m], in[m], sizeof(in[m])));
	for (int k = 0; k < DXP_REDUCTIONS; k++) {
		ok(dxp_allreduce(g, &(struct dxp_collective){.parts = parts_of(r),
							     .count = 4,
							     .type = DXP_FLOAT,
							     .reduction = (enum dxp_reduction)k}));
		ok(dxp_group_wait(g, LONG_NS));
		ok(dxp_mem_read(r->xpus[1], out, r->to[1], sizeof(out)));
		assert_true(isnan(out[0]) && isnan(out[1]));
		assert_true(k == DXP_MIN ? out[2] == 1 : isinf(out[2]));
		if (k == DXP_SUM || k == DXP_AVERAGE)
			assert_true(isnan(out[3]));
		else
			assert_true(isinf(out[3]) && (out[3] > 0) == (k == DXP_MAX));
	}
	dxp_group_destroy(g);
}

/* ---- order ---- */

/* A collective waits for one member's event, and a read waits for the collective. */
static void group__events(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, 3, DXP_WAY_AUTO);
	const int32_t one[3] = {1, 2, 3};
	dxp_event gate, ends[3], read;
	int32_t out[3] = {0};

	for (uint32_t m = 0; m < 3; m++)
		ok(dxp_mem_write(r->xpus[m], r->from[m], one, sizeof(one)));
	ok(dxp_event_create(r->fabric, &gate));
	parts_of(r);
	r->parts[1].wait = &gate;
	r->parts[1].wait_count = 1;
	const struct dxp_collective c = {
		.parts = r->parts, .count = 3, .type = DXP_INT32, .events = ends};
	ok(dxp_allreduce(g, &c));
	const struct dxp_waits waits = {.events = &ends[2], .count = 1};
	ok(dxp_read(r->xpus[2], out, r->to[2], sizeof(out), &waits, &read));
	assert_int_equal(dxp_group_wait(g, 20 * MS_NS), DXP_ETIMEDOUT);
	assert_int_equal(dxp_event_done(r->fabric, ends[0]), 0);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	ok(dxp_event_wait(r->fabric, read, LONG_NS, NULL));
	assert_int_equal(out[2], 9);
	for (uint32_t m = 0; m < 3; m++)
		ok(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL));
	ok(dxp_group_wait(g, LONG_NS));
	dxp_event_forget(r->fabric, gate);
	dxp_group_destroy(g);
}

static void group__barrier(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, MEMBERS, DXP_WAY_AUTO);
	dxp_event gate, ends[MEMBERS];

	ok(dxp_event_create(r->fabric, &gate));
	parts_of(r);
	r->parts[5].wait = &gate;
	r->parts[5].wait_count = 1;
	ok(dxp_barrier(g, &(struct dxp_collective){.parts = r->parts, .events = ends}));
	assert_int_equal(dxp_group_wait(g, 20 * MS_NS), DXP_ETIMEDOUT);
	for (uint32_t m = 0; m < MEMBERS; m++)
		assert_int_equal(dxp_event_done(r->fabric, ends[m]), 0);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	for (uint32_t m = 0; m < MEMBERS; m++)
		ok(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL));
	dxp_event_forget(r->fabric, gate);
	ok(dxp_barrier(g, &(struct dxp_collective){0}));
	ok(dxp_group_wait(g, LONG_NS));
	dxp_group_destroy(g);
}

static void group__xpu_twice(void **state)
{
	struct rig *r = *state;
	struct dxp_xpu *const members[] = {r->xpus[0], r->xpus[1], r->xpus[0]};
	const int32_t one[3] = {1, 2, 3};
	int32_t out[3] = {0};
	struct dxp_group *g;

	ok(dxp_group_create(r->fabric, members, 3, NULL, &g));
	parts_of(r);
	r->parts[2].from = r->from[0] + 4096;
	r->parts[2].to = r->to[0] + 4096;
	for (uint32_t m = 0; m < 3; m++)
		ok(dxp_mem_write(members[m], r->parts[m].from, one, sizeof(one)));
	ok(dxp_allreduce(
		g, &(struct dxp_collective){.parts = r->parts, .count = 3, .type = DXP_INT32}));
	ok(dxp_group_wait(g, LONG_NS));
	for (uint32_t m = 0; m < 3; m++) {
		ok(dxp_mem_read(members[m], out, r->parts[m].to, sizeof(out)));
		assert_int_equal(out[0] + out[1] + out[2], 18);
	}
	dxp_group_destroy(g);
}

/* Addresses between aligned ones, up to the end of the allocations, in memory that only DMA can
 * access. */
static void group__bridged_memory(void **state)
{
	static const enum dxp_type types[] = {DXP_INT8, DXP_BFLOAT16, DXP_FLOAT, DXP_UINT64};
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_true(rig_open(r, "ocl+bridged", 3, NULL, 0));
	for (int way = DXP_WAY_RING; way <= DXP_WAY_TREE; way++) {
		struct dxp_group *g = group_open(r, 3, (enum dxp_way)way);
		for (uint32_t t = 0; t < 2 * ARRAY_COUNT(types); t++) {
			struct dxp_collective c = {.count = 97, .type = types[t / 2]};
			case_run(r, g, 3, ALLREDUCE, c, t % 2);
			c.parts = parts_of(r);
			for (uint32_t m = 0; m < 3; m++) {
				const uint64_t bytes = c.count * dxp_type_bytes(c.type);
				r->parts[m].from += BUFFER_BYTES - bytes;
				r->parts[m].to += BUFFER_BYTES - bytes;
				r->parts[m].from_bytes = r->parts[m].to_bytes = bytes;
			}
			inputs_write(r, &c, ALLREDUCE, 3);
			ok(dxp_allreduce(g, &c));
			ok(dxp_group_wait(g, LONG_NS));
			outputs_check(r, &c, ALLREDUCE, 3);
		}
		case_run(r, g, 3, REDUCE, (struct dxp_collective){.count = 97, .type = DXP_INT32},
			 false);
		case_run(r, g, 3, REDUCE_SCATTER,
			 (struct dxp_collective){.count = 97, .type = DXP_INT32}, true);
		dxp_group_destroy(g);
	}
	rig_close(r);
	free(r);
}

static int open_ocl(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	*state = r;
	return r && rig_open(r, "ocl", MEMBERS, NULL, 0) ? 0 : -1;
}

static int close_rig(void **state)
{
	rig_close(*state);
	free(*state);
	return 0;
}

/* `rv32` has no type double; the message names the member. */
static void group__rv32(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	if (!rig_open(r, "rv32", 3, NULL, 0)) {
		free(r);
		printf("skipped: no engine rv32 here\n");
		skip();
	}
	for (int way = DXP_WAY_RING; way <= DXP_WAY_TREE; way++) {
		struct dxp_group *g = group_open(r, 3, (enum dxp_way)way);
		for (int t = 0; t < DXP_DOUBLE; t++)
			case_run(r, g, 3, ALLREDUCE,
				 (struct dxp_collective){.count = 61,
							 .type = (enum dxp_type)t,
							 .reduction = DXP_AVERAGE},
				 t % 2);
		dxp_group_destroy(g);
	}
	struct dxp_group *g = group_open(r, 3, DXP_WAY_AUTO);
	const struct dxp_collective c = {.parts = parts_of(r), .count = 1, .type = DXP_DOUBLE};
	assert_int_equal(dxp_allreduce(g, &c), DXP_EUNSUPPORTED);
	has_text("allreduce, member 0 (xPU 'xpu1')");
	has_text("double");
	ok(dxp_group_status(g));
	dxp_group_destroy(g);
	rig_close(r);
	free(r);
}

/* Engines may round differently, but members have the same bits. */
static void group__mixed_engines(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	const uint64_t count = 3001, bytes = count * sizeof(float);
	float *first = malloc(bytes), *other = malloc(bytes);

	assert_true(r && first && other);
	if (!rig_open(r, "ocl", 4, "rv32", 2)) {
		free(r);
		free(first);
		free(other);
		printf("skipped: no engine rv32 here\n");
		skip();
	}
	random_floats(r, 4, count);
	for (int way = DXP_WAY_RING; way <= DXP_WAY_TREE; way++) {
		struct dxp_group *g = group_open(r, 4, (enum dxp_way)way);
		ok(dxp_allreduce(g, &(struct dxp_collective){.parts = parts_of(r),
							     .count = count,
							     .type = DXP_FLOAT,
							     .reduction = DXP_AVERAGE}));
		ok(dxp_group_wait(g, LONG_NS));
		ok(dxp_mem_read(r->xpus[0], first, r->to[0], bytes));
		for (uint32_t m = 1; m < 4; m++) {
			ok(dxp_mem_read(r->xpus[m], other, r->to[m], bytes));
			assert_memory_equal(first, other, bytes);
		}
		dxp_group_destroy(g);
	}
	rig_close(r);
	free(r);
	free(first);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group__types_and_reductions),
		cmocka_unit_test(group__operations_and_lengths),
		cmocka_unit_test(group__structs_of_other_releases),
		cmocka_unit_test(group__nothing_through_the_host),
		cmocka_unit_test(group__many_outstanding),
		cmocka_unit_test(group__same_bits),
		cmocka_unit_test(group__nan_and_infinity),
		cmocka_unit_test(group__events),
		cmocka_unit_test(group__barrier),
		cmocka_unit_test(group__xpu_twice),
	};
	const struct CMUnitTest alone[] = {cmocka_unit_test(group__rv32),
					   cmocka_unit_test(group__mixed_engines)};
	const struct CMUnitTest bridged[] = {cmocka_unit_test(group__bridged_memory)};
	int failed = 0;

	if (!daemons_opencl()) {
		printf("no OpenCL device that works in host memory\n");
		return 77;
	}
	failed += cmocka_run_group_tests_name("ocl", tests, open_ocl, close_rig);
	failed += cmocka_run_group_tests_name("rv32", alone, NULL, NULL);
	return failed + cmocka_run_group_tests_name("memory behind DMA", bridged, NULL, NULL);
}
