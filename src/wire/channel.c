/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the channel to the manager. Fields have fixed offsets, so that the length of
 * a message reveals little. */
#include "wire/channel.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/cursor.h"
#include "wire/frame.h"
#include "wire/ids.h"

#define FRAME_HEAD    11 /* body before the message */
#define OPEN_VERSION  1
#define REQUEST_BYTES 117

_Static_assert(PUBLIC_KEY_BYTES == FABRIC_NAME_BYTES, "a proof has the place of a name");

static struct put_cursor put_begin(uint8_t *out, size_t bytes)
{
	return (struct put_cursor){out, out + bytes, false};
}

static struct get_cursor get_begin(const uint8_t *data, size_t bytes)
{
	return (struct get_cursor){data, data + bytes, false};
}

size_t channel_frame_encode(const struct channel_frame *frame, uint16_t source, uint16_t target,
			    uint8_t *out)
{
	const size_t body_bytes = FRAME_HEAD + frame->bytes;
	struct wire_header header = {.type = WIRE_CHANNEL,
				     .header_bytes = WIRE_COMMON_BYTES,
				     .flags = WIRE_FLAG_CRCP,
				     .src_node = source,
				     .dst_node = target,
				     .payload_bytes = (uint16_t)body_bytes};
	struct put_cursor c =
		put_begin(out + WIRE_COMMON_BYTES, FABRIC_DATAGRAM_BYTES - WIRE_COMMON_BYTES);

	wire_header_encode(&header, out);
	put_64(&c, frame->id);
	put_16(&c, frame->number);
	put_8(&c, frame->step);
	put_bytes(&c, frame->message, frame->bytes);
	assert(!c.bad);
	wire_control_seal(out, WIRE_COMMON_BYTES + body_bytes);
	return WIRE_COMMON_BYTES + body_bytes;
}

size_t channel_prologue(uint64_t id, uint8_t out[CHANNEL_PROLOGUE_BYTES])
{
	static const char name[CHANNEL_PROLOGUE_BYTES - CHANNEL_ID_BYTES] = "dxp channel 1";

	memcpy(out, name, sizeof(name));
	put_be64(out + sizeof(name), id);
	return CHANNEL_PROLOGUE_BYTES;
}

int channel_frame_decode(const uint8_t *data, size_t bytes, struct channel_frame *out)
{
	struct wire_header h;
	int status = wire_header_decode(data, bytes, &h);

	if (status != DXP_OK)
		return status;
	if (h.type != WIRE_CHANNEL || !(h.flags & WIRE_FLAG_CRCP) || h.payload_bytes < FRAME_HEAD ||
	    h.payload_bytes > FRAME_HEAD + CHANNEL_MESSAGE_MAX)
		return DXP_EMALFORMED;
	struct get_cursor c = get_begin(data + WIRE_COMMON_BYTES, h.payload_bytes);
	struct channel_frame f = {.id = get_64(&c), .number = get_16(&c), .step = get_8(&c)};
	f.message = c.at;
	f.bytes = (size_t)(c.end - c.at);
	if (f.step < CHANNEL_OPEN || f.step > CHANNEL_ANSWER)
		return DXP_EMALFORMED;
	*out = f;
	return DXP_OK;
}

static void zeros_get(struct get_cursor *c)
{
	uint8_t any = 0;

	while (c->at != c->end && !c->bad)
		any |= *c->at++;
	c->bad |= any != 0;
}

void channel_open_encode(const struct channel_open *open, uint8_t out[CHANNEL_OPEN_BYTES])
{
	struct put_cursor c = put_begin(out, CHANNEL_OPEN_BYTES);

	memset(out, 0, CHANNEL_OPEN_BYTES);
	put_8(&c, OPEN_VERSION);
	put_bytes(&c, open->token, sizeof(open->token));
}

int channel_open_decode(const uint8_t *data, size_t bytes, struct channel_open *out)
{
	struct get_cursor c = get_begin(data, bytes);
	struct channel_open open = {{0}};

	if (bytes != CHANNEL_OPEN_BYTES || get_8(&c) != OPEN_VERSION)
		return DXP_EMALFORMED;
	get_bytes(&c, open.token, sizeof(open.token));
	zeros_get(&c);
	if (c.bad)
		return DXP_EMALFORMED;
	*out = open;
	return DXP_OK;
}

void channel_opened_encode(const struct channel_opened *opened, uint8_t out[CHANNEL_OPENED_BYTES])
{
	struct put_cursor c = put_begin(out, CHANNEL_OPENED_BYTES);

	memset(out, 0, CHANNEL_OPENED_BYTES);
	put_32(&c, (uint32_t)opened->status);
	put_text(&c, opened->text);
	assert(!c.bad);
}

int channel_opened_decode(const uint8_t *data, size_t bytes, struct channel_opened *out)
{
	struct get_cursor c = get_begin(data, bytes);
	struct channel_opened opened = {.status = (int32_t)get_32(&c)};

	get_text(&c, opened.text, sizeof(opened.text));
	zeros_get(&c);
	if (c.bad || bytes != CHANNEL_OPENED_BYTES || opened.status > 0)
		return DXP_EMALFORMED;
	*out = opened;
	return DXP_OK;
}

/* The name is padded with zeros. */
static void name_put(struct put_cursor *c, const char *name)
{
	char padded[FABRIC_NAME_BYTES] = {0};

	memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
	put_bytes(c, padded, sizeof(padded));
}

