/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of whole packets of in-network computing, and rejection of wrong lengths and
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "wire/inc.h"
#include "wire/limits.h"

#define BYTES_MAX 2048

static const struct roce_path path = {0x0a4d0001, 0x0a4d00f1, 0xc002, ROCE_PORT};

static const struct inc_header data_header = {
	.src_rank = 0x01020304,
	.comm_id = 0x11121314,
	.epoch = 0x2122,
	.op = DXP_INC_SUM,
	.type = DXP_INC_INT8,
	.req_id = 0x31323334,
	.call_elements = 0x41424344,
	.root = 0x5152,
	.kind = INC_DATA,
	.flags = INC_FLAG_REPEAT | INC_FLAG_LAST,
	.collective = INC_ALLREDUCE,
};

static size_t flatten(const struct datagram *d, uint8_t *out)
{
	size_t bytes = d->header_bytes;

	memcpy(out, d->header, bytes);
	for (size_t i = 0; i < d->slice_count; i++) {
		memcpy(out + bytes, d->slices[i].base, d->slices[i].bytes);
		bytes += d->slices[i].bytes;
	}
	return bytes;
}

static size_t packet_make(const struct inc_header *h, uint8_t opcode, const void *payload,
			  size_t payload_bytes, uint8_t *out)
{
	uint8_t trailer[INC_TRAILER_BYTES];
	struct datagram d;

	inc_packet_encode(h, opcode, 0x80445850, INC_QP, INC_QP, &path, payload, payload_bytes, &d,
			  trailer);
	assert_int_equal(d.to.port, ROCE_PORT);
	assert_int_equal(get_be32(d.to.ip + 12), path.to_ip);
	assert_int_equal(inc_packet_alone(&d),
			 opcode == ROCE_RC_ACK || !(h->flags & INC_FLAG_TRAIN));
	return flatten(&d, out);
}

static void inc_packet__round_trip(void **state)
{
	static const uint8_t opcodes[] = {ROCE_UD_SEND_ONLY, ROCE_RC_SEND_ONLY};
	uint8_t payload[1400], data[BYTES_MAX];

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n < 2 * sizeof(payload); n++) {
		struct inc_header h = data_header;
		struct inc_packet p;

		h.elements = (uint16_t)(n / 2);
		h.flags = n / 2 > INC_SHORT_BYTES ? INC_FLAG_TRAIN : 0;
		size_t bytes = packet_make(&h, opcodes[n % 2], payload, n / 2, data);
		assert_int_equal(bytes % 4, 0);
		assert_int_equal(bytes,
				 (roce_header_bytes(opcodes[n % 2]) + 32 + n / 2 + 3) / 4 * 4 + 4);
		assert_true(roce_icrc_right(&path, data, bytes));
		assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
		assert_int_equal(p.payload_bytes, n / 2);
		assert_memory_equal(p.payload, payload, n / 2);
		assert_memory_equal(&p.header, &h, sizeof(h));
		assert_int_equal(p.roce.psn, 0x323334);
		assert_int_equal(p.roce.ack_request, n % 2);
		assert_int_equal(p.roce.qkey, n % 2 ? 0 : 0x80445850);
	}
}

static void inc_packet__rc_ack(void **state)
{
	struct inc_header h = {.req_id = 0xff000007};
	uint8_t data[BYTES_MAX];
	struct inc_packet p;
	size_t bytes = packet_make(&h, ROCE_RC_ACK, NULL, 0, data);

	assert_int_equal(bytes, ROCE_BTH_BYTES + ROCE_AETH_BYTES + ROCE_ICRC_BYTES);
	assert_true(roce_icrc_right(&path, data, bytes));
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
	assert_int_equal(p.header.kind, 0);
	assert_int_equal(p.roce.opcode, ROCE_RC_ACK);
	assert_int_equal(p.roce.psn, 7);
	assert_int_equal(p.roce.msn, 7);
	data[7] ^= 1; /* destination queue pair */
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_ENOENT);
}

/* A packet that ends before the tag, or whose length is not a multiple of 4, counts as another
 * protocol's (ENOENT). Every other incomplete packet is malformed. */
static void inc_packet__every_length(void **state)
{
	struct inc_header h = data_header;
	uint8_t data[BYTES_MAX], payload[16] = {1};
	struct inc_packet p = {.payload_bytes = 77};

	h.elements = sizeof(payload);
	size_t bytes = packet_make(&h, ROCE_UD_SEND_ONLY, payload, sizeof(payload), data);
	for (size_t n = 0; n < bytes; n++) {
		int status = inc_packet_decode(data, n, &p);

		assert_int_equal(status, n < 28 || n % 4 ? DXP_ENOENT : DXP_EMALFORMED);
		assert_int_equal(p.payload_bytes, 77);
	}
	memset(data + bytes, 0, 8);
	assert_int_equal(inc_packet_decode(data, bytes + 4, &p), DXP_EMALFORMED);
	data[ROCE_BTH_BYTES + ROCE_DETH_BYTES] ^= 1;
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_ENOENT);
	data[ROCE_BTH_BYTES + ROCE_DETH_BYTES] ^= 1;
	data[0] = 0x0a; /* RDMA WRITE */
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_ENOENT);
}

static int decoded(const struct inc_header *h, size_t payload_bytes)
{
	static const uint8_t payload[1400];
	uint8_t data[BYTES_MAX];
	struct inc_packet p;

	return inc_packet_decode(
		data, packet_make(h, ROCE_UD_SEND_ONLY, payload, payload_bytes, data), &p);
}

