/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the replacement of the manager's key pair by an operator: how nodes learn the new one, what
 * tokens and machines with the former one may do, what a restart keeps, and what is refused. */
#include "test/unit/admission_rig.h"

#include "keys/fabric_key.h"

#define LEARNED_NS (3 * S_NS) /* all live nodes use the new key within this time */
#define OVERLAP_S  60

static int rotate(struct fabric *f, const struct identity *admin, uint64_t overlap_s, bool force)
{
	return key_rotate(f, CHANNEL_MANAGER_ROTATE, admin, overlap_s, force);
}

static struct channel_fabric shown(struct fabric *f, const struct identity *by)
{
	const struct channel_fabric state = key_shown(f, CHANNEL_MANAGER_SHOW, by);

	assert_memory_equal(channel_last(f->channel)->fabric_key, registry_public_key(f->registry),
			    KEYS_BYTES);
	return state;
}

static struct identity pinned(const struct identity *of, const uint8_t manager[KEYS_BYTES])
{
	struct identity out;

	assert_true(identity_make(of->private_key, manager, &out));
	return out;
}

static bool knows(const struct fabric *f, const struct fabric_member *member)
{
	return memcmp(member->identity.manager, registry_public_key(f->registry), KEYS_BYTES) == 0;
}

static void admission_repin__all_nodes_learn_the_key(void **state)
{
	for (uint32_t loss_ppm = 0; loss_ppm <= 200000; loss_ppm += 100000) {
		struct fabric *f = world(GRANTS_ANY);
		struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
		struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
		struct fabric_member *members[] = {keyed_start(f, MANAGE_XPU, &unit),
						   keyed_start(f, MANAGE_XPU, &unit),
						   keyed_start(f, MANAGE_HOST, &admin)};
		uint8_t before[KEYS_BYTES];
		memcpy(before, registry_public_key(f->registry), sizeof(before));
		f->loss_ppm = loss_ppm;
		assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
		assert_memory_not_equal(before, registry_public_key(f->registry), KEYS_BYTES);
		assert_int_equal(COUNTER(f, repinned), 1);
		fabric_run(f, LEARNED_NS);
		for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
			assert_true(knows(f, members[i]));
			assert_true(members[i]->repins >= 1);
			assert_true(JOINED(members[i]));
		}
		/* the former key is gone, and no node needs it */
		fabric_run(f, (OVERLAP_S + 5) * S_NS);
		assert_false(f->registry->manager.overlap);
		for (size_t i = 0; i < ARRAY_COUNT(members); i++)
			assert_true(JOINED(members[i]));
		assert_int_equal(COUNTER(f, died), 0);
		f->loss_ppm = 0;
		assert_int_equal(shown(f, &members[0]->identity).generation, 1);
		fabric_destroy(f);
	}
}

/* Nodes that were down come back with the former key during the overlap. */
static void admission_repin__a_node_that_was_away_learns_it_at_its_return(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *down = keyed_start(f, MANAGE_XPU, &unit);
	struct fabric_member *late = keyed_start(f, MANAGE_XPU, &unit);

	fabric_member_kill(down);
	fabric_member_kill(late);
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, OVERLAP_S / 2 * S_NS);
	fabric_member_start(f, down);
	fabric_run(f, LEARNED_NS);
	assert_true(JOINED(down) && knows(f, down));
	/* after the overlap: refused */
	fabric_run(f, OVERLAP_S * S_NS);
	const uint64_t unknown = COUNTER(f, key_unknown);
	fabric_member_start(f, late);
	fabric_run(f, LEARNED_NS);
	assert_false(JOINED(late));
	assert_true(COUNTER(f, key_unknown) > unknown);
	fabric_destroy(f);
}

/* Both rotations at once: one LEASE brings both keys, sealed for the former pair. */
static void admission_repin__together_with_the_fabric_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	const struct channel_request rekey = {.command = CHANNEL_FABRIC_ROTATE, .seconds = 10};

	xpu->cut = true;
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	assert_int_equal(fabric_channel(f, &admin, NULL, &rekey), DXP_OK);
	xpu->cut = false;
	fabric_run(f, LEARNED_NS);
	assert_true(JOINED(xpu) && knows(f, xpu));
	assert_int_equal(xpu->rekey.generation, 1);
	assert_memory_equal(xpu->rekey.key, registry_fabric_key(f->registry), FABRIC_KEY_BYTES);
	fabric_destroy(f);
}

static void admission_repin__tokens_name_the_former_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity early = identity_of(f, 2), late = identity_of(f, 3);
	struct token token = token_make(f, 9, ROLE_HOST, 2);

	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	assert_int_equal(admit(f, &early, &token, "early"), DXP_OK);
	fabric_run(f, (OVERLAP_S + 1) * S_NS);
	assert_int_equal(admit(f, &late, &token, "late"), DXP_EAUTH);
	TEXT_HAS(f, "its key pair was replaced, so older tokens are not valid");
	/* the token itself is valid for a machine that knows the new key */
	late = pinned(&late, registry_public_key(f->registry));
	assert_int_equal(admit(f, &late, &token, "late"), DXP_OK);
	fabric_destroy(f);
}

