/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the management protocol, and seals its frames. */
#include "wire/manage.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/manage_entry.h"

/* `dst_session` of a management frame. FORM_KEYED: the sender's public key is behind the body. */
#define FORM_PLAIN 0
#define FORM_KEYED 1

/* zeros: a STATUS request is as long as the longest rejection, so that this is no amplification */
#define STATUS_PADDING 46

/* Header fields that the NIC may still change count as zero. */
static void mac_of_frame(struct mac *mac, const uint8_t *frame, size_t body_bytes,
			 uint8_t out[MAC_BYTES])
{
	uint8_t header[WIRE_COMMON_BYTES];

	memcpy(header, frame, sizeof(header));
	memset(header + WIRE_OFF_TX_TS, 0, 4);
	memset(header + WIRE_OFF_CUM_ACK, 0, 4);
	memset(header + WIRE_OFF_CE_COUNT, 0, 2);
	memset(header + WIRE_OFF_CRC, 0, 4);
	mac_compute(mac, header, sizeof(header), frame + WIRE_COMMON_BYTES, body_bytes, out);
}

static size_t seal(uint8_t type, uint16_t source, uint16_t target, size_t body_bytes, uint32_t form,
		   struct mac *mac, uint8_t *out)
{
	size_t frame_bytes = WIRE_COMMON_BYTES + body_bytes + MAC_BYTES;
	struct wire_header header = {
		.type = type,
		.header_bytes = WIRE_COMMON_BYTES,
		.flags = WIRE_FLAG_CRCP,
		.dst_session = form,
		.src_node = source,
		.dst_node = target,
		.payload_bytes = (uint16_t)(body_bytes + MAC_BYTES),
	};

	wire_header_encode(&header, out);
	if (mac)
		mac_of_frame(mac, out, body_bytes, out + WIRE_COMMON_BYTES + body_bytes);
	else
		memset(out + WIRE_COMMON_BYTES + body_bytes, 0, MAC_BYTES);
	wire_control_seal(out, frame_bytes);
	return frame_bytes;
}

size_t manage_seal(uint8_t type, uint16_t source, uint16_t target, size_t body_bytes,
		   struct mac *mac, uint8_t *out)
{
	return seal(type, source, target, body_bytes, FORM_PLAIN, mac, out);
}

size_t manage_seal_keyed(uint8_t type, uint16_t source, size_t body_bytes, const uint8_t *key,
			 struct mac *mac, uint8_t *out)
{
	if (!key)
		return seal(type, source, WIRE_NODE_MANAGER, body_bytes, FORM_PLAIN, mac, out);
	assert(WIRE_COMMON_BYTES + body_bytes + PUBLIC_KEY_BYTES + MAC_BYTES <= MANAGE_FRAME_BYTES);
	memcpy(out + WIRE_COMMON_BYTES + body_bytes, key, PUBLIC_KEY_BYTES);
	return seal(type, source, WIRE_NODE_MANAGER, body_bytes + PUBLIC_KEY_BYTES, FORM_KEYED, mac,
		    out);
}

int manage_parse(const uint8_t *data, size_t bytes, struct wire_header *header,
		 struct manage_body *body)
{
	struct wire_header h;
	int status = wire_header_decode(data, bytes, &h);

	if (status != DXP_OK)
		return status;
	if (!wire_type_management(h.type) || !(h.flags & WIRE_FLAG_CRCP) ||
	    h.payload_bytes < MAC_BYTES)
		return DXP_EMALFORMED;
	struct manage_body b = {data + WIRE_COMMON_BYTES, (size_t)h.payload_bytes - MAC_BYTES,
				NULL};
	if (h.dst_session > FORM_KEYED || (h.dst_session && b.bytes < PUBLIC_KEY_BYTES))
		return DXP_EMALFORMED;
	if (h.dst_session == FORM_KEYED) {
		b.bytes -= PUBLIC_KEY_BYTES;
		b.key = b.data + b.bytes;
	}
	*header = h;
	*body = b;
	return DXP_OK;
}

bool manage_authentic(const uint8_t *data, struct manage_body body, struct mac *mac)
{
	size_t bytes = body.bytes + (body.key ? PUBLIC_KEY_BYTES : 0);
	uint8_t expected[MAC_BYTES];

	mac_of_frame(mac, data, bytes, expected);
	return mac_equal(expected, body.data + bytes);
}

int manage_open(const uint8_t *data, size_t bytes, struct mac *mac, struct wire_header *header,
		struct manage_body *body)
{
	int status = manage_parse(data, bytes, header, body);

	if (status != DXP_OK)
		return status;
	return manage_authentic(data, *body, mac) ? DXP_OK : DXP_EAUTH;
}

static struct put_cursor body_begin(uint8_t *out)
{
	return (struct put_cursor){out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
				   false};
}

