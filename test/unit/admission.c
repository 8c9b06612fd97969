/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests keys and tokens at a manager: admission, roles, grants and removal, in virtual time. */
#include "test/unit/admission_rig.h"

#define REMOVED_NS (3 * S_NS) /* ns; bound on the spread of a removal */

static void admission__a_token_admits_a_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = identity_of(f, 1), laptop = admitted(f, 2, ROLE_HOST, "laptop");
	struct token token = token_make(f, 9, ROLE_XPU, 1);

	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	const struct channel_answer *answer = channel_last(f->channel);
	assert_int_equal(answer->role, ROLE_XPU);
	assert_memory_equal(answer->fabric_key, f->options.key, FABRIC_KEY_BYTES);
	assert_int_equal(COUNTER(f, admitted), 2);
	const struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	const struct fabric_member *host = keyed_start(f, MANAGE_HOST, &laptop);
	fabric_check(f);
	assert_int_equal(ROW(host, xpu)->role, ROLE_XPU);
	assert_memory_equal(ROW(host, xpu)->key, machine.public_key, KEYS_BYTES);
	assert_memory_equal(ROW(xpu, host)->key, laptop.public_key, KEYS_BYTES);
	fabric_destroy(f);
}

static void admission__each_bad_token_has_its_reason(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = identity_of(f, 1), other = identity_of(f, 2);
	struct identity admin = admitted(f, 3, ROLE_OPERATOR, "admin");
	struct token used = token_make(f, 10, ROLE_XPU, 1), old = token_make(f, 11, ROLE_XPU, 1);
	struct token unknown = {.id = {77}, .secret = {1}}, revoked = old;

	assert_int_equal(admit(f, &machine, &unknown, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "has no token");
	assert_int_equal(COUNTER(f, token_unknown), 1);
	assert_int_equal(admit(f, &other, &used, "other"), DXP_OK);
	assert_int_equal(admit(f, &machine, &used, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "was used by other; make another");
	assert_int_equal(COUNTER(f, token_used), 1);
	f->wall_s += 24 * 3600; /* same effect as a clock that is wrong by a day */
	assert_int_equal(admit(f, &machine, &old, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "has expired; make another");
	assert_int_equal(COUNTER(f, token_expired), 1);
	struct channel_request revoke = {.command = CHANNEL_TOKEN_REVOKE};
	memcpy(revoke.token, revoked.id, sizeof(revoke.token));
	assert_int_equal(fabric_channel(f, &admin, NULL, &revoke), DXP_OK);
	assert_int_equal(admit(f, &machine, &revoked, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "was revoked; make another");
	assert_int_equal(COUNTER(f, token_revoked), 1);
	assert_int_equal(admit(f, &machine, NULL, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "not admitted; run `dxp join");
	assert_int_equal(COUNTER(f, admitted), 2);
	fabric_destroy(f);
}

/* A wrong secret fails with EAUTH and does not use up the token. */
static void admission__a_wrong_secret(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity thief = identity_of(f, 1), machine = identity_of(f, 2);
	struct token token = token_make(f, 9, ROLE_XPU, 1), wrong = token;

	wrong.secret[3] ^= 1;
	assert_int_equal(admit(f, &thief, &wrong, "thief"), DXP_EAUTH);
	TEXT_HAS(f, "not with this secret");
	fabric_run(f, FABRIC_CHANNEL_NS);
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_int_equal(COUNTER(f, token_unproved), 1);
	assert_int_equal(COUNTER(f, admitted), 1);
	fabric_destroy(f);
}

static void admission__another_managers_token(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = identity_of(f, 1);
	struct token token = token_make(f, 9, ROLE_XPU, 1);
	uint8_t other[KEYS_BYTES] = {5};

	assert_true(keys_public(other, machine.manager));
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_EAUTH);
	TEXT_HAS(f, "another manager answers there");
	assert_true(COUNTER(f, channel_foreign) >= 1);
	fabric_manager_stop(f);
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_ETIMEDOUT);
	TEXT_HAS(f, "firewall");
	fabric_destroy(f);
}

static void admission__a_name_has_one_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity first = admitted(f, 1, ROLE_XPU, "machine"), second = identity_of(f, 2);
	struct token token = token_make(f, 9, ROLE_XPU, 1);

	assert_int_equal(admit(f, &second, &token, "machine"), DXP_EEXIST);
	TEXT_HAS(f, "choose another with --name");
	assert_int_equal(COUNTER(f, name_used), 1);
	assert_int_equal(admit(f, &second, &token, "machine2"), DXP_OK);
	/* Another key cannot join as that node, even after its lease has expired. */
	struct fabric_member *node = keyed_start(f, MANAGE_XPU, &first);
	struct fabric_member *copy = fabric_member_add(f, MANAGE_XPU);
	copy->self = node->self;
	copy->keyed = true;
	copy->identity = second;
	fabric_member_kill(node);
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	fabric_member_start(f, copy);
	fabric_run(f, S_NS);
	assert_int_equal(member_status(copy->m), DXP_EEXIST);
	assert_non_null(strstr(member_text(copy->m), "belongs to another key"));
	fabric_destroy(f);
}

static void admission__roles_limit_keys(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity laptop = admitted(f, 1, ROLE_HOST, "laptop");
	struct identity machine = admitted(f, 2, ROLE_XPU, "machine");
	struct channel_request create = {
		.command = CHANNEL_TOKEN_CREATE, .role = ROLE_OPERATOR, .uses = 1, .seconds = 60};

	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &laptop);
	assert_int_equal(member_status(xpu->m), DXP_EACCESS);
	assert_non_null(strstr(member_text(xpu->m), "--role xpu"));
	struct token more = token_make(f, 9, ROLE_XPU, 1);
	struct identity other = admitted(f, 5, ROLE_HOST, "other");
	assert_int_equal(admit(f, &other, &more, "ignored"), DXP_OK);
	assert_string_equal(channel_text(f->channel), "other");
	assert_int_equal(channel_last(f->channel)->role, ROLE_XPU);
	assert_true(JOINED(keyed_start(f, MANAGE_XPU, &other)));
	assert_true(JOINED(keyed_start(f, MANAGE_HOST, &laptop)));
	assert_true(JOINED(keyed_start(f, MANAGE_XPU, &machine)));
	for (uint8_t command = CHANNEL_TOKEN_CREATE; command <= CHANNEL_REVOKE; command++) {
		create.command = command;
		assert_int_equal(fabric_channel(f, &machine, NULL, &create), DXP_EACCESS);
		TEXT_HAS(f, "--role operator");
	}
	fabric_destroy(f);
}

static void admission__the_fabric_key_does_not_suffice(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct fabric_member *host = fabric_member_add(f, MANAGE_HOST);

	fabric_member_start(f, host);
	fabric_run(f, S_NS);
	assert_int_equal(member_status(host->m), DXP_EACCESS);
	assert_non_null(strstr(member_text(host->m), "dxp join"));
	assert_int_equal(fabric_request(f, QUERY_NODES, NULL, NULL), DXP_EACCESS);
	assert_int_equal(fabric_request(f, QUERY_GRANT, "a", "b"), DXP_EACCESS);
	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_EACCESS);
	assert_non_null(strstr(query_text(f->query), "dxp join"));
	assert_int_equal(COUNTER(f, key_needed), 4);
	fabric_destroy(f);
}

