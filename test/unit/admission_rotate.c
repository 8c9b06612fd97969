/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the replacement of a key while the fabric runs: what stays, what is refused afterwards, and
 * a manager that stops before it answers. */
#include "test/unit/admission_rig.h"

#include "base/bytes.h"

#define ROTATED_NS (3 * S_NS) /* ns; all nodes use a new key within this time */

/* Makes the request that replaces the key of `before` by that of `after`. */
static struct channel_request rotation(const struct identity *before, const struct identity *after)
{
	struct channel_request r = {.command = CHANNEL_ROTATE};

	memcpy(r.psk, after->public_key, sizeof(r.psk));
	assert_true(keys_rotation_proof(after->pair, before->public_key, r.proof));
	return r;
}

static int rotate(struct fabric *f, const struct identity *before, const struct identity *after)
{
	const struct channel_request request = rotation(before, after);

	return fabric_channel(f, before, NULL, &request);
}

static bool known(struct fabric *f, const struct identity *identity)
{
	return admit(f, identity, NULL, "") == DXP_OK;
}

/* Fails unless the manager refuses the key in channels, in queries and in a JOIN. */
static void refused(struct fabric *f, const struct identity *old)
{
	assert_int_equal(admit(f, old, NULL, ""), DXP_EACCESS);
	TEXT_HAS(f, "replaced by `dxp keys rotate`");
	f->requester = old;
	assert_int_equal(fabric_request(f, QUERY_NODES, NULL, NULL), DXP_EACCESS);
	assert_non_null(strstr(query_text(f->query), "replaced by `dxp keys rotate`"));
	struct fabric_member *late = keyed_start(f, MANAGE_HOST, old);
	assert_int_equal(member_status(late->m), DXP_EACCESS);
	assert_non_null(strstr(member_text(late->m), "replaced by `dxp keys rotate`"));
	fabric_member_kill(late);
}

static size_t rotations_logged(struct fabric *f, const char *name)
{
	const struct event_journal *l = registry_events(f->registry);
	size_t count = 0;

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		count += e->kind == EVENT_ROTATED && strcmp(e->subject, name) == 0;
	return count;
}

static void admission_rotate__name_role_grants_and_lease_stay(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity machine = admitted(f, 2, ROLE_XPU, "machine"), next = identity_of(f, 3);
	struct identity laptop = admitted(f, 4, ROLE_HOST, "laptop"), newer = identity_of(f, 5);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &laptop);
	struct channel_request grant = request_named(CHANNEL_GRANT, "laptop");

	snprintf(grant.xpu, sizeof(grant.xpu), "%s", xpu->self.name);
	assert_int_equal(fabric_channel(f, &admin, NULL, &grant), DXP_OK);
	fabric_run(f, S_NS);
	const uint16_t id = member_id(xpu->m);
	const uint32_t magic = ROW(host, xpu)->magic;

	assert_int_equal(rotate(f, &machine, &next), DXP_OK);
	assert_string_equal(channel_text(f->channel), "machine");
	assert_int_equal(rotate(f, &laptop, &newer), DXP_OK);
	fabric_run(f, ROTATED_NS / 2);
	assert_int_equal(member_identity_set(xpu->m, &next, f->now_ns), DXP_OK);
	assert_int_equal(member_identity_set(host->m, &newer, f->now_ns), DXP_OK);
	xpu->deadline_ns = host->deadline_ns = f->now_ns;
	fabric_run(f, ROTATED_NS / 2);
	assert_true(JOINED(xpu) && JOINED(host));
	assert_int_equal(member_id(xpu->m), id);
	assert_int_equal(ROW(host, xpu)->magic, magic);
	assert_true(ROW(host, xpu)->granted);
	assert_memory_equal(ROW(host, xpu)->key, next.public_key, KEYS_BYTES);
	assert_memory_equal(ROW(xpu, host)->key, newer.public_key, KEYS_BYTES);
	assert_int_equal(COUNTER(f, died), 0);
	assert_int_equal(COUNTER(f, joined), 2);
	assert_int_equal(COUNTER(f, rotated), 2);
	assert_int_equal(rotations_logged(f, "machine"), 1);
	assert_int_equal(rotations_logged(f, "laptop"), 1);
	assert_int_equal(admit(f, &next, NULL, ""), DXP_OK);
	assert_int_equal(channel_last(f->channel)->role, ROLE_XPU);
	refused(f, &machine);
	refused(f, &laptop);
	fabric_manager_stop(f);
	fabric_manager_start(f);
	refused(f, &machine);
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	assert_true(JOINED(xpu) && JOINED(host));
	assert_true(ROW(host, xpu)->granted);
	fabric_destroy(f);
}

/* Nodes that have not read the new key yet work with what they know, and give the reason. */
static void admission_rotate__a_node_with_the_old_key_waits(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);

	assert_int_equal(rotate(f, &machine, &next), DXP_OK);
	fabric_run(f, 3 * FABRIC_LEASE_NS);
	assert_int_equal(member_state(xpu->m), MEMBER_ALONE);
	assert_non_null(strstr(member_text(xpu->m), "rejects node"));
	assert_non_null(strstr(member_text(xpu->m), "replaced by `dxp keys rotate`"));
	assert_int_equal(COUNTER(f, renewed), 0);
	assert_int_equal(member_identity_set(xpu->m, &next, f->now_ns), DXP_OK);
	xpu->deadline_ns = f->now_ns;
	fabric_run(f, S_NS);
	assert_true(JOINED(xpu));
	fabric_destroy(f);
}