static size_t body_end(const struct put_cursor *c, uint8_t type, uint16_t source, uint16_t target,
		       struct mac *mac, uint8_t *out)
{
	assert(!c->bad);
	return manage_seal(type, source, target, (size_t)(c->at - out) - WIRE_COMMON_BYTES, mac,
			   out);
}

/* Completes a request; `key`: the sender's public key, or NULL. */
static size_t request_end(const struct put_cursor *c, uint8_t type, uint16_t source,
			  const uint8_t *key, struct mac *mac, uint8_t *out)
{
	assert(!c->bad);
	return manage_seal_keyed(type, source, (size_t)(c->at - out) - WIRE_COMMON_BYTES, key, mac,
				 out);
}

static struct get_cursor get_begin(struct manage_body body)
{
	return (struct get_cursor){body.data, body.data + body.bytes, false};
}

bool manage_prefix(struct manage_body body, uint64_t *request, uint64_t *nonce)
{
	struct get_cursor c = get_begin(body);
	uint64_t first = get_64(&c), second = get_64(&c);

	if (c.bad)
		return false;
	*request = first;
	*nonce = second;
	return true;
}

size_t manage_join_encode(const struct manage_join *join, struct mac *mac, uint8_t *out)
{
	struct put_cursor c = body_begin(out);

	put_64(&c, join->request);
	put_64(&c, join->nonce);
	put_64(&c, join->run);
	manage_entry_put(&c, &join->self);
	return request_end(&c, WIRE_JOIN, WIRE_NODE_NONE, join->key, mac, out);
}

int manage_join_decode(struct manage_body body, struct manage_join *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_join join = {.request = get_64(&c), .nonce = get_64(&c), .run = get_64(&c)};

	manage_entry_get(&c, &join.self);
	if (!get_done(&c) || join.self.id > WIRE_NODE_LAST)
		return DXP_EMALFORMED;
	*out = join;
	return DXP_OK;
}

size_t manage_lease_encode(const struct manage_lease *lease, struct mac *mac, uint8_t *out)
{
	struct put_cursor c = body_begin(out);

	put_64(&c, lease->request);
	put_64(&c, lease->nonce);
	put_64(&c, lease->epoch);
	put_64(&c, lease->sequence);
	put_64(&c, lease->lease_ns);
	put_16(&c, lease->node);
	if (lease->rekey.generation) {
		put_32(&c, lease->rekey.generation);
		put_32(&c, lease->rekey.use_ms);
		put_32(&c, lease->rekey.former_ms);
		put_bytes(&c, lease->rekey.sealed, sizeof(lease->rekey.sealed));
	}
	return body_end(&c, WIRE_LEASE, WIRE_NODE_MANAGER, lease->node, mac, out);
}

int manage_lease_decode(struct manage_body body, struct manage_lease *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_lease lease = {
		.request = get_64(&c),
		.nonce = get_64(&c),
		.epoch = get_64(&c),
		.sequence = get_64(&c),
		.lease_ns = get_64(&c),
		.node = get_16(&c),
	};
	const bool rekey = c.at != c.end;

	if (rekey) {
		lease.rekey.generation = get_32(&c);
		lease.rekey.use_ms = get_32(&c);
		lease.rekey.former_ms = get_32(&c);
		get_bytes(&c, lease.rekey.sealed, sizeof(lease.rekey.sealed));
	}
	if (!get_done(&c) || rekey != (lease.rekey.generation != 0) || lease.epoch == 0 ||
	    lease.lease_ns == 0 || lease.node < WIRE_NODE_FIRST || lease.node > WIRE_NODE_LAST)
		return DXP_EMALFORMED;
	*out = lease;
	return DXP_OK;
}

size_t manage_renew_encode(uint8_t type, uint16_t source, const struct manage_renew *renew,
			   struct mac *mac, uint8_t *out)
{
	struct put_cursor c = body_begin(out);

	assert(type == WIRE_RENEW || type == WIRE_LEAVE || type == WIRE_TABLE_ACK);
	put_64(&c, renew->request);
	put_64(&c, renew->nonce);
	put_64(&c, renew->run);
	put_64(&c, renew->incarnation);
	put_bytes(&c, renew->uuid, sizeof(renew->uuid));
	put_64(&c, renew->progress.epoch);
	put_64(&c, renew->progress.sequence);
	put_16(&c, renew->progress.cursor);
	return request_end(&c, type, source, renew->key, mac, out);
}

int manage_renew_decode(struct manage_body body, struct manage_renew *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_renew renew = {.request = get_64(&c),
				     .nonce = get_64(&c),
				     .run = get_64(&c),
				     .incarnation = get_64(&c)};

	get_bytes(&c, renew.uuid, sizeof(renew.uuid));
	renew.progress.epoch = get_64(&c);
	renew.progress.sequence = get_64(&c);
	renew.progress.cursor = get_16(&c);
	if (!get_done(&c) || renew.progress.cursor > WIRE_NODE_LAST)
		return DXP_EMALFORMED;
	*out = renew;
	return DXP_OK;
}