/* An admitted key can read the list of grants until its removal. */
static void admission__admitted_keys_read_the_grants(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity laptop = admitted(f, 2, ROLE_HOST, "laptop");
	struct channel_request grant = request_named(CHANNEL_GRANT, "laptop");
	const struct channel_request remove = request_named(CHANNEL_NODE_REMOVE, "laptop");
	const struct grants_row *rows;

	snprintf(grant.xpu, sizeof(grant.xpu), "machine");
	assert_int_equal(fabric_channel(f, &admin, NULL, &grant), DXP_OK);
	f->requester = &laptop;
	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_OK);
	assert_int_equal(query_grants(f->query, &rows), 1);
	assert_string_equal(rows[0].host, "laptop");
	assert_int_equal(fabric_channel(f, &admin, NULL, &remove), DXP_OK);
	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_EACCESS);
	assert_non_null(strstr(query_text(f->query), "removed from the fabric"));
	assert_int_equal(COUNTER(f, key_removed), 1);
	fabric_destroy(f);
}

/* A grant may come before the host or xPU, but a note shows typing errors. */
static void admission__a_grant_names_unknown_nodes(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity machine = admitted(f, 2, ROLE_XPU, "machine");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	const struct {
		const char *host, *xpu, *note;
	} rows[] = {{"admin", xpu->self.name, ""},
		    {"admin", "*", ""},
		    {"*", "*", ""},
		    {"amdin", "*", "no host of this name has joined yet"},
		    {"admin", "machine", "no xPU of this name has joined yet"}};

	fabric_run(f, S_NS);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct channel_request grant = request_named(CHANNEL_GRANT, rows[i].host);
		snprintf(grant.xpu, sizeof(grant.xpu), "%s", rows[i].xpu);
		assert_int_equal(fabric_channel(f, &admin, NULL, &grant), DXP_OK);
		assert_string_equal(channel_text(f->channel), rows[i].note);
	}
	fabric_destroy(f);
}

