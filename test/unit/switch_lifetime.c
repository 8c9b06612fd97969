/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how groups end: KILL, leases, and the XDP plane's part. */
#include "switch/kernel.h"
#include "switch/limits.h"
#include "test/unit/switch_rig.h"

static struct sw_counters counters_of_first(void)
{
	struct sw_counters c;

	switch_counters(net.switches[0], &c);
	return c;
}

/* ---- kill ---- */

static void lifetime__kill(void **state)
{
	uint32_t leaves[2] = {LEAF(0), LEAF(1)};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &(struct sw_options){.ip = SPINE(0)}));
	for (uint32_t i = 0; i < 2; i++)
		assert_non_null(swnet_switch(&net, &(struct sw_options){.ip = LEAF(i),
									.parents = {SPINE(0)},
									.parent_count = 1}));
	swnet_group_plan(&group, 4, leaves, 2, SPINE(0));
	assert_true(swnet_group_make(&net, &group));
	works(0);
	/* another key, epoch, job id or sender */
	group.qkey++;
	swnet_notify_all(&net, &group, INC_KILL);
	group.qkey--;
	group.epoch++;
	swnet_notify_all(&net, &group, INC_KILL);
	group.epoch--;
	group.job_id++;
	swnet_notify_all(&net, &group, INC_KILL);
	group.job_id--;
	swnet_run(&net);
	assert_int_equal(net.inbox.count, 0);
	works(1);
	swnet_notify_all(&net, &group, INC_KILL);
	swnet_notify_all(&net, &group, INC_KILL);
	swnet_run(&net);
	for (uint32_t m = 0; m < 4; m++)
		for (int i = 0; i < 2; i++) {
			struct swnet_packet *p = swnet_dequeue(&net, group.members[m].ip,
							       group.members[m].port, INC_KILL);

			assert_non_null(p);
			free(p);
		}
	works_not();
	for (unsigned i = 0; i < 3; i++) {
		struct inc_answer a;

		switch_answer(net.switches[i], &(struct inc_inquiry){INC_SECTION_SWITCH, 0},
			      net.now_ns, &a);
		assert_int_equal(a.self.groups, 0);
		assert_int_equal(a.self.memory_bytes, 0);
	}
	done();
}

static void lifetime__kill_while_sending(void **state)
{
	struct swnet_group other;
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);

	for (uint32_t victim = 7; victim < 10; victim++) {
		open_one(&(struct sw_options){0}, 1);
		for (group.id = 7; group.id < 11; group.id++)
			assert_true(swnet_group_make(&net, &group));
		other = group;
		for (other.id = 7; other.id < 10; other.id++)
			swnet_contribute(&net, &other, 0, &h, "abcd", 4);
		other.id = victim;
		swnet_notify_all(&net, &other, INC_KILL);
		other.id = 10;
		swnet_contribute(&net, &other, 0, &h, "abcd", 4);
		swnet_receive(&net);
		swnet_run(&net);
		assert_int_equal(counters(LEAF(0)).results, 4);
		for (unsigned i = 0; i < 3; i++) {
			struct swnet_packet *p = swnet_result(&net, &group, 0);

			assert_non_null(p);
			assert_int_not_equal(p->decoded.header.comm_id, victim);
			free(p);
		}
		assert_null(swnet_result(&net, &group, 0));
		done();
	}
}

/* ---- leases ---- */

static void renew(uint32_t member)
{
	const struct swnet_member *m = &group.members[member];
	struct inc_control c = swnet_control(&group, member);
	struct roce_path path = {m->ip, m->path[0], m->port, ROCE_PORT};

	control_send(INC_RENEW, member, &c, &path);
}

static void lifetime__lease_ends(void **state)
{
	struct sw *s;

	open_one(&(struct sw_options){.lease_ms = 12000}, 2);
	s = net.switches[0];
	assert_int_equal(switch_deadline(s), UINT64_MAX);
	assert_true(swnet_group_make(&net, &group));
	for (unsigned i = 0; i < 4; i++) { /* data and RENEW both renew */
		net.now_ns += 11999 * MS_NS;
		switch_expire(s, net.now_ns);
		if (i % 2)
			data_send(0, i / 2);
		else
			renew(1);
	}
	assert_int_equal(counters(LEAF(0)).expired, 0);
	assert_true(switch_deadline(s) <= net.now_ns + 12000 * MS_NS);
	net.now_ns += 12000 * MS_NS;
	switch_expire(s, net.now_ns);
	assert_int_equal(counters(LEAF(0)).expired, 1);
	assert_int_equal(switch_deadline(s), UINT64_MAX);
	works_not();
	renew(1);
	struct swnet_packet *p =
		swnet_dequeue(&net, group.members[1].ip, group.members[1].port, INC_REFUSED);

	assert_non_null(p);
	assert_int_equal(p->decoded.header.comm_id, group.id);
	assert_int_equal(p->decoded.header.status, -DXP_ENOENT);
	assert_int_equal(p->decoded.roce.qkey, group.qkey);
	free(p);
	done();
}

