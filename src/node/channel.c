/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's side of a channel. Sends OPEN until OPENED arrives, then REQUEST until ANSWER
 * arrives. Each datagram is retransmitted with the same bytes. An answer that only the manager can
 * have sealed decides at once. Other signs of failure count only if no such answer arrives for
 * DOUBT_WAIT_NS. */
#include "node/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "keys/noise.h"
#include "link/datagram.h"
#include "node/limits.h"

#define RETRY_FIRST_NS (100 * MS_NS)
#define RETRY_MAX_NS   (500 * MS_NS)
#define DOUBT_WAIT_NS  (300 * MS_NS)
#define TOKENS_MAX     1024 /* rows of one list of tokens; a manager has fewer */
#define TEXT_BYTES     (MANAGE_TEXT_BYTES + 192)

struct channel {
	struct channel_options options;
	struct noise noise;
	uint8_t psk[KEYS_BYTES];
	bool tokened, opened, answered, done;
	int status;
	uint64_t id;
	uint16_t number; /* number of the present request in this channel */
	uint64_t send_ns, retry_ns, until_ns;
	unsigned tries; /* transmissions of OPEN */
	/* arrival time of a sign of failure that proves nothing; 0: none arrived */
	uint64_t doubt_ns;
	int doubt_status;
	struct channel_answer answer;
	struct channel_token *tokens;
	size_t token_count;
	char text[TEXT_BYTES], doubt[TEXT_BYTES];
	size_t frame_bytes;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
};

static void finish(struct channel *c, int status, const char *text)
{
	c->done = true;
	c->status = status;
	snprintf(c->text, sizeof(c->text), "%s", text);
	if (!c->answered)
		noise_end(&c->noise);
	keys_erase(c->psk, sizeof(c->psk));
}

static void frame_set(struct channel *c, enum channel_step step, const uint8_t *message,
		      size_t bytes, uint64_t now_ns)
{
	const struct channel_frame frame = {.id = c->id,
					    .number = c->number,
					    .step = (uint8_t)step,
					    .message = message,
					    .bytes = bytes};

	c->frame_bytes = channel_frame_encode(&frame, WIRE_NODE_NONE, WIRE_NODE_MANAGER, c->frame);
	c->send_ns = now_ns;
	c->retry_ns = RETRY_FIRST_NS;
}

/* Begins the handshake and writes OPEN. */
static bool open_write(struct channel *c, uint64_t now_ns)
{
	uint8_t ephemeral[KEYS_BYTES], prologue[CHANNEL_PROLOGUE_BYTES];
	uint8_t payload[CHANNEL_OPEN_BYTES], message[NOISE_FIRST_BYTES + CHANNEL_OPEN_BYTES];
	const struct noise_options options = {.initiator = true,
					      .prologue = prologue,
					      .prologue_bytes = channel_prologue(c->id, prologue),
					      .private_key = c->options.private_key,
					      .peer = c->options.manager_key,
					      .ephemeral = ephemeral};
	struct channel_open open = {{0}};

	c->options.entropy(c->options.entropy_context, ephemeral, sizeof(ephemeral));
	bool good = noise_begin(&c->noise, &options);
	keys_erase(ephemeral, sizeof(ephemeral));
	if (good && c->options.token) {
		good = token_psk(c->options.token, c->psk);
		memcpy(open.token, c->options.token->id, sizeof(open.token));
		c->tokened = true;
	}
	channel_open_encode(&open, payload);
	size_t bytes = good ? noise_write(&c->noise, payload, sizeof(payload), message) : 0;
	if (bytes)
		frame_set(c, CHANNEL_OPEN, message, bytes, now_ns);
	return bytes != 0;
}

int channel_create(const struct channel_options *options, uint64_t now_ns, struct channel **out)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	c->options = *options;
	options->entropy(options->entropy_context, &c->id, sizeof(c->id));
	c->until_ns = now_ns + (options->timeout_ns ? options->timeout_ns : FABRIC_REQUEST_NS);
	bool good = open_write(c, now_ns);
	c->options.token = NULL;
	keys_erase(c->options.private_key, sizeof(c->options.private_key));
	if (!good) {
		channel_destroy(c);
		return DXP_EINVAL;
	}
	*out = c;
	return DXP_OK;
}

void channel_destroy(struct channel *c)
{
	if (!c)
		return;
	free(c->tokens);
	keys_erase(c, sizeof(*c));
	free(c);
}

