/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests admission and grants if the manager cannot record them or has no space for a key. */
#include "test/unit/admission_rig.h"

struct failing_store {
	struct fabric *f;
	int status;
	unsigned calls;
	/* values of the last call; uses: of the first token; role: of the first key */
	uint32_t uses;
	size_t keys;
	uint8_t role;
};

static int failing_save(void *context)
{
	struct failing_store *s = context;
	struct store_op op;

	s->calls++;
	if (s->status != DXP_OK)
		return s->status;
	while (registry_next_store(s->f->registry, &op))
		store_apply(s->f, &op);
	s->uses = s->f->tokens[0].token.uses;
	s->keys = s->f->key_count;
	s->role = s->f->keys[0].key.role;
	assert_int_equal(COUNTER(s->f, admitted), 0); /* stored before it counts */
	return DXP_OK;
}

static struct fabric *world_failing(struct failing_store *store)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);

	store->f = f;
	f->options.admission = ADMIT_TOKEN;
	f->options.save = failing_save;
	f->options.save_context = store;
	fabric_manager_start(f);
	return f;
}

/* Without a record of its use, a token could be used again after a restart. */
static void admission_store__no_key_without_a_record_of_the_token(void **state)
{
	struct failing_store store = {.status = DXP_EIO};
	struct fabric *f = world_failing(&store);
	struct identity machine = identity_of(f, 1);
	struct token token = token_make(f, 9, ROLE_XPU, 1);

	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_EIO);
	TEXT_HAS(f, "cannot record the use of the token");
	assert_int_equal(COUNTER(f, admitted), 0);
	const struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	assert_false(JOINED(xpu));
	assert_int_equal(store.calls, 1);

	store.status = DXP_OK;
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_int_equal(store.uses, 0);
	assert_int_equal(store.keys, 1);
	assert_int_equal(COUNTER(f, admitted), 1);
	fabric_destroy(f);
}

static void admission_store__no_role_without_a_record_of_the_token(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_HOST, "machine");
	struct failing_store store = {.f = f, .status = DXP_EIO};

	fabric_manager_stop(f);
	f->options.save = failing_save;
	f->options.save_context = &store;
	fabric_manager_start(f);
	struct token token = token_make(f, 9, ROLE_XPU, 1);
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_EIO);
	assert_int_equal(keyring_find(&f->registry->keyring, machine.public_key)->role, ROLE_HOST);
	assert_int_equal(f->keys[0].key.role, ROLE_HOST);

	store.status = DXP_OK;
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_int_equal(store.role, ROLE_XPU); /* stored together with the token's use */
	fabric_destroy(f);
}

/* Fills the manager's keyring, as keys in a store do at a start. */
static void keyring_fill(struct fabric *f)
{
	struct store_op op = {.kind = STORE_KEY_PUT, .key = {.role = ROLE_HOST}};

	for (; op.index < FABRIC_KEYS_MAX; op.index++) {
		op.key.key[0] = (uint8_t)op.index;
		op.key.key[1] = (uint8_t)(op.index >> 8);
		snprintf(op.key.name, sizeof(op.key.name), "key-%zu", op.index);
		assert_int_equal(registry_load(f->registry, &op), DXP_OK);
	}
}

/* If the keyring is full, a token stays valid and all keys stay. */
static void admission_store__a_full_keyring_uses_no_token(void **state)
{
	struct failing_store store = {.status = DXP_EIO};
	struct fabric *f = world_failing(&store);
	struct keyring *keys = &f->registry->keyring;
	struct identity machine = identity_of(f, 1);
	struct token token = token_make(f, 9, ROLE_XPU, 1);
	keyring_fill(f);

	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_ENOMEM);
	TEXT_HAS(f, "the token is still valid");
	assert_int_equal(f->tokens[0].token.uses, 1);

	struct key_row *removed = keyring_find_name(keys, "key-7");
	removed->removed = true;
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_EIO);
	assert_null(keyring_find(keys, machine.public_key));
	assert_string_equal(removed->name, "key-7");
	assert_true(removed->removed && keys->count == FABRIC_KEYS_MAX);

	store.status = DXP_OK;
	assert_int_equal(admit(f, &machine, &token, "machine"), DXP_OK);
	assert_string_equal(removed->name, "machine");
	assert_int_equal(store.uses, 0);
	fabric_destroy(f);
}

/* The operator is notified that a restart will lose the change. */
static void admission_store__an_unrecorded_change_is_reported(void **state)
{
	static const uint8_t changes[] = {CHANNEL_GRANT, CHANNEL_REVOKE, CHANNEL_NODE_REMOVE};
	struct fabric *f = fabric_create(1, GRANTS_EXPLICIT);
	struct failing_store store = {.f = f};
	struct channel_request change = request_named(CHANNEL_GRANT, "machine");

	snprintf(change.xpu, sizeof(change.xpu), "xpu1");
	f->options.admission = ADMIT_TOKEN;
	fabric_manager_start(f);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	admitted(f, 2, ROLE_XPU, "machine");
	fabric_manager_stop(f);
	f->options.save = failing_save;
	f->options.save_context = &store;
	fabric_manager_start(f);
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		change.command = changes[i];
		store.status = DXP_EIO;
		assert_int_equal(fabric_channel(f, &admin, NULL, &change), DXP_EIO);
		TEXT_HAS(f, "cannot record it");
		store.status = DXP_OK;
		if (change.command != CHANNEL_NODE_REMOVE)
			assert_int_equal(fabric_channel(f, &admin, NULL, &change), DXP_OK);
	}
	fabric_destroy(f);
}

static void admission_store__an_unrecorded_grant_of_the_fabric_key(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_EXPLICIT);
	struct failing_store store = {.f = f, .status = DXP_EIO};

	f->options.save = failing_save;
	f->options.save_context = &store;
	fabric_manager_start(f);
	assert_int_equal(fabric_request(f, QUERY_GRANT, "machine", "xpu1"), DXP_EIO);
	assert_non_null(strstr(query_text(f->query), "cannot record it"));
	assert_int_equal(fabric_request(f, QUERY_REVOKE, "machine", "xpu1"), DXP_EIO);
	assert_non_null(strstr(query_text(f->query), "cannot record it"));
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission_store__no_key_without_a_record_of_the_token),
		cmocka_unit_test(admission_store__no_role_without_a_record_of_the_token),
		cmocka_unit_test(admission_store__a_full_keyring_uses_no_token),
		cmocka_unit_test(admission_store__an_unrecorded_change_is_reported),
		cmocka_unit_test(admission_store__an_unrecorded_grant_of_the_fabric_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