static void admission__an_unknown_key_cannot_join(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity unknown = identity_of(f, 1);
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &unknown);

	fabric_run(f, S_NS);
	assert_int_equal(member_status(host->m), DXP_EAUTH);
	assert_non_null(strstr(member_text(host->m), "new token"));
	assert_true(COUNTER(f, key_unknown) >= 1);
	fabric_destroy(f);
}

static void admission__removal_reaches_all_nodes(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity machine = admitted(f, 2, ROLE_XPU, "machine");
	struct identity other = admitted(f, 3, ROLE_XPU, "other");
	struct fabric_member *gone = keyed_start(f, MANAGE_XPU, &machine);
	struct fabric_member *peer = keyed_start(f, MANAGE_XPU, &other);
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &other);
	const struct channel_request remove = request_named(CHANNEL_NODE_REMOVE, "machine");
	struct token token = token_make(f, 9, ROLE_XPU, 1);

	assert_non_null(ROW(host, gone));
	assert_int_equal(fabric_channel(f, &admin, NULL, &remove), DXP_OK);
	fabric_run(f, REMOVED_NS);
	assert_null(ROW(peer, gone));
	assert_null(ROW(host, gone));
	assert_int_equal(member_status(gone->m), DXP_EACCESS);
	assert_non_null(strstr(member_text(gone->m), "removed from the fabric"));
	fabric_manager_stop(f);
	fabric_manager_start(f);
	fabric_member_kill(gone);
	fabric_member_start(f, gone);
	fabric_run(f, S_NS);
	assert_int_equal(member_status(gone->m), DXP_EACCESS);
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_EACCESS);
	TEXT_HAS(f, "removed from the fabric");
	assert_int_equal(fabric_channel(f, &admin, NULL, &remove), DXP_ENOENT);
	struct identity again = identity_of(f, 4);
	assert_int_equal(admit(f, &again, &token, "machine"), DXP_OK);
	fabric_member_kill(gone);
	gone->identity = again;
	fabric_member_start(f, gone);
	fabric_run(f, S_NS);
	assert_true(JOINED(gone));
	assert_true(JOINED(peer) && JOINED(host));
	fabric_destroy(f);
}

