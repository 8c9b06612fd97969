/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the replacement of the fabric key by an operator: who gets the new key and when, what a
 * restart of the manager keeps, and what is refused. */
#include "test/unit/admission_rig.h"

#include "base/bytes.h"
#include "keys/fabric_key.h"

#define REKEYED_NS (3 * S_NS) /* all live nodes send with the new key within this time */
#define OVERLAP_S  10

static int rotate(struct fabric *f, const struct identity *admin, uint64_t overlap_s, bool force)
{
	return key_rotate(f, CHANNEL_FABRIC_ROTATE, admin, overlap_s, force);
}

static struct channel_fabric shown(struct fabric *f, const struct identity *by)
{
	return key_shown(f, CHANNEL_FABRIC_SHOW, by);
}

/* Fails unless the member has exactly this key of the registry. */
static void has_key(struct fabric *f, const struct fabric_member *member, uint32_t generation)
{
	assert_int_equal(member->rekey.generation, generation);
	assert_memory_equal(member->rekey.key, registry_fabric_key(f->registry), FABRIC_KEY_BYTES);
}

static void admission_rekey__all_nodes_get_the_key_in_time(void **state)
{
	for (uint32_t loss_ppm = 0; loss_ppm <= 200000; loss_ppm += 100000) {
		struct fabric *f = world(GRANTS_ANY);
		struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
		struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
		struct fabric_member *members[] = {keyed_start(f, MANAGE_XPU, &unit),
						   keyed_start(f, MANAGE_XPU, &unit),
						   keyed_start(f, MANAGE_HOST, &admin)};
		fabric_run(f, S_NS);
		f->loss_ppm = loss_ppm;
		assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
		const struct channel_answer *answer = channel_last(f->channel);
		assert_memory_equal(answer->fabric_key, registry_fabric_key(f->registry),
				    FABRIC_KEY_BYTES);
		assert_memory_not_equal(answer->fabric_key, f->options.key, FABRIC_KEY_BYTES);
		assert_int_equal(answer->fabric.generation, 1);
		const uint64_t begin_ns = f->now_ns;
		fabric_run(f, REKEYED_NS);
		for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
			const struct member_rekey *k = &members[i]->rekey;
			has_key(f, members[i], 1);
			assert_int_equal(members[i]->rekeys, 1);
			assert_true(k->use_ns <= begin_ns + REKEYED_NS);
			assert_true(k->former_until_ns > k->use_ns + S_NS);
			assert_true(k->former_until_ns <= begin_ns + (OVERLAP_S + 1) * S_NS);
			assert_true(JOINED(members[i]));
		}
		assert_int_equal(COUNTER(f, died), 0);
		assert_int_equal(COUNTER(f, rekeyed), 1);
		fabric_destroy(f);
	}
}

static void admission_rekey__a_node_that_was_away_gets_it_at_its_return(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *cut = keyed_start(f, MANAGE_XPU, &unit);
	struct fabric_member *down = keyed_start(f, MANAGE_XPU, &unit);

	cut->cut = true;
	fabric_member_kill(down);
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, (OVERLAP_S + 5) * S_NS);
	assert_int_equal(cut->rekeys, 0);
	cut->cut = false;
	fabric_member_start(f, down);
	fabric_run(f, 5 * S_NS);
	has_key(f, cut, 1);
	has_key(f, down, 1);
	/* the overlap is over */
	assert_true(cut->rekey.former_until_ns == cut->rekey_ns);
	assert_true(down->rekey.use_ns == down->rekey_ns);
	fabric_destroy(f);
}

static void admission_rekey__a_removed_machine_gets_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *thief = keyed_start(f, MANAGE_XPU, &unit);
	struct channel_request remove = request_named(CHANNEL_NODE_REMOVE, "unit");
	const struct channel_request show = {.command = CHANNEL_FABRIC_SHOW};

	fabric_run(f, S_NS);
	assert_int_equal(fabric_channel(f, &admin, NULL, &remove), DXP_OK);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, (OVERLAP_S + 5) * S_NS);
	assert_int_equal(thief->rekeys, 0);
	assert_int_equal(fabric_channel(f, &unit, NULL, &show), DXP_EACCESS);
	assert_int_equal(admit(f, &unit, NULL, ""), DXP_EACCESS);
	fabric_destroy(f);
}

