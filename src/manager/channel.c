/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's side of channels: handshakes, and the sealed requests that follow a handshake. An
 * OPEN proves the key of its sender, but it may be a replay, and it does not prove the token's
 * secret. So an OPEN changes nothing. The first request proves both. A retransmitted datagram gets
 * the same answer again. */
#include "manager/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#define HANDSHAKE_UNIT S_NS
/* An OPEN is longer than a REFUSE with a text of this format, so the answer is not longer than the
 * request. */
#define FINGERPRINT_FORMAT "this manager has the fingerprint %s%s"

struct channels {
	struct manager_channel all[FABRIC_CHANNELS_MAX];
	/* number of handshakes that may start now, in units of 10^-9; time of the last refill */
	uint64_t allowance, allowance_ns;
};

int channels_create(struct channels **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return DXP_ENOMEM;
	(*out)->allowance = FABRIC_CHANNELS_PER_S * HANDSHAKE_UNIT;
	return DXP_OK;
}

void channels_destroy(struct channels *c)
{
	if (!c)
		return;
	keys_erase(c, sizeof(*c));
	free(c);
}

static bool handshake_allowed(struct channels *c, uint64_t now_ns)
{
	uint64_t passed_ns = min_u64(now_ns - c->allowance_ns, S_NS);

	c->allowance_ns = now_ns;
	c->allowance = min_u64(c->allowance + passed_ns * FABRIC_CHANNELS_PER_S,
			       FABRIC_CHANNELS_PER_S * HANDSHAKE_UNIT);
	if (c->allowance < HANDSHAKE_UNIT)
		return false;
	c->allowance -= HANDSHAKE_UNIT;
	return true;
}

static void channel_end(struct registry *r, struct manager_channel *c)
{
	if (c->tokened && c->number == 0)
		r->counters.token_unproved++;
	keys_erase(c, sizeof(*c));
}

static struct manager_channel *channel_find(struct registry *r, uint64_t id,
					    const struct udp_address *from, uint64_t now_ns)
{
	for (size_t i = 0; i < FABRIC_CHANNELS_MAX; i++) {
		struct manager_channel *c = &r->channels->all[i];
		if (!c->used)
			continue;
		if (now_ns >= c->until_ns)
			channel_end(r, c);
		else if (c->id == id && address_equal(&c->from, from))
			return c;
	}
	return NULL;
}

/* Returns the rank of a channel in use; channels of low rank end first. 0: its requests are
 * answered, and it is silent for so long that the answers have arrived; 1: it has had no request
 * yet; 2: all others. */
static int channel_rank(const struct manager_channel *c, uint64_t now_ns)
{
	if (c->number == 0)
		return 1;
	return now_ns + FABRIC_CHANNEL_NS >= c->until_ns + FABRIC_CHANNEL_SILENT_NS ? 0 : 2;
}

/* Returns a free channel. If all are in use, ends the one with the lowest rank; of several, the one
 * that would expire first. */
static struct manager_channel *channel_place(struct registry *r, uint64_t now_ns)
{
	struct manager_channel *found = &r->channels->all[0];

	for (size_t i = 0; i < FABRIC_CHANNELS_MAX; i++) {
		struct manager_channel *c = &r->channels->all[i];
		if (!c->used)
			return c;
		int rank = channel_rank(c, now_ns), least = channel_rank(found, now_ns);
		if (rank < least || (rank == least && c->until_ns < found->until_ns))
			found = c;
	}
	r->counters.channel_limited++;
	channel_end(r, found);
	return found;
}

static void send_again(struct registry *r, const struct manager_channel *c)
{
	struct outbox_entry *entry = registry_outbox_reserve(r);

	if (!entry) {
		r->counters.reply_full++;
		return;
	}
	memcpy(entry->data, c->answer, c->answer_bytes);
	registry_outbox_commit(r, entry, &c->from, c->answer_bytes);
}

/* Answers an OPEN that this manager cannot read. The answer proves nothing, so its receiver only
 * shows its text as the reason of a failure. */
static void foreign_reject(struct registry *r, const struct udp_address *from, uint64_t id,
			   uint64_t now_ns)
{
	struct manage_answer answer = {.nonce = id, .status = DXP_EAUTH};
	char fingerprint[KEY_TEXT_BYTES];
	struct outbox_entry *entry =
		registry_rejection_allowed(r, now_ns) ? registry_outbox_reserve(r) : NULL;

	r->counters.channel_foreign++;
	if (!entry) {
		r->counters.reply_limited++;
		return;
	}
	snprintf(answer.text, sizeof(answer.text), FINGERPRINT_FORMAT,
		 key_format(r->public_key, fingerprint),
		 r->manager.row.generation
			 ? "; its key pair was replaced, so older tokens are not valid"
			 : "");
	registry_outbox_commit(r, entry, from,
			       manage_answer_encode(WIRE_REFUSE, WIRE_NODE_NONE, &answer,
						    MANAGE_FRAME_BYTES, NULL, entry->data));
}

/* Writes an OPENED frame to the channel's answer. */
static bool opened_write(struct manager_channel *c, const struct channel_opened *opened)
{
	uint8_t payload[CHANNEL_OPENED_BYTES], message[CHANNEL_MESSAGE_MAX];
	struct channel_frame frame = {.id = c->id, .step = CHANNEL_OPENED, .message = message};

	channel_opened_encode(opened, payload);
	frame.bytes = noise_write(&c->noise, payload, sizeof(payload), message);
	if (frame.bytes == 0)
		return false;
	c->answer_bytes = (uint16_t)channel_frame_encode(&frame, WIRE_NODE_MANAGER, WIRE_NODE_NONE,
							 c->answer);
	return true;
}

