/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes bodies of control frames. Offsets in frame.h count from the frame's start. */
#include "wire/frame.h"

#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/limits.h"

#define AT(field)      (body + WIRE_OFF_##field - WIRE_COMMON_BYTES)
#define AT_DATA(field) (body + WIRE_OFF_##field - WIRE_DATA_BYTES)

_Static_assert(WIRE_COMMON_BYTES + WIRE_ACK_BODY_BYTES + 8 * WIRE_SACK_WORDS_MAX <=
		       DATAGRAM_HEADER_BYTES_MAX,
	       "an ACK must fit where a datagram keeps its header");
_Static_assert(WIRE_COMMON_BYTES + WIRE_CREDIT_ENTRIES_MAX * WIRE_CREDIT_BYTES <=
		       DATAGRAM_HEADER_BYTES_MAX,
	       "so must a CREDIT");
_Static_assert(WIRE_COMMON_BYTES + WIRE_HELLO_BYTES <= DATAGRAM_HEADER_BYTES_MAX, "and a HELLO");
_Static_assert(WIRE_HELLO_TAG_OFFSET + WIRE_TAG_BYTES == WIRE_COMMON_BYTES + WIRE_HELLO_BYTES,
	       "the tag covers all that is before it");

/* Receivers use function and queue pair as an index. */
static bool queue_pair_good(uint16_t qp)
{
	return qp >> 8 < WIRE_FUNCTIONS && (qp & 0xff) < DXP_QPS;
}

int wire_ack_decode(const uint8_t *body, size_t bytes, uint16_t flags, struct wire_ack *ack)
{
	bool credit = flags & WIRE_FLAG_CREDIT;

	if (bytes < WIRE_ACK_BODY_BYTES)
		return DXP_EMALFORMED;
	uint8_t words = *AT(ACK_SACK_WORDS);
	if (words > WIRE_SACK_WORDS_MAX || bytes != WIRE_ACK_BODY_BYTES + 8u * words ||
	    *AT(ACK_RX_LEVEL) > WIRE_RX_LEVEL_MAX ||
	    (credit && !queue_pair_good(get_be16(AT(ACK_CREDIT_QP)))))
		return DXP_EMALFORMED;
	*ack = (struct wire_ack){
		.echo_ts = get_be32(AT(ACK_ECHO_TS)),
		.echo_psn = get_be32(AT(ACK_ECHO_PSN)),
		.hold = get_be32(AT(ACK_HOLD)),
		.sack_off = get_be16(AT(ACK_SACK_OFF)),
		.sack_words = words,
		.rx_level = *AT(ACK_RX_LEVEL),
		.rwnd = get_be16(AT(ACK_RWND)),
		.dup_count = get_be16(AT(ACK_DUP_COUNT)),
		.rx_count = get_be32(AT(ACK_RX_COUNT)),
		.credit = credit,
		.credit_qp = credit ? get_be16(AT(ACK_CREDIT_QP)) : 0,
		.credit_limit = credit ? get_be32(AT(ACK_CREDIT_LIMIT)) : 0,
		.bitmap = AT(ACK_BITMAP),
	};
	return DXP_OK;
}

void wire_ack_encode(const struct wire_ack *ack, uint8_t *body)
{
	put_be32(AT(ACK_ECHO_TS), ack->echo_ts);
	put_be32(AT(ACK_ECHO_PSN), ack->echo_psn);
	put_be32(AT(ACK_HOLD), ack->hold);
	put_be16(AT(ACK_SACK_OFF), ack->sack_off);
	*AT(ACK_SACK_WORDS) = ack->sack_words;
	*AT(ACK_RX_LEVEL) = ack->rx_level;
	put_be16(AT(ACK_RWND), ack->rwnd);
	put_be16(AT(ACK_DUP_COUNT), ack->dup_count);
	put_be32(AT(ACK_RX_COUNT), ack->rx_count);
	put_be16(AT(ACK_CREDIT_QP), ack->credit ? ack->credit_qp : 0);
	put_be16(AT(ACK_CREDIT_RESERVED), 0);
	put_be32(AT(ACK_CREDIT_LIMIT), ack->credit ? ack->credit_limit : 0);
	if (ack->bitmap != AT(ACK_BITMAP))
		memcpy(AT(ACK_BITMAP), ack->bitmap, 8u * ack->sack_words);
}

int wire_nack_decode(const uint8_t *body, size_t bytes, struct wire_nack_body *nack)
{
	if (bytes != WIRE_NACK_BODY_BYTES)
		return DXP_EMALFORMED;
	*nack = (struct wire_nack_body){
		.code = *AT(NACK_CODE),
		.qp = get_be16(AT(NACK_QP)),
		.msg_id = get_be32(AT(NACK_MSG_ID)),
		.psn = get_be32(AT(NACK_PSN)),
		.retry_us = get_be32(AT(NACK_RETRY_US)),
	};
	return DXP_OK;
}