/* Another key does not get it by using the name of that node. */
static void admission__grants_are_the_keys(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity machine = admitted(f, 2, ROLE_XPU, "machine");
	struct identity friend = admitted(f, 3, ROLE_HOST, "friend");
	struct identity thief = admitted(f, 4, ROLE_HOST, "thief");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	struct fabric_member *good = keyed_start(f, MANAGE_HOST, &friend);
	struct channel_request grant = request_named(CHANNEL_GRANT, "friend");
	struct fabric_member *bad = fabric_member_add(f, MANAGE_HOST);

	snprintf(grant.xpu, sizeof(grant.xpu), "%s", xpu->self.name);
	assert_int_equal(fabric_channel(f, &admin, NULL, &grant), DXP_OK);
	snprintf(bad->self.name, sizeof(bad->self.name), "friend");
	bad->keyed = true;
	bad->identity = thief;
	fabric_member_start(f, bad);
	fabric_run(f, S_NS);
	assert_true(JOINED(bad));
	assert_null(ROW(bad, xpu));
	assert_non_null(ROW(good, xpu));
	grant.command = CHANNEL_REVOKE;
	assert_int_equal(fabric_channel(f, &admin, NULL, &grant), DXP_OK);
	fabric_run(f, REMOVED_NS);
	assert_null(ROW(good, xpu));
	fabric_destroy(f);
}

/* Replayed datagrams of an admission and of a removal have no effect. */
static void admission__records_have_no_effect(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity machine = identity_of(f, 2);
	struct token token = token_make(f, 9, ROLE_XPU, 5), again = token_make(f, 10, ROLE_XPU, 1);
	const struct channel_request remove = request_named(CHANNEL_NODE_REMOVE, "machine");

	f->recording = true;
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_int_equal(fabric_channel(f, &admin, NULL, &remove), DXP_OK);
	f->recording = false;
	assert_int_equal(f->record_count, 4);
	struct identity next = identity_of(f, 3);
	assert_int_equal(admit(f, &next, &again, "machine"), DXP_OK);
	for (int i = 0; i < 2; i++) {
		fabric_run(f, FABRIC_CHANNEL_NS);
		fabric_replay(f, &f->request_address);
		fabric_manager_poll(f);
		assert_int_equal(COUNTER(f, admitted), i ? 0 : 3);
		assert_int_equal(COUNTER(f, removed), i ? 0 : 1);
		fabric_manager_stop(f);
		fabric_manager_start(f);
	}
	assert_int_equal(f->tokens[1].token.uses, 4);
	assert_true(JOINED(keyed_start(f, MANAGE_XPU, &next)));
	fabric_destroy(f);
}

/* With packet loss and duplicates, each admission uses the token once. This also holds if the
 * admission is run again because no answer arrived. */
static void admission__a_bad_network_uses_a_token_once(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct token token = token_make(f, 9, ROLE_XPU, 40);
	char name[FABRIC_NAME_BYTES];

	f->loss_ppm = 300000;
	f->duplicate_ppm = 300000;
	f->delay_max_ns = 30 * MS_NS;
	for (uint8_t i = 0; i < 40; i++) {
		struct identity machine = identity_of(f, (uint8_t)(100 + i));
		snprintf(name, sizeof(name), "machine-%u", i);
		while (admit(f, &machine, &token, name) == DXP_ETIMEDOUT)
			;
		assert_int_equal(channel_status(f->channel), DXP_OK);
		assert_string_equal(channel_text(f->channel), name);
	}
	assert_int_equal(f->tokens[0].token.uses, 0);
	assert_int_equal(COUNTER(f, admitted), 40);
	fabric_destroy(f);
}

