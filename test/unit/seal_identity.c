/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests handshakes that prove key pairs: a member with the fabric key cannot act as another one,
 * and nothing is downgraded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "seal/internal.h"

#define NODES 3

/* Node ids are 1 to NODES. `table` has the public keys in the tables of all nodes; NULL: a node of
 * an earlier release. */
struct world {
	struct rng rng;
	struct seal *seals[NODES + 1];
	uint8_t private_keys[NODES + 1][CRYPTO_KEY_BYTES], public_keys[NODES + 1][CRYPTO_KEY_BYTES];
	const uint8_t *table[NODES + 1];
	uint8_t hello[WIRE_HELLO_SEALED_FRAME], ack[WIRE_HELLO_SEALED_FRAME];
};

static const uint8_t *key_of(void *context, uint16_t node)
{
	const struct world *w = context;

	return node <= NODES ? w->table[node] : NULL;
}

static void hello_fill(uint8_t *frame, uint8_t type)
{
	struct wire_header h = {.type = type, .header_bytes = WIRE_COMMON_BYTES};
	struct wire_hello hello = {
		.session = 7, .rwnd = 64, .payload_bytes = 1408, .protect = WIRE_PROTECT_ENCRYPT};

	memset(frame, 0, WIRE_HELLO_SEALED_FRAME);
	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
}

/* Makes nodes with key pairs, whose public keys are in the table. */
static void world_make(struct world *w)
{
	static const uint8_t fabric_key[FABRIC_KEY_BYTES] = {1, 2};

	*w = (struct world){.rng = {5}};
	for (uint16_t i = 1; i <= NODES; i++) {
		const struct seal_options o = {.fabric_key = fabric_key,
					       .entropy = rng_entropy_rng,
					       .entropy_context = &w->rng,
					       .peer_key = key_of,
					       .peer_context = w};
		assert_int_equal(seal_create(&o, &w->seals[i]), DXP_OK);
		w->private_keys[i][1] =
			(uint8_t)i; /* X25519 ignores three bits of the first byte */
		assert_int_equal(seal_identity(w->seals[i], w->private_keys[i]), DXP_OK);
		assert_true(crypto_x25519_public(w->private_keys[i], w->public_keys[i]));
		w->table[i] = w->public_keys[i];
	}
	hello_fill(w->hello, WIRE_HELLO);
	hello_fill(w->ack, WIRE_HELLO_ACK);
}

static void world_end(struct world *w)
{
	for (int i = 1; i <= NODES; i++)
		seal_destroy(w->seals[i]);
}

/* Returns whether `a` opens a session with node `to`, whose frames node `b` makes, and which takes
 * `a` for node `from`. */
static bool opens(struct world *w, uint16_t a, uint16_t from, uint16_t b, uint16_t to)
{
	struct rltp_seal *x = seal_ops.hello(w->seals[a], w->hello, to);
	assert_non_null(x);
	struct rltp_seal *y = seal_ops.accept(w->seals[b], w->hello, from, false);
	bool good = y && seal_ops.answer(y, w->ack) && seal_ops.finish(x, w->ack);

	if (good) {
		assert_memory_equal(x->tx_secret, y->rx_secret, sizeof(x->tx_secret));
		assert_memory_equal(x->rx_secret, y->tx_secret, sizeof(x->rx_secret));
		assert_memory_not_equal(x->rx_secret, x->tx_secret, sizeof(x->rx_secret));
	}
	seal_ops.free(x);
	seal_ops.free(y);
	return good;
}

static void identity__only_the_owners_of_both_keys(void **state)
{
	struct world w;

	world_make(&w);
	for (int again = 0; again < 2; again++) { /* then with kept agreements */
		assert_true(opens(&w, 1, 1, 2, 2));
		assert_true(opens(&w, 2, 2, 1, 1));
		assert_false(opens(&w, 3, 1, 2, 2)); /* node 3 as node 1 */
		assert_false(opens(&w, 1, 1, 3, 2)); /* node 3 as node 2 */
	}
	world_end(&w);
}

/* Node 3, a member with the fabric key, claims to be of an earlier release. */
static void identity__no_downgrade(void **state)
{
	struct world w;

	world_make(&w);
	w.seals[3]->keyed = false;
	assert_false(opens(&w, 3, 1, 2, 2));
	assert_false(opens(&w, 1, 1, 3, 2));
	assert_false(
		opens(&w, 3, 3, 2, 2)); /* not even as itself, as long as the table has its key */
	w.table[3] = NULL;
	assert_true(opens(&w, 3, 3, 2, 2));
	assert_true(opens(&w, 2, 2, 3, 3));
	assert_false(opens(&w, 3, 1, 2, 2));
	world_end(&w);
}

