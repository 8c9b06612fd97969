/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the registry on a network without losses, in virtual time: each guarantee of
 * docs/guide/manager.md. */
#include "test/sim/fabric.h"

#include "manager/internal.h"
#include "node/limits.h"

static struct fabric *world(enum grants_policy policy, int hosts, int xpus)
{
	struct fabric *f = fabric_create(1, policy);

	fabric_manager_start(f);
	for (int i = 0; i < hosts; i++)
		fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	for (int i = 0; i < xpus; i++)
		fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	fabric_run(f, 500 * MS_NS);
	fabric_check(f);
	return f;
}

static const struct node_entry *row(const struct fabric *f, size_t viewer, size_t subject)
{
	return node_table_find_name(member_table(f->members[viewer].m),
				    f->members[subject].self.name);
}

/* Returns the epoch of the manager's present run, as member 0 has received it. */
static uint64_t run_of(const struct fabric *f)
{
	return node_table_progress(member_table(f->members[0].m)).epoch;
}

static void registry__hosts_see_xpus_but_no_hosts(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 2, 2);

	assert_null(row(f, 0, 1));
	assert_true(row(f, 0, 2)->granted);
	assert_non_null(row(f, 2, 0));
	assert_non_null(row(f, 2, 3));
	assert_int_equal(node_table_count(member_table(f->members[0].m)), 3);
	assert_int_equal(node_table_count(member_table(f->members[2].m)), 4);
	fabric_destroy(f);
}

static void registry__a_silent_node_is_dead_after_its_lease(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	fabric_member_kill(&f->members[1]);
	fabric_run(f, FABRIC_LEASE_NS - FABRIC_RENEW_NS - 600 * MS_NS);
	assert_true(row(f, 0, 1)->alive);
	fabric_run(f, FABRIC_RENEW_NS + 700 * MS_NS);
	assert_false(row(f, 0, 1)->alive);
	assert_false(f->members[0].peers[row(f, 0, 1)->id].alive);
	assert_true(registry_counters(f->registry)->died == 1);
	fabric_destroy(f);
}

static void registry__a_dead_host_fades_a_dead_xpu_stays(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 2);

	fabric_member_kill(&f->members[0]);
	fabric_member_kill(&f->members[1]);
	fabric_run(f, 10 * S_NS);
	assert_false(row(f, 2, 0)->alive);
	fabric_run(f, FABRIC_KEEP_NS);
	assert_null(row(f, 2, 0));
	assert_false(row(f, 2, 1)->alive);
	fabric_destroy(f);
}

static void registry__leaving_is_known_at_once(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	member_leave(f->members[1].m, f->now_ns);
	fabric_member_poll(f, &f->members[1]);
	fabric_run(f, 20 * MS_NS);
	assert_int_equal(member_state(f->members[1].m), MEMBER_LEFT);
	assert_null(row(f, 0, 1));
	fabric_destroy(f);
}

static void registry__a_restart_keeps_the_id_and_is_reported(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	uint16_t id = member_id(f->members[1].m);
	uint64_t before = row(f, 0, 1)->incarnation;

	fabric_member_kill(&f->members[1]);
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, 20 * MS_NS);
	assert_int_equal(member_id(f->members[1].m), id);
	assert_true(row(f, 0, 1)->incarnation > before);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry__a_node_may_move(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	f->members[1].address.port = 7777;
	fabric_run(f, 2 * S_NS);
	assert_int_equal(row(f, 0, 1)->address.port, 7777);
	assert_true(registry_counters(f->registry)->moved == 1);
	fabric_check(f);
	fabric_destroy(f);
}

/* The live node of this name is not affected. */
static void duplicate_rejected(struct fabric *f, struct fabric_member *second, const char *word)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	fabric_member_start(f, second);
	fabric_run(f, 3 * S_NS);
	assert_int_equal(member_state(second->m), MEMBER_FAILED);
	assert_int_equal(member_status(second->m), DXP_EBUSY);
	assert_non_null(strstr(member_text(second->m), word));
	assert_non_null(
		strstr(member_text(second->m), address_format(&f->members[1].address, address)));
	assert_int_equal(member_state(f->members[1].m), MEMBER_JOINED);
	assert_true(row(f, 0, 1)->alive);
	assert_true(address_equal(&row(f, 0, 1)->address, &f->members[1].address));
}

