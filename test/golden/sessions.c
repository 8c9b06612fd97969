/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a frame of each type that sessions use, and one with each kind of damage. */
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "test/golden/capture.h"
#include "wire/frame.h"

/* not the protocol's port: the dissector must detect frames by content */
#define PORT        5001
#define SESSION     0x0bad0002
#define FRAME_SPACE 2048
#define TIME_STAMP  1000
#define PROBE_BYTES 200

static struct wire_header header_of(uint8_t type, uint16_t flags)
{
	return (struct wire_header){
		.type = type,
		.header_bytes = wire_type_data(type) ? WIRE_DATA_BYTES : WIRE_COMMON_BYTES,
		.flags = flags,
		.dst_session = SESSION,
		.src_node = 1,
		.dst_node = 2,
		.tx_ts = TIME_STAMP,
		.cum_ack = flags & WIRE_FLAG_ACKV ? 77 : 0,
		.ce_count = 3,
	};
}

/* The body already follows the header. */
static void control(struct capture *c, uint8_t type, uint16_t flags, uint8_t *frame,
		    size_t body_bytes)
{
	struct wire_header h = header_of(type, flags);

	if (type == WIRE_HELLO)
		h.dst_session = 0;
	wire_header_encode(&h, frame);
	wire_control_seal(frame, WIRE_COMMON_BYTES + body_bytes);
	capture_frame(c, frame, WIRE_COMMON_BYTES + body_bytes, PORT);
}

static void handshakes(struct capture *c)
{
	uint8_t frame[FRAME_SPACE], *body = frame + WIRE_COMMON_BYTES;
	struct wire_hello hello = {
		.incarnation = 0x1122334455667788,
		.epoch = 5,
		.session = 0x0bad0001,
		.psn = 0xfffffff0,
		.rwnd = 1024,
		.payload_bytes = 1408,
		.features = WIRE_FEATURES,
		.token = 0xa1a2a3a4a5a6a7a8,
		.nap_credit = 16,
		.recovery = WIRE_RECOVERY_RACK,
		.machine = 0xb1b2b3b4b5b6b7b8,
	};

	memset(hello.uuid, 0x5a, sizeof(hello.uuid));
	memset(hello.tag, 0x3c, sizeof(hello.tag));
	wire_hello_encode(&hello, body);
	control(c, WIRE_HELLO, 0, frame, WIRE_HELLO_BYTES);
	hello.echo_session = 0x0bad0002;
	hello.echo_psn = 9;
	hello.recovery = WIRE_RECOVERY_GBN_NAK;
	wire_hello_encode(&hello, body);
	control(c, WIRE_HELLO_ACK, 0, frame, WIRE_HELLO_BYTES);
}

static void short_frames(struct capture *c)
{
	uint8_t frame[FRAME_SPACE] = {0}, *body = frame + WIRE_COMMON_BYTES;
	struct wire_reset reset = {SESSION, WIRE_NACK_SESSION, 0xa1a2a3a4a5a6a7a8};
	struct wire_pmtu pmtu = {.id = 12, .bytes = PROBE_BYTES};
	struct wire_bye bye = {0xa1a2a3a4a5a6a7a8, WIRE_NACK_CLOSING};

	wire_reset_encode(&reset, body);
	control(c, WIRE_RESET, 0, frame, WIRE_RESET_BYTES);
	wire_ping_encode(0x0123456789abcdef, body);
	control(c, WIRE_PING, 0, frame, WIRE_PING_BYTES);
	control(c, WIRE_PONG, WIRE_FLAG_ACKV, frame, WIRE_PING_BYTES);
	memset(body, 0, PROBE_BYTES);
	wire_pmtu_encode(&pmtu, body);
	control(c, WIRE_PMTU_PROBE, 0, frame, PROBE_BYTES - WIRE_COMMON_BYTES);
	control(c, WIRE_PMTU_ACK, 0, frame, WIRE_PMTU_BYTES);
	wire_bye_encode(&bye, body);
	control(c, WIRE_BYE, 0, frame, WIRE_BYE_BYTES);
}