static void admission_repin__a_restart_keeps_the_keys(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	uint8_t key[KEYS_BYTES];

	xpu->cut = true;
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	memcpy(key, registry_public_key(f->registry), sizeof(key));
	fabric_manager_stop(f);
	f->wall_s += 4;
	fabric_manager_start(f);
	assert_memory_equal(registry_public_key(f->registry), key, sizeof(key));
	const struct channel_fabric early = shown(f, &unit);
	assert_int_equal(early.generation, 1);
	assert_in_range(early.former_ms, (OVERLAP_S - 6) * 1000, (OVERLAP_S - 4) * 1000);
	xpu->cut = false;
	fabric_run(f, LEARNED_NS);
	assert_true(JOINED(xpu) && knows(f, xpu));
	fabric_manager_stop(f);
	f->wall_s += OVERLAP_S;
	fabric_manager_start(f);
	fabric_run(f, LEARNED_NS);
	assert_true(JOINED(xpu));
	/* a manager that starts after the overlap accepts the former key a little longer */
	assert_true(shown(f, &xpu->identity).former_ms > 0);
	fabric_run(f, MANAGER_OVERLAP_MIN_S * S_NS);
	assert_int_equal(shown(f, &xpu->identity).former_ms, 0);
	assert_int_equal(admit(f, &unit, NULL, ""), DXP_EAUTH); /* with the former key */
	/* what is over is erased from the store */
	static const uint8_t none[KEYS_BYTES];
	assert_memory_equal(f->manager_row.former, none, KEYS_BYTES);
	fabric_destroy(f);
}

static void admission_repin__a_key_of_a_node_with_the_former_one(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit"), next = identity_of(f, 7);
	struct channel_request request = {.command = CHANNEL_ROTATE};

	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	memcpy(request.psk, next.public_key, sizeof(request.psk));
	assert_true(keys_rotation_proof(next.pair, unit.public_key, request.proof));
	assert_int_equal(fabric_channel(f, &unit, NULL, &request), DXP_OK);
	assert_int_equal(admit(f, &next, NULL, ""), DXP_OK);
	fabric_destroy(f);
}

static void admission_repin__refusals(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	uint8_t key[KEYS_BYTES];

	memcpy(key, registry_public_key(f->registry), sizeof(key));
	assert_int_equal(rotate(f, &unit, OVERLAP_S, false), DXP_EACCESS);
	TEXT_HAS(f, "only an operator");
	assert_int_equal(rotate(f, &admin, MANAGER_OVERLAP_MIN_S - 1, true), DXP_EINVAL);
	assert_int_equal(rotate(f, &admin, MANAGER_OVERLAP_MAX_S + 1, false), DXP_EINVAL);
	TEXT_HAS(f, "40 days");
	struct roster_node *n = roster_find_name(&f->registry->roster, xpu->self.name);
	n->entry.capabilities &= ~MANAGE_CAPABILITY_REPINNED; /* an earlier release */
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EUNSUPPORTED);
	TEXT_HAS(f, xpu->self.name);
	TEXT_HAS(f, "--force");
	assert_memory_equal(key, registry_public_key(f->registry), sizeof(key));
	assert_int_equal(rotate(f, &admin, OVERLAP_S, true), DXP_OK);
	/* that node continues with the former key until the end of the overlap */
	fabric_run(f, OVERLAP_S / 2 * S_NS);
	assert_true(JOINED(xpu));
	assert_int_equal(xpu->repins, 0);
	admin = pinned(&admin, registry_public_key(f->registry));
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EBUSY);
	TEXT_HAS(f, "former key for another");
	assert_int_equal(shown(f, &admin).generation, 1);
	assert_int_equal(rotate(f, &admin, MANAGER_OVERLAP_MIN_S, true), DXP_OK);
	assert_int_equal(f->registry->manager.row.generation, 2);
	fabric_destroy(f);
}

static int save_fail(void *context)
{
	return DXP_EIO;
}

static void admission_repin__a_failing_store_changes_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &admin);
	uint8_t key[KEYS_BYTES];

	memcpy(key, registry_public_key(f->registry), sizeof(key));
	f->registry->options.save = save_fail;
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EIO);
	assert_memory_equal(key, registry_public_key(f->registry), sizeof(key));
	assert_int_equal(shown(f, &admin).generation, 0);
	f->registry->options.save = NULL;
	fabric_run(f, LEARNED_NS);
	assert_true(JOINED(host));
	assert_int_equal(host->repins, 0);
	fabric_destroy(f);
}

/* Only a LEASE that the pinned key authenticates may name another one. */
static void admission_repin__another_manager_is_not_believed(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &admin);
	const struct identity before = host->identity;
	struct manager_row row = {.generation = 1, .overlap_s = OVERLAP_S, .key = {1, 2, 3}};

	fabric_manager_stop(f);
	memset(f->options.private_key, 5, KEYS_BYTES); /* it has the registry, but not the key */
	memset(row.former, 6, KEYS_BYTES);
	f->manager_row = row;
	fabric_manager_start(f);
	fabric_run(f, 4 * FABRIC_LEASE_NS);
	assert_false(JOINED(host));
	assert_int_equal(host->repins, 0);
	assert_memory_equal(host->identity.manager, before.manager, KEYS_BYTES);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission_repin__all_nodes_learn_the_key),
		cmocka_unit_test(admission_repin__a_node_that_was_away_learns_it_at_its_return),
		cmocka_unit_test(admission_repin__together_with_the_fabric_key),
		cmocka_unit_test(admission_repin__tokens_name_the_former_key),
		cmocka_unit_test(admission_repin__a_restart_keeps_the_keys),
		cmocka_unit_test(admission_repin__a_key_of_a_node_with_the_former_one),
		cmocka_unit_test(admission_repin__refusals),
		cmocka_unit_test(admission_repin__a_failing_store_changes_nothing),
		cmocka_unit_test(admission_repin__another_manager_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