static void registry__a_second_node_with_the_same_identity(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	struct fabric_member *second = fabric_member_add(f, MANAGE_XPU);

	memcpy(second->self.uuid, f->members[1].self.uuid, WIRE_UUID_BYTES);
	duplicate_rejected(f, second, "identity");
	fabric_destroy(f);
}

static void registry__a_second_node_with_the_same_name(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	struct fabric_member *second = fabric_member_add(f, MANAGE_XPU);

	strcpy(second->self.name, f->members[1].self.name);
	duplicate_rejected(f, second, "name");
	fabric_destroy(f);
}

static void registry__restart_on_another_port_waits_for_the_lease(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	fabric_member_kill(&f->members[1]);
	f->members[1].address.port++;
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, FABRIC_LEASE_NS / 2);
	assert_int_equal(member_state(f->members[1].m), MEMBER_JOINING);
	fabric_run(f, FABRIC_LEASE_NS + S_NS - FABRIC_LEASE_NS / 2);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry__a_new_node_gets_a_dead_ones_name(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	struct fabric_member *second = fabric_member_add(f, MANAGE_XPU);

	strcpy(second->self.name, f->members[1].self.name);
	fabric_member_kill(&f->members[1]);
	fabric_run(f, 5 * S_NS);
	fabric_member_start(f, second);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(second->m), MEMBER_JOINED);
	assert_int_equal(row(f, 0, 2)->id, member_id(second->m));
	assert_int_equal(node_table_count(member_table(f->members[0].m)), 2);
	fabric_destroy(f);
}

static void registry__an_older_start_is_rejected(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	uint64_t now_ns = f->now_ns;

	fabric_member_kill(&f->members[1]);
	f->now_ns = 5; /* as if the clock had been set back */
	fabric_member_start(f, &f->members[1]);
	f->now_ns = now_ns;
	fabric_run(f, S_NS);
	assert_int_equal(member_status(f->members[1].m), DXP_EEXIST);
	assert_non_null(strstr(member_text(f->members[1].m), "clock"));
	fabric_destroy(f);
}

static void registry__restart_with_its_store_kills_no_node(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 2, 3);
	uint16_t ids[5];

	for (int i = 0; i < 5; i++)
		ids[i] = member_id(f->members[i].m);
	fabric_manager_stop(f);
	fabric_run(f, 10 * S_NS);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(member_state(f->members[i].m), MEMBER_ALONE);
		assert_true(i < 2 || row(f, 0, (size_t)i)->alive);
	}
	fabric_manager_start(f);
	fabric_run(f, 4 * S_NS);
	fabric_check(f);
	for (int i = 0; i < 5; i++)
		assert_int_equal(member_id(f->members[i].m), ids[i]);
	assert_true(registry_counters(f->registry)->died == 0);
	fabric_destroy(f);
}

static void registry__restart_without_its_store_keeps_ids(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 2, 3);
	uint16_t id = member_id(f->members[3].m);

	fabric_manager_stop(f);
	fabric_store_lose(f);
	fabric_manager_start(f);
	fabric_run(f, 5 * S_NS);
	fabric_check(f);
	assert_int_equal(member_id(f->members[3].m), id);
	fabric_destroy(f);
}

static void registry__grants_at_run_time(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT, 2, 2);

	assert_null(row(f, 0, 2)); /* only xPUs that the host may use */
	assert_int_equal(node_table_count(member_table(f->members[0].m)), 1);
	assert_null(row(f, 2, 0));
	assert_int_equal(fabric_request(f, QUERY_GRANT, "host-0", "xpu-2"), DXP_OK);
	fabric_run(f, 20 * MS_NS);
	fabric_check(f);
	assert_true(row(f, 0, 2)->granted);
	assert_null(row(f, 0, 3));
	assert_null(row(f, 1, 2));
	assert_non_null(row(f, 2, 0));
	assert_null(row(f, 3, 0));
	assert_int_equal(fabric_request(f, QUERY_GRANT, "*", "xpu-3"), DXP_OK);
	fabric_run(f, 20 * MS_NS);
	fabric_check(f);
	assert_int_equal(fabric_request(f, QUERY_REVOKE, "host-0", "xpu-2"), DXP_OK);
	assert_int_equal(fabric_request(f, QUERY_REVOKE, "host-0", "xpu-3"), DXP_OK);
	assert_non_null(strstr(query_text(f->query), "still"));
	fabric_run(f, 20 * MS_NS);
	fabric_check(f);
	assert_null(row(f, 2, 0));
	assert_null(row(f, 0, 2));
	assert_true(row(f, 0, 3)->granted);
	fabric_manager_stop(f);
	fabric_manager_start(f);
	fabric_run(f, 4 * S_NS);
	fabric_check(f);
	fabric_destroy(f);
}

