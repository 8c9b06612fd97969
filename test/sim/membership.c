/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whole fabrics through all faults, moves and restarts; 15 seconds after these stop, every
 * table is right. DXP_SEED=n replays seed n, DXP_SEEDS=n runs seeds 1 .. n. */
#include "test/sim/fabric.h"

#define SEEDS 200

static void member_disturb(struct fabric *f, struct fabric_member *member)
{
	switch (rng_below(&f->rng, 8)) {
	case 0:
	case 1:
		if (member->m)
			fabric_member_kill(member);
		break;
	case 2: /* keeps its socket address */
		if (member->m)
			fabric_member_kill(member);
		fabric_member_start(f, member);
		break;
	case 3: /* a new address for the same process */ member->address.port++; break;
	case 4:
		if (member->m) {
			member_leave(member->m, f->now_ns);
			fabric_member_poll(f, member);
		}
		break;
	case 5: member->cut = !member->cut; break;
	default:
		if (member->m && member_state(member->m) >= MEMBER_LEAVING)
			fabric_member_kill(member);
		if (!member->m)
			fabric_member_start(f, member);
	}
}

static void manager_disturb(struct fabric *f)
{
	static const char *const hosts[] = {"*", "host-0", "host-1", "host-2"}, *const xpus[] = {
											"*",
											"xpu-3",
											"xpu-4",
											"xpu-5"};

	switch (rng_below(&f->rng, 4)) {
	case 0:
		if (f->registry)
			fabric_manager_stop(f);
		break;
	case 1:
		if (!f->registry)
			fabric_manager_start(f);
		break;
	case 2:
		if (f->registry && rng_below(&f->rng, 4) == 0) {
			fabric_manager_stop(f);
			fabric_store_lose(f);
			fabric_manager_start(f);
		}
		break;
	default:
		if (f->registry)
			fabric_request(f, rng_below(&f->rng, 3) ? QUERY_GRANT : QUERY_REVOKE,
				       hosts[rng_below(&f->rng, 4)], xpus[rng_below(&f->rng, 4)]);
	}
}

static void fabric_calm(struct fabric *f)
{
	f->loss_ppm = f->duplicate_ppm = 0;
	f->delay_max_ns = f->delay_min_ns;
	if (!f->registry)
		fabric_manager_start(f);
	for (size_t i = 0; i < f->count; i++) {
		struct fabric_member *member = &f->members[i];
		member->cut = false;
		if (member->m && member_state(member->m) >= MEMBER_LEAVING)
			fabric_member_kill(member);
		if (!member->m && rng_below(&f->rng, 2))
			fabric_member_start(f, member);
	}
}

static void seed_run(uint64_t seed)
{
	struct fabric *f = fabric_create(seed, seed % 2 ? GRANTS_EXPLICIT : GRANTS_ANY);

	f->loss_ppm = (uint32_t)rng_below(&f->rng, 300000);
	f->duplicate_ppm = (uint32_t)rng_below(&f->rng, 200000);
	f->delay_max_ns = f->delay_min_ns + rng_below(&f->rng, 50 * MS_NS);
	fabric_manager_start(f);
	for (int i = 0; i < 3; i++)
		fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	for (uint64_t more = 1 + rng_below(&f->rng, 20); more > 0; more--)
		fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	for (uint64_t step = 5 + rng_below(&f->rng, 60); step > 0; step--) {
		fabric_run(f, rng_below(&f->rng, 2 * S_NS));
		if (rng_below(&f->rng, 4) == 0)
			manager_disturb(f);
		else
			member_disturb(f, &f->members[rng_below(&f->rng, f->count)]);
	}
	fabric_calm(f);
	fabric_run(f, 15 * S_NS);
	fabric_check(f);
	fabric_destroy(f);
}

static void membership__converges_after_any_disturbance(void **state)
{
	const char *one = getenv("DXP_SEED"), *many = getenv("DXP_SEEDS");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1;
	uint64_t last = one ? first : many ? strtoull(many, NULL, 0) : SEEDS;

	for (uint64_t seed = first; seed <= last; seed++) {
		print_message("seed %llu (replay: DXP_SEED=%llu)\n", (unsigned long long)seed,
			      (unsigned long long)seed);
		seed_run(seed);
	}
}

/* All join within seconds under 10 % loss, at fewer than 400 datagrams of the manager per node. */
static void membership__five_hundred_nodes(void **state)
{
	struct fabric *f = fabric_create(500, GRANTS_ANY);

	f->loss_ppm = 100000;
	f->delay_max_ns = 200 * US_NS;
	fabric_manager_start(f);
	for (int i = 0; i < 500; i++)
		fabric_member_start(f, fabric_member_add(f, i % 2 ? MANAGE_HOST : MANAGE_XPU));
	fabric_run(f, 8 * S_NS);
	print_message("500 nodes: %llu datagrams, %llu bytes from the manager\n",
		      (unsigned long long)f->manager_datagrams_out,
		      (unsigned long long)f->manager_bytes_out);
	assert_true(f->manager_datagrams_out < 500 * 400);
	f->loss_ppm = 0;
	fabric_run(f, 2 * S_NS);
	fabric_check(f);
	assert_int_equal(registry_node_count(f->registry, NODE_ALIVE), 500);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(membership__converges_after_any_disturbance),
		cmocka_unit_test(membership__five_hundred_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