static void lifetime__lease_of_the_group(void **state)
{
	static const uint32_t leases[][2] = {
		{0, 12000}, {500, 500}, {11999, 11999}, {90000, 12000}};

	open_one(&(struct sw_options){.lease_ms = 12000}, 1);
	for (size_t i = 0; i < 4; i++) {
		struct inc_control c = swnet_control(&group, 0);
		struct roce_path path = {c.first_ip, LEAF(0), c.first_port, ROCE_PORT};
		struct inc_answer a;

		c.lease_ms = leases[i][0];
		control_send(INC_NOTIFY, 0, &c, &path);
		switch_answer(net.switches[0], &(struct inc_inquiry){INC_SECTION_GROUPS, 0},
			      net.now_ns, &a);
		assert_int_equal(a.groups[0].lease_ms, leases[i][1]);
		swnet_notify_all(&net, &group, INC_KILL);
		swnet_run(&net);
	}
	done();
}

/* A group whose creation is incomplete, because a member is missing, expires sooner than a complete
 * group. */
static void lifetime__lease_of_half_a_group(void **state)
{
	open_one(&(struct sw_options){0}, 2);
	swnet_notify(&net, &group, 0, INC_NOTIFY);
	swnet_run(&net);
	net.now_ns += SWITCH_UNREADY_NS - 1;
	switch_expire(net.switches[0], net.now_ns);
	assert_int_equal(counters(LEAF(0)).expired, 0);
	net.now_ns++;
	assert_true(switch_deadline(net.switches[0]) <= net.now_ns);
	switch_expire(net.switches[0], net.now_ns);
	assert_int_equal(counters(LEAF(0)).expired, 1);
	done();
}

static void lifetime__renew_goes_up(void **state)
{
	uint32_t leaves[1] = {LEAF(0)};
	struct sw_options root = {.ip = SPINE(0), .lease_ms = 6000};
	struct sw_options leaf = {
		.ip = LEAF(0), .parents = {SPINE(0)}, .parent_count = 1, .lease_ms = 6000};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &root));
	assert_non_null(swnet_switch(&net, &leaf));
	swnet_group_plan(&group, 2, leaves, 2, SPINE(0));
	assert_true(swnet_group_make(&net, &group));
	for (unsigned i = 0; i < 20; i++) {
		net.now_ns += 500 * MS_NS;
		renew(i % 2);
		for (unsigned k = 0; k < 2; k++)
			switch_expire(net.switches[k], net.now_ns);
	}
	assert_int_equal(counters(LEAF(0)).renews, 20);
	assert_int_equal(counters(SPINE(0)).renews, 10);
	assert_int_equal(counters(SPINE(0)).expired, 0);
	/* unknown peer, another key or epoch */
	group.members[0].port++;
	renew(0);
	group.members[0].port--;
	group.qkey++;
	renew(0);
	group.qkey--;
	assert_int_equal(counters(LEAF(0)).refused, 2);
	assert_int_equal(net.inbox.count, 0);
	group.epoch++;
	renew(0);
	assert_int_equal(counters(LEAF(0)).refused, 3);
	assert_int_equal(net.inbox.count, 1);
	swnet_forget(&net);
	done();
}

/* ---- the XDP plane ---- */

struct plane {
	unsigned installs, removes;
	bool accepts;
	uint64_t last_ns;
	struct sw_group_view view;
	struct sw_child children[4];
};

static bool plane_install(void *context, const struct sw_group *g)
{
	struct plane *p = context;

	p->installs++;
	switch_group_view(g, &p->view);
	for (uint32_t i = 0; i < p->view.child_count && i < 4; i++)
		p->children[i] = p->view.children[i];
	return p->accepts;
}

static void plane_remove(void *context, uint32_t id)
{
	struct plane *p = context;

	p->removes++;
}

static uint64_t plane_last_ns(void *context, uint32_t id)
{
	struct plane *p = context;

	return p->last_ns;
}

static void plane_counters(void *context, uint64_t *counts)
{
	counts[0] = 11;
	counts[1] = 22;
	counts[6] = 33;
}