static void registry__grants_mean_nothing_where_any_may(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	assert_int_equal(fabric_request(f, QUERY_REVOKE, "host-0", "xpu-1"), DXP_EINVAL);
	assert_non_null(strstr(query_text(f->query), "--grants explicit"));
	fabric_destroy(f);
}

/* After a revocation, a recorded ASSIGN has no effect. */
static void registry__a_replayed_grant_changes_nothing(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT, 1, 1);
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct mac *mac;
	struct manage_assign assign = {
		.request = 1, .nonce = 1, .action = MANAGE_GRANT, .host = "host-0", .xpu = "xpu-1"};

	assert_int_equal(fabric_request(f, QUERY_GRANT, "host-0", "xpu-1"), DXP_OK);
	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	assign.epoch = run_of(f);
	assign.version = 0; /* version of the grants at the first one */
	assert_int_equal(fabric_request(f, QUERY_REVOKE, "host-0", "xpu-1"), DXP_OK);
	size_t bytes = manage_assign_encode(&assign, mac, frame);
	registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
	fabric_run(f, S_NS);
	assert_null(row(f, 0, 1));
	mac_destroy(mac);
	fabric_destroy(f);
}

static void registry__status_shows_all_whatever_the_grants(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT, 20, 20);
	const struct node_entry *rows;

	assert_int_equal(fabric_request(f, QUERY_NODES, NULL, NULL), DXP_OK);
	assert_int_equal(query_nodes(f->query, &rows), 40);
	for (int i = 0; i < 40; i++) {
		assert_true(rows[i].alive);
		assert_int_equal(rows[i].magic, 0);
		assert_true(i == 0 || rows[i].id > rows[i - 1].id);
	}
	fabric_destroy(f);
}

static void registry__wrong_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	struct fabric_member *unknown_peer = fabric_member_add(f, MANAGE_HOST);

	f->options.key[0] ^= 1;
	fabric_member_start(f, unknown_peer);
	f->options.key[0] ^= 1;
	fabric_run(f, S_NS);
	assert_int_equal(member_state(unknown_peer->m), MEMBER_FAILED);
	assert_int_equal(member_status(unknown_peer->m), DXP_EAUTH);
	assert_non_null(strstr(member_text(unknown_peer->m), "key"));
	f->options.key[0] ^= 1;
	assert_int_equal(fabric_request(f, QUERY_NODES, NULL, NULL), DXP_EAUTH);
	fabric_destroy(f);
}

/* JOINs with wrong keys create no node, and get few answers, none longer than a JOIN. */
static void registry__a_flood_of_wrong_keys(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	uint8_t key[FABRIC_KEY_BYTES] = {9}, frame[MANAGE_FRAME_BYTES];
	struct manage_join join = {.nonce = 1, .self = {.kind = MANAGE_HOST, .name = "x"}};
	struct datagram out[DATAGRAM_BATCH];
	struct mac *mac;
	size_t answers = 0;

	assert_int_equal(mac_create(key, &mac), DXP_OK);
	for (join.request = 1; join.request <= 100000; join.request++) {
		size_t bytes = manage_join_encode(&join, mac, frame);
		registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
		if (join.request % 64)
			continue;
		size_t count = registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns);
		for (size_t i = 0; i < count; i++)
			assert_true(out[i].header_bytes + out[i].slices[0].bytes <= bytes);
		answers += count;
	}
	assert_true(answers > 0 && answers <= 100);
	assert_true(registry_counters(f->registry)->unauthentic == 100000);
	assert_int_equal(registry_node_count(f->registry, NODE_ALIVE), 2);
	mac_destroy(mac);
	fabric_destroy(f);
}

