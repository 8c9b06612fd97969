/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the rows that the registry examines and the datagrams that it sends, for few and for many
 * nodes: their number per node must not grow with the number of nodes. */
#include "test/sim/fabric.h"

#include "node/limits.h"

#define XPUS 2
#define FEW  64
#define MANY 512 /* FABRIC_MEMBERS_MAX */

struct work {
	double examined, datagrams; /* per node */
};

static struct work work_since(const struct fabric *f, struct work *before)
{
	const struct work all = {(double)registry_counters(f->registry)->examined,
				 (double)f->manager_datagrams_out};
	const struct work passed = {(all.examined - before->examined) / (double)f->count,
				    (all.datagrams - before->datagrams) / (double)f->count};

	*before = all;
	return passed;
}

static void grants_add(struct fabric *f)
{
	struct store_op op = {.kind = STORE_GRANT_PUT};

	for (unsigned i = XPUS; i < f->count; i++) {
		snprintf(op.host, sizeof(op.host), "%s", f->members[i].self.name);
		snprintf(op.xpu, sizeof(op.xpu), "%s", f->members[i % XPUS].self.name);
		assert_int_equal(registry_load(f->registry, &op), DXP_OK);
	}
}

/* Nodes join at once. Returns the work of the joins and that of renewals. */
static void fabric_measure(enum grants_policy policy, unsigned nodes, struct work *join,
			   struct work *renew)
{
	struct fabric *f = fabric_create(1, policy);
	struct work before = {0};

	fabric_manager_start(f);
	for (unsigned i = 0; i < nodes; i++)
		fabric_member_add(f, i < XPUS ? MANAGE_XPU : MANAGE_HOST);
	if (policy == GRANTS_EXPLICIT)
		grants_add(f);
	for (unsigned i = 0; i < nodes; i++)
		fabric_member_start(f, &f->members[i]);
	fabric_run(f, FABRIC_RENEW_NS / 2);
	for (unsigned i = 0; i < nodes; i++)
		assert_int_equal(member_state(f->members[i].m), MEMBER_JOINED);
	assert_int_equal(node_table_count(member_table(f->members[0].m)),
			 policy == GRANTS_ANY ? nodes : XPUS + (nodes - XPUS) / XPUS);
	assert_int_equal(node_table_count(member_table(f->members[XPUS].m)),
			 policy == GRANTS_ANY ? XPUS + 1 : 2);
	*join = work_since(f, &before);
	fabric_run(f, 8 * FABRIC_RENEW_NS);
	*renew = work_since(f, &before);
	fabric_destroy(f);
}

static void compare(enum grants_policy policy)
{
	struct work join[2], renew[2];

	fabric_measure(policy, FEW, &join[0], &renew[0]);
	fabric_measure(policy, MANY, &join[1], &renew[1]);
	print_message("joins: %.1f and %.1f examined, %.1f and %.1f datagrams; renewals: %.1f and "
		      "%.1f examined, %.1f and %.1f datagrams\n",
		      join[0].examined, join[1].examined, join[0].datagrams, join[1].datagrams,
		      renew[0].examined, renew[1].examined, renew[0].datagrams, renew[1].datagrams);
	assert_true(join[1].examined < 1.5 * join[0].examined);
	assert_true(join[1].datagrams < 1.5 * join[0].datagrams);
	assert_true(renew[1].examined < 1.5 * renew[0].examined);
	assert_true(renew[1].datagrams < 1.5 * renew[0].datagrams);
}

static void registry_scale__any_host_may_use_any_xpu(void **state)
{
	compare(GRANTS_ANY);
}

static void registry_scale__a_grant_for_each_host(void **state)
{
	compare(GRANTS_EXPLICIT);
}

/* The requests of a burst share one save: the registry holds the answers to as many as it states.
 */
static void registry_scale__a_burst_is_answered(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	const struct registry_counters *c;

	fabric_manager_start(f);
	c = registry_counters(f->registry);
	f->recording = true;
	fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	fabric_run(f, FABRIC_RENEW_NS / 2);
	const size_t space = registry_space(f->registry);
	const struct fabric_packet *join = &f->records[0]; /* without the manager's epoch */
	const uint64_t stale = c->stale;
	assert_true(space >= 1000);
	for (size_t i = 0; i < space; i++)
		registry_receive(f->registry, &join->from, join->data, join->bytes, f->now_ns);
	assert_int_equal(c->stale, stale + space);
	assert_int_equal(c->reply_full, 0);
	assert_int_equal(registry_space(f->registry), 0);
	registry_receive(f->registry, &join->from, join->data, join->bytes, f->now_ns);
	assert_int_equal(c->reply_full, 1);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry_scale__any_host_may_use_any_xpu),
		cmocka_unit_test(registry_scale__a_grant_for_each_host),
		cmocka_unit_test(registry_scale__a_burst_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
