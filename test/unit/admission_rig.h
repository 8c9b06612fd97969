/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of admission: a manager that admits by token, identities and members. */
#ifndef TEST_UNIT_ADMISSION_RIG_H
#define TEST_UNIT_ADMISSION_RIG_H

#include "test/sim/fabric.h"

#include "keys/token.h"
#include "manager/internal.h"
#include "node/limits.h"

UNUSED static struct identity identity_of(const struct fabric *f, uint8_t seed)
{
	uint8_t private_key[KEYS_BYTES] = {8, seed, 2, 3}, manager[KEYS_BYTES];
	struct identity out;

	assert_true(keys_public(f->options.private_key, manager));
	assert_true(identity_make(private_key, manager, &out));
	return out;
}

UNUSED static struct token token_make(struct fabric *f, uint8_t number, enum manage_role role,
				      uint32_t uses)
{
	struct token token = {.id = {number, 1}, .secret = {number, 2}};
	struct token_row row = {.role = (uint8_t)role, .uses = uses, .expires_s = f->wall_s + 3600};

	assert_true(keys_public(f->options.private_key, token.manager));
	memcpy(row.id, token.id, sizeof(row.id));
	assert_true(token_psk(&token, row.psk));
	assert_int_equal(registry_token_add(f->registry, &row), DXP_OK);
	return token;
}

UNUSED static struct channel_request request_named(enum channel_command command, const char *name)
{
	struct channel_request r = {.command = (uint8_t)command};

	snprintf(r.name, sizeof(r.name), "%s", name);
	return r;
}

UNUSED static int admit(struct fabric *f, const struct identity *identity,
			const struct token *token, const char *name)
{
	const struct channel_request request = request_named(CHANNEL_ADMIT, name);

	return fabric_channel(f, identity, token, &request);
}

UNUSED static struct identity admitted(struct fabric *f, uint8_t seed, enum manage_role role,
				       const char *name)
{
	struct identity identity = identity_of(f, seed);
	struct token token = token_make(f, seed, role, 1);

	assert_int_equal(admit(f, &identity, &token, name), DXP_OK);
	return identity;
}

UNUSED static struct fabric_member *keyed_start(struct fabric *f, enum manage_kind kind,
						const struct identity *identity)
{
	struct fabric_member *member = fabric_member_add(f, kind);

	member->keyed = true;
	member->identity = *identity;
	fabric_member_start(f, member);
	fabric_run(f, 500 * MS_NS);
	return member;
}

UNUSED static struct fabric *world(enum grants_policy policy)
{
	struct fabric *f = fabric_create(1, policy);

	f->options.admission = ADMIT_TOKEN;
	fabric_manager_start(f);
	return f;
}

/* `command`: CHANNEL_FABRIC_ROTATE or CHANNEL_MANAGER_ROTATE. */
UNUSED static int key_rotate(struct fabric *f, enum channel_command command,
			     const struct identity *admin, uint64_t overlap_s, bool force)
{
	const struct channel_request request = {.command = (uint8_t)command,
						.seconds = overlap_s,
						.uses = force ? CHANNEL_FORCE : 0};

	return fabric_channel(f, admin, NULL, &request);
}

/* `command`: CHANNEL_FABRIC_SHOW or CHANNEL_MANAGER_SHOW. */
UNUSED static struct channel_fabric key_shown(struct fabric *f, enum channel_command command,
					      const struct identity *by)
{
	const struct channel_request request = {.command = (uint8_t)command};

	assert_int_equal(fabric_channel(f, by, NULL, &request), DXP_OK);
	assert_true(channel_last(f->channel)->fabric.present);
	return channel_last(f->channel)->fabric;
}

#define COUNTER(f, name)     (registry_counters((f)->registry)->name)
#define TEXT_HAS(f, part)    assert_non_null(strstr(channel_text((f)->channel), part))
#define JOINED(member)       (member_state((member)->m) == MEMBER_JOINED)
#define ROW(viewer, subject) node_table_find_name(member_table((viewer)->m), (subject)->self.name)

#endif
