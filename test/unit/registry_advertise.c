/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests nodes that advertise another address than they send from: nodes use it, the manager answers
 * the sender, and wrong ones are rejected. */
#include "test/sim/fabric.h"

#include "manager/internal.h"
#include "node/limits.h"

#define OUTSIDE_IP 0xcb007107 /* 203.0.113.7, for documentation (RFC 5737) */

static void advertise(struct fabric_member *member, struct udp_address address)
{
	member->self.capabilities = MANAGE_CAPABILITY_ADVERTISED;
	member->self.address = address;
}

/* The xPU advertises OUTSIDE_IP:5000. */
static struct fabric *world(void)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);

	fabric_manager_start(f);
	fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	struct fabric_member *xpu = fabric_member_add(f, MANAGE_XPU);
	advertise(xpu, address_v4(OUTSIDE_IP, 5000));
	fabric_member_start(f, xpu);
	fabric_run(f, 500 * MS_NS);
	fabric_check(f);
	return f;
}

static const struct udp_address *published(const struct fabric *f)
{
	return &node_table_find_name(member_table(f->members[0].m), f->members[1].self.name)
			->address;
}

static void registry_advertise__others_see_the_advertised_address(void **state)
{
	struct fabric *f = world();

	fabric_run(f, 3 * FABRIC_LEASE_NS);
	fabric_check(f);
	assert_true(address_equal(published(f), &f->members[1].self.address));
	assert_true(registry_counters(f->registry)->died == 0);
	assert_true(registry_counters(f->registry)->moved == 0);
	fabric_destroy(f);
}

/* A new NAT mapping leaves the row as it is. */
static void registry_advertise__a_move_changes_no_row(void **state)
{
	struct fabric *f = world();

	f->members[1].address.port = 7777;
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	fabric_check(f);
	assert_true(registry_counters(f->registry)->moved == 0);
	assert_int_equal(member_state(f->members[1].m), MEMBER_JOINED);
	fabric_destroy(f);
}

static void registry_advertise__a_restarted_manager_keeps_it(void **state)
{
	struct fabric *f = world();

	fabric_manager_stop(f);
	fabric_run(f, 10 * S_NS);
	fabric_manager_start(f);
	fabric_run(f, 4 * S_NS);
	fabric_check(f);
	assert_true(address_equal(published(f), &f->members[1].self.address));
	assert_true(registry_counters(f->registry)->died == 0);
	fabric_destroy(f);
}

/* Node and manager restart at the same time. The manager recognizes the node by its advertised
 * address, so the node need not wait for its old lease. */
static void registry_advertise__both_restart(void **state)
{
	struct fabric *f = world();

	fabric_manager_stop(f);
	fabric_member_kill(&f->members[1]);
	f->members[1].address.port = 7777;
	fabric_run(f, 10 * MS_NS);
	fabric_manager_start(f);
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(f->members[1].m), MEMBER_JOINED);
	fabric_run(f, 2 * S_NS);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry_advertise__a_second_node_at_the_same_address(void **state)
{
	struct fabric *f = world();
	struct fabric_member *second = fabric_member_add(f, MANAGE_XPU);

	advertise(second, f->members[1].self.address);
	fabric_member_start(f, second);
	fabric_run(f, 3 * S_NS);
	assert_int_equal(member_state(second->m), MEMBER_FAILED);
	assert_int_equal(member_status(second->m), DXP_EBUSY);
	assert_non_null(
		strstr(member_text(second->m), "this address is in use by the node 'xpu-1'"));
	fabric_destroy(f);
}

/* The node at the address gets it even if the other advertised it first, and keeps it. */
static void registry_advertise__the_sender_at_the_address_wins(void **state)
{
	struct fabric *f = world();
	struct fabric_member *owner = fabric_member_add(f, MANAGE_XPU);
	struct fabric_member *other = &f->members[1];

	owner->address = other->self.address;
	advertise(owner, owner->address);
	fabric_member_start(f, owner);
	fabric_run(f, 3 * S_NS);
	assert_int_equal(member_state(owner->m), MEMBER_JOINED);
	assert_int_equal(member_status(other->m), DXP_EBUSY);
	const struct node_table *table = member_table(f->members[0].m);
	assert_non_null(node_table_find_name(table, owner->self.name));
	assert_null(node_table_find_name(table, other->self.name));
	fabric_destroy(f);
}

/* The forger receives nothing at the address, so the node that advertised it keeps its entry. */
static void registry_advertise__a_forged_source_address_ends_no_node(void **state)
{
	struct fabric *f = world();
	const struct fabric_member *other = &f->members[1];
	struct manage_join join = {.nonce = 77,
				   .run = f->registry->epoch,
				   .self = {.kind = MANAGE_XPU,
					    .incarnation = 1,
					    .uuid = "forger",
					    .name = "forger",
					    .capabilities = MANAGE_CAPABILITY_ADVERTISED,
					    .address = other->self.address}};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	for (uint64_t guess = 0; guess < 100; guess++) {
		join.request++;
		registry_receive(f->registry, &join.self.address, frame,
				 manage_join_encode(&join, mac, frame), f->now_ns);
		join.run = guess % 2 ? f->registry->epoch : guess; /* also without the epoch */
	}
	mac_destroy(mac);
	fabric_run(f, 3 * S_NS);
	assert_int_equal(member_state(other->m), MEMBER_JOINED);
	assert_true(address_equal(published(f), &other->self.address));
	assert_true(registry_counters(f->registry)->stale >= 100);
	assert_int_equal(registry_counters(f->registry)->joined, 2);
	fabric_destroy(f);
}

