/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a node's membership with a silent, foreign or forged manager. */
#include "test/sim/fabric.h"

#include "node/limits.h"

/* The manager never answers. */
static struct fabric *lonely(struct member_options *options)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);
	struct fabric_member *member = fabric_member_add(f, MANAGE_HOST);

	*options = (struct member_options){.manager = f->manager,
					   .self = member->self,
					   .entropy = rng_entropy_rng,
					   .entropy_context = &f->rng};
	memcpy(options->key, f->options.key, sizeof(options->key));
	assert_int_equal(member_create(options, f->now_ns, &member->m), DXP_OK);
	member->deadline_ns = f->now_ns;
	return f;
}

static void member_send__gives_up_joining_after_its_time(void **state)
{
	struct member_options options;
	struct fabric *f = lonely(&options);
	enum log_level level;

	fabric_run(f, FABRIC_JOIN_NS - MS_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINING);
	assert_true(f->order >= 5 && f->order <= 20); /* join requests so far */
	fabric_run(f, 2 * MS_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_FAILED);
	assert_int_equal(member_status(f->members[0].m), DXP_ETIMEDOUT);
	assert_non_null(strstr(member_text(f->members[0].m), "dxp up"));
	assert_non_null(member_notice(f->members[0].m, &level));
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_null(member_notice(f->members[0].m, &level));
	assert_true(member_deadline(f->members[0].m) == UINT64_MAX);
	fabric_destroy(f);
}

static void member_create__rejects_what_no_manager_accepts(void **state)
{
	struct member_options options, bad;
	struct fabric *f = lonely(&options);
	struct member *m;

	bad = options;
	strcpy(bad.self.name, "no blanks");
	assert_int_equal(member_create(&bad, 0, &m), DXP_EINVAL);
	bad = options;
	bad.self.kind = 3;
	assert_int_equal(member_create(&bad, 0, &m), DXP_EINVAL);
	bad = options;
	bad.manager.port = 0;
	assert_int_equal(member_create(&bad, 0, &m), DXP_EINVAL);
	bad = options;
	memset(bad.self.device, 'x', sizeof(bad.self.device));
	assert_int_equal(member_create(&bad, 0, &m), DXP_EINVAL);
	fabric_destroy(f);
}

static void request_receive(struct fabric *f, uint64_t *request, uint64_t *nonce)
{
	struct fabric_member *member = &f->members[0];

	f->now_ns = max_u64(f->now_ns, member_deadline(member->m));
	fabric_member_poll(f, member);
	assert_int_equal(f->packets, 1);
	struct fabric_packet p = packet_pop(f);
	struct manage_body body = {p.data + WIRE_COMMON_BYTES, p.bytes - WIRE_COMMON_BYTES};
	assert_true(manage_prefix(body, request, nonce));
	free(p.data);
}

static void rejection_deliver(struct fabric *f, const struct udp_address *from, uint64_t request,
			      uint64_t nonce)
{
	struct manage_answer answer = {.request = request, .nonce = nonce, .status = DXP_EAUTH};
	uint8_t frame[MANAGE_FRAME_BYTES];
	size_t bytes = manage_answer_encode(WIRE_REFUSE, WIRE_NODE_NONE, &answer,
					    MANAGE_FRAME_BYTES, NULL, frame);

	member_receive(f->members[0].m, from, frame, bytes, f->now_ns);
	f->members[0].deadline_ns = member_deadline(f->members[0].m);
}

static void member_receive__wrong_key_is_believed_after_a_while(void **state)
{
	struct member_options options;
	struct fabric *f = lonely(&options);
	uint64_t request, nonce;

	request_receive(f, &request, &nonce);
	rejection_deliver(f, &f->manager, request, nonce);
	fabric_run(f, 299 * MS_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINING);
	fabric_run(f, 2 * MS_NS);
	assert_int_equal(member_status(f->members[0].m), DXP_EAUTH);
	fabric_destroy(f);
}

/* The member joins by the authentic answer after a forged rejection. */
static void member_receive__an_authentic_answer_beats_a_forged_rejection(void **state)
{
	struct member_options options;
	struct fabric *f = lonely(&options);
	uint64_t request, nonce;

	request_receive(f, &request, &nonce);
	rejection_deliver(f, &f->manager, request, nonce);
	fabric_manager_start(f);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINED);
	fabric_destroy(f);
}

