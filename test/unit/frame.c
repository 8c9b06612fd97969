/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of frames, rejection of wrong ones, and agreement with docs/reference/wire.md. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/rng.h"
#include "wire/frame.h"

static const struct wire_header put_header = {
	.type = WIRE_PUT,
	.header_bytes = WIRE_HEADER_BYTES_MAX,
	.flags = WIRE_FLAG_ACKV | WIRE_FLAG_LAST | WIRE_FLAG_SOL | WIRE_FLAG_IMM |
		 WIRE_FLAG_TRAILER | WIRE_FLAG_CRCP,
	.dst_session = 0x01020304,
	.src_node = 0x0506,
	.dst_node = 0x0708,
	.psn = 0xfffffffe,
	.tx_ts = 0x11121314,
	.cum_ack = 0x21222324,
	.payload_bytes = 5,
	.ce_count = 0x3132,
	.dst_qp = 3,
	.dst_function = 7,
	.vc_tc = 0x41,
	.qp_magic = 0x51525354,
	.msg_id = 0x61626364,
	.sub = 0x71727374,
	.addr = 0x8182838485868788,
	.key = 0x91929394,
	.msg_bytes = 0xa1a2a3a4,
	.imm = 0xb1b2b3b4b5b6b7b8,
	.trailer = 0xc1c2c3c4c5c6c7c8,
};

static size_t frame_of(const struct wire_header *h, uint8_t *frame)
{
	wire_header_encode(h, frame);
	memcpy(frame + h->header_bytes, "hello", 5);
	wire_crc_set(frame,
		     crc32c(wire_crc_begin(frame, h->header_bytes), frame + h->header_bytes, 5));
	return h->header_bytes + 5u;
}

static size_t frame_make(uint8_t *frame)
{
	return frame_of(&put_header, frame);
}

static void frame__round_trip(void **state)
{
	uint8_t frame[128], again[128];
	struct wire_header h;
	size_t bytes = frame_make(frame);

	assert_int_equal(wire_header_decode(frame, bytes, &h), DXP_OK);
	/* bytes, as the struct has padding */
	assert_int_equal(frame_of(&h, again), bytes);
	assert_memory_equal(again, frame, bytes);
	assert_true(h.addr == put_header.addr && h.imm == put_header.imm &&
		    h.trailer == put_header.trailer && h.sub == put_header.sub);
}

/* All four forms; an absent field decodes as 0. */
static void frame__imm_and_trailer(void **state)
{
	for (uint16_t with = 0; with < 4; with++) {
		uint8_t frame[128];
		struct wire_header h = put_header, out;
		h.type = WIRE_NAP;
		h.flags = WIRE_FLAG_LAST | WIRE_FLAG_CRCP | (with & 1 ? WIRE_FLAG_IMM : 0) |
			  (with & 2 ? WIRE_FLAG_TRAILER : 0);
		h.header_bytes = (uint8_t)(WIRE_DATA_BYTES + 8 * (with & 1) + 8 * (with >> 1));
		size_t bytes = frame_of(&h, frame);
		assert_int_equal(wire_header_decode(frame, bytes, &out), DXP_OK);
		assert_true(out.imm == (with & 1 ? h.imm : 0));
		assert_true(out.trailer == (with & 2 ? h.trailer : 0));
		if (with & 1)
			assert_true(get_be64(frame + 64) == put_header.imm);
		if (with & 2)
			assert_true(get_be64(frame + h.header_bytes - 8) == put_header.trailer);
	}
}