/* "*" and empty are allowed. */
static void name_get(struct get_cursor *c, char name[FABRIC_NAME_BYTES])
{
	get_bytes(c, name, FABRIC_NAME_BYTES);
	c->bad = c->bad || (*name && !manage_name_valid(name) && memcmp(name, "*", 2) != 0);
	for (size_t i = strnlen(name, FABRIC_NAME_BYTES); i < FABRIC_NAME_BYTES; i++)
		c->bad |= name[i] != 0;
}

size_t channel_request_encode(const struct channel_request *request, uint8_t *out)
{
	struct put_cursor c = put_begin(out, CHANNEL_MESSAGE_MAX);

	put_8(&c, request->command);
	put_8(&c, request->role);
	put_16(&c, request->first);
	put_32(&c, request->uses);
	put_64(&c, request->seconds);
	put_bytes(&c, request->token, sizeof(request->token));
	put_bytes(&c, request->psk, sizeof(request->psk));
	name_put(&c, request->name);
	if (request->command == CHANNEL_ROTATE)
		put_bytes(&c, request->proof, sizeof(request->proof));
	else
		name_put(&c, request->xpu);
	assert(!c.bad && c.at == out + REQUEST_BYTES);
	return REQUEST_BYTES;
}

int channel_request_decode(const uint8_t *data, size_t bytes, struct channel_request *out)
{
	struct get_cursor c = get_begin(data, bytes);
	struct channel_request r = {.command = get_8(&c),
				    .role = get_8(&c),
				    .first = get_16(&c),
				    .uses = get_32(&c),
				    .seconds = get_64(&c)};

	get_bytes(&c, r.token, sizeof(r.token));
	get_bytes(&c, r.psk, sizeof(r.psk));
	name_get(&c, r.name);
	if (r.command == CHANNEL_ROTATE)
		get_bytes(&c, r.proof, sizeof(r.proof));
	else
		name_get(&c, r.xpu);
	if (!get_done(&c) || r.command < CHANNEL_ADMIT || r.command > CHANNEL_COMMANDS ||
	    r.role > ROLE_OPERATOR)
		return DXP_EMALFORMED;
	*out = r;
	return DXP_OK;
}

static void token_put(struct put_cursor *c, const struct channel_token *t)
{
	put_bytes(c, t->id, sizeof(t->id));
	put_8(c, t->role);
	put_8(c, t->state);
	put_32(c, t->uses);
	put_64(c, t->seconds);
	name_put(c, t->used_by);
}

static void token_get(struct get_cursor *c, struct channel_token *t)
{
	get_bytes(c, t->id, sizeof(t->id));
	t->role = get_8(c);
	t->state = get_8(c);
	t->uses = get_32(c);
	t->seconds = get_64(c);
	name_get(c, t->used_by);
	c->bad |= t->role < ROLE_HOST || t->role > ROLE_OPERATOR || t->state > TOKEN_REVOKED;
}

size_t channel_answer_encode(const struct channel_answer *answer, uint8_t *out)
{
	struct put_cursor c = put_begin(out, CHANNEL_MESSAGE_MAX);

	put_32(&c, (uint32_t)answer->status);
	put_text(&c, answer->text);
	put_8(&c, answer->role);
	put_bytes(&c, answer->fabric_key, sizeof(answer->fabric_key));
	put_16(&c, answer->next);
	put_8(&c, answer->count);
	for (unsigned i = 0; i < answer->count; i++)
		token_put(&c, &answer->tokens[i]);
	if (answer->fabric.present) {
		put_32(&c, answer->fabric.generation);
		put_32(&c, answer->fabric.former_ms);
		put_64(&c, answer->fabric.age_s);
	}
	assert(!c.bad);
	return (size_t)(c.at - out);
}

int channel_answer_decode(const uint8_t *data, size_t bytes, struct channel_answer *out)
{
	struct get_cursor c = get_begin(data, bytes);
	struct channel_answer a = {.status = (int32_t)get_32(&c)};

	get_text(&c, a.text, sizeof(a.text));
	a.role = get_8(&c);
	get_bytes(&c, a.fabric_key, sizeof(a.fabric_key));
	a.next = get_16(&c);
	a.count = get_8(&c);
	if (c.bad || a.status > 0 || a.role > ROLE_OPERATOR || a.count > CHANNEL_TOKENS_MAX)
		return DXP_EMALFORMED;
	for (unsigned i = 0; i < a.count; i++)
		token_get(&c, &a.tokens[i]);
	a.fabric.present = c.at != c.end;
	if (a.fabric.present) {
		a.fabric.generation = get_32(&c);
		a.fabric.former_ms = get_32(&c);
		a.fabric.age_s = get_64(&c);
	}
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = a;
	return DXP_OK;
}

static const char *const roles[] = {
	[ROLE_NONE] = "?", [ROLE_HOST] = "host", [ROLE_XPU] = "xpu", [ROLE_OPERATOR] = "operator"};

const char *channel_role_text(uint8_t role)
{
	return roles[role <= ROLE_OPERATOR ? role : ROLE_NONE];
}

enum manage_role channel_role_parse(const char *text)
{
	for (enum manage_role role = ROLE_HOST; role <= ROLE_OPERATOR; role++)
		if (strcmp(text, roles[role]) == 0)
			return role;
	return ROLE_NONE;
}
