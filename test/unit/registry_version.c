/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests versions of the wire format: both sides detect a difference, and the message has both
 * versions. */
#include "test/sim/fabric.h"

#include "node/limits.h"

#define OTHER 5 /* does not exist yet */

static void version_set(uint8_t *frame, uint8_t version)
{
	frame[WIRE_OFF_VERSION_HEADER] =
		(uint8_t)(version << 4 | (frame[WIRE_OFF_VERSION_HEADER] & 0xf));
}

static size_t join_frame(const struct fabric *f, uint8_t frame[MANAGE_FRAME_BYTES])
{
	const struct manage_join join = {
		.request = 1, .nonce = 1, .self = {.kind = MANAGE_HOST, .name = "x"}};
	struct mac *mac;

	assert_int_equal(mac_create(f->options.key, &mac), DXP_OK);
	size_t bytes = manage_join_encode(&join, mac, frame);
	mac_destroy(mac);
	return bytes;
}

static void registry_version__a_request_of_another_version_is_refused(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	uint8_t frame[MANAGE_FRAME_BYTES];
	size_t bytes = join_frame(f, frame);
	struct datagram out[DATAGRAM_BATCH];

	fabric_manager_start(f);
	version_set(frame, OTHER);
	registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
	assert_int_equal(registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns), 1);
	const uint8_t *answer = out[0].header;
	assert_int_equal(answer[WIRE_OFF_VERSION_HEADER] >> 4, WIRE_VERSION);
	assert_int_equal(answer[WIRE_OFF_TYPE], WIRE_REFUSE);
	assert_true(out[0].header_bytes + out[0].slices[0].bytes <= bytes);
	assert_true(registry_counters(f->registry)->other_version == 1);
	assert_int_equal(registry_node_count(f->registry, NODE_ALIVE), 0);
	fabric_destroy(f);
}

/* The manager answers a flood of JOINs of another version as rarely as a flood with wrong keys. It
 * never answers an answer. */
static void registry_version__answers_are_few(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	uint8_t frame[MANAGE_FRAME_BYTES];
	size_t bytes = join_frame(f, frame), answers = 0;
	struct datagram out[DATAGRAM_BATCH];

	fabric_manager_start(f);
	version_set(frame, OTHER);
	for (unsigned i = 1; i <= 10000; i++) {
		registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
		if (i % 64 == 0)
			answers += registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns);
	}
	assert_true(answers > 0 && answers <= 100);
	fabric_run(f, S_NS);
	frame[WIRE_OFF_TYPE] = WIRE_REFUSE;
	registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
	registry_receive(f->registry, &f->request_address, frame, 8, f->now_ns);
	assert_int_equal(registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns), 0);
	fabric_destroy(f);
}

/* Fails after a second without a manager. */
static struct member *member_new(struct fabric *f)
{
	struct member_options options = {.manager = f->manager,
					 .entropy = rng_entropy_rng,
					 .entropy_context = &f->rng,
					 .join_timeout_ns = S_NS,
					 .self = {.kind = MANAGE_HOST, .name = "x"}};
	struct member *m;

	assert_int_equal(member_create(&options, f->now_ns, &m), DXP_OK);
	return m;
}

static void registry_version__a_member_names_both_versions(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	uint8_t frame[MANAGE_FRAME_BYTES];
	size_t bytes = join_frame(f, frame);
	struct member *m = member_new(f);
	struct datagram out;
	enum log_level level;

	version_set(frame, OTHER);
	member_receive(m, &f->request_address, frame, bytes, f->now_ns);
	/* not from the manager's address */
	assert_null(member_notice(m, &level));
	member_receive(m, &f->manager, frame, bytes, f->now_ns);
	assert_non_null(strstr(member_notice(m, &level), "has version 5 of the wire format"));
	member_receive(m, &f->manager, frame, bytes, f->now_ns);
	assert_null(member_notice(m, &level)); /* only once */
	assert_int_equal(member_state(m), MEMBER_JOINING);
	member_send(m, &out, 1, f->now_ns + 2 * S_NS);
	assert_int_equal(member_status(m), DXP_EUNSUPPORTED);
	assert_non_null(strstr(member_text(m), "this program has version 1"));
	member_destroy(m);
	fabric_destroy(f);
}

static void registry_version__a_query_names_both_versions(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	struct query_options options = {.manager = f->manager,
					.kind = QUERY_NODES,
					.timeout_ns = S_NS,
					.entropy = rng_entropy_rng,
					.entropy_context = &f->rng};
	uint8_t frame[MANAGE_FRAME_BYTES];
	size_t bytes = join_frame(f, frame);
	struct datagram out;
	struct query *q;

	assert_int_equal(query_create(&options, f->now_ns, &q), DXP_OK);
	version_set(frame, OTHER);
	query_receive(q, &f->manager, frame, bytes, f->now_ns);
	query_send(q, &out, f->now_ns + 2 * S_NS);
	assert_true(query_done(q));
	assert_int_equal(query_status(q), DXP_EUNSUPPORTED);
	assert_non_null(strstr(query_text(q), "has version 5 of the wire format"));
	query_destroy(q);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry_version__a_request_of_another_version_is_refused),
		cmocka_unit_test(registry_version__answers_are_few),
		cmocka_unit_test(registry_version__a_member_names_both_versions),
		cmocka_unit_test(registry_version__a_query_names_both_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