static void admission_rekey__a_restart_keeps_the_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	uint8_t key[FABRIC_KEY_BYTES];

	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	memcpy(key, registry_fabric_key(f->registry), sizeof(key));
	fabric_manager_stop(f);
	f->wall_s += 4;
	fabric_manager_start(f);
	assert_memory_equal(registry_fabric_key(f->registry), key, sizeof(key));
	const struct channel_fabric early = shown(f, &unit);
	assert_int_equal(early.generation, 1);
	assert_in_range(early.age_s, 4, 5);
	assert_in_range(early.former_ms, (OVERLAP_S - 5) * 1000, (OVERLAP_S - 4) * 1000);
	fabric_run(f, REKEYED_NS);
	has_key(f, xpu, 1);
	assert_int_equal(xpu->rekeys, 1);
	/* a clock that went back makes the overlap at most as long as it was */
	fabric_manager_stop(f);
	f->wall_s -= 1000;
	fabric_manager_start(f);
	assert_in_range(shown(f, &unit).former_ms, OVERLAP_S * 1000 - 500, OVERLAP_S * 1000);
	/* a clock that went forward leaves the overlap of a start */
	fabric_manager_stop(f);
	f->wall_s += 100000;
	fabric_manager_start(f);
	assert_in_range(shown(f, &unit).former_ms, FABRIC_TERM_FORMER_MS - 500,
			FABRIC_TERM_FORMER_MS);
	fabric_run(f, FABRIC_TERM_FORMER_MS * MS_NS);
	assert_int_equal(shown(f, &unit).former_ms, 0);
	assert_int_equal(xpu->rekeys, 1);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, REKEYED_NS);
	has_key(f, xpu, 2);
	/* a machine that joins gets it too */
	struct identity late = admitted(f, 3, ROLE_HOST, "late");
	assert_memory_equal(channel_last(f->channel)->fabric_key, xpu->rekey.key, sizeof(key));
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &late);
	has_key(f, host, 2);
	fabric_destroy(f);
}

/* Each key pair gets the fabric key sealed for itself, also one that replaces another. */
static void admission_rekey__and_new_key_pairs(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit"), next = identity_of(f, 3);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	struct channel_request request = {.command = CHANNEL_ROTATE};

	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, REKEYED_NS);
	has_key(f, xpu, 1);
	memcpy(request.psk, next.public_key, sizeof(request.psk));
	assert_true(keys_rotation_proof(next.pair, unit.public_key, request.proof));
	assert_int_equal(fabric_channel(f, &unit, NULL, &request), DXP_OK);
	fabric_member_kill(xpu);
	xpu->identity = next;
	fabric_member_start(f, xpu);
	fabric_run(f, REKEYED_NS);
	assert_true(JOINED(xpu));
	has_key(f, xpu, 1);
	fabric_destroy(f);
}

static void admission_rekey__a_key_without_memory_for_it_comes_again(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &admin);

	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_OK);
	fabric_run(f, S_NS);
	assert_int_equal(xpu->rekeys, 1);
	const uint64_t use_ns = xpu->rekey.use_ns;
	member_rekey_again(xpu->m);
	fabric_run(f, S_NS);
	assert_int_equal(xpu->rekeys, 2);
	has_key(f, xpu, 1);
	assert_in_range(xpu->rekey.use_ns, use_ns - 100 * MS_NS, use_ns + 100 * MS_NS);
	fabric_run(f, REKEYED_NS);
	assert_int_equal(xpu->rekeys, 2);
	fabric_destroy(f);
}

/* A store that records the rotation, after which the manager's process dies. */
static int dying_save(void *context)
{
	struct fabric *f = context;
	struct store_op op;

	while (registry_next_store(f->registry, &op))
		store_apply(f, &op);
	f->loss_ppm = 1000000;
	return DXP_OK;
}

