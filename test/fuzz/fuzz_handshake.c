/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the key agreement of sessions, with key pairs and without. Input: a byte that selects the
 * pattern and the message, then changes of three bytes: offset and value to XOR. A changed message
 * must be refused, unless only fields changed that a retransmission may change. */
#define FUZZ_NAME "fuzz_handshake"

#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "crypto/crypto.h"
#include "seal/seal.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/input.h"

#define CHANGES_MAX 64
#define KEYED       1u /* bits of the first byte */
#define ACK         2u
#define OTHER       4u /* another member answers */

struct node {
	struct seal *seal;
	uint8_t private_key[CRYPTO_KEY_BYTES], public_key[CRYPTO_KEY_BYTES];
};

static struct node nodes[3];
static struct rng rng = {3};
static bool keyed;

static const uint8_t *key_of(void *context, uint16_t node)
{
	return keyed ? nodes[node].public_key : NULL;
}

static void node_start(struct node *n, uint8_t number)
{
	static const uint8_t fabric_key[FABRIC_KEY_BYTES] = {1};
	const struct seal_options o = {.fabric_key = fabric_key,
				       .entropy = rng_entropy_rng,
				       .entropy_context = &rng,
				       .peer_key = key_of};

	n->private_key[1] = number;
	if (seal_create(&o, &n->seal) != DXP_OK ||
	    seal_identity(n->seal, n->private_key) != DXP_OK ||
	    !crypto_x25519_public(n->private_key, n->public_key))
		die("no memory");
}

static void frame_fill(uint8_t *frame, uint8_t type)
{
	const struct wire_header h = {.type = type, .header_bytes = WIRE_COMMON_BYTES};
	const struct wire_hello hello = {
		.session = 1, .rwnd = 64, .payload_bytes = 1408, .protect = WIRE_PROTECT_ENCRYPT};

	memset(frame, 0, WIRE_HELLO_SEALED_FRAME);
	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
}

/* Applies the changes of the input. Returns whether they matter to this message. */
static bool frame_change(struct input *in, uint8_t *frame, bool ack)
{
	uint8_t before[WIRE_HELLO_SEALED_FRAME], a[WIRE_OFF_HELLO_KEY], b[WIRE_OFF_HELLO_KEY];
	const size_t key_bytes = WIRE_OFF_HELLO_SEALED_TAG - WIRE_OFF_HELLO_KEY;

	memcpy(before, frame, sizeof(before));
	for (int i = 0; i < CHANGES_MAX && in->at < in->end; i++) {
		const unsigned at = take8(in) << 8 | take8(in);
		frame[at % WIRE_HELLO_SEALED_FRAME] ^= take8(in);
	}
	if (memcmp(frame + WIRE_OFF_HELLO_KEY, before + WIRE_OFF_HELLO_KEY, key_bytes) != 0)
		return true;
	wire_hello_constant(frame, sizeof(a), a);
	wire_hello_constant(before, sizeof(b), b);
	/* other fields of a HELLO_ACK change the keys of the session, not the handshake */
	return !ack && memcmp(a, b, sizeof(a)) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input in = {data, data + bytes};
	uint8_t hello[WIRE_HELLO_SEALED_FRAME], ack[WIRE_HELLO_SEALED_FRAME];
	const uint8_t flags = take8(&in);

	for (uint8_t i = 0; i < 3 && !nodes[i].seal; i++)
		node_start(&nodes[i], (uint8_t)(i + 1));
	keyed = flags & KEYED;
	frame_fill(hello, WIRE_HELLO);
	frame_fill(ack, WIRE_HELLO_ACK);
	struct rltp_seal *x = seal_ops.hello(nodes[0].seal, hello, 1);
	bool changed = !(flags & ACK) && frame_change(&in, hello, false);
	const bool other = keyed && flags & OTHER;
	struct rltp_seal *y = seal_ops.accept(nodes[other ? 2 : 1].seal, hello, 0, false);
	if ((y == NULL) != (changed || other))
		die("a HELLO was accepted or refused wrongly");
	if (y && seal_ops.answer(y, ack)) {
		changed |= flags & ACK && frame_change(&in, ack, true);
		if (seal_ops.finish(x, ack) == changed)
			die("a HELLO_ACK was accepted or refused wrongly");
	}
	seal_ops.free(x);
	seal_ops.free(y);
	return 0;
}
