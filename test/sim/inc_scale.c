/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests in-network computing with thousands of hosts: in an allreduce each sends and receives one
 * packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/inc_rig.h"

static void space(uint32_t hosts, struct inc_tree_options tree, uint32_t loss_ppm)
{
	static struct rig r;
	struct inc_sim_options o = rig_options(hosts);
	const struct inc_load_options load = {.seed = hosts,
					      .calls = 20,
					      .elements_max = 2,
					      .collective = INC_ALLREDUCE,
					      .op = DXP_INC_SUM,
					      .type = DXP_INC_DOUBLE};
	struct inc_watch_view v;

	tree.hosts = hosts;
	o.net.tree = tree;
	o.net.rate_bps = 10000000000ull;
	o.net.host = (struct inc_cost){.receive_ns = 500, .send_ns = 500};
	o.net.hop = (struct inc_cost){.receive_ns = 500, .send_ns = 500};
	o.net.faults.loss_ppm = loss_ppm;
	o.deadline_ns = o.create_ns = 8 * S_NS;
	assert_true(rig_make(&r, &o));
	struct rig_job *j = rig_job(&r, hosts, &load);
	rig_right(&r, 60 * S_NS);
	rig_rejection(j);
	assert_int_equal(j->job->state, INC_JOB_READY);
	assert_int_equal(rig_view(j).calls_done, load.calls);
	inc_watch_view(j->watch, &v);
	if (loss_ppm == 0)
		assert_int_equal(v.contributions, load.calls * hosts);
	print_message("%u hosts: group in %.1f ms, %.1f us for a call, %.2f packets of each host\n",
		      hosts, (double)(j->job->created_ns - S_NS) / 1e6,
		      (double)(rig_view(j).last_ns - rig_view(j).first_ns) / 1e3 / load.calls,
		      (double)v.contributions / load.calls / hosts);
	rig_free(&r);
}

static void inc_scale__1024_hosts_and_loss(void **state)
{
	space(1024, (struct inc_tree_options){.levels = 3, .below = {32, 8, 0}, .beside = {1, 2}},
	      1000);
}

static void inc_scale__4096_hosts(void **state)
{
	space(4096, (struct inc_tree_options){.levels = 3, .below = {16, 16, 0}}, 0);
}

static void inc_scale__4096_hosts_four_spines(void **state)
{
	space(4096, (struct inc_tree_options){.levels = 2, .below = {64, 0}, .beside = {1, 4}}, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_scale__1024_hosts_and_loss),
		cmocka_unit_test(inc_scale__4096_hosts),
		cmocka_unit_test(inc_scale__4096_hosts_four_spines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