static void admission__tokens_are_made_and_listed(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin"), machine = identity_of(f, 2);
	struct channel_request create = {
		.command = CHANNEL_TOKEN_CREATE, .role = ROLE_XPU, .uses = 2, .seconds = 60};
	const struct channel_request list = {.command = CHANNEL_TOKEN_LIST};
	const struct channel_token *rows;
	struct token token = {.secret = {4}};

	for (uint8_t i = 0; i < 30; i++) {
		token.id[0] = create.token[0] = (uint8_t)(50 + i);
		assert_true(token_psk(&token, create.psk));
		assert_int_equal(fabric_channel(f, &admin, NULL, &create), DXP_OK);
	}
	assert_int_equal(fabric_channel(f, &admin, NULL, &create), DXP_EEXIST);
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_int_equal(fabric_channel(f, &admin, NULL, &list), DXP_OK);
	assert_int_equal(channel_tokens(f->channel, &rows), 31);
	assert_int_equal(rows[0].state, TOKEN_USED);
	assert_string_equal(rows[0].used_by, "admin");
	assert_int_equal(rows[30].uses, 1);
	assert_string_equal(rows[30].used_by, "machine");
	assert_int_equal(rows[30].seconds, 60);
	fabric_destroy(f);
}

static void admission__restarts_change_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	uint16_t id = member_id(xpu->m);

	fabric_manager_stop(f);
	fabric_run(f, 10 * S_NS);
	fabric_manager_start(f);
	fabric_run(f, 5 * S_NS);
	fabric_check(f);
	assert_int_equal(member_id(xpu->m), id);
	assert_int_equal(COUNTER(f, died), 0);
	assert_int_equal(COUNTER(f, key_unknown), 0);
	fabric_destroy(f);
}

static void admission__a_key_cannot_act_for_others(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine");
	struct identity thief = admitted(f, 2, ROLE_OPERATOR, "thief");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	struct udp_address from = fabric_address(999);
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct manage_renew renew = {.request = 1000,
				     .nonce = 5,
				     .run = node_table_progress(member_table(xpu->m)).epoch,
				     .incarnation = xpu->self.incarnation,
				     .key = thief.public_key};
	struct mac *mac;

	memcpy(renew.uuid, xpu->self.uuid, sizeof(renew.uuid));
	assert_int_equal(mac_create(thief.pair, &mac), DXP_OK);
	for (uint8_t type = WIRE_RENEW; type <= WIRE_LEAVE; type++) {
		size_t bytes = manage_renew_encode(type, member_id(xpu->m), &renew, mac, frame);
		registry_receive(f->registry, &from, frame, bytes, f->now_ns);
	}
	fabric_run(f, S_NS);
	assert_int_equal(COUNTER(f, unknown), 2);
	assert_int_equal(COUNTER(f, moved), 0);
	assert_int_equal(COUNTER(f, left), 0);
	fabric_check(f);
	mac_destroy(mac);
	fabric_destroy(f);
}

/* Answers are limited in number and are never longer than requests, so they cannot amplify an
 * attack. */
static void admission__a_flood_of_handshakes(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = identity_of(f, 1);
	struct channel_options options = {.manager = f->manager,
					  .request = {.command = CHANNEL_ADMIT},
					  .entropy = rng_entropy_rng,
					  .entropy_context = &f->rng};
	struct datagram out[DATAGRAM_BATCH], d;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct channel *c;
	size_t answers = 0;

	memcpy(options.private_key, machine.private_key, KEYS_BYTES);
	memcpy(options.manager_key, machine.manager, KEYS_BYTES);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(channel_create(&options, f->now_ns, &c), DXP_OK);
		assert_int_equal(channel_send(c, &d, f->now_ns), 1);
		memcpy(frame, d.header, d.header_bytes);
		memcpy(frame + d.header_bytes, d.slices[0].base, d.slices[0].bytes);
		size_t bytes = d.header_bytes + d.slices[0].bytes;
		registry_receive(f->registry, &f->request_address, frame, bytes, f->now_ns);
		channel_destroy(c);
		size_t count = registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns);
		for (size_t k = 0; k < count; k++)
			assert_true(out[k].header_bytes + out[k].slices[0].bytes <= bytes);
		answers += count;
	}
	assert_true(answers > 0 && answers <= FABRIC_CHANNELS_PER_S);
	assert_int_equal(COUNTER(f, channel_limited), 1000 - answers);
	fabric_destroy(f);
}