static void acknowledgements(struct capture *c)
{
	uint8_t frame[FRAME_SPACE], *body = frame + WIRE_COMMON_BYTES, bitmap[16];
	struct wire_ack ack = {.echo_ts = 990,
			       .echo_psn = 76,
			       .hold = 4,
			       .rx_level = 7,
			       .rwnd = 1024,
			       .dup_count = 2,
			       .rx_count = 70,
			       .bitmap = bitmap};
	struct wire_nack_body nack = {.code = WIRE_NACK_KEY, .qp = 1, .msg_id = 33, .psn = 78};
	struct wire_credit credit = {.count = 2, .entries = {{0, 64}, {3 << 8 | 2, 0xfffffffe}}};

	wire_ack_encode(&ack, body);
	control(c, WIRE_ACK, WIRE_FLAG_ACKV, frame, WIRE_ACK_BODY_BYTES);
	/* Acknowledges 79 to 81, 140, 142 and 143; 77, 78, 82 to 139 and 141 are missing. */
	put_be64(bitmap, 7ull << 2 | 1ull << 63);
	put_be64(bitmap + 8, 6);
	ack.sack_words = 2;
	ack.hold = WIRE_HOLD_NONE;
	ack.credit = true;
	ack.credit_qp = 7 << 8 | 3;
	ack.credit_limit = 500;
	wire_ack_encode(&ack, body);
	control(c, WIRE_ACK, WIRE_FLAG_ACKV | WIRE_FLAG_BMP | WIRE_FLAG_NACK | WIRE_FLAG_CREDIT,
		frame, WIRE_ACK_BODY_BYTES + sizeof(bitmap));
	wire_nack_encode(&nack, body);
	control(c, WIRE_NACK, WIRE_FLAG_ACKV, frame, WIRE_NACK_BODY_BYTES);
	nack.code = WIRE_NACK_RNR;
	nack.retry_us = 100;
	wire_nack_encode(&nack, body);
	control(c, WIRE_NACK, WIRE_FLAG_ACKV, frame, WIRE_NACK_BODY_BYTES);
	nack.code = WIRE_NACK_HELD;
	nack.retry_us = 5000;
	wire_nack_encode(&nack, body);
	control(c, WIRE_NACK, WIRE_FLAG_ACKV, frame, WIRE_NACK_BODY_BYTES);
	nack.code = WIRE_NACK_WAIT;
	nack.qp = wire_nack_position(2, 1);
	nack.granted = 17;
	wire_nack_encode(&nack, body);
	control(c, WIRE_NACK, WIRE_FLAG_ACKV, frame, WIRE_NACK_BODY_BYTES);
	wire_credit_encode(&credit, body);
	control(c, WIRE_CREDIT, WIRE_FLAG_ACKV, frame, 2 * WIRE_CREDIT_BYTES);
	control(c, WIRE_CREDIT, WIRE_FLAG_ACKV | WIRE_FLAG_AR, frame, WIRE_CREDIT_BYTES);
}

/* Adds `damage` to the checksum. */
static void data(struct capture *c, uint8_t type, uint16_t flags, const void *payload, size_t bytes,
		 uint32_t damage)
{
	uint8_t frame[FRAME_SPACE];
	struct wire_header h = header_of(type, flags | WIRE_FLAG_ACKV);

	h.header_bytes = (uint8_t)(WIRE_DATA_BYTES + (flags & WIRE_FLAG_IMM ? 8 : 0) +
				   (flags & WIRE_FLAG_TRAILER ? 8 : 0));
	h.psn = 4242;
	h.payload_bytes = (uint16_t)bytes;
	h.dst_qp = 2;
	h.dst_function = 1;
	h.qp_magic = 0xdeadbeef;
	h.msg_id = 17;
	h.sub = 1;
	h.addr = type == WIRE_CFG_RD || type == WIRE_CFG_WR ? 40 : 0x10000;
	h.key = type == WIRE_NAP ? 1 << 8 | 3 : 0x00c0ffee;
	if (type == WIRE_ATOMIC_RSP)
		h.key = bytes > 0 ? 0 : WIRE_NACK_RESOURCE;
	h.msg_bytes = 1408 + (uint32_t)bytes;
	h.imm = 0x0102030405060708;
	h.trailer = 0x1112131415161718;
	wire_header_encode(&h, frame);
	memcpy(frame + h.header_bytes, payload, bytes);
	uint32_t crc = wire_crc_begin(frame, h.header_bytes);
	if (flags & WIRE_FLAG_CRCP)
		crc = crc32c(crc, payload, bytes);
	wire_crc_set(frame, crc + damage);
	capture_frame(c, frame, h.header_bytes + bytes, PORT);
}

