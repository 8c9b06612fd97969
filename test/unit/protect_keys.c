/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which key a node demands from its peers: that of the row in its node table, if the peer can
 * prove it. The table comes from a simulated manager. */
#include "test/unit/admission_rig.h"

#include "node/internal.h"
#include "seal/internal.h"

static void protect__the_table_states_the_key(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine"), next = identity_of(f, 2);
	struct identity laptop = admitted(f, 3, ROLE_HOST, "laptop");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	struct fabric_member *host = keyed_start(f, MANAGE_HOST, &laptop);
	struct node *n = calloc(1, sizeof(*n));
	struct channel_request request = {.command = CHANNEL_ROTATE};

	assert_non_null(n);
	assert_null(protect_peer_key(n, 1)); /* without a manager */
	fabric_run(f, S_NS);
	n->member = host->m;
	assert_memory_equal(protect_peer_key(n, member_id(xpu->m)), machine.public_key, KEYS_BYTES);
	assert_null(protect_peer_key(n, WIRE_NODE_NONE));
	assert_null(protect_peer_key(n, 999));
	n->member = xpu->m;
	assert_memory_equal(protect_peer_key(n, member_id(host->m)), laptop.public_key, KEYS_BYTES);

	memcpy(request.psk, next.public_key, sizeof(request.psk));
	assert_true(keys_rotation_proof(next.pair, machine.public_key, request.proof));
	assert_int_equal(fabric_channel(f, &machine, NULL, &request), DXP_OK);
	fabric_run(f, S_NS);
	n->member = host->m;
	assert_memory_equal(protect_peer_key(n, member_id(xpu->m)), next.public_key, KEYS_BYTES);
	free(n);
	fabric_destroy(f);
}

/* As of an earlier release. */
static void protect__a_row_without_the_capability(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = admitted(f, 1, ROLE_XPU, "machine");
	struct fabric_member *xpu = keyed_start(f, MANAGE_XPU, &machine);
	struct node *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	roster_find_name(&f->registry->roster, xpu->self.name)->entry.capabilities &=
		~MANAGE_CAPABILITY_BOUND;
	n->member = keyed_start(f, MANAGE_HOST, &machine)->m;
	fabric_run(f, S_NS);
	assert_true(node_table_find(member_table(n->member), member_id(xpu->m))->alive);
	assert_null(protect_peer_key(n, member_id(xpu->m)));
	free(n);
	fabric_destroy(f);
}

static void protect__a_node_has_its_own_key(void **state)
{
	const uint8_t fabric_key[FABRIC_KEY_BYTES] = {1};
	struct fabric *f = world(GRANTS_ANY);
	struct identity machine = identity_of(f, 1);
	struct node *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	assert_int_equal(protect_start(n, fabric_key, &machine), DXP_OK);
	assert_true(n->seal->keyed);
	assert_memory_equal(n->seal->public_key, machine.public_key, KEYS_BYTES);
	assert_ptr_equal(n->seal->peer_key, protect_peer_key);
	assert_ptr_equal(n->seal->peer_context, n);
	seal_destroy(n->seal);
	assert_int_equal(protect_start(n, fabric_key, NULL), DXP_OK);
	assert_false(n->seal->keyed);
	seal_destroy(n->seal);
	free(n);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protect__the_table_states_the_key),
		cmocka_unit_test(protect__a_row_without_the_capability),
		cmocka_unit_test(protect__a_node_has_its_own_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
