/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests equations (1) and (2) of C-05 and C-35 with published figures, and topologies against
 * simulation or search. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/loggp.h"
#include "model/tags.h"
#include "model/topology.h"

/* C-06; ps and bytes */
static const struct model_loggp source = {.start_ps = 200000,
					  .descriptor_ps = 528000,
					  .byte_ps = 250,
					  .hop_ps = 240000,
					  .receive_ps = 160000,
					  .bytes = 2048};

#define NEAR(value, expected, tolerance)                                       \
	do {                                                                   \
		double v_ = (value), e_ = (expected);                          \
		if (fabs(v_ - e_) > (tolerance))                               \
			fail_msg("%s is %.6g, expected %.6g", #value, v_, e_); \
	} while (0)

/* C-07: us, three digits. */
static void loggp__table_of_the_source(void **state)
{
	static const uint32_t nodes[] = {16, 64, 256, 1024, 4096};
	static const double us[MODEL_MESH2 + 1][5] = {
		[MODEL_HYPERCUBE] = {1.880, 2.120, 2.360, 2.600, 2.840},
		[MODEL_TORUS3] = {1.853, 2.120, 2.543, 3.214, 4.280},
		[MODEL_MESH3] = {2.005, 2.360, 2.924, 3.819, 5.240},
		[MODEL_TORUS2] = {1.880, 2.360, 3.320, 5.240, 9.080},
		[MODEL_MESH2] = {2.040, 2.680, 3.960, 6.520, 11.640},
	};

	for (int kind = 0; kind <= MODEL_MESH2; kind++)
		for (size_t i = 0; i < ARRAY_COUNT(nodes); i++) {
			double hops = model_topology_formula((enum model_topology)kind, nodes[i]);
			NEAR(model_loggp_closed(&source, hops) / 1e6, us[kind][i], 0.0005);
		}
}

static void loggp__simulation_agrees(void **state)
{
	for (uint32_t hops = 0; hops <= 64; hops += 7)
		for (int64_t bytes = 1; bytes <= 4096; bytes *= 16) {
			struct model_loggp g = source;
			g.bytes = bytes;
			assert_int_equal(model_loggp_simulated(&g, hops),
					 (int64_t)model_loggp_closed(&g, hops));
		}
}

static struct model_distance search(enum model_topology kind, uint32_t nodes, double *exact)
{
	struct model_distance d;
	struct model_graph *g;

	assert_int_equal(model_graph_create(kind, nodes, &g), DXP_OK);
	assert_int_equal(model_graph_search(g, &d), DXP_OK);
	if (exact)
		*exact = model_graph_exact(g);
	model_graph_destroy(g);
	return d;
}

/* C-07 at 1024 nodes; `mean_self` includes the distance 0. */
static void topology__mean_distances(void **state)
{
	double exact;
	struct model_distance d = search(MODEL_HYPERCUBE, 1024, &exact);

	NEAR(d.mean_self, 5, 1e-9);
	NEAR(d.mean, 5.005, 0.0005);
	assert_int_equal(d.diameter, 10);
	d = search(MODEL_TORUS2, 1024, &exact);
	NEAR(d.mean_self, 16, 1e-9);
	NEAR(d.mean, 16.02, 0.005);
	d = search(MODEL_MESH2, 1024, &exact);
	NEAR(d.mean_self, 21.31, 0.005);
	NEAR(d.mean, 21.33, 0.005);
	d = search(MODEL_TORUS3, 1024, &exact);
	NEAR(d.mean_self, 8, 1e-9);
	NEAR(model_topology_formula(MODEL_TORUS3, 1024), 7.56, 0.005);
	d = search(MODEL_FAT_TREE, 1024, &exact);
	NEAR(d.mean_self, 9.33, 0.005);
}

static void topology__search_agrees_with_closed_forms(void **state)
{
	static const uint32_t nodes[] = {16, 64, 256, 1024, 4096};

	for (int kind = 0; kind <= MODEL_FAT_TREE; kind++)
		for (size_t i = 0; i < ARRAY_COUNT(nodes); i++) {
			double exact;
			struct model_distance d =
				search((enum model_topology)kind, nodes[i], &exact);
			NEAR(d.mean_self, exact, 1e-9);
			NEAR(d.mean * (nodes[i] - 1), d.mean_self * nodes[i], 1e-6);
		}
}

/* Sides of unequal, odd and two nodes; a side of two has one link. */
static void topology__uneven_sides(void **state)
{
	double exact;
	struct model_distance d = search(MODEL_TORUS2, 15, &exact);

	NEAR(d.mean_self, exact, 1e-9);
	d = search(MODEL_TORUS3, 8, &exact);
	NEAR(d.mean_self, 1.5, 1e-9);
	assert_int_equal(d.links, 12);
	d = search(MODEL_MESH2, 6, &exact);
	NEAR(d.mean_self, exact, 1e-9);
	assert_int_equal(d.links, 7);
}

/* Between two routers there are at most two links in a slim fly, and three in a dragonfly. The
 * links of the two end nodes add one each. */
static void topology__diameters_of_switched_networks(void **state)
{
	static const uint32_t nodes[] = {2, 100, 200, 1000, 3380, 4096};

	for (size_t i = 0; i < ARRAY_COUNT(nodes); i++) {
		assert_true(search(MODEL_SLIM_FLY, nodes[i], NULL).diameter <= 4);
		assert_true(search(MODEL_DRAGONFLY, nodes[i], NULL).diameter <= 5);
	}
	assert_int_equal(search(MODEL_SLIM_FLY, 4096, NULL).diameter, 4);
	assert_int_equal(search(MODEL_DRAGONFLY, 4096, NULL).diameter, 5);
	assert_int_equal(search(MODEL_FAT_TREE, 4096, NULL).diameter, 12);
	/* Over the field of 5: the Hoffman-Singleton graph, 50 routers of 7 links. */
	assert_int_equal(search(MODEL_SLIM_FLY, 200, NULL).links, 175 + 200);
}

/* Each path crosses all levels, also from a node to itself. */
static void topology__butterfly(void **state)
{
	for (uint32_t levels = 1; levels <= 12; levels++) {
		uint32_t nodes = 1u << levels;
		double exact;
		struct model_distance d = search(MODEL_BUTTERFLY, nodes, &exact);
		NEAR(exact, levels, 1e-9);
		NEAR(d.mean, levels, 1e-9);
		NEAR(d.mean_self, levels, 1e-9);
		assert_int_equal(d.diameter, levels);
		assert_int_equal(d.links, 2 * nodes * levels);
	}
}

static void topology__rejects_impossible_sizes(void **state)
{
	static const struct {
		enum model_topology kind;
		uint32_t nodes;
		const char *reason;
	} cases[] = {
		{MODEL_HYPERCUBE, 1000, "power of two"},
		{MODEL_TORUS2, 13, "sides"},
		{MODEL_MESH3, 4, "sides"},
		{MODEL_FAT_TREE, 512, "power of 4"},
		{MODEL_BUTTERFLY, 1000, "power of two"},
		{MODEL_MESH2, 1, "out of range"},
		{MODEL_MESH2, 1u << 20, "out of range"},
	};
	struct model_graph *g;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_int_equal(model_graph_create(cases[i].kind, cases[i].nodes, &g), DXP_EINVAL);
		if (!strstr(error_text(), cases[i].reason))
			fail_msg("no '%s' in '%s'", cases[i].reason, error_text());
	}
}