static bool noise_start(struct registry *r, struct manager_channel *c)
{
	uint8_t ephemeral[KEYS_BYTES], prologue[CHANNEL_PROLOGUE_BYTES];
	struct noise_options options = {.prologue = prologue,
					.prologue_bytes = channel_prologue(c->id, prologue),
					.private_key = c->former ? r->manager.row.former
								 : r->options.private_key,
					.ephemeral = ephemeral};

	r->options.entropy(r->options.entropy_context, ephemeral, sizeof(ephemeral));
	bool good = noise_begin(&c->noise, &options);
	keys_erase(ephemeral, sizeof(ephemeral));
	return good;
}

/* Reads the OPEN, which was made for the manager's present key, or during the overlap for its
 * former one. */
static bool open_read(struct registry *r, struct manager_channel *c,
		      const struct channel_frame *frame, struct channel_open *out)
{
	uint8_t payload[CHANNEL_MESSAGE_MAX];

	for (int former = 0; former <= r->manager.overlap; former++) {
		c->former = former;
		if (noise_start(r, c) &&
		    noise_read(&c->noise, frame->message, frame->bytes, payload))
			return channel_open_decode(payload, CHANNEL_OPEN_BYTES, out) == DXP_OK;
		noise_end(&c->noise);
	}
	return false;
}

static void open_receive(struct registry *r, const struct udp_address *from,
			 const struct channel_frame *frame, uint64_t now_ns)
{
	struct channel_open open;
	struct channel_opened opened;

	if (frame->bytes != NOISE_FIRST_BYTES + CHANNEL_OPEN_BYTES) {
		r->counters.malformed++;
		return;
	}
	if (!handshake_allowed(r->channels, now_ns)) {
		r->counters.channel_limited++;
		return;
	}
	struct manager_channel c = {.used = true,
				    .id = frame->id,
				    .from = *from,
				    .until_ns = now_ns + FABRIC_CHANNEL_NS};
	if (!open_read(r, &c, frame, &open)) {
		foreign_reject(r, from, frame->id, now_ns);
	} else {
		manager_command_open(r, &c, &open, &opened);
		if (opened_write(&c, &opened)) {
			send_again(r, &c);
			if (opened.status == DXP_OK)
				*channel_place(r, now_ns) = c;
		}
	}
	keys_erase(&c, sizeof(c));
}

/* Executes the next request of a channel. Keeps the answer, which is sent again if the request
 * arrives again. */
static void request_receive(struct registry *r, struct manager_channel *c,
			    const struct channel_frame *frame, uint64_t now_ns)
{
	uint8_t text[CHANNEL_MESSAGE_MAX], message[CHANNEL_MESSAGE_MAX];
	struct channel_frame reply = {
		.id = c->id, .number = frame->number, .step = CHANNEL_ANSWER, .message = message};
	struct channel_request request;
	struct channel_answer answer = {0};

	if (frame->bytes < KEYS_TAG_BYTES ||
	    !noise_open(&c->noise, frame->message, frame->bytes, text)) {
		r->counters.unauthentic++;
		return;
	}
	c->number++;
	c->until_ns = now_ns + FABRIC_CHANNEL_NS;
	if (channel_request_decode(text, frame->bytes - KEYS_TAG_BYTES, &request) == DXP_OK) {
		manager_command_run(r, c, &request, &answer, now_ns);
	} else {
		answer.status = DXP_EUNSUPPORTED;
		snprintf(answer.text, sizeof(answer.text),
			 "this manager does not know the request; update it");
	}
	size_t bytes = channel_answer_encode(&answer, text);
	if (noise_seal(&c->noise, text, bytes, message)) {
		reply.bytes = bytes + KEYS_TAG_BYTES;
		c->answer_bytes = (uint16_t)channel_frame_encode(&reply, WIRE_NODE_MANAGER,
								 WIRE_NODE_NONE, c->answer);
		send_again(r, c);
	}
	keys_erase(text, sizeof(text));
	keys_erase(&answer, sizeof(answer));
	keys_erase(&request, sizeof(request));
}

void channels_receive(struct registry *r, const struct udp_address *from, const uint8_t *data,
		      size_t bytes, uint64_t now_ns)
{
	struct channel_frame frame;
	int status = channel_frame_decode(data, bytes, &frame);

	if (status != DXP_OK) {
		*(status == DXP_EIO ? &r->counters.damaged : &r->counters.malformed) += 1;
		return;
	}
	struct manager_channel *c = channel_find(r, frame.id, from, now_ns);
	if (frame.step == CHANNEL_OPEN && !c)
		open_receive(r, from, &frame, now_ns);
	else if (frame.step == CHANNEL_OPEN && c->number == 0)
		send_again(r, c);
	else if (frame.step != CHANNEL_REQUEST)
		r->counters.unexpected++;
	else if (c && frame.number == c->number)
		request_receive(r, c, &frame, now_ns);
	else if (c && frame.number + 1 == c->number)
		send_again(r, c);
	else
		r->counters.unknown++;
}
