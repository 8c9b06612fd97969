/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests nodes and requests with several managers: they use the next one if theirs is silent or
 * stands by, and keep their id if the next one has the same registry. Also tests the answers of a
 * manager that stands by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/registry.h"
#include "manager/standby.h"
#include "node/channel.h"
#include "node/limits.h"
#include "node/managers.h"
#include "node/member.h"
#include "node/query.h"

#define MANAGERS 3

static struct rng rng = {1};
static uint8_t private_key[KEYS_BYTES] = {9};
static uint64_t now_ns;

/* Behaviour of the process at a manager's address. */
enum role { SILENT, STANDS_BY, ACTIVE };

static struct scene {
	struct udp_address addresses[MANAGERS], node;
	enum role roles[MANAGERS];
	struct registry *registry; /* the managers share it */
	struct standby standby;
	unsigned received[MANAGERS]; /* datagrams to each */
} scene;

static int scene_begin(void **state)
{
	struct registry_options options = {
		.policy = GRANTS_ANY, .entropy = rng_entropy_rng, .entropy_context = &rng};

	memset(&scene, 0, sizeof(scene));
	now_ns = S_NS;
	for (unsigned i = 0; i < MANAGERS; i++)
		scene.addresses[i] = address_v4(0x0a000001 + i, 4795);
	scene.node = address_v4(0x0a000064, 1000);
	memcpy(options.private_key, private_key, sizeof(private_key));
	assert_int_equal(registry_create(&options, &scene.registry), DXP_OK);
	registry_start(scene.registry, now_ns);
	assert_int_equal(standby_open(options.key, private_key, &scene.standby), DXP_OK);
	return 0;
}

static int scene_end(void **state)
{
	registry_destroy(scene.registry);
	standby_close(&scene.standby);
	return 0;
}

/* Writes a datagram as one piece; returns its length. */
static size_t datagram_flat(const struct datagram *d, uint8_t out[FABRIC_DATAGRAM_BYTES])
{
	assert_int_equal(d->slice_count, 1);
	assert_true(d->header_bytes + d->slices[0].bytes <= FABRIC_DATAGRAM_BYTES);
	memcpy(out, d->header, d->header_bytes);
	memcpy(out + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	return d->header_bytes + d->slices[0].bytes;
}

/* Passes an answer to what the test drives. */
typedef void (*receive_fn)(void *to, const struct udp_address *from, const uint8_t *data,
			   size_t bytes);

/* Carries a datagram to its manager, and the answers back. */
static void carry(const struct datagram *d, receive_fn receive, void *to)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES], copy[FABRIC_DATAGRAM_BYTES];
	struct datagram out[DATAGRAM_BATCH];
	unsigned i = 0;

	while (!address_equal(&d->to, &scene.addresses[i]))
		assert_true(++i < MANAGERS);
	scene.received[i]++;
	const size_t bytes = datagram_flat(d, copy);
	if (scene.roles[i] == STANDS_BY) {
		const size_t length =
			standby_answer(&scene.standby, copy, bytes, "10.0.0.9:4795", now_ns, frame);
		assert_true(length <= bytes);
		if (length)
			receive(to, &scene.addresses[i], frame, length);
	}
	if (scene.roles[i] != ACTIVE)
		return;
	registry_receive(scene.registry, &scene.node, copy, bytes, now_ns);
	const size_t count = registry_send(scene.registry, out, DATAGRAM_BATCH, now_ns);
	for (size_t k = 0; k < count; k++) {
		const size_t length = datagram_flat(&out[k], copy);
		receive(to, &scene.addresses[i], copy, length);
	}
}

static void to_member(void *to, const struct udp_address *from, const uint8_t *data, size_t bytes)
{
	member_receive(to, from, data, bytes, now_ns);
}

static void to_query(void *to, const struct udp_address *from, const uint8_t *data, size_t bytes)
{
	query_receive(to, from, data, bytes, now_ns);
}

static struct manager_backups others_of(const struct udp_address *first)
{
	struct manager_backups others = {.count = 0};

	for (unsigned i = 0; i < MANAGERS; i++)
		if (!address_equal(&scene.addresses[i], first))
			others.all[others.count++] = scene.addresses[i];
	return others;
}

static struct member *member_make(const struct identity *identity)
{
	struct member_options options = {.manager = scene.addresses[0],
					 .others = others_of(&scene.addresses[0]),
					 .identity = identity,
					 .self = {.kind = MANAGE_HOST, .name = "host", .uuid = {1}},
					 .entropy = rng_entropy_rng,
					 .entropy_context = &rng};
	struct member *m;

	assert_int_equal(member_create(&options, now_ns, &m), DXP_OK);
	return m;
}