/* A recorded RENEW is replayed from another address. It neither moves the node nor extends its
 * lease. */
static void registry__a_replayed_renewal_changes_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);
	struct datagram out[4];
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct udp_address thief = fabric_address(999);

	fabric_run(f, member_deadline(f->members[1].m) - f->now_ns - 1);
	f->now_ns++;
	assert_int_equal(member_send(f->members[1].m, out, 4, f->now_ns), 1);
	memcpy(frame, out[0].header, out[0].header_bytes);
	memcpy(frame + out[0].header_bytes, out[0].slices[0].base, out[0].slices[0].bytes);
	size_t bytes = out[0].header_bytes + out[0].slices[0].bytes;
	registry_receive(f->registry, &f->members[1].address, frame, bytes, f->now_ns);
	registry_receive(f->registry, &thief, frame, bytes, f->now_ns);
	assert_true(registry_counters(f->registry)->replayed == 1);
	assert_true(registry_counters(f->registry)->moved == 0);
	fabric_destroy(f);
}

/* Kills the xPU after recording its datagrams. */
static void recorded_kill(struct fabric *f, size_t index)
{
	f->recording = true;
	fabric_member_start(f, &f->members[index]);
	fabric_run(f, 2 * S_NS);
	f->recording = false;
	assert_true(row(f, 0, index)->alive);
	fabric_member_kill(&f->members[index]);
}

/* Recorded messages neither revive the xPU nor keep its next process from joining. */
static void registry__records_revive_no_dead_node_after_a_restart(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 0);
	struct udp_address thief = fabric_address(999);

	fabric_member_add(f, MANAGE_XPU);
	recorded_kill(f, 1);
	fabric_run(f, FABRIC_LEASE_NS + S_NS);
	assert_false(row(f, 0, 1)->alive);
	fabric_manager_stop(f);
	fabric_manager_start(f);
	fabric_run(f, S_NS);
	fabric_replay(f, &thief);
	fabric_run(f, S_NS);
	assert_false(row(f, 0, 1)->alive);
	assert_true(registry_counters(f->registry)->stale >= 2);
	assert_int_equal(registry_counters(f->registry)->moved, 0);
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, S_NS);
	fabric_check(f);
	fabric_destroy(f);
}

/* Recorded messages neither move the node nor change its lease. */
static void registry__records_change_no_live_node_after_a_restart(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 0);
	struct udp_address thief = fabric_address(999);

	fabric_member_add(f, MANAGE_XPU);
	f->recording = true;
	fabric_member_start(f, &f->members[1]);
	fabric_run(f, 2 * S_NS);
	f->members[1].mute = true;
	fabric_manager_stop(f);
	fabric_manager_start(f);
	fabric_replay(f, &thief);
	fabric_run(f, 2 * FABRIC_LEASE_NS + S_NS);
	assert_int_equal(registry_counters(f->registry)->moved, 0);
	assert_false(row(f, 0, 1)->alive);
	f->members[1].mute = false;
	fabric_run(f, 3 * S_NS);
	fabric_check(f);
	fabric_destroy(f);
}

/* A node can leave although it has not renewed since the restart. */
static void registry__leaving_after_a_restart(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 1);

	fabric_manager_stop(f);
	fabric_manager_start(f);
	member_leave(f->members[1].m, f->now_ns);
	fabric_member_poll(f, &f->members[1]);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(f->members[1].m), MEMBER_LEFT);
	assert_true(registry_counters(f->registry)->left == 1);
	assert_null(row(f, 0, 1));
	fabric_destroy(f);
}

/* So many nodes come and go that old entries are forgotten; a node that was cut off gets a full
 * table. */