static void request_write(struct channel *c, uint64_t now_ns)
{
	uint8_t text[CHANNEL_MESSAGE_MAX], message[CHANNEL_MESSAGE_MAX];
	size_t bytes = channel_request_encode(&c->options.request, text);

	if (noise_seal(&c->noise, text, bytes, message))
		frame_set(c, CHANNEL_REQUEST, message, bytes + KEYS_TAG_BYTES, now_ns);
	else
		finish(c, DXP_ENOMEM, "not enough memory");
	keys_erase(text, sizeof(text));
}

/* Sends the request of the options as the next one of this channel. */
static void request_next(struct channel *c, uint64_t now_ns)
{
	c->number++;
	c->answered = false;
	request_write(c, now_ns);
}

void channel_again(struct channel *c, const struct channel_request *request, uint64_t now_ns)
{
	c->options.request = *request;
	c->until_ns = now_ns + (c->options.timeout_ns ? c->options.timeout_ns : FABRIC_REQUEST_NS);
	c->done = false;
	c->token_count = 0;
	request_next(c, now_ns);
}

/* Records a sign of failure that proves nothing. Only the first one is kept. */
static void doubt(struct channel *c, int status, const char *text, uint64_t now_ns)
{
	if (c->doubt_ns)
		return;
	c->doubt_ns = now_ns;
	c->doubt_status = status;
	snprintf(c->doubt, sizeof(c->doubt), "%s", text);
}

/* Tries to open OPENED with this pre-shared key. Leaves c->noise unchanged if that fails. */
static bool opened_try(struct channel *c, const uint8_t psk[KEYS_BYTES],
		       const struct channel_frame *frame, struct channel_opened *opened)
{
	uint8_t payload[CHANNEL_MESSAGE_MAX];
	struct noise copy = c->noise;

	noise_psk(&copy, psk);
	bool good =
		noise_read(&copy, frame->message, frame->bytes, payload) &&
		channel_opened_decode(payload, frame->bytes - NOISE_SECOND_BYTES, opened) == DXP_OK;
	if (good)
		c->noise = copy;
	keys_erase(&copy, sizeof(copy));
	return good;
}

/* Handles OPENED. The manager rejects a token with a key of zeros, and admits a token only with the
 * token's own key. */
static void opened_receive(struct channel *c, const struct udp_address *from,
			   const struct channel_frame *frame, uint64_t now_ns)
{
	static const uint8_t zero[KEYS_BYTES];
	struct channel_opened opened;
	bool by_token = c->tokened && opened_try(c, c->psk, frame, &opened);

	if (!by_token && !opened_try(c, zero, frame, &opened)) {
		doubt(c, DXP_EAUTH,
		      c->tokened ? "the manager knows this token, but not with this secret; copy "
				   "the whole token again, or make another: `dxp token create`"
				 : "the answers of the manager are damaged",
		      now_ns);
		return;
	}
	if (opened.status == DXP_OK && c->tokened && !by_token)
		return; /* an admission that is sealed without the token's secret does not count */
	c->doubt_ns = 0;
	if (opened.status != DXP_OK) {
		finish(c, opened.status, opened.text);
		return;
	}
	c->opened = true;
	managers_use(&c->options.manager, &c->options.others, from);
	request_write(c, now_ns);
}

static bool tokens_add(struct channel *c)
{
	const size_t count = c->token_count + c->answer.count;
	struct channel_token *all =
		count <= TOKENS_MAX ? realloc(c->tokens, (count + 1) * sizeof(*all)) : NULL;

	if (!all)
		return false;
	memcpy(all + c->token_count, c->answer.tokens, c->answer.count * sizeof(*all));
	c->tokens = all;
	c->token_count = count;
	return true;
}

static void answer_receive(struct channel *c, const struct channel_frame *frame, uint64_t now_ns)
{
	uint8_t text[CHANNEL_MESSAGE_MAX];

	if (frame->bytes < KEYS_TAG_BYTES ||
	    !noise_open(&c->noise, frame->message, frame->bytes, text))
		return;
	int status = channel_answer_decode(text, frame->bytes - KEYS_TAG_BYTES, &c->answer);
	keys_erase(text, sizeof(text));
	c->answered = status == DXP_OK;
	if (status != DXP_OK) {
		finish(c, DXP_EUNSUPPORTED, "the manager's answer is unknown here; update dxp");
	} else if (c->answer.status != DXP_OK) {
		finish(c, c->answer.status, c->answer.text);
	} else if (!tokens_add(c)) {
		finish(c, DXP_ENOMEM, "not enough memory for the list of tokens");
	} else if (c->answer.next > c->options.request.first) {
		c->options.request.first = c->answer.next;
		request_next(c, now_ns);
	} else {
		finish(c, DXP_OK, c->answer.text);
	}
}