static void identity__every_bit_counts(void **state)
{
	uint8_t bad[WIRE_HELLO_SEALED_FRAME];
	struct world w;

	world_make(&w);
	struct rltp_seal *x = seal_ops.hello(w.seals[1], w.hello, 2);
	for (size_t bit = 8 * WIRE_OFF_HELLO_KEY; bit < 8 * WIRE_OFF_HELLO_SEALED_TAG; bit++) {
		memcpy(bad, w.hello, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_null(seal_ops.accept(w.seals[2], bad, 1, false));
	}
	struct rltp_seal *y = seal_ops.accept(w.seals[2], w.hello, 1, false);
	assert_true(seal_ops.answer(y, w.ack));
	for (size_t bit = 8 * WIRE_OFF_HELLO_KEY; bit < 8 * WIRE_OFF_HELLO_SEALED_TAG; bit++) {
		memcpy(bad, w.ack, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(seal_ops.finish(x, bad));
	}
	assert_true(seal_ops.finish(x, w.ack));
	seal_ops.free(x);
	seal_ops.free(y);
	world_end(&w);
}

/* A HELLO whose keys have changed is made anew. */
static void identity__changes(void **state)
{
	struct world w;

	world_make(&w);
	struct rltp_seal *x = seal_ops.hello(w.seals[1], w.hello, 2);
	assert_true(seal_ops.current(x));
	w.table[3] = NULL;
	assert_true(seal_ops.current(x));
	w.table[2] = w.public_keys[3];
	assert_false(seal_ops.current(x));
	w.table[2] = NULL;
	assert_false(seal_ops.current(x));
	w.table[2] = w.public_keys[2];
	assert_true(seal_ops.current(x));
	assert_int_equal(seal_identity(w.seals[1], w.private_keys[3]), DXP_OK);
	assert_false(seal_ops.current(x));
	seal_ops.free(x);
	/* the new key counts once it is in the table */
	assert_false(opens(&w, 1, 1, 2, 2));
	w.table[1] = w.public_keys[3];
	assert_true(opens(&w, 1, 1, 2, 2));
	assert_true(opens(&w, 2, 2, 1, 1));
	world_end(&w);
}

static void identity__a_degenerate_key(void **state)
{
	static const uint8_t zero[CRYPTO_KEY_BYTES];
	struct world w;

	world_make(&w);
	w.table[2] = zero;
	assert_null(seal_ops.hello(w.seals[1], w.hello, 2));
	world_end(&w);
}

/* Sessions open with more peers than there are places for agreements. */
static void identity__many_peers(void **state)
{
	uint8_t private_key[CRYPTO_KEY_BYTES] = {0}, public_key[CRYPTO_KEY_BYTES];
	struct world w;

	world_make(&w);
	for (unsigned i = 0; i < 3 * SEAL_AGREEMENTS; i++) {
		private_key[2] = (uint8_t)(i + 1);
		assert_true(crypto_x25519_public(private_key, public_key));
		assert_int_equal(seal_identity(w.seals[3], private_key), DXP_OK);
		w.table[3] = public_key;
		assert_true(opens(&w, 1, 1, 3, 3));
		assert_true(opens(&w, 3, 3, 1, 1));
		assert_true(opens(&w, 1, 1, 2, 2));
	}
	world_end(&w);
}

static unsigned agreements(const struct seal *s)
{
	static const struct seal_agreement none;
	unsigned count = 0;

	for (size_t i = 0; i < SEAL_AGREEMENTS; i++)
		count += memcmp(&s->agreements[i], &none, sizeof(none)) != 0;
	return count;
}

/* Nothing of the agreement with a peer stays in memory after its loss. */
static void identity__a_lost_peer(void **state)
{
	struct world w;

	world_make(&w);
	assert_true(opens(&w, 1, 1, 2, 2));
	assert_true(opens(&w, 1, 1, 3, 3));
	assert_int_equal(agreements(w.seals[1]), 2);
	seal_peer_lost(w.seals[1], 2);
	assert_int_equal(agreements(w.seals[1]), 1);
	seal_peer_lost(w.seals[1], 3);
	assert_int_equal(agreements(w.seals[1]), 0);
	assert_true(opens(&w, 1, 1, 2, 2));
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity__only_the_owners_of_both_keys),
		cmocka_unit_test(identity__no_downgrade),
		cmocka_unit_test(identity__every_bit_counts),
		cmocka_unit_test(identity__changes),
		cmocka_unit_test(identity__a_degenerate_key),
		cmocka_unit_test(identity__many_peers),
		cmocka_unit_test(identity__a_lost_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
