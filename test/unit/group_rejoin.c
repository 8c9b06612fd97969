/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that groups of xPUs return to switches that were lost, or were not there, and that fused
 * allreduces use switches. */
#include <stdatomic.h>

#include "host/group.h"
#include "host/limits.h"
#include "test/support/group_create.h"
#include "test/unit/group_tree.h"

/* The next `fake_creates` creations fail. Others wait while `fake_hold` is true. */
static atomic_int fake_creates;
static atomic_bool fake_hold;

int __wrap_endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 const struct endpoint_user *user, struct dxp_inc_group **out,
				 char why[DXP_INC_WHY_BYTES])
{
	if (atomic_fetch_sub(&fake_creates, 1) > 0) {
		snprintf(why, DXP_INC_WHY_BYTES, "this is a fake rejection");
		return DXP_EBUSY;
	}
	while (fake_hold)
		usleep(1000);
	return __real_endpoint_group_create(inc, bootstrap, options, user, out, why);
}

/* Repeats an allreduce until switches compute one. */
static void switches_await(struct rig *r, struct dxp_group *g)
{
	const struct dxp_collective c = {.count = 97, .type = DXP_INT32};
	const uint64_t before = ways_of(g).operations[DXP_WAY_SWITCH];
	const uint64_t end_ns = clock_now_ns() + LONG_NS;

	while (ways_of(g).operations[DXP_WAY_SWITCH] == before) {
		if (clock_now_ns() >= end_ns)
			fail_msg("no switch is used again: %s", ways_of(g).why);
		outputs_clear(r, c.count * sizeof(int32_t));
		allreduce(r, g, c);
		output_check(r, &c);
	}
	assert_string_equal(ways_of(g).why, "");
}

/* The group returns to switches that were lost, each time, and to those that were not there at the
 * first operation. */
static void group_rejoin__back_to_switches(void **state)
{
	struct switch_tree *t = *state;
	struct rig *r = &t->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);

	inputs_write(r, DXP_INT32, BUFFER_BYTES / sizeof(int32_t));
	fake_creates = SWITCHED;
	allreduce(r, g, (struct dxp_collective){.count = 10, .type = DXP_INT32});
	why_has(g, "member 0 (xPU 'xpu1'): this is a fake rejection");
	assert_int_equal(ways_of(g).operations[DXP_WAY_TREE], 1);
	for (int i = 0; i < 2; i++) {
		switches_await(r, g);
		continue_check(t, g, 97);
		switches_start(t);
	}
	switches_await(r, g);
	assert_int_equal(ways_of(g).continued, 2);
	dxp_group_destroy(g);
}

static bool retrying(struct dxp_group *g)
{
	pthread_mutex_lock(&g->lock);
	bool is = g->switches == GROUP_RETRYING;
	pthread_mutex_unlock(&g->lock);
	return is;
}

/* An attempt that takes long delays neither operations nor the end of the group. */
static void group_rejoin__a_slow_attempt(void **state)
{
	struct rig *r = &((struct switch_tree *)*state)->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_AUTO);
	const uint64_t end_ns = clock_now_ns() + LONG_NS;
	bool before;

	inputs_write(r, DXP_INT32, 10);
	fake_creates = SWITCHED;
	do {
		before = retrying(g);
		assert_true(clock_now_ns() < end_ns);
		allreduce(r, g, (struct dxp_collective){.count = 10, .type = DXP_INT32});
		fake_hold = true;
	} while (!before || !retrying(g));
	assert_int_equal(ways_of(g).operations[DXP_WAY_SWITCH], 0);
	const uint64_t begin_ns = clock_now_ns();
	dxp_group_destroy(g);
	const uint64_t took_ns = clock_now_ns() - begin_ns;
	fake_hold = false;
	assert_in_range(took_ns, 0, HOST_REPLY_NS / 2);
}

/* Fused allreduces with gaps between their buffers use switches, and continue without them. */
static void group_rejoin__fused(void **state)
{
	struct switch_tree *t = *state;
	struct rig *r = &t->r;
	struct dxp_group *g = group_open(r, SWITCHED, DXP_WAY_SWITCH);
	const struct dxp_collective c = {.parts = parts_of(r), .count = 97, .type = DXP_INT32};

	inputs_write(r, DXP_INT32, 300);
	for (unsigned lost = 0; lost < 2; lost++) {
		if (lost)
			switches_kill(t);
		ok(dxp_fusion_begin(g));
		for (uint64_t k = 0; k < 3; k++) {
			parts_of(r);
			for (uint32_t m = 0; m < SWITCHED; m++) {
				r->parts[m].from += k * 400; /* has equal inputs */
				r->parts[m].to += k * 400;
			}
			ok(dxp_allreduce(g, &c));
		}
		outputs_clear(r, 97 * sizeof(int32_t));
		ok(dxp_fusion_end(g));
		ok(dxp_group_wait(g, LONG_NS));
		output_check(r, &c);
		assert_int_equal(ways_of(g).continued, lost);
	}
	assert_int_equal(ways_of(g).operations[DXP_WAY_SWITCH], 2);
	assert_int_equal(ways_of(g).fused, 6);
	dxp_group_destroy(g);
	switches_start(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_rejoin__back_to_switches),
		cmocka_unit_test(group_rejoin__a_slow_attempt),
		cmocka_unit_test(group_rejoin__fused),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device with memory that this process shares\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, tree_open, tree_close);
}
