/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by downgrade: nodes that prove no key pair, such as those of earlier releases, between
 * nodes that require it. Endpoints on a simulated network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "node/internal.h"
#include "seal/internal.h"
#include "test/sim/rig.h"

static struct rig *rig_encrypted(uint32_t count)
{
	rig_protect = WIRE_PROTECT_ENCRYPT;
	struct rig *r = rig_create(count, seed(), &good, 1408);
	assert_non_null(r);
	return r;
}

/* Makes the node one of an earlier release, without a key pair. */
static void plain_make(struct rig *r, uint32_t node)
{
	assert_int_equal(rig_identity(r, node, 0), DXP_OK);
	assert_int_equal(rig_restart(r, node, true), DXP_OK);
}

static void strict_make(struct rig *r, uint32_t node)
{
	r->nodes[node].strict = true;
	assert_int_equal(rig_restart(r, node, true), DXP_OK);
}

/* Posts a message and returns its status, or DXP_EAGAIN if it waits for a second. */
static int outcome(struct rig *r, uint32_t from, uint32_t to)
{
	const uint32_t ok = r->nodes[from].ok;

	rig_post(r, from, to, 3000);
	if (!rig_finish(r, from, S_NS))
		return DXP_EAGAIN;
	return r->nodes[from].ok > ok ? DXP_OK : r->nodes[from].messages[0].status;
}

static struct rltp_mismatch mismatch_of(struct rig *r, uint32_t node)
{
	struct rltp_mismatch m;

	assert_true(rltp_endpoint_mismatch(r->nodes[node].endpoint, &m));
	return m;
}

/* Whichever side starts: no byte arrives, the message fails at once, and both sides learn why. */
static void downgrade__is_refused_on_both_sides(void **state)
{
	for (uint32_t from = 0; from < 2; from++) {
		struct rig *r = rig_encrypted(2);
		plain_make(r, 1);
		strict_make(r, 0);
		assert_int_equal(outcome(r, from, 1 - from), DXP_EPROTECT);
		assert_int_equal(r->nodes[1 - from].delivered_bytes, 0);
		assert_true(rltp_endpoint_counters(r->nodes[0].endpoint)->other_protection > 0);
		struct rltp_mismatch m = mismatch_of(r, 0);
		assert_int_equal(m.node, 2);
		assert_int_equal(m.reason, RLTP_PEER_UNKEYED);
		if (from == 1)
			assert_int_equal(mismatch_of(r, 1).reason, RLTP_UNKEYED);
		rig_destroy(r);
	}
}

static void downgrade__key_pairs_are_proven_to_others(void **state)
{
	struct rig *r = rig_encrypted(3);
	struct rltp_view view;

	plain_make(r, 2);
	strict_make(r, 0);
	rig_open(r, 0, 1);
	rltp_session_view(rig_session(r, 0, 1), &view);
	assert_true(view.keyed);
	rig_open(r, 1, 2); /* node 1 allows it */
	rltp_session_view(rig_session(r, 1, 2), &view);
	assert_false(view.keyed);
	rig_destroy(r);
}

/* The peer gets a key pair, as by a new release: the next message arrives. */
static void downgrade__ends_with_a_key_pair(void **state)
{
	struct rig *r = rig_encrypted(2);

	plain_make(r, 1);
	strict_make(r, 0);
	assert_int_equal(outcome(r, 0, 1), DXP_EPROTECT);
	assert_int_equal(rig_identity(r, 1, 9), DXP_OK);
	assert_int_equal(rig_restart(r, 1, true), DXP_OK);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

/* ---- the policy of a node ---- */

static int policy(const char *text, bool keyed, struct node *n)
{
	static const uint8_t fabric_key[FABRIC_KEY_BYTES] = {1};
	struct identity identity;
	uint8_t manager[KEYS_BYTES];

	*n = (struct node){.options = {.peer_keys = text}};
	assert_true(keys_public(fabric_key, manager));
	assert_true(identity_make(fabric_key, manager, &identity));
	int status = protect_start(n, fabric_key, keyed ? &identity : NULL);
	if (status == DXP_OK)
		assert_ptr_equal(n->seal->needs_key, protect_needs_key);
	seal_destroy(n->seal);
	return status;
}

static void policy__of_a_node(void **state)
{
	static const struct {
		const char *text;
		bool keyed;
		int status;
		bool peer, outside;
	} rows[] = {
		{NULL, true, DXP_OK, true, false},     {"auto", true, DXP_OK, true, false},
		{"", false, DXP_OK, false, false},     {"auto", false, DXP_OK, false, false},
		{"require", true, DXP_OK, true, true}, {"require", false, DXP_EINVAL},
		{"allow", true, DXP_OK, false, false}, {"allow", false, DXP_OK, false, false},
		{"Allow", true, DXP_EINVAL},
	};
	struct node n;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(policy(rows[i].text, rows[i].keyed, &n), rows[i].status);
		if (rows[i].status != DXP_OK)
			continue;
		assert_int_equal(protect_needs_key(&n, 5), rows[i].peer);
		assert_int_equal(protect_needs_key(&n, WIRE_NODE_NONE), rows[i].outside);
	}
	setenv("DXP_PEER_KEYS", "allow", 1);
	assert_int_equal(policy(NULL, true, &n), DXP_OK);
	assert_false(protect_needs_key(&n, 5));
	unsetenv("DXP_PEER_KEYS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(downgrade__is_refused_on_both_sides),
		cmocka_unit_test(downgrade__key_pairs_are_proven_to_others),
		cmocka_unit_test(downgrade__ends_with_a_key_pair),
		cmocka_unit_test(policy__of_a_node),
	};

	unsetenv("DXP_PROTECT");
	unsetenv("DXP_PEER_KEYS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