/* Sends the JOIN of a node that sends from the address of xpu-1 and advertises it too. Returns how
 * many nodes have joined then. */
static uint64_t forged_join(struct fabric *f, struct manage_join *join)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	join->request++;
	registry_receive(f->registry, &join->self.address, frame,
			 manage_join_encode(join, mac, frame), f->now_ns);
	mac_destroy(mac);
	return registry_counters(f->registry)->joined;
}

/* Sends the JOIN of a node in whose row the manager puts `from`, its source address. */
static void unadvertised_join(struct fabric *f, const struct udp_address *from)
{
	const struct manage_join join = {
		.request = 1,
		.nonce = 78,
		.run = registry_proof(f->registry, from, 78, f->now_ns),
		.self = {.kind = MANAGE_XPU, .incarnation = 1, .uuid = "forger", .name = "forger"}};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	registry_receive(f->registry, from, frame, manage_join_encode(&join, mac, frame),
			 f->now_ns);
	mac_destroy(mac);
	assert_int_equal(registry_counters(f->registry)->joined, 3);
}

/* A JOIN with a forged source address does not block the node that receives at this address: it has
 * the address, or the address is forwarded to it. */
static void registry_advertise__a_forged_source_address_blocks_no_node(void **state)
{
	const struct udp_address at = address_v4(OUTSIDE_IP, 6000);
	enum { HAS, FORWARDED, NEITHER, CASES };

	for (int i = 0; i < CASES; i++) {
		struct fabric *f = world();
		unadvertised_join(f, &at);
		struct fabric_member *owner = fabric_member_add(f, MANAGE_XPU);
		if (i == HAS)
			owner->address = at;
		owner->forwarded = i == FORWARDED;
		advertise(owner, at);
		fabric_member_start(f, owner);
		fabric_run(f, S_NS);
		const struct node_table *table = member_table(f->members[0].m);
		assert_int_equal(member_state(owner->m) == MEMBER_JOINED, i != NEITHER);
		assert_int_equal(!node_table_find_name(table, "forger"), i != NEITHER);
		/* a JOIN from the address itself has the proof already */
		assert_int_equal(registry_counters(f->registry)->unproved > 0, i != HAS);
		fabric_destroy(f);
	}
}

/* The proof is from long ago, when the node had the address. */
static void registry_advertise__an_old_proof_ends_no_node(void **state)
{
	struct fabric *f = world();
	struct manage_join join = {.nonce = 77,
				   .self = {.kind = MANAGE_XPU,
					    .incarnation = 1,
					    .uuid = "former owner",
					    .name = "former",
					    .capabilities = MANAGE_CAPABILITY_ADVERTISED,
					    .address = f->members[1].self.address}};

	join.run = registry_proof(f->registry, &join.self.address, join.nonce, f->now_ns);
	fabric_run(f, 120 * S_NS);
	assert_int_equal(forged_join(f, &join), 2);
	join.run = f->registry->epoch;
	assert_int_equal(forged_join(f, &join), 2);
	join.run = registry_proof(f->registry, &join.self.address, join.nonce, f->now_ns);
	fabric_run(f, 60 * S_NS); /* next period: the proof is still valid */
	assert_int_equal(forged_join(f, &join), 3);
	fabric_destroy(f);
}

static void rejected(struct udp_address address, const char *word)
{
	struct fabric *f = world();
	struct fabric_member *wrong = fabric_member_add(f, MANAGE_XPU);

	advertise(wrong, address);
	fabric_member_start(f, wrong);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(wrong->m), MEMBER_FAILED);
	assert_int_equal(member_status(wrong->m), DXP_EINVAL);
	assert_non_null(strstr(member_text(wrong->m), word));
	fabric_destroy(f);
}

static void registry_advertise__wrong_addresses(void **state)
{
	struct udp_address v6 = {.port = 5000};

	rejected(address_v4(OUTSIDE_IP, 0), "without a port");
	rejected(address_v4(0, 5000), "no address of a machine");
	rejected(address_v4(0xe0000001, 5000), "a multicast address");
	rejected(address_v4(0xffffffff, 5000), "a reserved address");
	rejected(address_v4(0x7f000001, 5000), "own machine only");
	rejected(v6, "no address of a machine");
	v6.ip[0] = 0xff;
	rejected(v6, "a multicast address");
	v6.ip[0] = 0xfe;
	v6.ip[1] = 0x80;
	rejected(v6, "a link-local address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry_advertise__others_see_the_advertised_address),
		cmocka_unit_test(registry_advertise__a_move_changes_no_row),
		cmocka_unit_test(registry_advertise__a_restarted_manager_keeps_it),
		cmocka_unit_test(registry_advertise__both_restart),
		cmocka_unit_test(registry_advertise__a_second_node_at_the_same_address),
		cmocka_unit_test(registry_advertise__the_sender_at_the_address_wins),
		cmocka_unit_test(registry_advertise__a_forged_source_address_ends_no_node),
		cmocka_unit_test(registry_advertise__a_forged_source_address_blocks_no_node),
		cmocka_unit_test(registry_advertise__an_old_proof_ends_no_node),
		cmocka_unit_test(registry_advertise__wrong_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
