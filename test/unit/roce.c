/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests RoCEv2 headers, and the ICRC of other implementations' packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/util.h"
#include "wire/roce.h"

#define IP_UDP_BYTES 28

static const struct roce_path path = {0x0a4d0001, 0x0a4d0002, 0xc001, 4791};

static size_t from_hex(const char *text, uint8_t *out)
{
	size_t bytes = 0;
	unsigned byte;

	for (; *text; text += 2, bytes++) {
		while (*text == ' ')
			text++;
		assert_int_equal(sscanf(text, "%2x", &byte), 1);
		out[bytes] = (uint8_t)byte;
	}
	return bytes;
}

/* Packets in hexadecimal digits, from the IP header to the ICRC. */
static const char *const vectors[] = {
	/* CNP of a ConnectX-4 Lx */
	"45c2003c718c4000401191610a0011010a001201 000012b700280000 8100ffff4000011800000000"
	"00000000000000000000000000000000 82fd002a",
	/* UC SEND only, from scapy's tests */
	"45010040047840004011b4d5c0a80007c0a80007 c00012b7002caca2 2460ffff000000d300cf1710"
	"4630818be28935d90e9a95505401be885e500000 78f353f3",
	/* UD SEND only, with a text */
	"4500005c12344000401113c10a4d00010a4d0002 c00112b700480000 6440ffff0001234500000064"
	"8001000000000011 64787020696e2d6e6574776f726b20616c6c7265647563652074657374207061"
	"796c6f6164 000000 f6c08c02",
};

static void roce__icrc_of_others(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(vectors); i++) {
		uint8_t packet[512];
		size_t bytes = from_hex(vectors[i], packet);

		assert_true(roce_icrc_right_ip(packet, bytes));
		/* routers may change these fields, so the ICRC stays */
		packet[1] ^= 0xff;
		packet[8]--;
		packet[10] ^= 0x55;
		packet[26] ^= 0x55;
		packet[IP_UDP_BYTES + 4] ^= 0xc0;
		assert_true(roce_icrc_right_ip(packet, bytes));
		for (size_t at = 0; at < bytes; at++) {
			bool masked = at == 1 || at == 8 || at == 10 || at == 11 || at == 26 ||
				      at == 27 || at == IP_UDP_BYTES + 4;

			packet[at] ^= 0x10;
			assert_int_equal(roce_icrc_right_ip(packet, bytes), masked);
			packet[at] ^= 0x10;
		}
	}
}

/* A plain socket delivers only the UDP payload, without the IP header. With Identification 0 and
 * Don't Fragment set, both ICRC functions give the same result. */
static void roce__icrc_without_ip_header(void **state)
{
	uint8_t packet[IP_UDP_BYTES + 1500] = {0x45};
	struct roce_path other = path;
	struct rng rng = {1};

	packet[6] = 0x40;
	packet[9] = 17;
	put_be32(packet + 12, path.from_ip);
	put_be32(packet + 16, path.to_ip);
	put_be16(packet + 20, path.from_port);
	put_be16(packet + 22, path.to_port);
	for (size_t bytes = 16; bytes <= 1472; bytes += 4) {
		uint8_t *roce = packet + IP_UDP_BYTES;
		struct roce_piece pieces[3] = {{roce, 12}};

		for (size_t i = 0; i < bytes; i++)
			roce[i] = (uint8_t)rng_next(&rng);
		put_be16(packet + 2, (uint16_t)(IP_UDP_BYTES + bytes));
		put_be16(packet + 24, (uint16_t)(8 + bytes));
		pieces[1] = (struct roce_piece){roce + 12, (bytes - 16) / 3};
		pieces[2] = (struct roce_piece){roce + 12 + (bytes - 16) / 3,
						bytes - 16 - (bytes - 16) / 3};
		put_be32(roce + bytes - 4, __builtin_bswap32(roce_icrc(&path, pieces, 3)));
		assert_true(roce_icrc_right(&path, roce, bytes));
		assert_true(roce_icrc_right_ip(packet, IP_UDP_BYTES + bytes));
	}
	other.to_port = 4792;
	assert_false(roce_icrc_right(&other, packet + IP_UDP_BYTES, 1472));
	for (size_t bytes = 0; bytes < 16; bytes++)
		assert_false(roce_icrc_right(&path, packet + IP_UDP_BYTES, bytes));
}