void wire_nack_encode(const struct wire_nack_body *nack, uint8_t *body)
{
	*AT(NACK_CODE) = nack->code;
	*AT(NACK_RESERVED) = 0;
	put_be16(AT(NACK_QP), nack->qp);
	put_be32(AT(NACK_MSG_ID), nack->msg_id);
	put_be32(AT(NACK_PSN), nack->psn);
	put_be32(AT(NACK_RETRY_US), nack->retry_us);
}

void wire_hello_constant(const uint8_t *frame, size_t bytes, uint8_t *out)
{
	memcpy(out, frame, bytes);
	memset(out + WIRE_OFF_TX_TS, 0, 4);
	memset(out + WIRE_OFF_CUM_ACK, 0, 4);
	memset(out + WIRE_OFF_CE_COUNT, 0, 2);
	memset(out + WIRE_OFF_CRC, 0, 4);
	if (frame[WIRE_OFF_TYPE] == WIRE_HELLO)
		memset(out + WIRE_OFF_HELLO_COOKIE, 0, 8);
}

static bool hello_length_good(const uint8_t *body, size_t bytes)
{
	if (bytes != WIRE_HELLO_BYTES && bytes != WIRE_HELLO_SEALED_BYTES)
		return false;
	bool sealed = bytes == WIRE_HELLO_SEALED_BYTES;
	uint8_t protect = *AT(HELLO_PROTECT);
	return protect <= WIRE_PROTECT_LAST && (protect != WIRE_PROTECT_NONE) == sealed;
}

int wire_hello_decode(const uint8_t *body, size_t bytes, struct wire_hello *hello)
{
	if (!hello_length_good(body, bytes))
		return DXP_EMALFORMED;
	struct wire_hello h = {
		.incarnation = get_be64(AT(HELLO_INCARNATION)),
		.epoch = get_be32(AT(HELLO_EPOCH)),
		.session = get_be32(AT(HELLO_SESSION)),
		.psn = get_be32(AT(HELLO_PSN)),
		.rwnd = get_be16(AT(HELLO_RWND)),
		.payload_bytes = get_be16(AT(HELLO_PAYLOAD)),
		.features = get_be32(AT(HELLO_FEATURES)),
		.token = get_be64(AT(HELLO_TOKEN)),
		.echo_session = get_be32(AT(HELLO_ECHO_SESSION)),
		.echo_psn = get_be32(AT(HELLO_ECHO_PSN)),
		.nap_credit = get_be16(AT(HELLO_NAP_CREDIT)),
		.recovery = *AT(HELLO_RECOVERY),
		.protect = *AT(HELLO_PROTECT),
	};
	if (h.features & WIRE_FEATURE_MACHINE)
		h.machine = (uint64_t)get_be32(AT(HELLO_MACHINE)) << 32 |
			    get_be32(AT(HELLO_MACHINE_LOW));
	/* A peer must state a session, a window and a payload size, or it could not receive. */
	if (h.session == 0 || h.rwnd == 0 || h.rwnd > WIRE_WINDOW_MAX ||
	    h.payload_bytes < WIRE_PAYLOAD_MIN || h.payload_bytes > WIRE_PAYLOAD_MAX ||
	    h.payload_bytes % 64 != 0 || h.recovery > WIRE_RECOVERY_LAST)
		return DXP_EMALFORMED;
	memcpy(h.uuid, AT(HELLO_UUID), sizeof(h.uuid));
	memcpy(h.tag, body + bytes - WIRE_TAG_BYTES, sizeof(h.tag));
	*hello = h;
	return DXP_OK;
}

void wire_hello_encode(const struct wire_hello *hello, uint8_t *body)
{
	put_be64(AT(HELLO_INCARNATION), hello->incarnation);
	put_be32(AT(HELLO_EPOCH), hello->epoch);
	put_be32(AT(HELLO_SESSION), hello->session);
	put_be32(AT(HELLO_PSN), hello->psn);
	put_be16(AT(HELLO_RWND), hello->rwnd);
	put_be16(AT(HELLO_PAYLOAD), hello->payload_bytes);
	put_be32(AT(HELLO_FEATURES), hello->features);
	put_be32(AT(HELLO_MACHINE), (uint32_t)(hello->machine >> 32));
	memcpy(AT(HELLO_UUID), hello->uuid, sizeof(hello->uuid));
	put_be64(AT(HELLO_TOKEN), hello->token);
	put_be32(AT(HELLO_ECHO_SESSION), hello->echo_session);
	put_be32(AT(HELLO_ECHO_PSN), hello->echo_psn);
	put_be16(AT(HELLO_NAP_CREDIT), hello->nap_credit);
	*AT(HELLO_RECOVERY) = hello->recovery;
	*AT(HELLO_PROTECT) = hello->protect;
	put_be32(AT(HELLO_MACHINE_LOW), (uint32_t)hello->machine);
	if (hello->protect == WIRE_PROTECT_NONE)
		memcpy(AT(HELLO_TAG), hello->tag, sizeof(hello->tag));
	else
		memcpy(AT(HELLO_SEALED_TAG), hello->tag, sizeof(hello->tag));
}