static void reliable_frames(struct capture *c)
{
	const uint16_t all = WIRE_FLAG_LAST | WIRE_FLAG_CRCP;
	uint8_t words[12] = {0}, body[WIRE_GET_BYTES];
	struct wire_get get = {0x2000, 7, 21, 1u << 20};

	put_be32(words, 3);
	put_be32(words + 4, 0x11111111);
	put_be32(words + 8, 0x22222222);
	wire_get_encode(&get, body);
	data(c, WIRE_RESYNC, WIRE_FLAG_RTX, "", 0, 0);
	data(c, WIRE_NAP, all | WIRE_FLAG_FIRST, "a message", 9, 0);
	data(c, WIRE_PUT, all | WIRE_FLAG_IMM | WIRE_FLAG_SOL, "some bytes", 10, 0);
	data(c, WIRE_PUT, WIRE_FLAG_RTX | WIRE_FLAG_PROBE, "sent again", 10, 0);
	data(c, WIRE_GET_REQ, all | WIRE_FLAG_FIRST, body, sizeof(body), 0);
	data(c, WIRE_GET_RSP, all, "what was asked for", 18, 0);
	data(c, WIRE_CFG_RD, all, words, 4, 0);
	data(c, WIRE_CFG_RD_RSP, all, words, sizeof(words), 0);
	data(c, WIRE_CFG_WR, all, words + 4, 8, 0);
	data(c, WIRE_CFG_WR_RSP, all, "", 0, 0);
	data(c, WIRE_PUT, all, "damaged", 7, 1);
}

static void atomics_and_trailers(struct capture *c)
{
	const uint16_t all = WIRE_FLAG_LAST | WIRE_FLAG_CRCP;
	struct wire_atomic atomic = {DXP_OP_FETCH_ADD, 21, 3, 0};
	uint8_t body[WIRE_ATOMIC_BYTES], old[WIRE_ATOMIC_OLD];

	wire_atomic_encode(&atomic, body);
	data(c, WIRE_ATOMIC, all | WIRE_FLAG_FIRST, body, sizeof(body), 0);
	atomic = (struct wire_atomic){DXP_OP_COMPARE_SWAP, 22, 0x33, 0x44};
	wire_atomic_encode(&atomic, body);
	data(c, WIRE_ATOMIC, all | WIRE_FLAG_FIRST, body, sizeof(body), 0);
	put_be64(old, 0x0123456789abcdef);
	data(c, WIRE_ATOMIC_RSP, all | WIRE_FLAG_FIRST, old, sizeof(old), 0);
	data(c, WIRE_ATOMIC_RSP, all | WIRE_FLAG_FIRST, "", 0, 0);
	data(c, WIRE_NAP, all | WIRE_FLAG_TRAILER, "trailer alone", 13, 0);
	data(c, WIRE_NAP, all | WIRE_FLAG_IMM | WIRE_FLAG_TRAILER, "both", 4, 0);
	data(c, WIRE_PUT, all | WIRE_FLAG_SOL | WIRE_FLAG_IMM | WIRE_FLAG_TRAILER, "both", 4, 0);
	/* Trailers where none is allowed. */
	data(c, WIRE_PUT, all | WIRE_FLAG_TRAILER, "no event", 8, 0);
	data(c, WIRE_NAP, WIRE_FLAG_CRCP | WIRE_FLAG_TRAILER, "not the last", 12, 0);
}