/* Only the end of a message that raises an event may carry a trailer. */
static void frame__trailer_only_where_an_event_ends(void **state)
{
	const uint16_t flags[] = {WIRE_FLAG_IMM, WIRE_FLAG_TRAILER, WIRE_FLAG_LAST, WIRE_FLAG_SOL};

	for (int i = 0; i < 256 * 16 * 16; i++) {
		uint8_t frame[15 * 8 + 5] = {0};
		struct wire_header h = {.type = (uint8_t)(i / 256), .payload_bytes = 5}, out;
		uint32_t words = (uint32_t)i % 16;
		for (int f = 0; f < 4; f++)
			h.flags |= i >> (4 + f) & 1 ? flags[f] : 0;
		bool imm = h.flags & WIRE_FLAG_IMM, trailer = h.flags & WIRE_FLAG_TRAILER;
		bool end = h.flags & WIRE_FLAG_LAST, event = h.flags & WIRE_FLAG_SOL;
		bool may = h.type == WIRE_NAP ? end : h.type == WIRE_PUT && end && event;
		uint32_t right = wire_type_data(h.type) ? 8 + imm + trailer : 4;
		bool good = wire_type_known(h.type) && (!trailer || may) && words == right &&
			    (!imm || wire_type_data(h.type));
		h.header_bytes = (uint8_t)(8 * right);
		wire_header_encode(&h, frame);
		frame[WIRE_OFF_VERSION_HEADER] = (uint8_t)(WIRE_VERSION << 4 | words);
		if (words >= 4)
			wire_crc_set(frame, wire_crc_begin(frame, 8 * words));
		assert_int_equal(wire_header_decode(frame, 8 * words + 5u, &out),
				 good ? DXP_OK : DXP_EMALFORMED);
	}
}