/* Starts the manager again, with this function that saves changes. */
static void start_again(struct fabric *f, int (*save)(void *context))
{
	fabric_manager_stop(f);
	f->options.save = save;
	f->options.save_context = f;
	fabric_manager_start(f);
}

/* The manager records a rotation and dies before it answers. It does not start again. */
static void rotate_and_die(struct fabric *f, const struct identity *admin)
{
	start_again(f, dying_save);
	assert_int_equal(rotate(f, admin, OVERLAP_S, false), DXP_ETIMEDOUT);
	fabric_manager_stop(f);
	f->options.save = NULL;
	f->loss_ppm = 0;
}

static void admission_rekey__the_manager_dies_before_it_answers(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &admin);

	rotate_and_die(f, &admin);
	fabric_manager_start(f);
	assert_int_equal(shown(f, &admin).generation, 1);
	fabric_run(f, FABRIC_LEASE_NS);
	has_key(f, xpu, 1);
	fabric_destroy(f);
}

/* No node has the new key when the next manager starts, much later or with a clock that is ahead.
 * All of them accept it before one sends with it, and accept the former one until all do so. */
static void admission_rekey__the_next_manager_gives_nodes_time(void **state)
{
	static const uint64_t pauses[] = {0, 3 * FABRIC_LEASE_NS};

	for (size_t i = 0; i < ARRAY_COUNT(pauses); i++) {
		struct fabric *f = world(GRANTS_ANY);
		struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
		struct identity unit = admitted(f, 2, ROLE_XPU, "unit");
		const struct fabric_member *members[] = {keyed_start(f, MANAGE_XPU, &unit),
							 keyed_start(f, MANAGE_XPU, &unit),
							 keyed_start(f, MANAGE_HOST, &admin)};
		uint64_t last_ns = 0, use_ns = UINT64_MAX, use_last_ns = 0, until_ns = UINT64_MAX;
		rotate_and_die(f, &admin);
		fabric_run(f, pauses[i]);
		f->wall_s += 2 * OVERLAP_S;
		fabric_manager_start(f);
		fabric_run(f, FABRIC_LEASE_NS);
		for (size_t m = 0; m < ARRAY_COUNT(members); m++) {
			has_key(f, members[m], 1);
			last_ns = max_u64(last_ns, members[m]->rekey_ns);
			use_ns = min_u64(use_ns, members[m]->rekey.use_ns);
			use_last_ns = max_u64(use_last_ns, members[m]->rekey.use_ns);
			until_ns = min_u64(until_ns, members[m]->rekey.former_until_ns);
		}
		assert_true(last_ns < use_ns);
		assert_true(use_last_ns + S_NS < until_ns);
		fabric_destroy(f);
	}
}

static int broken_save(void *context)
{
	return DXP_EIO;
}

static void admission_rekey__no_new_key_without_a_record(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &admin);

	start_again(f, broken_save);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EIO);
	TEXT_HAS(f, "the present one stays valid");
	assert_int_equal(COUNTER(f, unsaved), 1);
	assert_int_equal(shown(f, &admin).generation, 0);
	assert_memory_equal(registry_fabric_key(f->registry), f->options.key, FABRIC_KEY_BYTES);
	fabric_run(f, REKEYED_NS);
	assert_int_equal(xpu->rekeys, 0);
	fabric_destroy(f);
}