static void registry__forgetting_makes_a_full_table(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 1, 2);
	struct manage_join join = {.request = 1, .self = {.kind = MANAGE_HOST, .incarnation = 1}};
	struct manage_renew leave = {.request = 2, .incarnation = 1};
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct udp_address from = fabric_address(4000);
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	f->members[1].cut = true;
	leave.run = run_of(f);
	for (unsigned i = 0; i < FABRIC_NODES_MAX + 50; i++) {
		join.nonce = leave.nonce = i + 1;
		join.run = registry_proof(f->registry, &from, join.nonce, f->now_ns);
		snprintf(join.self.name, sizeof(join.self.name), "brief-%u", i);
		memcpy(join.self.uuid, &i, sizeof(i));
		memcpy(leave.uuid, &i, sizeof(i));
		registry_receive(f->registry, &from, frame, manage_join_encode(&join, mac, frame),
				 f->now_ns);
		registry_receive(
			f->registry, &from, frame,
			manage_renew_encode(WIRE_LEAVE, (uint16_t)(i + 4), &leave, mac, frame),
			f->now_ns);
		if (i % 32 == 0)
			fabric_manager_poll(f);
	}
	assert_true(registry_counters(f->registry)->forgotten == 53);
	assert_int_equal(registry_node_count(f->registry, NODE_GONE), FABRIC_NODES_MAX - 3);
	f->members[1].cut = false;
	uint64_t pages = registry_counters(f->registry)->pages;
	fabric_run(f, 2 * S_NS);
	assert_true(registry_counters(f->registry)->pages > pages);
	fabric_check(f);
	mac_destroy(mac);
	fabric_destroy(f);
}

/* A join to a full table is rejected with the reason, and tried again. */
static void registry__a_full_fabric_rejects(void **state)
{
	struct fabric *f = world(GRANTS_ANY, 0, 1);
	struct manage_join join = {.request = 1, .self = {.kind = MANAGE_HOST, .incarnation = 1}};
	struct fabric_member *late = fabric_member_add(f, MANAGE_HOST);
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	for (unsigned i = 1; i < FABRIC_NODES_MAX; i++) {
		struct udp_address from = fabric_address(3000 + i);
		join.nonce = i;
		join.run = registry_proof(f->registry, &from, join.nonce, f->now_ns);
		snprintf(join.self.name, sizeof(join.self.name), "n-%u", i);
		memcpy(join.self.uuid, &i, sizeof(i));
		registry_receive(f->registry, &from, frame, manage_join_encode(&join, mac, frame),
				 f->now_ns);
	}
	fabric_member_start(f, late);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(late->m), MEMBER_JOINING);
	assert_int_equal(registry_node_count(f->registry, NODE_ALIVE), FABRIC_NODES_MAX);
	/* the others never renew */
	fabric_run(f, 5 * S_NS);
	assert_int_equal(member_state(late->m), MEMBER_JOINED);
	mac_destroy(mac);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry__hosts_see_xpus_but_no_hosts),
		cmocka_unit_test(registry__a_silent_node_is_dead_after_its_lease),
		cmocka_unit_test(registry__a_dead_host_fades_a_dead_xpu_stays),
		cmocka_unit_test(registry__leaving_is_known_at_once),
		cmocka_unit_test(registry__a_restart_keeps_the_id_and_is_reported),
		cmocka_unit_test(registry__a_node_may_move),
		cmocka_unit_test(registry__a_second_node_with_the_same_identity),
		cmocka_unit_test(registry__a_second_node_with_the_same_name),
		cmocka_unit_test(registry__restart_on_another_port_waits_for_the_lease),
		cmocka_unit_test(registry__a_new_node_gets_a_dead_ones_name),
		cmocka_unit_test(registry__an_older_start_is_rejected),
		cmocka_unit_test(registry__restart_with_its_store_kills_no_node),
		cmocka_unit_test(registry__restart_without_its_store_keeps_ids),
		cmocka_unit_test(registry__grants_at_run_time),
		cmocka_unit_test(registry__grants_mean_nothing_where_any_may),
		cmocka_unit_test(registry__a_replayed_grant_changes_nothing),
		cmocka_unit_test(registry__status_shows_all_whatever_the_grants),
		cmocka_unit_test(registry__wrong_key),
		cmocka_unit_test(registry__a_flood_of_wrong_keys),
		cmocka_unit_test(registry__a_replayed_renewal_changes_nothing),
		cmocka_unit_test(registry__records_revive_no_dead_node_after_a_restart),
		cmocka_unit_test(registry__records_change_no_live_node_after_a_restart),
		cmocka_unit_test(registry__leaving_after_a_restart),
		cmocka_unit_test(registry__forgetting_makes_a_full_table),
		cmocka_unit_test(registry__a_full_fabric_rejects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