static void member_receive__a_rejection_must_quote_our_request(void **state)
{
	struct member_options options;
	struct fabric *f = lonely(&options);
	struct udp_address elsewhere = fabric_address(77);
	uint64_t request, nonce;

	request_receive(f, &request, &nonce);
	rejection_deliver(f, &f->manager, request, nonce + 1);
	rejection_deliver(f, &f->manager, request + 1, nonce);
	rejection_deliver(f, &f->manager, 0, nonce);
	rejection_deliver(f, &elsewhere, request, nonce);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINING);
	assert_true(member_counters(f->members[0].m)->unauthentic == 4);
	fabric_destroy(f);
}

/* A lease answers one request, once, and begins when that was sent. */
static void member_receive__leases_count_once(void **state)
{
	struct member_options options;
	struct fabric *f = lonely(&options);
	struct manage_lease lease = {.epoch = 5, .sequence = 1, .lease_ns = 3 * S_NS, .node = 7};
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct mac *mac;

	assert_int_equal(mac_create(options.key, &mac), DXP_OK);
	request_receive(f, &lease.request, &lease.nonce);
	uint64_t sent_ns = f->now_ns;
	lease.nonce++;
	member_receive(f->members[0].m, &f->manager, frame, manage_lease_encode(&lease, mac, frame),
		       f->now_ns);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINING);
	lease.nonce--;
	f->now_ns += 50 * MS_NS;
	member_receive(f->members[0].m, &f->manager, frame, manage_lease_encode(&lease, mac, frame),
		       f->now_ns);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINED);
	assert_int_equal(member_id(f->members[0].m), 7);
	f->members[0].deadline_ns = member_deadline(f->members[0].m);
	fabric_run(f, 2 * S_NS);
	member_receive(f->members[0].m, &f->manager, frame, manage_lease_encode(&lease, mac, frame),
		       f->now_ns);
	assert_true(member_counters(f->members[0].m)->stale == 2);
	f->members[0].deadline_ns = f->now_ns;
	fabric_run(f, sent_ns + 3 * S_NS - 1 - f->now_ns);
	assert_int_equal(member_state(f->members[0].m), MEMBER_JOINED);
	fabric_run(f, 1);
	assert_int_equal(member_state(f->members[0].m), MEMBER_ALONE);
	mac_destroy(mac);
	fabric_destroy(f);
}

static void member_send__alone_it_requests_for_ever_but_seldom(void **state)
{
	struct fabric *f = fabric_create(2, GRANTS_ANY);
	enum log_level level;
	unsigned notices = 0;

	fabric_manager_start(f);
	fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	fabric_run(f, S_NS);
	assert_non_null(member_notice(f->members[0].m, &level));
	fabric_manager_stop(f);
	uint64_t before = f->order;
	for (int i = 0; i < 1000; i++) {
		fabric_run(f, S_NS);
		notices += member_notice(f->members[0].m, &level) != NULL;
	}
	assert_int_equal(notices, 1);
	assert_true(f->order - before > 300 && f->order - before < 800);
	assert_int_equal(member_state(f->members[0].m), MEMBER_ALONE);
	fabric_destroy(f);
}

static void member_send__alone_with_a_manager_of_another_key(void **state)
{
	struct fabric *f = fabric_create(3, GRANTS_ANY);

	fabric_manager_start(f);
	fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	fabric_run(f, S_NS);
	fabric_manager_stop(f);
	f->options.key[5] ^= 1;
	fabric_manager_start(f);
	fabric_run(f, 10 * S_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_ALONE);
	assert_non_null(strstr(member_text(f->members[0].m), "another key"));
	fabric_destroy(f);
}

static void member_leave__ends_without_a_manager_too(void **state)
{
	struct fabric *f = fabric_create(4, GRANTS_ANY);

	fabric_manager_start(f);
	fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	fabric_run(f, S_NS);
	fabric_manager_stop(f);
	member_leave(f->members[0].m, f->now_ns);
	fabric_member_poll(f, &f->members[0]);
	fabric_run(f, S_NS);
	assert_int_equal(member_state(f->members[0].m), MEMBER_LEFT);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(member_send__gives_up_joining_after_its_time),
		cmocka_unit_test(member_create__rejects_what_no_manager_accepts),
		cmocka_unit_test(member_receive__wrong_key_is_believed_after_a_while),
		cmocka_unit_test(member_receive__an_authentic_answer_beats_a_forged_rejection),
		cmocka_unit_test(member_receive__a_rejection_must_quote_our_request),
		cmocka_unit_test(member_receive__leases_count_once),
		cmocka_unit_test(member_send__alone_it_requests_for_ever_but_seldom),
		cmocka_unit_test(member_send__alone_with_a_manager_of_another_key),
		cmocka_unit_test(member_leave__ends_without_a_manager_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
