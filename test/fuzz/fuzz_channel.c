/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes bytes to both ends of a channel: raw, as handshake messages, and sealed with the right
 * keys to reach the decoders behind. Input: a byte that selects the end, then records of a length
 * byte and data. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "keys/noise.h"
#include "keys/token.h"
#include "manager/registry.h"
#include "node/channel.h"
#include "test/fuzz/fuzz.h"

#define ID 7

static const struct udp_address manager = {.port = 1}, node = {.port = 2};
static const uint8_t manager_private[KEYS_BYTES] = {1}, node_private[KEYS_BYTES] = {2, 2};
static const uint8_t ephemeral[KEYS_BYTES] = {3, 3};

static void good(bool value)
{
	if (!value)
		abort();
}

static size_t flatten(const struct datagram *d, uint8_t *out)
{
	memcpy(out, d->header, d->header_bytes);
	memcpy(out + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	return d->header_bytes + d->slices[0].bytes;
}

/* Returns the next record's size, with its bytes in *record. */
static size_t record_next(const uint8_t **data, size_t *bytes, const uint8_t **record)
{
	if (*bytes == 0)
		return 0;
	size_t length = min_u64((*data)[0], *bytes - 1);
	*record = *data + 1;
	*data += 1 + length;
	*bytes -= 1 + length;
	return length;
}

/* ---- the manager's end ---- */

static struct registry *registry_make(struct rng *rng, const struct noise *sender)
{
	struct registry_options options = {.admission = ADMIT_TOKEN,
					   .policy = GRANTS_EXPLICIT,
					   .entropy = rng_entropy_rng,
					   .entropy_context = rng};
	struct store_op op = {.kind = STORE_KEY_PUT, .key = {.name = "a", .role = ROLE_OPERATOR}};
	struct registry *r;

	memcpy(options.private_key, manager_private, sizeof(options.private_key));
	good(registry_create(&options, &r) == DXP_OK);
	memcpy(op.key.key, sender->public_key, sizeof(op.key.key));
	good(registry_load(r, &op) == DXP_OK);
	return r;
}

static void frame_pass(struct registry *r, uint8_t step, uint16_t number, const uint8_t *message,
		       size_t bytes)
{
	const struct channel_frame f = {ID, number, step, message, bytes};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];

	bytes = channel_frame_encode(&f, WIRE_NODE_NONE, WIRE_NODE_MANAGER, frame);
	registry_receive(r, &node, frame, bytes, S_NS);
}

/* Returns false without an answer. */
static bool answer_read(struct registry *r, struct channel_frame *f, uint8_t *frame)
{
	struct datagram out;
	struct store_op op;

	while (registry_next_store(r, &op))
		;
	return registry_send(r, &out, 1, S_NS) == 1 &&
	       channel_frame_decode(frame, flatten(&out, frame), f) == DXP_OK;
}

static void manager_fuzz(const uint8_t *data, size_t bytes)
{
	uint8_t prologue[CHANNEL_PROLOGUE_BYTES], manager_key[KEYS_BYTES];
	uint8_t payload[CHANNEL_OPEN_BYTES] = {1}, message[CHANNEL_MESSAGE_MAX];
	uint8_t frame[FABRIC_DATAGRAM_BYTES], text[CHANNEL_MESSAGE_MAX];
	struct rng rng = {1};
	struct noise n;
	struct channel_frame f;
	const uint8_t *record;

	good(keys_public(manager_private, manager_key));
	const struct noise_options options = {.initiator = true,
					      .prologue = prologue,
					      .prologue_bytes = channel_prologue(ID, prologue),
					      .private_key = node_private,
					      .peer = manager_key,
					      .ephemeral = ephemeral};
	good(noise_begin(&n, &options));
	struct registry *r = registry_make(&rng, &n);
	size_t length = record_next(&data, &bytes, &record);
	if (length)
		memcpy(payload, record, min_u64(length, sizeof(payload)));
	length = noise_write(&n, payload, sizeof(payload), message);
	frame_pass(r, CHANNEL_OPEN, 0, message, length);
	struct channel_opened opened;
	if (answer_read(r, &f, frame) && f.step == CHANNEL_OPENED &&
	    noise_read(&n, f.message, f.bytes, text) &&
	    channel_opened_decode(text, CHANNEL_OPENED_BYTES, &opened) == DXP_OK &&
	    opened.status == DXP_OK) {
		for (uint16_t number = 0; bytes > 0; number++) {
			length = record_next(&data, &bytes, &record);
			good(noise_seal(&n, length ? record : text, length, message));
			frame_pass(r, CHANNEL_REQUEST, number, message, length + KEYS_TAG_BYTES);
			good(answer_read(r, &f, frame) && f.number == number);
			good(noise_open(&n, f.message, f.bytes, text));
			struct channel_answer answer;
			good(channel_answer_decode(text, f.bytes - KEYS_TAG_BYTES, &answer) ==
			     DXP_OK);
		}
	}
	registry_destroy(r);
}