static void frame__atomic(void **state)
{
	const struct wire_atomic atomic = {DXP_OP_COMPARE_SWAP, 0x01020304, 0x1112131415161718,
					   0x2122232425262728};
	struct wire_atomic out;
	uint8_t body[WIRE_ATOMIC_BYTES + 1];

	memset(body, 0x5a, sizeof(body));
	wire_atomic_encode(&atomic, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_atomic_decode(body, n, &out),
				 n == WIRE_ATOMIC_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(out.op == atomic.op && out.reply_msg_id == atomic.reply_msg_id &&
		    out.operand == atomic.operand && out.swap == atomic.swap);
	assert_memory_equal(body, "\x11\0\0\0\1\2\3\4", 8);
	assert_int_equal(body[WIRE_ATOMIC_BYTES], 0x5a);
}

static void frame__every_short_length_is_malformed(void **state)
{
	uint8_t frame[128];
	struct wire_header h;
	size_t bytes = frame_make(frame);

	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(wire_header_decode(frame, n, &h), DXP_EMALFORMED);
	assert_int_equal(wire_header_decode(frame, bytes + 1, &h), DXP_EMALFORMED);
}

static void frame__every_flipped_bit_is_seen(void **state)
{
	uint8_t frame[128];
	struct wire_header h, untouched;
	size_t bytes = frame_make(frame);

	memset(&untouched, 0x5a, sizeof(untouched));
	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		memcpy(&h, &untouched, sizeof(h));
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(wire_header_decode(frame, bytes, &h) < 0);
		assert_memory_equal(&h, &untouched, sizeof(h));
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* The length must be exact. */
static void frame__bodies(void **state)
{
	uint8_t body[WIRE_HELLO_BYTES + 1] = {0};
	struct wire_hello hello = {.incarnation = 1ull << 60,
				   .epoch = 2,
				   .session = 3,
				   .psn = 4,
				   .rwnd = 5,
				   .payload_bytes = 1408,
				   .features = WIRE_FEATURE_MACHINE,
				   .token = 7,
				   .echo_session = 8,
				   .echo_psn = 9,
				   .nap_credit = 10,
				   .recovery = WIRE_RECOVERY_GBN_RTO,
				   .machine = 1ull << 63 | 11},
			  hello_out;
	struct wire_nack_body nack = {.code = WIRE_NACK_KEY,
				      .qp = 2,
				      .msg_id = 3,
				      .psn = 4,
				      .retry_us = 5},
			      nack_out;
	struct wire_reset reset = {.session = 1, .code = 3, .token = 1ull << 63}, reset_out;
	struct wire_get get = {.reply_addr = 1ull << 40,
			       .reply_key = 2,
			       .reply_msg_id = 3,
			       .bytes = 1u << 31},
			get_out;

	memset(hello.uuid, 0xab, sizeof(hello.uuid));
	memset(hello.tag, 0xcd, sizeof(hello.tag));
	wire_hello_encode(&hello, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_hello_decode(body, n, &hello_out),
				 n == WIRE_HELLO_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_memory_equal(hello.uuid, hello_out.uuid, 16);
	assert_true(hello_out.incarnation == hello.incarnation && hello_out.token == 7 &&
		    hello_out.echo_psn == 9 && hello_out.nap_credit == 10 &&
		    hello_out.recovery == WIRE_RECOVERY_GBN_RTO &&
		    hello_out.machine == hello.machine);
	/* without the feature, the field is no machine */
	hello.features = 0;
	wire_hello_encode(&hello, body);
	assert_int_equal(wire_hello_decode(body, WIRE_HELLO_BYTES, &hello_out), DXP_OK);
	assert_true(hello_out.machine == 0);
	assert_memory_equal(hello.tag, hello_out.tag, sizeof(hello.tag));
	assert_memory_equal(hello.tag, body + (WIRE_HELLO_TAG_OFFSET - WIRE_COMMON_BYTES), 16);
	wire_nack_encode(&nack, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_nack_decode(body, n, &nack_out),
				 n == WIRE_NACK_BODY_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(nack_out.code == nack.code && nack_out.retry_us == 5 && nack_out.psn == 4);
	wire_reset_encode(&reset, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_reset_decode(body, n, &reset_out),
				 n == WIRE_RESET_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(reset_out.token == reset.token && reset_out.session == 1);
	wire_get_encode(&get, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_get_decode(body, n, &get_out),
				 n == WIRE_GET_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(get_out.bytes == get.bytes && get_out.reply_addr == get.reply_addr);
}

static void frame__cookie(void **state)
{
	struct wire_cookie cookie = {.session = 1, .psn = 2, .value = 1ull << 63 | 3}, out;
	struct wire_hello hello = {0};
	uint8_t body[WIRE_COOKIE_BYTES + 1] = {0};

	memset(cookie.proof, 0xcd, sizeof(cookie.proof));
	wire_cookie_encode(&cookie, body);
	for (size_t n = 0; n <= sizeof(body); n++)
		assert_int_equal(wire_cookie_decode(body, n, &out),
				 n == WIRE_COOKIE_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_memory_equal(&out, &cookie, sizeof(out));
	hello.echo_session = get_be32(body + 8);
	hello.echo_psn = get_be32(body + 12);
	assert_true(wire_hello_cookie(&hello) == cookie.value);
	memset(body + 8, 0, 8); /* no cookie */
	assert_int_equal(wire_cookie_decode(body, WIRE_COOKIE_BYTES, &out), DXP_EMALFORMED);
}

/* The tag of a HELLO does not cover its cookie; that of a HELLO_ACK covers the same bytes. */
static void frame__constant_part_of_a_hello(void **state)
{
	uint8_t frame[WIRE_OFF_HELLO_TAG], out[sizeof(frame)];

	for (int type = WIRE_HELLO; type <= WIRE_HELLO_ACK; type++) {
		memset(frame, 0x77, sizeof(frame));
		frame[WIRE_OFF_TYPE] = (uint8_t)type;
		wire_hello_constant(frame, sizeof(frame), out);
		assert_true(get_be64(out + WIRE_OFF_HELLO_COOKIE) ==
			    (type == WIRE_HELLO ? 0 : 0x7777777777777777));
		assert_int_equal(out[WIRE_OFF_HELLO_COOKIE - 1], 0x77);
		assert_int_equal(out[WIRE_OFF_HELLO_COOKIE + 8], 0x77);
	}
}

static void frame__hello_rejects_what_cannot_be(void **state)
{
	const struct wire_hello good = {.session = 3, .rwnd = 5, .payload_bytes = 1408};
	uint8_t body[WIRE_HELLO_BYTES];
	struct wire_hello bad[] = {good, good, good, good, good, good}, out;

	bad[0].session = 0;
	bad[1].rwnd = 0;
	bad[2].rwnd = 4097;
	bad[3].payload_bytes = 1409;
	bad[4].payload_bytes = 8960;
	bad[5].recovery = WIRE_RECOVERY_LAST + 1;
	wire_hello_encode(&good, body);
	assert_int_equal(wire_hello_decode(body, sizeof(body), &out), DXP_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		wire_hello_encode(&bad[i], body);
		assert_int_equal(wire_hello_decode(body, sizeof(body), &out), DXP_EMALFORMED);
	}
}

static void frame__ack_lengths(void **state)
{
	uint8_t body[WIRE_ACK_BODY_BYTES + 17 * 8] = {0}, words[16 * 8];
	struct wire_ack ack = {.echo_ts = 1,
			       .hold = 2,
			       .sack_off = 64,
			       .rwnd = 100,
			       .bitmap = words},
			out;

	memset(words, 0x77, sizeof(words));
	for (uint8_t w = 0; w <= 16; w++) {
		ack.sack_words = w;
		wire_ack_encode(&ack, body);
		for (size_t n = 0; n <= sizeof(body); n++)
			assert_int_equal(wire_ack_decode(body, n, 0, &out),
					 n == WIRE_ACK_BODY_BYTES + 8u * w ? DXP_OK
									   : DXP_EMALFORMED);
	}
	assert_memory_equal(out.bitmap, words, sizeof(words));
	body[46 - 32] = 17;
	assert_int_equal(wire_ack_decode(body, sizeof(body), 0, &out), DXP_EMALFORMED);
}

static void frame__ack_credit_and_level(void **state)
{
	uint8_t body[WIRE_ACK_BODY_BYTES];
	struct wire_ack ack = {.rx_level = WIRE_RX_LEVEL_MAX,
			       .credit = true,
			       .credit_qp = 7 << 8 | 3,
			       .credit_limit = 0xfffffff0,
			       .bitmap = body},
			out;

	wire_ack_encode(&ack, body);
	assert_int_equal(wire_ack_decode(body, sizeof(body), WIRE_FLAG_CREDIT, &out), DXP_OK);
	assert_true(out.credit && out.credit_qp == ack.credit_qp && out.rx_level == 31 &&
		    out.credit_limit == ack.credit_limit);
	/* without the flag, credit fields are ignored */
	assert_int_equal(wire_ack_decode(body, sizeof(body), 0, &out), DXP_OK);
	assert_true(!out.credit && out.credit_qp == 0 && out.credit_limit == 0);
	ack.credit = false;
	wire_ack_encode(&ack, body);
	assert_true(get_be64(body + (WIRE_OFF_ACK_CREDIT_QP - WIRE_COMMON_BYTES)) == 0);

	ack.rx_level = WIRE_RX_LEVEL_MAX + 1;
	wire_ack_encode(&ack, body);
	assert_int_equal(wire_ack_decode(body, sizeof(body), 0, &out), DXP_EMALFORMED);
	ack = (struct wire_ack){.credit = true, .credit_qp = 8 << 8, .bitmap = body};
	wire_ack_encode(&ack, body);
	assert_int_equal(wire_ack_decode(body, sizeof(body), WIRE_FLAG_CREDIT, &out),
			 DXP_EMALFORMED);
}

static void frame__credit(void **state)
{
	uint8_t body[(WIRE_CREDIT_ENTRIES_MAX + 1) * WIRE_CREDIT_BYTES + 1] = {0};
	struct wire_credit credit = {.count = WIRE_CREDIT_ENTRIES_MAX}, out;

	for (uint32_t i = 0; i < credit.count; i++)
		credit.entries[i] =
			(struct wire_credit_entry){(uint16_t)(i / 4 << 8 | i % 4), UINT32_MAX - i};
	wire_credit_encode(&credit, body);
	for (size_t n = 0; n <= sizeof(body); n++) {
		bool good = n >= 8 && n <= 128 && n % 8 == 0;
		assert_int_equal(wire_credit_decode(body, n, &out), good ? DXP_OK : DXP_EMALFORMED);
		if (good)
			assert_int_equal(out.count, n / 8);
	}
	assert_int_equal(wire_credit_decode(body, 128, &out), DXP_OK);
	assert_int_equal(out.count, credit.count);
	for (uint32_t i = 0; i < credit.count; i++) {
		assert_int_equal(out.entries[i].qp, credit.entries[i].qp);
		assert_int_equal(out.entries[i].limit, credit.entries[i].limit);
	}

	/* function 8; queue pair 4 of function 0; the highest value */
	static const uint16_t bad[] = {8 << 8, 4, 0xffff};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		credit.entries[15].qp = bad[i];
		wire_credit_encode(&credit, body);
		assert_int_equal(wire_credit_decode(body, 128, &out), DXP_EMALFORMED);
	}
}

static void frame__ping_pmtu_bye(void **state)
{
	uint8_t body[2048] = {0};
	uint64_t opaque = 0;
	struct wire_pmtu pmtu = {.id = 7, .bytes = 1472}, pmtu_out;
	struct wire_bye bye = {.token = 1ull << 63, .code = WIRE_NACK_CLOSING}, bye_out;

	wire_ping_encode(0x0123456789abcdef, body);
	for (size_t n = 0; n <= 16; n++)
		assert_int_equal(wire_ping_decode(body, n, &opaque),
				 n == WIRE_PING_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(opaque == 0x0123456789abcdef);
	wire_bye_encode(&bye, body);
	for (size_t n = 0; n <= 24; n++)
		assert_int_equal(wire_bye_decode(body, n, &bye_out),
				 n == WIRE_BYE_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_true(bye_out.token == bye.token && bye_out.code == bye.code);
	wire_pmtu_encode(&pmtu, body);
	for (size_t n = 0; n <= sizeof(body); n++) {
		assert_int_equal(wire_pmtu_probe_decode(body, n, &pmtu_out),
				 n == 1472 - WIRE_COMMON_BYTES ? DXP_OK : DXP_EMALFORMED);
		assert_int_equal(wire_pmtu_ack_decode(body, n, &pmtu_out),
				 n == WIRE_PMTU_BYTES ? DXP_OK : DXP_EMALFORMED);
	}
	assert_true(pmtu_out.id == 7 && pmtu_out.bytes == 1472);
	/* fewer bytes than its own fields */
	pmtu.bytes = WIRE_COMMON_BYTES;
	wire_pmtu_encode(&pmtu, body);
	assert_int_equal(wire_pmtu_probe_decode(body, 0, &pmtu_out), DXP_EMALFORMED);
}

/* Equal to the frame sealed as a whole. */
static void frame__seal_with_a_tail(void **state)
{
	uint8_t whole[1472] = {0}, head[WIRE_COMMON_BYTES + WIRE_PMTU_BYTES];
	struct wire_pmtu pmtu = {.id = 7, .bytes = sizeof(whole)};
	struct wire_header h = {.type = WIRE_PMTU_PROBE, .header_bytes = WIRE_COMMON_BYTES}, out;

	wire_header_encode(&h, head);
	wire_pmtu_encode(&pmtu, head + WIRE_COMMON_BYTES);
	memcpy(whole, head, sizeof(head));
	wire_control_seal(whole, sizeof(whole));
	wire_control_seal_tail(head, sizeof(head), whole + sizeof(head),
			       sizeof(whole) - sizeof(head));
	assert_memory_equal(head, whole, sizeof(head));
	assert_int_equal(wire_header_decode(whole, sizeof(whole), &out), DXP_OK);
	whole[sizeof(whole) - 1] ^= 1;
	assert_int_equal(wire_header_decode(whole, sizeof(whole), &out), DXP_EIO);
}

/* A control frame has no immediate data, not even 0. */
static void frame__every_wrong_header_length_is_malformed(void **state)
{
	uint8_t *frame = malloc(WIRE_COMMON_BYTES);
	struct wire_header h;

	assert_non_null(frame);
	for (int type = 0; type < 256; type++) {
		for (uint8_t words = 0; words < 16; words++) {
			struct wire_header claim = {.type = (uint8_t)type,
						    .header_bytes = WIRE_COMMON_BYTES,
						    .payload_bytes = WIRE_COMMON_BYTES - words * 8,
						    .flags = WIRE_FLAG_IMM};
			memset(frame, 0, WIRE_COMMON_BYTES);
			wire_header_encode(&claim, frame);
			frame[WIRE_OFF_VERSION_HEADER] = (uint8_t)(WIRE_VERSION << 4 | words);
			assert_int_equal(wire_header_decode(frame, WIRE_COMMON_BYTES, &h),
					 DXP_EMALFORMED);
		}
	}
	free(frame);
}

static void frame__unknown_flags_are_malformed(void **state)
{
	uint8_t frame[128];
	struct wire_header h;
	size_t bytes = frame_make(frame);

	for (int bit = 14; bit < 16; bit++) {
		put_be16(frame + WIRE_OFF_FLAGS, put_header.flags | (uint16_t)(1 << bit));
		wire_crc_set(frame, 0);
		wire_crc_set(frame, crc32c(wire_crc_begin(frame, WIRE_HEADER_BYTES_MAX),
					   frame + WIRE_HEADER_BYTES_MAX, 5));
		assert_int_equal(wire_header_decode(frame, bytes, &h), DXP_EMALFORMED);
	}
}

struct field {
	const char *name;
	int offset, bytes;
};

static const struct field fields[] = {
#define FIELD(name, offset, bytes) {#name, offset, bytes},
	WIRE_COMMON_FIELDS(FIELD) WIRE_DATA_FIELDS(FIELD) WIRE_ACK_FIELDS(FIELD) WIRE_NACK_FIELDS(
		FIELD) WIRE_HELLO_FIELDS(FIELD) WIRE_RESET_FIELDS(FIELD) WIRE_PING_FIELDS(FIELD)
		WIRE_PMTU_FIELDS(FIELD) WIRE_BYE_FIELDS(FIELD) WIRE_CREDIT_FIELDS(FIELD)
			WIRE_GET_FIELDS(FIELD) WIRE_ATOMIC_FIELDS(FIELD)
				WIRE_HELLO_SEALED_FIELDS(FIELD) WIRE_REJECT_FIELDS(FIELD)
					WIRE_HELLO_COOKIE_FIELDS(FIELD) WIRE_COOKIE_FIELDS(FIELD)
#undef FIELD
};

static char *document_read(void)
{
	static char text[64 << 10];
	FILE *f = fopen(DXP_SOURCE_DIR "/docs/reference/wire.md", "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	/* inc_document.c tests that chapter */
	char *other = strstr(text, "\n## In-network computing\n");
	assert_non_null(other);
	*other = '\0';
	return text;
}

/* The document lists exactly the code's fields, with offset and length. */
static void frame__document_agrees(void **state)
{
	char *text = document_read(), row[96], name[64];
	size_t rows = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(name, sizeof(name), "%s", fields[i].name);
		for (char *p = name; *p; p++)
			*p = (char)tolower(*p);
		snprintf(row, sizeof(row), "\n| %d | %d | `%s` |", fields[i].offset,
			 fields[i].bytes, name);
		if (!strstr(text, row))
			fail_msg("docs/reference/wire.md has no row '%s'", row + 1);
	}
	for (char *p = text; (p = strstr(p, " | `")) != NULL; p++)
		rows++;
	assert_int_equal(rows, sizeof(fields) / sizeof(fields[0]));
}

static void frame__document_lists_the_types(void **state)
{
	const char *text = document_read();
	char row[64];

#define CHECK(name, value, kind)                                       \
	snprintf(row, sizeof(row), "\n| 0x%02x | %s |", value, #name); \
	if (value < 0x40 && !strstr(text, row))                        \
		fail_msg("docs/reference/wire.md has no row '%s'", row + 1);
	WIRE_TYPE_LIST(CHECK)
#undef CHECK
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame__round_trip),
		cmocka_unit_test(frame__imm_and_trailer),
		cmocka_unit_test(frame__trailer_only_where_an_event_ends),
		cmocka_unit_test(frame__atomic),
		cmocka_unit_test(frame__every_short_length_is_malformed),
		cmocka_unit_test(frame__every_flipped_bit_is_seen),
		cmocka_unit_test(frame__bodies),
		cmocka_unit_test(frame__cookie),
		cmocka_unit_test(frame__constant_part_of_a_hello),
		cmocka_unit_test(frame__hello_rejects_what_cannot_be),
		cmocka_unit_test(frame__ack_lengths),
		cmocka_unit_test(frame__ack_credit_and_level),
		cmocka_unit_test(frame__credit),
		cmocka_unit_test(frame__ping_pmtu_bye),
		cmocka_unit_test(frame__seal_with_a_tail),
		cmocka_unit_test(frame__unknown_flags_are_malformed),
		cmocka_unit_test(frame__every_wrong_header_length_is_malformed),
		cmocka_unit_test(frame__document_agrees),
		cmocka_unit_test(frame__document_lists_the_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