/* A store that records the rotation, after which the manager's process dies. */
static int dying_save(void *context)
{
	struct fabric *f = context;
	struct store_op op;

	while (registry_next_store(f->registry, &op))
		store_apply(f, &op);
	f->loss_ppm = 1000000; /* no answer leaves this process any more */
	return DXP_OK;
}

static void admission_rotate__the_manager_dies_before_it_answers(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);

	fabric_manager_stop(f);
	f->options.save = dying_save;
	f->options.save_context = f;
	fabric_manager_start(f);
	assert_int_equal(rotate(f, &machine, &next), DXP_ETIMEDOUT);
	fabric_manager_stop(f);
	f->options.save = NULL;
	f->loss_ppm = 0;
	fabric_manager_start(f);
	assert_true(known(f, &next));
	assert_string_equal(channel_text(f->channel), "machine");
	refused(f, &machine);
	assert_int_equal(member_identity_set(xpu->m, &next, f->now_ns), DXP_OK);
	fabric_run(f, ROTATED_NS);
	assert_true(JOINED(xpu));
	fabric_check(f);
	fabric_destroy(f);
}

static int broken_save(void *context)
{
	return DXP_EIO;
}

/* If the manager cannot record the new key, everything stays as it was. */
static void admission_rotate__no_new_key_without_a_record(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);

	fabric_manager_stop(f);
	f->options.save = broken_save;
	fabric_manager_start(f);
	assert_int_equal(rotate(f, &machine, &next), DXP_EIO);
	assert_int_equal(rotations_logged(f, "machine"), 0);
	TEXT_HAS(f, "the old one stays valid");
	assert_int_equal(COUNTER(f, unsaved), 1);
	assert_true(known(f, &machine));
	assert_false(known(f, &next));
	TEXT_HAS(f, "not admitted");
	fabric_run(f, 3 * FABRIC_LEASE_NS);
	assert_true(JOINED(xpu));
	f->options.save = NULL;
	fabric_manager_stop(f);
	fabric_manager_start(f);
	assert_int_equal(rotate(f, &machine, &next), DXP_OK);
	fabric_destroy(f);
}

/* Only the owner of a key may put it in the place of another, and only if it is new. */
static void admission_rotate__each_refusal_changes_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct identity other = admitted(f, 3, ROLE_XPU, "other"), unknown = identity_of(f, 4);
	struct channel_request request = rotation(&other, &next);

	assert_int_equal(fabric_channel(f, &machine, NULL, &request), DXP_EAUTH);
	TEXT_HAS(f, "does not prove the new key");
	request = rotation(&machine, &next);
	memset(request.psk, 0, sizeof(request.psk)); /* a key of small order */
	assert_int_equal(fabric_channel(f, &machine, NULL, &request), DXP_EAUTH);
	assert_int_equal(COUNTER(f, key_unproved), 2);
	assert_int_equal(rotate(f, &machine, &other), DXP_EEXIST);
	assert_int_equal(rotate(f, &machine, &machine), DXP_EEXIST);
	assert_int_equal(rotate(f, &unknown, &next), DXP_EACCESS);
	assert_int_equal(COUNTER(f, rotated), 0);
	assert_true(known(f, &machine) && known(f, &other));

	struct identity back = machine;
	assert_int_equal(rotate(f, &machine, &next), DXP_OK);
	assert_int_equal(rotate(f, &next, &back), DXP_EEXIST); /* a replaced key never returns */
	assert_true(known(f, &next));
	fabric_destroy(f);
}

/* A full keyring has space for the new key only if it has a removed one. */
static void admission_rotate__a_full_keyring(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct keyring *keys = &f->registry->keyring;
	struct key_row row = {.role = ROLE_HOST}, replaced;

	fabric_run(f, S_NS);
	while (keys->count < FABRIC_KEYS_MAX) {
		put_be16(row.key, (uint16_t)(keys->count + 1));
		snprintf(row.name, sizeof(row.name), "key-%zu", keys->count);
		assert_non_null(keyring_add(keys, &row, &replaced));
	}
	for (size_t i = 0; i < keys->count; i++)
		keys->rows[i]->dirty = false;
	keys->dirty = 0;
	assert_int_equal(rotate(f, &machine, &next), DXP_ENOMEM);
	TEXT_HAS(f, "no space for more keys");
	keyring_find_name(keys, "key-7")->removed = true;
	assert_int_equal(rotate(f, &machine, &next), DXP_OK);
	assert_true(known(f, &next));
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission_rotate__name_role_grants_and_lease_stay),
		cmocka_unit_test(admission_rotate__a_node_with_the_old_key_waits),
		cmocka_unit_test(admission_rotate__the_manager_dies_before_it_answers),
		cmocka_unit_test(admission_rotate__no_new_key_without_a_record),
		cmocka_unit_test(admission_rotate__each_refusal_changes_nothing),
		cmocka_unit_test(admission_rotate__a_full_keyring),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