/* Padded with zeros: an ASSIGN is then as long as the longest unauthenticated rejection, so that
 * this is no amplification. */
static void fixed_name_put(struct put_cursor *c, const char *name)
{
	char padded[FABRIC_NAME_BYTES] = {0};

	memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
	put_bytes(c, padded, sizeof(padded));
}

static void fixed_name_get(struct get_cursor *c, char name[FABRIC_NAME_BYTES])
{
	get_bytes(c, name, FABRIC_NAME_BYTES);
	c->bad = c->bad || (!manage_name_valid(name) && memcmp(name, "*", 2) != 0);
	for (size_t i = strnlen(name, FABRIC_NAME_BYTES); i < FABRIC_NAME_BYTES; i++)
		c->bad |= name[i] != 0;
}

size_t manage_assign_encode(const struct manage_assign *assign, struct mac *mac, uint8_t *out)
{
	struct put_cursor c = body_begin(out);

	put_64(&c, assign->request);
	put_64(&c, assign->nonce);
	put_64(&c, assign->epoch);
	put_64(&c, assign->version);
	put_8(&c, assign->action);
	fixed_name_put(&c, assign->host);
	fixed_name_put(&c, assign->xpu);
	return body_end(&c, WIRE_ASSIGN, WIRE_NODE_NONE, WIRE_NODE_MANAGER, mac, out);
}

int manage_assign_decode(struct manage_body body, struct manage_assign *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_assign assign = {
		.request = get_64(&c),
		.nonce = get_64(&c),
		.epoch = get_64(&c),
		.version = get_64(&c),
		.action = get_8(&c),
	};

	fixed_name_get(&c, assign.host);
	fixed_name_get(&c, assign.xpu);
	if (!get_done(&c) || (assign.action != MANAGE_GRANT && assign.action != MANAGE_REVOKE))
		return DXP_EMALFORMED;
	*out = assign;
	return DXP_OK;
}

size_t manage_status_encode(const struct manage_status *status, struct mac *mac, uint8_t *out)
{
	static const uint8_t padding[STATUS_PADDING];
	struct put_cursor c = body_begin(out);

	put_64(&c, status->request);
	put_64(&c, status->nonce);
	put_16(&c, status->first);
	put_bytes(&c, padding, sizeof(padding));
	return request_end(&c, WIRE_STATUS, WIRE_NODE_NONE, status->key, mac, out);
}

int manage_status_decode(struct manage_body body, struct manage_status *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_status status = {
		.request = get_64(&c), .nonce = get_64(&c), .first = get_16(&c)};
	uint8_t padding[STATUS_PADDING] = {0}, any = 0;

	get_bytes(&c, padding, sizeof(padding));
	for (size_t i = 0; i < sizeof(padding); i++)
		any |= padding[i];
	if (!get_done(&c) || any != 0 || status.first < WIRE_NODE_FIRST ||
	    status.first > WIRE_NODE_LAST)
		return DXP_EMALFORMED;
	*out = status;
	return DXP_OK;
}

size_t manage_answer_encode(uint8_t type, uint16_t target, const struct manage_answer *answer,
			    size_t bytes_max, struct mac *mac, uint8_t *out)
{
	struct put_cursor c = body_begin(out);
	char text[MANAGE_TEXT_BYTES];
	size_t space = bytes_max - MANAGE_ANSWER_MIN;

	assert((type == WIRE_REFUSE && answer->status != DXP_OK) ||
	       (type == WIRE_ANSWER && answer->status == DXP_OK));
	assert(bytes_max >= MANAGE_ANSWER_MIN);
	size_t length = strnlen(answer->text, sizeof(text) - 1);
	if (length > space)
		length = space;
	memcpy(text, answer->text, length);
	text[length] = '\0';
	put_64(&c, answer->request);
	put_64(&c, answer->nonce);
	put_32(&c, (uint32_t)answer->status);
	put_64(&c, answer->retry_ns);
	put_64(&c, answer->epoch);
	put_64(&c, answer->version);
	put_text(&c, text);
	return body_end(&c, type, WIRE_NODE_MANAGER, target, mac, out);
}

int manage_answer_decode(struct manage_body body, struct manage_answer *out)
{
	struct get_cursor c = get_begin(body);
	struct manage_answer answer = {
		.request = get_64(&c),
		.nonce = get_64(&c),
		.status = (int32_t)get_32(&c),
		.retry_ns = get_64(&c),
		.epoch = get_64(&c),
		.version = get_64(&c),
	};

	get_text(&c, answer.text, sizeof(answer.text));
	if (!get_done(&c) || answer.status > 0)
		return DXP_EMALFORMED;
	*out = answer;
	return DXP_OK;
}