static void admission_rekey__each_refusal_changes_nothing(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	struct identity unit = admitted(f, 2, ROLE_XPU, "unit"), unknown = identity_of(f, 3);
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &unit);
	struct roster_node *row = roster_find_name(&f->registry->roster, xpu->self.name);

	assert_int_equal(rotate(f, &unit, OVERLAP_S, true), DXP_EACCESS);
	TEXT_HAS(f, "only an operator");
	assert_int_equal(rotate(f, &unknown, OVERLAP_S, true), DXP_EACCESS);
	assert_int_equal(rotate(f, &admin, FABRIC_OVERLAP_MAX_S + 1, true), DXP_EINVAL);
	row->entry.capabilities &= ~MANAGE_CAPABILITY_REKEYED; /* as of an earlier release */
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EUNSUPPORTED);
	TEXT_HAS(f, xpu->self.name);
	assert_int_equal(shown(f, &admin).generation, 0);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, true), DXP_OK);
	fabric_run(f, REKEYED_NS);
	assert_int_equal(xpu->rekeys, 0);
	assert_true(JOINED(xpu)); /* its LEASEs have the form that it knows */
	row->entry.capabilities |= MANAGE_CAPABILITY_REKEYED;
	assert_int_equal(rotate(f, &admin, OVERLAP_S, false), DXP_EBUSY);
	TEXT_HAS(f, "accept the former key for another");
	fabric_run(f, OVERLAP_S * S_NS);
	assert_int_equal(rotate(f, &admin, 0, false), DXP_OK);
	assert_int_equal(rotate(f, &admin, 0, false), DXP_OK); /* there is no overlap */
	fabric_run(f, S_NS);
	has_key(f, xpu, 3);
	assert_true(xpu->rekey.former_until_ns == xpu->rekey_ns);
	fabric_destroy(f);

	f = fabric_create(1, GRANTS_ANY);
	f->options.admission = ADMIT_TOKEN;
	fabric_manager_start(f);
	admin = admitted(f, 1, ROLE_OPERATOR, "admin");
	fabric_manager_stop(f);
	f->options.admission = ADMIT_KEY;
	fabric_manager_start(f);
	assert_int_equal(rotate(f, &admin, OVERLAP_S, true), DXP_EUNSUPPORTED);
	TEXT_HAS(f, "--admit token");
	fabric_destroy(f);
}

/* The secret of one key pair does not open what another one gets. */
static void fabric_key__opens_only_for_its_pair(void **state)
{
	const uint8_t pair[KEYS_BYTES] = {1}, other[KEYS_BYTES] = {2},
		      nonce[FABRIC_NONCE_BYTES] = {3};
	const uint8_t key[FABRIC_KEY_BYTES] = {4, 5};
	uint8_t sealed[FABRIC_SEALED_BYTES], opened[FABRIC_KEY_BYTES] = {9}, same[FABRIC_KEY_BYTES];
	char a[FABRIC_PRINT_TEXT], b[FABRIC_PRINT_TEXT];

	memcpy(same, opened, sizeof(same));
	assert_true(fabric_key_seal(pair, 7, nonce, key, sealed));
	assert_false(fabric_key_open(other, 7, sealed, opened));
	assert_false(fabric_key_open(pair, 8, sealed, opened));
	for (size_t bit = 0; bit < sizeof(sealed) * 8; bit++) {
		sealed[bit / 8] ^= 1 << bit % 8;
		assert_false(fabric_key_open(pair, 7, sealed, opened));
		sealed[bit / 8] ^= 1 << bit % 8;
	}
	assert_memory_equal(opened, same, sizeof(same));
	assert_true(fabric_key_open(pair, 7, sealed, opened));
	assert_memory_equal(opened, key, sizeof(key));
	assert_string_not_equal(fabric_key_fingerprint(key, a), fabric_key_fingerprint(other, b));
	assert_int_equal(strlen(a), FABRIC_PRINT_TEXT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission_rekey__all_nodes_get_the_key_in_time),
		cmocka_unit_test(admission_rekey__a_node_that_was_away_gets_it_at_its_return),
		cmocka_unit_test(admission_rekey__a_removed_machine_gets_nothing),
		cmocka_unit_test(admission_rekey__a_restart_keeps_the_key),
		cmocka_unit_test(admission_rekey__and_new_key_pairs),
		cmocka_unit_test(admission_rekey__the_manager_dies_before_it_answers),
		cmocka_unit_test(admission_rekey__the_next_manager_gives_nodes_time),
		cmocka_unit_test(admission_rekey__a_key_without_memory_for_it_comes_again),
		cmocka_unit_test(admission_rekey__no_new_key_without_a_record),
		cmocka_unit_test(admission_rekey__each_refusal_changes_nothing),
		cmocka_unit_test(fabric_key__opens_only_for_its_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