int wire_reset_decode(const uint8_t *body, size_t bytes, struct wire_reset *reset)
{
	if (bytes != WIRE_RESET_BYTES)
		return DXP_EMALFORMED;
	*reset = (struct wire_reset){
		.session = get_be32(AT(RESET_SESSION)),
		.code = get_be32(AT(RESET_CODE)),
		.token = get_be64(AT(RESET_TOKEN)),
	};
	return DXP_OK;
}

void wire_reset_encode(const struct wire_reset *reset, uint8_t *body)
{
	put_be32(AT(RESET_SESSION), reset->session);
	put_be32(AT(RESET_CODE), reset->code);
	put_be64(AT(RESET_TOKEN), reset->token);
}

int wire_reject_decode(const uint8_t *body, size_t bytes, struct wire_reject *reject)
{
	if (bytes != WIRE_REJECT_BYTES)
		return DXP_EMALFORMED;
	struct wire_reject r = {
		.session = get_be32(AT(REJECT_SESSION)),
		.code = *AT(REJECT_CODE),
		.protect = *AT(REJECT_PROTECT),
		.echo = get_be16(AT(REJECT_ECHO)),
	};
	if ((r.code != WIRE_NACK_SESSION && r.code != WIRE_NACK_PROTECTION) ||
	    r.protect > WIRE_PROTECT_LAST)
		return DXP_EMALFORMED;
	memcpy(r.proof, AT(REJECT_PROOF), sizeof(r.proof));
	*reject = r;
	return DXP_OK;
}

void wire_reject_encode(const struct wire_reject *reject, uint8_t *body)
{
	put_be32(AT(REJECT_SESSION), reject->session);
	*AT(REJECT_CODE) = reject->code;
	*AT(REJECT_PROTECT) = reject->protect;
	put_be16(AT(REJECT_ECHO), reject->echo);
	memcpy(AT(REJECT_PROOF), reject->proof, sizeof(reject->proof));
}

int wire_cookie_decode(const uint8_t *body, size_t bytes, struct wire_cookie *cookie)
{
	if (bytes != WIRE_COOKIE_BYTES)
		return DXP_EMALFORMED;
	struct wire_cookie c = {
		.session = get_be32(AT(COOKIE_SESSION)),
		.psn = get_be32(AT(COOKIE_PSN)),
		.value = get_be64(AT(COOKIE_VALUE)),
	};
	if (c.value == 0)
		return DXP_EMALFORMED;
	memcpy(c.proof, AT(COOKIE_PROOF), sizeof(c.proof));
	*cookie = c;
	return DXP_OK;
}

void wire_cookie_encode(const struct wire_cookie *cookie, uint8_t *body)
{
	put_be32(AT(COOKIE_SESSION), cookie->session);
	put_be32(AT(COOKIE_PSN), cookie->psn);
	put_be64(AT(COOKIE_VALUE), cookie->value);
	memcpy(AT(COOKIE_PROOF), cookie->proof, sizeof(cookie->proof));
}

int wire_ping_decode(const uint8_t *body, size_t bytes, uint64_t *opaque)
{
	if (bytes != WIRE_PING_BYTES)
		return DXP_EMALFORMED;
	*opaque = get_be64(AT(PING_OPAQUE));
	return DXP_OK;
}

void wire_ping_encode(uint64_t opaque, uint8_t *body)
{
	put_be64(AT(PING_OPAQUE), opaque);
}

/* The length differs from the stated one if the network cut or merged the probe. */
int wire_pmtu_probe_decode(const uint8_t *body, size_t bytes, struct wire_pmtu *pmtu)
{
	if (bytes < WIRE_PMTU_BYTES || WIRE_COMMON_BYTES + bytes != get_be16(AT(PMTU_BYTES)))
		return DXP_EMALFORMED;
	*pmtu = (struct wire_pmtu){get_be32(AT(PMTU_ID)), get_be16(AT(PMTU_BYTES))};
	return DXP_OK;
}