/* Valid frames with short bodies, and an invalid frame on the manager's port. */
static void malformed_frames(struct capture *c)
{
	uint8_t frame[FRAME_SPACE] = {0};

	control(c, WIRE_HELLO, 0, frame, 8);
	data(c, WIRE_GET_REQ, WIRE_FLAG_CRCP, "short", 5, 0);
	memset(frame, 0x77, sizeof(frame));
	capture_frame(c, frame, 40, WIRE_PORT);
}

/* A handshake with protection, its REJECT, its COOKIE, the HELLO with this cookie, and two sealed
 * frames; keys and tags are patterns. */
static void sealed_frames(struct capture *c)
{
	uint8_t frame[FRAME_SPACE] = {0}, *body = frame + WIRE_COMMON_BYTES;
	struct wire_hello hello = {.incarnation = 0x1122334455667788,
				   .epoch = 6,
				   .session = 0x0bad0003,
				   .psn = 77,
				   .rwnd = 1024,
				   .payload_bytes = 1408,
				   .features = WIRE_FEATURES,
				   .nap_credit = 16,
				   .protect = WIRE_PROTECT_ENCRYPT};
	struct wire_reject reject = {
		.session = 0x0bad0003, .code = WIRE_NACK_PROTECTION, .protect = 1, .echo = 9};
	struct wire_cookie cookie = {.session = 0x0bad0003, .psn = 77, .value = 0x5152535455565758};
	struct wire_header h = {.type = WIRE_PUT,
				.header_bytes = WIRE_DATA_BYTES,
				.flags = WIRE_FLAG_ACKV | WIRE_FLAG_FIRST,
				.dst_session = SESSION,
				.src_node = 1,
				.dst_node = 2,
				.payload_bytes = 64};

	memset(hello.tag, 0x3c, sizeof(hello.tag));
	memset(body + WIRE_OFF_HELLO_KEY - WIRE_COMMON_BYTES, 0x4b, 32);
	memset(body + WIRE_OFF_HELLO_KEY_TAG - WIRE_COMMON_BYTES, 0x4c, 16);
	wire_hello_encode(&hello, body);
	control(c, WIRE_HELLO, 0, frame, WIRE_HELLO_SEALED_BYTES);
	memset(reject.proof, 0x3d, sizeof(reject.proof));
	wire_reject_encode(&reject, body);
	control(c, WIRE_REJECT, 0, frame, WIRE_REJECT_BYTES);
	memset(cookie.proof, 0x3e, sizeof(cookie.proof));
	wire_cookie_encode(&cookie, body);
	control(c, WIRE_COOKIE, 0, frame, WIRE_COOKIE_BYTES);
	hello.echo_session = (uint32_t)(cookie.value >> 32);
	hello.echo_psn = (uint32_t)cookie.value;
	memset(body, 0x4b, WIRE_HELLO_SEALED_BYTES);
	wire_hello_encode(&hello, body);
	control(c, WIRE_HELLO, 0, frame, WIRE_HELLO_SEALED_BYTES);
	memset(frame, 0x5e, sizeof(frame));
	wire_header_encode(&h, frame);
	wire_seal_header(frame, WIRE_FLAG_PHASE, 5);
	memset(frame + WIRE_COMMON_BYTES, 0x5e, WIRE_DATA_BYTES - WIRE_COMMON_BYTES);
	capture_frame(c, frame, WIRE_DATA_BYTES + 64 + WIRE_SEAL_BYTES, PORT);
	h.type = WIRE_ACK;
	h.header_bytes = WIRE_COMMON_BYTES;
	h.flags = WIRE_FLAG_ACKV;
	h.payload_bytes = WIRE_ACK_BODY_BYTES;
	wire_header_encode(&h, frame);
	wire_seal_header(frame, WIRE_FLAG_PHASE_SEEN, 0xfffffff0);
	capture_frame(c, frame, WIRE_COMMON_BYTES + WIRE_ACK_BODY_BYTES + WIRE_SEAL_BYTES, PORT);
}

void sessions_write(const char *folder)
{
	struct capture c;

	capture_open(&c, folder, "sessions.pcapng");
	handshakes(&c);
	short_frames(&c);
	acknowledgements(&c);
	reliable_frames(&c);
	atomics_and_trailers(&c);
	malformed_frames(&c);
	sealed_frames(&c);
	capture_close(&c);
}
