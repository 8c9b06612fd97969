/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies of the control frames. Offsets in frame.h count from the frame's start; bodies start
 * behind the header. */
#include "wire/frame.h"

#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/limits.h"

#define AT(field)      (body + WIRE_OFF_##field - WIRE_COMMON_BYTES)
#define AT_DATA(field) (body + WIRE_OFF_##field - WIRE_DATA_BYTES)

int wire_ack_decode(const uint8_t *body, size_t bytes, struct wire_ack *ack)
{
	if (bytes < WIRE_ACK_BODY_BYTES)
		return DXP_EMALFORMED;
	uint8_t words = *AT(ACK_SACK_WORDS);
	if (words > WIRE_SACK_WORDS_MAX || bytes != WIRE_ACK_BODY_BYTES + 8u * words)
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
	memset(AT(ACK_CREDIT_QP), 0, 8);
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

int wire_hello_decode(const uint8_t *body, size_t bytes, struct wire_hello *hello)
{
	if (bytes != WIRE_HELLO_BYTES)
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
	};
	/* A peer that can take nothing cannot be talked to. */
	if (h.session == 0 || h.rwnd == 0 || h.rwnd > RLTP_WINDOW_MAX ||
	    h.payload_bytes < WIRE_PAYLOAD_MIN || h.payload_bytes > WIRE_PAYLOAD_MAX ||
	    h.payload_bytes % 64 != 0)
		return DXP_EMALFORMED;
	memcpy(h.uuid, AT(HELLO_UUID), sizeof(h.uuid));
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
	put_be32(AT(HELLO_RESERVED), 0);
	memcpy(AT(HELLO_UUID), hello->uuid, sizeof(hello->uuid));
	put_be64(AT(HELLO_TOKEN), hello->token);
	put_be32(AT(HELLO_ECHO_SESSION), hello->echo_session);
	put_be32(AT(HELLO_ECHO_PSN), hello->echo_psn);
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