static const struct roce_header samples[] = {
	{.opcode = ROCE_UD_SEND_ONLY,
	 .pad_bytes = 3,
	 .dest_qp = 0xabcdef,
	 .psn = 0x123456,
	 .qkey = 0x80445850,
	 .source_qp = 0xfedcba},
	{.opcode = ROCE_RC_SEND_ONLY, .pad_bytes = 1, .ack_request = true, .dest_qp = 1, .psn = 2},
	{.opcode = ROCE_RC_ACK, .dest_qp = 3, .psn = 0xffffff, .msn = 0xfffffe},
	{.opcode = ROCE_RC_ACK, .dest_qp = 3, .syndrome = 0x1f, .msn = 1},
	{.opcode = ROCE_RC_ACK, .dest_qp = 3, .syndrome = ROCE_AETH_RNR | 31},
	{.opcode = ROCE_RC_ACK, .dest_qp = 3, .syndrome = ROCE_AETH_NAK | ROCE_NAK_SEQUENCE},
};

static void roce__header_round_trip(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
		uint8_t data[64] = {0}, again[64] = {0};
		struct roce_header h;
		size_t payload_bytes, bytes = roce_header_encode(&samples[i], data);

		assert_int_equal(bytes, roce_header_bytes(samples[i].opcode));
		assert_int_equal(roce_header_decode(data, bytes + 20, &h, &payload_bytes), DXP_OK);
		assert_int_equal(payload_bytes, 16 - samples[i].pad_bytes);
		assert_int_equal(roce_header_encode(&h, again), bytes);
		assert_memory_equal(again, data, sizeof(data));
		assert_true(h.dest_qp == samples[i].dest_qp && h.psn == samples[i].psn &&
			    h.qkey == samples[i].qkey && h.source_qp == samples[i].source_qp &&
			    h.msn == samples[i].msn && h.syndrome == samples[i].syndrome &&
			    h.ack_request == samples[i].ack_request);
	}
}

static void roce__header_rejected(void **state)
{
	uint8_t data[64];
	struct roce_header h, untouched;
	size_t payload_bytes = 77;

	memset(&h, 0x5a, sizeof(h));
	untouched = h;
	for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
		size_t bytes = roce_header_encode(&samples[i], data);

		memset(data + bytes, 0, sizeof(data) - bytes);
		for (size_t n = 0; n < bytes + samples[i].pad_bytes + 4; n++)
			assert_int_equal(roce_header_decode(data, n, &h, &payload_bytes),
					 DXP_EMALFORMED);
		data[1] |= 1; /* another version */
		assert_int_equal(roce_header_decode(data, 64, &h, &payload_bytes), DXP_EMALFORMED);
		data[1] &= 0xf0;
		assert_int_equal(roce_header_decode(data, 63, &h, &payload_bytes), DXP_EMALFORMED);
		data[0] = 0x81;
		assert_int_equal(roce_header_decode(data, 64, &h, &payload_bytes), DXP_EMALFORMED);
	}
	roce_header_encode(&samples[2], data);
	static const uint8_t reserved[] = {0x40, 0x65, 0x80, 0xa0, 0xc0, 0xe0};
	for (size_t i = 0; i < ARRAY_COUNT(reserved); i++) {
		data[12] = reserved[i];
		assert_int_equal(roce_header_decode(data, 20, &h, &payload_bytes), DXP_EMALFORMED);
	}
	assert_memory_equal(&h, &untouched, sizeof(h));
	assert_int_equal(payload_bytes, 77);
}

/* Microseconds, table 45 of the specification. */
static void roce__rnr_times(void **state)
{
	static const uint32_t times[32] = {
		655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
		480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
		20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

	for (unsigned code = 0; code < 32; code++)
		assert_int_equal(roce_rnr_ns(code), times[code] * 1000ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce__icrc_of_others),
		cmocka_unit_test(roce__icrc_without_ip_header),
		cmocka_unit_test(roce__header_round_trip),
		cmocka_unit_test(roce__header_rejected),
		cmocka_unit_test(roce__rnr_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