/* C-35. */
static struct model_tags tags_source(void)
{
	return (struct model_tags){.request_bytes = 128,
				   .packet_bytes = 128,
				   .datapath_bytes = 16,
				   .packet_cycles = 2,
				   .read_cycles = 130,
				   .tags = 32};
}

static void tags__example_of_the_source(void **state)
{
	struct model_tags t = tags_source();

	assert_int_equal(model_tags_return_millicycles(&t), 10000);
	assert_int_equal(model_tags_least(&t), 13);
	assert_int_equal(model_tags_cover(&t), 320);
}

/* n_min tags reach the link's rate; n_min - 1 do not. */
static void tags__simulation_agrees(void **state)
{
	static const uint32_t sizes[] = {16, 64, 128, 512, 1024};

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct model_tags t = tags_source();
		t.request_bytes = sizes[i];
		uint32_t least = model_tags_least(&t);
		for (t.tags = 1; t.tags <= least + 3; t.tags++) {
			double closed = (double)model_tags_closed(&t);
			NEAR((double)model_tags_simulated(&t, 100000), closed, closed * 1e-3 + 2);
		}
		t.tags = least;
		uint64_t full = model_tags_simulated(&t, 100000);
		t.tags = least + 10;
		assert_true(model_tags_simulated(&t, 100000) <= full + 2);
		t.tags = least - 1;
		if (t.tags > 0)
			assert_true(model_tags_simulated(&t, 100000) < full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loggp__table_of_the_source),
		cmocka_unit_test(loggp__simulation_agrees),
		cmocka_unit_test(topology__mean_distances),
		cmocka_unit_test(topology__search_agrees_with_closed_forms),
		cmocka_unit_test(topology__uneven_sides),
		cmocka_unit_test(topology__diameters_of_switched_networks),
		cmocka_unit_test(topology__butterfly),
		cmocka_unit_test(topology__rejects_impossible_sizes),
		cmocka_unit_test(tags__example_of_the_source),
		cmocka_unit_test(tags__simulation_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