static void member_run(struct member *m, uint64_t ns)
{
	const uint64_t until_ns = now_ns + ns;

	for (; now_ns < until_ns; now_ns += MS_NS) {
		struct datagram out[4];
		const size_t count = member_send(m, out, 4, now_ns);
		for (size_t i = 0; i < count; i++)
			carry(&out[i], to_member, m);
	}
}

static void member__joins_the_active_manager_of_three(void **state)
{
	for (enum role others = SILENT; others <= STANDS_BY; others++) {
		struct member *m = member_make(NULL);
		scene.roles[0] = scene.roles[1] = others;
		scene.roles[2] = ACTIVE;
		member_run(m, 3 * S_NS);
		assert_int_equal(member_state(m), MEMBER_JOINED);
		member_destroy(m);
	}
}

/* From the end of its manager, with another one active at once. */
static void member__moves_within_its_lease(void **state)
{
	for (enum role after = SILENT; after <= STANDS_BY; after++) {
		struct member *m = member_make(NULL);
		scene.roles[0] = ACTIVE;
		scene.roles[1] = scene.roles[2] = STANDS_BY;
		member_run(m, S_NS);
		assert_int_equal(member_state(m), MEMBER_JOINED);
		const uint16_t id = member_id(m);
		scene.roles[0] = after;
		scene.roles[2] = ACTIVE;
		for (unsigned i = 0; i < 20; i++) {
			member_run(m, S_NS);
			assert_int_equal(member_state(m), MEMBER_JOINED);
		}
		assert_int_equal(member_id(m), id);
		const unsigned before = scene.received[0] + scene.received[1];
		member_run(m, 10 * S_NS); /* it stays there */
		assert_int_equal(scene.received[0] + scene.received[1], before);
		member_destroy(m);
	}
}

/* If no manager is active, the node waits for FABRIC_JOIN_NS. Answers of managers that stand by do
 * not end the wait. */
static void member__waits_if_all_stand_by(void **state)
{
	struct member *m = member_make(NULL);

	scene.roles[0] = scene.roles[1] = scene.roles[2] = STANDS_BY;
	member_run(m, FABRIC_JOIN_NS - S_NS);
	assert_int_equal(member_state(m), MEMBER_JOINING);
	member_run(m, 2 * S_NS);
	assert_int_equal(member_state(m), MEMBER_FAILED);
	assert_non_null(strstr(member_text(m), "stands by for another one; name all managers"));
	member_destroy(m);
}

/* A standing-by manager does not end a node that leaves: that node tries the others. */
static void member__leaves_the_active_manager(void **state)
{
	struct member *m = member_make(NULL);

	scene.roles[0] = ACTIVE;
	member_run(m, S_NS);
	scene.roles[0] = STANDS_BY;
	member_leave(m, now_ns);
	member_run(m, 50 * MS_NS);
	assert_int_equal(member_state(m), MEMBER_LEAVING);
	member_run(m, 5 * S_NS);
	assert_int_equal(member_state(m), MEMBER_LEFT);
	assert_true(scene.received[1] > 0);
	member_destroy(m);
}

static struct query *query_make(enum query_kind kind)
{
	struct query_options options = {.manager = scene.addresses[0],
					.others = others_of(&scene.addresses[0]),
					.kind = kind,
					.host = "a",
					.xpu = "b",
					.entropy = rng_entropy_rng,
					.entropy_context = &rng};
	struct query *q;

	options.events.kind = EVENT_JOINED;
	assert_int_equal(query_create(&options, now_ns, &q), DXP_OK);
	return q;
}

/* Carries one request and its answers. */
static void query_step(struct query *q)
{
	struct datagram out;

	if (query_send(q, &out, now_ns))
		carry(&out, to_query, q);
	now_ns += MS_NS;
}

static struct query *query_run(enum query_kind kind)
{
	struct query *q = query_make(kind);

	while (!query_done(q))
		query_step(q);
	return q;
}

static void query__reaches_the_active_manager(void **state)
{
	const enum query_kind kinds[] = {QUERY_NODES, QUERY_GRANTS};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		for (enum role others = SILENT; others <= STANDS_BY; others++) {
			scene.roles[0] = scene.roles[1] = others;
			scene.roles[2] = ACTIVE;
			struct query *q = query_run(kinds[i]);
			assert_int_equal(query_status(q), DXP_OK);
			query_destroy(q);
		}
	scene.roles[2] = STANDS_BY;
	struct query *q = query_run(QUERY_NODES);
	assert_int_equal(query_status(q), DXP_ETIMEDOUT);
	assert_non_null(strstr(query_text(q), "stands by for another one"));
	query_destroy(q);
}

