/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which ids the registry gives again: those of hosts that left, after FABRIC_REUSE_NS. */
#include "test/sim/fabric.h"

#include "manager/limits.h"
#include "node/limits.h"

/* Starts a fabric of `hosts` hosts, and then one xPU. */
static struct fabric *world(int hosts)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);

	fabric_manager_start(f);
	for (int i = 0; i < hosts; i++)
		fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	fabric_run(f, 500 * MS_NS);
	fabric_check(f);
	return f;
}

static uint16_t leave(struct fabric *f, struct fabric_member *member)
{
	const uint16_t id = member_id(member->m);

	member_leave(member->m, f->now_ns);
	fabric_member_poll(f, member);
	fabric_run(f, 20 * MS_NS);
	assert_int_equal(member_state(member->m), MEMBER_LEFT);
	fabric_member_kill(member);
	return id;
}

static struct fabric_member *join(struct fabric *f, enum manage_kind kind)
{
	struct fabric_member *member = fabric_member_add(f, kind);

	fabric_member_start(f, member);
	fabric_run(f, 100 * MS_NS);
	assert_int_equal(member_state(member->m), MEMBER_JOINED);
	return member;
}

static void registry__the_id_of_a_host_that_left_is_given_again(void **state)
{
	struct fabric *f = world(2);
	const uint16_t id = leave(f, &f->members[1]);

	fabric_run(f, FABRIC_REUSE_NS);
	struct fabric_member *late = join(f, MANAGE_HOST);
	assert_int_equal(member_id(late->m), id);
	fabric_check(f);
	/* the xPU has reported the loss of the first host, and knows the second one */
	assert_string_equal(node_table_find(member_table(f->members[2].m), id)->name,
			    late->self.name);
	assert_true(f->members[2].peers[id].incarnation == late->self.incarnation);
	/* the store has the second host */
	fabric_manager_stop(f);
	fabric_manager_start(f);
	fabric_run(f, 5 * S_NS);
	assert_int_equal(member_id(late->m), id);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry__an_id_is_not_given_again_soon(void **state)
{
	struct fabric *f = world(2);
	const uint16_t id = leave(f, &f->members[1]);

	fabric_run(f, FABRIC_REUSE_NS - 2 * S_NS);
	assert_int_not_equal(member_id(join(f, MANAGE_HOST)->m), id);
	fabric_destroy(f);
}

/* A host whose lease expired may still use xPUs through another part of the network. */
static void registry__the_id_of_a_dead_host_is_not_given_again(void **state)
{
	struct fabric *f = world(2);
	const uint16_t id = member_id(f->members[1].m);

	f->members[1].cut = true;
	fabric_run(f, FABRIC_KEEP_NS + FABRIC_LEASE_NS + FABRIC_REUSE_NS + S_NS);
	assert_int_equal(registry_node_count(f->registry, NODE_GONE), 1);
	assert_int_not_equal(member_id(join(f, MANAGE_HOST)->m), id);
	f->members[1].cut = false;
	fabric_run(f, 10 * S_NS);
	assert_int_equal(member_id(f->members[1].m), id);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry__an_xpu_shares_no_id(void **state)
{
	struct fabric *f = world(2);
	const uint16_t host = leave(f, &f->members[1]), xpu = leave(f, &f->members[2]);

	fabric_run(f, FABRIC_REUSE_NS);
	assert_int_not_equal(member_id(join(f, MANAGE_XPU)->m), host);
	assert_int_equal(member_id(join(f, MANAGE_HOST)->m), host);
	assert_int_not_equal(member_id(join(f, MANAGE_HOST)->m), xpu);
	/* the xPU gets its own id again */
	fabric_member_start(f, &f->members[2]);
	fabric_run(f, 100 * MS_NS);
	assert_int_equal(member_id(f->members[2].m), xpu);
	fabric_destroy(f);
}

/* A host that returns keeps its id, although it left long ago. */
static void registry__a_host_that_returns_keeps_its_id(void **state)
{
	struct fabric *f = world(2);
	const uint16_t id = leave(f, &f->members[1]);

	fabric_run(f, FABRIC_REUSE_NS);
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, 100 * MS_NS);
	assert_int_equal(member_id(f->members[1].m), id);
	assert_int_not_equal(member_id(join(f, MANAGE_HOST)->m), id);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry__the_id_of_a_host_that_left_is_given_again),
		cmocka_unit_test(registry__an_id_is_not_given_again_soon),
		cmocka_unit_test(registry__the_id_of_a_dead_host_is_not_given_again),
		cmocka_unit_test(registry__an_xpu_shares_no_id),
		cmocka_unit_test(registry__a_host_that_returns_keeps_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