/* ---- the node's end ---- */

static void reply(struct channel *c, uint8_t step, uint16_t number, uint64_t id,
		  const uint8_t *message, size_t bytes)
{
	const struct channel_frame f = {id, number, step, message, bytes};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];

	bytes = channel_frame_encode(&f, WIRE_NODE_MANAGER, WIRE_NODE_NONE, frame);
	channel_receive(c, &manager, frame, bytes, S_NS);
}

static void node_fuzz(const uint8_t *data, size_t bytes)
{
	uint8_t prologue[CHANNEL_PROLOGUE_BYTES], message[CHANNEL_MESSAGE_MAX];
	uint8_t frame[FABRIC_DATAGRAM_BYTES], text[CHANNEL_MESSAGE_MAX];
	uint8_t payload[CHANNEL_OPENED_BYTES] = {0};
	struct rng rng = {1};
	struct channel_options options = {.manager = manager,
					  .request = {.command = CHANNEL_TOKEN_LIST},
					  .entropy = rng_entropy_rng,
					  .entropy_context = &rng};
	struct channel *c;
	struct datagram out;
	struct channel_frame f;
	struct noise n;
	const uint8_t *record;

	good(keys_public(manager_private, options.manager_key));
	memcpy(options.private_key, node_private, sizeof(options.private_key));
	good(channel_create(&options, S_NS, &c) == DXP_OK && channel_send(c, &out, S_NS) == 1);
	channel_receive(c, &manager, data, bytes, S_NS); /* without a seal */
	good(channel_frame_decode(frame, flatten(&out, frame), &f) == DXP_OK);
	const struct noise_options own = {.prologue = prologue,
					  .prologue_bytes = channel_prologue(f.id, prologue),
					  .private_key = manager_private,
					  .ephemeral = ephemeral};
	good(noise_begin(&n, &own) && noise_read(&n, f.message, f.bytes, text));
	uint64_t id = f.id;
	size_t length = record_next(&data, &bytes, &record);
	if (length)
		memcpy(payload, record, min_u64(length, sizeof(payload)));
	length = noise_write(&n, payload, sizeof(payload), message);
	reply(c, CHANNEL_OPENED, 0, id, message, length);
	for (uint16_t number = 0; bytes > 0; number++) {
		length = record_next(&data, &bytes, &record);
		good(noise_seal(&n, length ? record : text, length, message));
		reply(c, CHANNEL_ANSWER, number, id, message, length + KEYS_TAG_BYTES);
		channel_send(c, &out, S_NS);
	}
	channel_destroy(c);
}

/* Raw handshake messages, for responder and initiator. */
static void handshake_fuzz(const uint8_t *data, size_t bytes)
{
	uint8_t out[FABRIC_DATAGRAM_BYTES], message[FABRIC_DATAGRAM_BYTES], manager_key[KEYS_BYTES];
	struct noise n;

	bytes = min_u64(bytes, sizeof(out));
	good(keys_public(manager_private, manager_key));
	const struct noise_options responder = {.private_key = manager_private,
						.ephemeral = ephemeral};
	good(noise_begin(&n, &responder));
	if (noise_read(&n, data, bytes, out))
		noise_write(&n, NULL, 0, message);
	const struct noise_options initiator = {.initiator = true,
						.private_key = node_private,
						.peer = manager_key,
						.ephemeral = ephemeral};
	good(noise_begin(&n, &initiator) && noise_write(&n, NULL, 0, message) > 0);
	if (noise_read(&n, data, bytes, out))
		noise_open(&n, data, bytes, out);
}

static void text_fuzz(const uint8_t *data, size_t bytes)
{
	char text[TOKEN_TEXT_BYTES * 2], again[TOKEN_TEXT_BYTES];
	struct token token, back;

	bytes = min_u64(bytes, sizeof(text) - 1);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (token_parse(text, &token)) {
		token_format(&token, again);
		good(token_parse(again, &back) && memcmp(&token, &back, sizeof(back)) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	switch (data[0] % 4) {
	case 0: manager_fuzz(data + 1, bytes - 1); break;
	case 1: node_fuzz(data + 1, bytes - 1); break;
	case 2: handshake_fuzz(data + 1, bytes - 1); break;
	default: text_fuzz(data + 1, bytes - 1);
	}
	return 0;
}