#define SUM_DOUBLE INC_ALLREDUCE, DXP_INC_SUM, DXP_INC_DOUBLE
#define CAST_BYTES INC_BROADCAST, DXP_INC_NOOP, DXP_INC_BYTES

static const struct {
	uint8_t collective, op, type, flags, status;
	uint16_t elements;
	size_t payload_bytes;
	bool good;
} data_cases[] = {
	{SUM_DOUBLE, 0, 0, 2, 16, true},
	{SUM_DOUBLE, 0, 0, 2, 15, false},
	{SUM_DOUBLE, 0, 0, 2, 24, false},
	{SUM_DOUBLE, 0, 0, 2, 0, false},
	{SUM_DOUBLE, 0, 5, 2, 0, true},
	{SUM_DOUBLE, 0, 5, 2, 16, true},
	{SUM_DOUBLE, 0, 5, 2, 8, false},
	{SUM_DOUBLE, INC_FLAG_RESULT, 0, 2, 0, false},
	{SUM_DOUBLE, 0x80, 0, 2, 16, false},
	{SUM_DOUBLE, 0, 0, 0, 0, true},
	{SUM_DOUBLE, INC_FLAG_SHORT, 0, 32, 256, true},
	{SUM_DOUBLE, INC_FLAG_SHORT, 0, 33, 264, false},
	{0, DXP_INC_SUM, DXP_INC_DOUBLE, 0, 0, 2, 16, false},
	{5, DXP_INC_SUM, DXP_INC_DOUBLE, 0, 0, 2, 16, false},
	{INC_REDUCE, DXP_INC_SUM, DXP_INC_DOUBLE, 0, 0, 2, 16, true},
	{INC_REDUCE, DXP_INC_LAND, DXP_INC_DOUBLE, 0, 0, 2, 16, false},
	{INC_ALLREDUCE, DXP_INC_NOOP, DXP_INC_DOUBLE, 0, 0, 2, 16, false},
	{INC_BROADCAST, DXP_INC_OPS, DXP_INC_DOUBLE, 0, 0, 2, 16, false},
	{INC_BROADCAST, DXP_INC_NOOP, DXP_INC_TYPES, 0, 0, 2, 0, false},
	{CAST_BYTES, 0, 0, 9, 9, true},
	{CAST_BYTES, 0, 0, 9, 0, true},
	{CAST_BYTES, 0, 0, 9, 8, false},
	{CAST_BYTES, INC_FLAG_RESULT, 0, 9, 9, true},
	{CAST_BYTES, INC_FLAG_RESULT, 0, 9, 0, false},
	{INC_BARRIER, DXP_INC_NOOP, DXP_INC_BYTES, 0, 0, 0, 0, true},
	{INC_BARRIER, DXP_INC_NOOP, DXP_INC_BYTES, 0, 0, 0, 4, false},
};

static void inc_packet__data_rules(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(data_cases); i++) {
		struct inc_header h = {
			.comm_id = 5,
			.kind = INC_DATA,
			.collective = data_cases[i].collective,
			.op = data_cases[i].op,
			.type = data_cases[i].type,
			.flags = data_cases[i].flags,
			.status = data_cases[i].status,
			.elements = data_cases[i].elements,
		};
		int want = data_cases[i].good ? DXP_OK : DXP_EMALFORMED;

		if (decoded(&h, data_cases[i].payload_bytes) != want)
			fail_msg("case %zu", i);
		h.kind = INC_FETCHED;
		assert_int_equal(decoded(&h, data_cases[i].payload_bytes), want);
		h.comm_id = INC_COMM_CONTROL;
		assert_int_equal(decoded(&h, data_cases[i].payload_bytes), DXP_EMALFORMED);
	}
}

static void inc_packet__kinds(void **state)
{
	for (unsigned kind = 0; kind < 256; kind++) {
		struct inc_header h = {.kind = (uint8_t)kind, .comm_id = INC_COMM_CONTROL};
		bool control = kind >= INC_QUERY && kind <= INC_RENEW;
		bool any = kind == INC_INQUIRE || kind == INC_ANSWER;
		bool peer = (kind >= INC_FREEZE && kind <= INC_FETCH) || kind == INC_AWAIT ||
			    kind == INC_AWAITED;
		bool freeze = kind == INC_FREEZE || kind == INC_FROZEN;

		assert_int_equal(decoded(&h, 72) == DXP_OK, control || any);
		h.comm_id = 7;
		assert_int_equal(decoded(&h, 72) == DXP_OK, any || freeze);
		assert_int_equal(decoded(&h, INC_PEER_BYTES_MAX) == DXP_OK, any || freeze);
		assert_int_equal(decoded(&h, INC_PEER_BYTES_MAX + 4) == DXP_OK, any);
		assert_int_equal(decoded(&h, INC_PEER_BYTES - 4) == DXP_OK, any);
		assert_int_equal(decoded(&h, INC_PEER_BYTES) == DXP_OK, any || peer);
		assert_int_equal(decoded(&h, 0) == DXP_OK, any || kind == INC_REFUSED);
	}
	assert_string_equal(inc_kind_text(INC_DATA), "data");
	assert_string_equal(inc_kind_text(INC_ANSWER), "answer");
	assert_string_equal(inc_kind_text(0), "unknown");
	assert_string_equal(inc_kind_text(INC_AWAITED + 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_packet__round_trip),
		cmocka_unit_test(inc_packet__rc_ack),
		cmocka_unit_test(inc_packet__every_length),
		cmocka_unit_test(inc_packet__data_rules),
		cmocka_unit_test(inc_packet__kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