/* Exchanges what is due between a client and the manager. */
static void exchange_once(struct fabric *f, struct channel *c)
{
	struct datagram out[DATAGRAM_BATCH];
	uint8_t frame[FABRIC_DATAGRAM_BYTES];

	if (channel_send(c, &out[0], f->now_ns)) {
		memcpy(frame, out[0].header, out[0].header_bytes);
		memcpy(frame + out[0].header_bytes, out[0].slices[0].base, out[0].slices[0].bytes);
		registry_receive(f->registry, &f->request_address, frame,
				 out[0].header_bytes + out[0].slices[0].bytes, f->now_ns);
	}
	size_t count = registry_send(f->registry, out, DATAGRAM_BATCH, f->now_ns);
	for (size_t i = 0; i < count; i++) {
		memcpy(frame, out[i].header, out[i].header_bytes);
		memcpy(frame + out[i].header_bytes, out[i].slices[0].base, out[i].slices[0].bytes);
		channel_receive(c, &f->manager, frame, out[i].header_bytes + out[i].slices[0].bytes,
				f->now_ns);
	}
}

/* Clients that open channels at the same moment all get answers, although as many channels as the
 * manager has were used shortly before. */
static void admission__many_clients(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct channel_options options = {.manager = f->manager,
					  .request = request_named(CHANNEL_GRANT, "host"),
					  .entropy = rng_entropy_rng,
					  .entropy_context = &f->rng};
	struct channel *c[8];

	memcpy(options.request.xpu, "xpu", sizeof("xpu"));
	memcpy(options.private_key, admin.private_key, KEYS_BYTES);
	memcpy(options.manager_key, admin.manager, KEYS_BYTES);
	for (int i = 0; i < FABRIC_CHANNELS_MAX; i++)
		assert_int_equal(fabric_channel(f, &admin, NULL, &options.request), DXP_OK);
	fabric_run(f, 2 * S_NS);
	for (size_t i = 0; i < ARRAY_COUNT(c); i++) {
		assert_int_equal(channel_create(&options, f->now_ns, &c[i]), DXP_OK);
		exchange_once(f, c[i]);
	}
	for (size_t i = 0; i < ARRAY_COUNT(c); i++) {
		exchange_once(f, c[i]);
		assert_true(channel_done(c[i]));
		assert_int_equal(channel_status(c[i]), DXP_OK);
		channel_destroy(c[i]);
	}
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission__a_token_admits_a_key),
		cmocka_unit_test(admission__each_bad_token_has_its_reason),
		cmocka_unit_test(admission__a_wrong_secret),
		cmocka_unit_test(admission__another_managers_token),
		cmocka_unit_test(admission__a_name_has_one_key),
		cmocka_unit_test(admission__roles_limit_keys),
		cmocka_unit_test(admission__the_fabric_key_does_not_suffice),
		cmocka_unit_test(admission__admitted_keys_read_the_grants),
		cmocka_unit_test(admission__a_grant_names_unknown_nodes),
		cmocka_unit_test(admission__an_unknown_key_cannot_join),
		cmocka_unit_test(admission__removal_reaches_all_nodes),
		cmocka_unit_test(admission__grants_are_the_keys),
		cmocka_unit_test(admission__records_have_no_effect),
		cmocka_unit_test(admission__a_bad_network_uses_a_token_once),
		cmocka_unit_test(admission__tokens_are_made_and_listed),
		cmocka_unit_test(admission__restarts_change_nothing),
		cmocka_unit_test(admission__a_key_cannot_act_for_others),
		cmocka_unit_test(admission__a_flood_of_handshakes),
		cmocka_unit_test(admission__many_clients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