/* Handles REFUSE, which proves nothing because it is not sealed. Another manager, or a manager with
 * another key, answers OPEN with it. */
static void refuse_receive(struct channel *c, const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	struct manage_answer answer;
	char text[TEXT_BYTES];

	if (c->opened || manage_parse(data, bytes, &header, &body) != DXP_OK ||
	    header.type != WIRE_REFUSE || manage_answer_decode(body, &answer) != DXP_OK ||
	    answer.nonce != c->id || answer.status != DXP_EAUTH)
		return;
	snprintf(text, sizeof(text),
		 "another manager answers there, or it has a new key: %s; check the host, or get a "
		 "token from this manager",
		 answer.text);
	doubt(c, DXP_EAUTH, text, now_ns);
}

static void other_version_receive(struct channel *c, uint8_t version, uint64_t now_ns)
{
	char address[UDP_ADDRESS_TEXT_BYTES], text[TEXT_BYTES];

	snprintf(text, sizeof(text), MEMBER_OTHER_VERSION,
		 address_format(&c->options.manager, address), version, WIRE_VERSION);
	doubt(c, DXP_EUNSUPPORTED, text, now_ns);
}

void channel_receive(struct channel *c, const struct udp_address *from, const uint8_t *data,
		     size_t bytes, uint64_t now_ns)
{
	const uint8_t version = wire_other_version(data, bytes);
	struct channel_frame frame;

	if (c->done || !(c->opened ? address_equal(from, &c->options.manager)
				   : managers_have(&c->options.manager, &c->options.others, from)))
		return;
	if (version != 0) {
		if (!c->opened)
			other_version_receive(c, version, now_ns);
		return;
	}
	if (channel_frame_decode(data, bytes, &frame) != DXP_OK) {
		refuse_receive(c, data, bytes, now_ns);
		return;
	}
	if (frame.id != c->id || frame.number != c->number)
		return;
	if (frame.step == CHANNEL_OPENED && !c->opened &&
	    frame.bytes == NOISE_SECOND_BYTES + CHANNEL_OPENED_BYTES)
		opened_receive(c, from, &frame, now_ns);
	else if (frame.step == CHANNEL_ANSWER && c->opened)
		answer_receive(c, &frame, now_ns);
}

static void advance(struct channel *c, uint64_t now_ns)
{
	char address[UDP_ADDRESS_TEXT_BYTES], text[TEXT_BYTES];

	if (c->doubt_ns && now_ns >= c->doubt_ns + DOUBT_WAIT_NS) {
		finish(c, c->doubt_status, c->doubt);
	} else if (now_ns >= c->until_ns) {
		snprintf(text, sizeof(text),
			 "no manager answers at %s; check the host, that dxp-manager runs there, "
			 "and that the firewall lets UDP port %u in",
			 address_format(&c->options.manager, address), c->options.manager.port);
		finish(c, DXP_ETIMEDOUT, text);
	}
}

size_t channel_send(struct channel *c, struct datagram *out, uint64_t now_ns)
{
	if (!c->done)
		advance(c, now_ns);
	if (c->done || now_ns < c->send_ns)
		return 0;
	if (!c->opened && c->tries++ > 0)
		managers_next(&c->options.manager, &c->options.others);
	datagram_place(out, &c->options.manager, c->frame, c->frame_bytes);
	c->send_ns = now_ns + c->retry_ns;
	c->retry_ns = min_u64(c->retry_ns + c->retry_ns / 2, RETRY_MAX_NS);
	return 1;
}

uint64_t channel_deadline(const struct channel *c)
{
	if (c->done)
		return UINT64_MAX;
	uint64_t next_ns = min_u64(c->send_ns, c->until_ns);
	return c->doubt_ns ? min_u64(next_ns, c->doubt_ns + DOUBT_WAIT_NS) : next_ns;
}

bool channel_done(const struct channel *c)
{
	return c->done;
}

bool channel_answered(const struct channel *c)
{
	return c->answered;
}

int channel_status(const struct channel *c)
{
	return c->status;
}

const char *channel_text(const struct channel *c)
{
	return c->text;
}

const struct channel_answer *channel_last(const struct channel *c)
{
	return &c->answer;
}

size_t channel_tokens(const struct channel *c, const struct channel_token **rows)
{
	*rows = c->tokens;
	return c->token_count;
}