static void events_add(enum event_kind kind, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		event_journal_add(registry_events(scene.registry), 1, kind, "a", "b");
}

/* Pages without a row of the wanted kind count: the query begins again if the next page is of
 * another manager, whose log has other events below the number that was reached. */
static void query__events_of_another_manager(void **state)
{
	const struct events_page *last;
	const struct event_row *rows;
	struct query *q = query_make(QUERY_EVENTS);

	scene.roles[0] = ACTIVE;
	events_add(EVENT_GRANTED, 5000); /* more than a page examines */
	query_step(q);
	assert_false(query_done(q));
	assert_int_equal(query_events(q, &rows, &last), 0);
	assert_true(last->next > 1000);
	scene_end(NULL);
	scene_begin(NULL);
	scene.roles[0] = ACTIVE;
	events_add(EVENT_JOINED, 7);
	events_add(EVENT_GRANTED, 6000);
	while (!query_done(q))
		query_step(q);
	assert_int_equal(query_status(q), DXP_OK);
	assert_int_equal(query_events(q, &rows, &last), 7);
	query_destroy(q);
}

/* A node with a key pair can check the answer, too. */
static void standby_answer__to_a_key_pair(void **state)
{
	uint8_t manager[KEYS_BYTES], own[KEYS_BYTES] = {3};
	struct identity identity;

	assert_true(keys_public(private_key, manager));
	assert_true(identity_make(own, manager, &identity));
	struct member *m = member_make(&identity);
	scene.roles[0] = STANDS_BY;
	member_run(m, 50 * MS_NS);
	assert_int_equal(scene.received[0], 1);
	assert_int_equal(member_counters(m)->unauthentic, 0);
	member_run(m, 200 * MS_NS); /* the second request goes to the next one at once */
	assert_int_equal(scene.received[0], 1);
	assert_true(scene.received[1] >= 1);
	member_destroy(m);
}

/* Other keys and damaged frames get no answer, and answers are limited. */
static void standby_answer__is_limited(void **state)
{
	uint8_t out[FABRIC_DATAGRAM_BYTES], frame[FABRIC_DATAGRAM_BYTES];
	struct member *m = member_make(NULL);
	struct datagram d;
	unsigned answers = 0;

	assert_int_equal(member_send(m, &d, 1, now_ns), 1);
	const size_t bytes = datagram_flat(&d, frame);
	frame[bytes - 1] ^= 1;
	assert_int_equal(standby_answer(&scene.standby, frame, bytes, "", now_ns, out), 0);
	frame[bytes - 1] ^= 1;
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(standby_answer(&scene.standby, frame, i, "", now_ns, out), 0);
	for (unsigned i = 0; i < 5000; i++)
		answers += standby_answer(&scene.standby, frame, bytes, "", now_ns, out) > 0;
	assert_true(answers >= 400 && answers <= 500);
	assert_true(standby_answer(&scene.standby, frame, bytes, "", now_ns + S_NS, out) > 0);
	member_destroy(m);
}

static void managers_parse__texts(void **state)
{
	struct manager_backups others;
	struct udp_address first;
	static const char *const bad[] = {
		"",
		",",
		"127.0.0.1,",
		",127.0.0.1",
		"127.0.0.1:x",
		"::1,,::2",
		"[::1]:1,[::2]:1,[::3]:1,[::4]:1,[::5]:1,[::6]:1,[::7]:1,[::8]:1,[::9]:1"};

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(managers_parse(bad[i], 1, &first, &others), DXP_EINVAL);
	assert_int_equal(
		managers_parse("127.0.0.1:7,[::1]:8,127.0.0.1,127.0.0.1:7", 9, &first, &others),
		DXP_OK);
	assert_int_equal(first.port, 7);
	assert_int_equal(others.count, 2); /* each address once */
	assert_int_equal(others.all[0].port, 8);
	assert_int_equal(others.all[1].port, 9);
	assert_true(managers_have(&first, &others, &others.all[1]));
	const struct udp_address last = others.all[1], unknown = address_v4(1, 1);
	managers_use(&first, &others, &last);
	assert_true(address_equal(&first, &last));
	managers_use(&first, &others, &unknown);
	assert_true(address_equal(&first, &last));
	assert_false(managers_have(&first, &others, &unknown));
	managers_next(&first, &others);
	assert_int_equal(first.port, 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(member__joins_the_active_manager_of_three),
		TEST(member__moves_within_its_lease),
		TEST(member__waits_if_all_stand_by),
		TEST(member__leaves_the_active_manager),
		TEST(query__reaches_the_active_manager),
		TEST(query__events_of_another_manager),
		TEST(standby_answer__to_a_key_pair),
		TEST(standby_answer__is_limited),
		TEST(managers_parse__texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