static void lifetime__plane(void **state)
{
	struct plane plane = {.accepts = true};
	struct sw_options options = {
		.lease_ms = 1000,
		.kernel = {plane_install, plane_remove, plane_last_ns, plane_counters, &plane}};
	struct inc_control c, received;
	struct inc_answer a;

	open_one(&options, 2);
	c = query_of(1);
	query(1, &c);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.planes, INC_PLANE_USER | INC_PLANE_KERNEL);
	assert_true(swnet_group_make(&net, &group)); /* requests user space */
	assert_int_equal(plane.installs, 0);
	swnet_notify_all(&net, &group, INC_KILL);
	group.planes = INC_PLANE_USER | INC_PLANE_KERNEL;
	swnet_notify(&net, &group, 1, INC_NOTIFY);
	swnet_run(&net);
	assert_int_equal(plane.installs, 0);
	swnet_forget(&net);
	assert_true(swnet_group_make(&net, &group));
	assert_int_equal(plane.installs, 1);
	assert_int_equal(plane.view.id, group.id);
	assert_int_equal(plane.view.child_count, 2);
	assert_int_equal(plane.view.parent_ip, 0);
	assert_int_equal(plane.view.epoch, group.epoch);
	assert_int_equal(plane.children[1].ip, group.members[1].ip);
	assert_int_equal(plane.children[1].port, group.members[1].port);
	assert_int_equal(plane.children[1].first, 1);
	switch_answer(net.switches[0], &(struct inc_inquiry){INC_SECTION_SWITCH, 0}, net.now_ns,
		      &a);
	assert_int_equal(a.self.kernel_contributions, 11);
	assert_int_equal(a.self.kernel_results, 22);
	assert_int_equal(a.self.kernel_passed, 33);
	assert_int_equal(a.self.planes, 3);
	/* packets in the XDP plane renew the lease */
	net.now_ns += 1500 * MS_NS;
	plane.last_ns = net.now_ns - MS_NS;
	switch_expire(net.switches[0], net.now_ns);
	assert_int_equal(counters_of_first().expired, 0);
	net.now_ns += 1000 * MS_NS;
	switch_expire(net.switches[0], net.now_ns);
	assert_int_equal(counters_of_first().expired, 1);
	assert_int_equal(plane.removes, 1);
	/* rejected by the XDP plane, so in user space */
	plane.accepts = false;
	assert_true(swnet_group_make(&net, &group));
	assert_int_equal(plane.installs, 2);
	works(0);
	swnet_notify_all(&net, &group, INC_KILL);
	swnet_run(&net);
	assert_int_equal(plane.removes, 1);
	done();
}

/* A child switch is identified by its lowest member, so each lower one installs the group again. */
static void lifetime__plane_learns_the_lowest(void **state)
{
	struct plane plane = {.accepts = true};
	struct sw_options options = {.ip = SPINE(0),
				     .kernel = {plane_install, plane_remove, NULL, NULL, &plane}};
	struct sw_options leaf = {.ip = LEAF(0), .parents = {SPINE(0)}, .parent_count = 1};
	uint32_t leaves[1] = {LEAF(0)};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &options));
	assert_non_null(swnet_switch(&net, &leaf));
	swnet_group_plan(&group, 3, leaves, 3, SPINE(0));
	group.planes = INC_PLANE_USER | INC_PLANE_KERNEL;
	for (uint32_t m = 3; m > 0; m--)
		swnet_notify(&net, &group, m - 1, INC_NOTIFY);
	swnet_notify(&net, &group, 1, INC_NOTIFY);
	swnet_run(&net);
	assert_int_equal(plane.installs, 3);
	assert_int_equal(plane.removes, 2);
	assert_int_equal(plane.view.child_count, 1);
	assert_int_equal(plane.view.first, 0);
	assert_true(plane.children[0].is_switch);
	assert_int_equal(plane.children[0].ip, LEAF(0));
	assert_int_equal(plane.children[0].port, ROCE_SOURCE_PORT);
	assert_int_equal(plane.children[0].first, 0);
	done();
}

/* The switch offers the kernel's plane while it has space for a group. */
static void lifetime__plane_is_full(void **state)
{
	struct plane plane = {.accepts = true};
	struct sw_options options = {.kernel = {plane_install, plane_remove, NULL, NULL, &plane},
				     .groups_max = 2 * SWITCH_KERNEL_GROUPS};
	struct inc_control c, received;

	open_one(&options, 1);
	group.planes = INC_PLANE_USER | INC_PLANE_KERNEL;
	for (group.id = 0; group.id < SWITCH_KERNEL_GROUPS; group.id++) {
		c = query_of(0);
		query(0, &c);
		assert_true(first_receives(INC_QUERY, &received));
		assert_int_equal(received.planes, INC_PLANE_USER | INC_PLANE_KERNEL);
		assert_true(swnet_group_make(&net, &group));
	}
	c = query_of(0);
	query(0, &c);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.planes, INC_PLANE_USER);
	/* groups behind move to other entries */
	for (uint32_t i = 0; i < 3; i++) {
		group.id = (uint32_t[]){5, SWITCH_KERNEL_GROUPS - 1, 0}[i];
		swnet_notify_all(&net, &group, INC_KILL);
	}
	swnet_run(&net);
	assert_int_equal(plane.removes, 3);
	for (group.id = 1; group.id < SWITCH_KERNEL_GROUPS - 1; group.id++)
		if (group.id != 5)
			works(0);
	swnet_forget(&net);
	query(0, &c);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.planes, INC_PLANE_USER | INC_PLANE_KERNEL);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lifetime__kill),
		cmocka_unit_test(lifetime__kill_while_sending),
		cmocka_unit_test(lifetime__lease_ends),
		cmocka_unit_test(lifetime__lease_of_the_group),
		cmocka_unit_test(lifetime__lease_of_half_a_group),
		cmocka_unit_test(lifetime__renew_goes_up),
		cmocka_unit_test(lifetime__plane),
		cmocka_unit_test(lifetime__plane_learns_the_lowest),
		cmocka_unit_test(lifetime__plane_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