int wire_pmtu_ack_decode(const uint8_t *body, size_t bytes, struct wire_pmtu *pmtu)
{
	if (bytes != WIRE_PMTU_BYTES)
		return DXP_EMALFORMED;
	*pmtu = (struct wire_pmtu){get_be32(AT(PMTU_ID)), get_be16(AT(PMTU_BYTES))};
	return DXP_OK;
}

void wire_pmtu_encode(const struct wire_pmtu *pmtu, uint8_t *body)
{
	put_be32(AT(PMTU_ID), pmtu->id);
	put_be16(AT(PMTU_BYTES), pmtu->bytes);
	put_be16(AT(PMTU_RESERVED), 0);
}

int wire_bye_decode(const uint8_t *body, size_t bytes, struct wire_bye *bye)
{
	if (bytes != WIRE_BYE_BYTES)
		return DXP_EMALFORMED;
	*bye = (struct wire_bye){get_be64(AT(BYE_TOKEN)), get_be32(AT(BYE_CODE))};
	return DXP_OK;
}

void wire_bye_encode(const struct wire_bye *bye, uint8_t *body)
{
	put_be64(AT(BYE_TOKEN), bye->token);
	put_be32(AT(BYE_CODE), bye->code);
	put_be32(AT(BYE_RESERVED), 0);
}

int wire_credit_decode(const uint8_t *body, size_t bytes, struct wire_credit *credit)
{
	struct wire_credit c = {0};

	if (bytes == 0 || bytes % WIRE_CREDIT_BYTES != 0 ||
	    bytes > WIRE_CREDIT_ENTRIES_MAX * WIRE_CREDIT_BYTES)
		return DXP_EMALFORMED;
	c.count = (uint32_t)(bytes / WIRE_CREDIT_BYTES);
	for (uint32_t i = 0; i < c.count; i++, body += WIRE_CREDIT_BYTES) {
		c.entries[i].qp = get_be16(AT(CREDIT_QP));
		c.entries[i].limit = get_be32(AT(CREDIT_LIMIT));
		if (!queue_pair_good(c.entries[i].qp))
			return DXP_EMALFORMED;
	}
	*credit = c;
	return DXP_OK;
}

void wire_credit_encode(const struct wire_credit *credit, uint8_t *body)
{
	for (uint32_t i = 0; i < credit->count; i++, body += WIRE_CREDIT_BYTES) {
		put_be16(AT(CREDIT_QP), credit->entries[i].qp);
		put_be16(AT(CREDIT_RESERVED), 0);
		put_be32(AT(CREDIT_LIMIT), credit->entries[i].limit);
	}
}

int wire_get_decode(const uint8_t *body, size_t bytes, struct wire_get *get)
{
	if (bytes != WIRE_GET_BYTES)
		return DXP_EMALFORMED;
	*get = (struct wire_get){
		.reply_addr = get_be64(AT_DATA(GET_REPLY_ADDR)),
		.reply_key = get_be32(AT_DATA(GET_REPLY_KEY)),
		.reply_msg_id = get_be32(AT_DATA(GET_REPLY_MSG_ID)),
		.bytes = get_be64(AT_DATA(GET_LENGTH)),
	};
	return DXP_OK;
}

void wire_get_encode(const struct wire_get *get, uint8_t *body)
{
	put_be64(AT_DATA(GET_REPLY_ADDR), get->reply_addr);
	put_be32(AT_DATA(GET_REPLY_KEY), get->reply_key);
	put_be32(AT_DATA(GET_REPLY_MSG_ID), get->reply_msg_id);
	put_be64(AT_DATA(GET_LENGTH), get->bytes);
}

int wire_atomic_decode(const uint8_t *body, size_t bytes, struct wire_atomic *atomic)
{
	if (bytes != WIRE_ATOMIC_BYTES)
		return DXP_EMALFORMED;
	*atomic = (struct wire_atomic){
		.op = *AT_DATA(ATOMIC_OP),
		.reply_msg_id = get_be32(AT_DATA(ATOMIC_REPLY_MSG_ID)),
		.operand = get_be64(AT_DATA(ATOMIC_OPERAND)),
		.swap = get_be64(AT_DATA(ATOMIC_SWAP)),
	};
	return DXP_OK;
}

void wire_atomic_encode(const struct wire_atomic *atomic, uint8_t *body)
{
	/* one byte; the reserved bytes after it become zero */
	put_be32(AT_DATA(ATOMIC_OP), (uint32_t)atomic->op << 24);
	put_be32(AT_DATA(ATOMIC_REPLY_MSG_ID), atomic->reply_msg_id);
	put_be64(AT_DATA(ATOMIC_OPERAND), atomic->operand);
	put_be64(AT_DATA(ATOMIC_SWAP), atomic->swap);
}
