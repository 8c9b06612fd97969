/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the compatible format of in-network computing: bytes, round trips, lengths, invalid fields,
 * numbers of segments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

static const struct roce_path path = {0x0a4d0001, 0x0a4d00f1, 0xc000, ROCE_PORT};

static const struct inc_header data_header = {
	.src_rank = 0x01020304,
	.comm_id = 0xbeef,
	.op = DXP_INC_SUM,
	.type = DXP_INC_DOUBLE,
	.req_id = 0x0a0b0c,
	.call_elements = 2,
	.elements = 2,
	.kind = INC_DATA,
	.flags = INC_FLAG_COMPAT | INC_FLAG_SHORT | INC_FLAG_LAST,
	.collective = INC_ALLREDUCE,
};

static const struct inc_control control = {
	.sup_mpi_type = 7,
	.master_num = DXP_INC_SOCKET,
	.hop = 2,
	.sup_comm_type = 1 << INC_ALLREDUCE,
	.fail_cause = INC_CAUSE_GROUPS,
	.sup_op = 0x1ffe,
	.sup_type = 0xffff,
	.segment_bytes = 256,
	.window = 1,
	.planes = INC_PLANE_USER,
	.path_count = 2,
	.members = 9,
	.true_comm_id = 0xbeef,
	.qkey = 0x11121314,
	.free_groups = 200,
	.lease_ms = 30000,
	.job_id = 0x2122232425262728,
	.c_id = 0x31,
	.world_rank = 0x41,
	.member_ip = 0x0a4d0002,
	.first_ip = 0x0a4d0001,
	.member_port = 0xc001,
	.first_port = 0xc000,
	.cause_ip = 0x0a4d00f1,
	.path = {{0x0a4d00f2, 3, 1}, {0x0a4d00f1, 4, 2}},
};

static size_t packet_make(const struct inc_header *h, uint8_t opcode, const void *payload,
			  size_t payload_bytes, uint8_t *out)
{
	uint8_t trailer[INC_TRAILER_BYTES];
	struct datagram d;
	size_t bytes;

	inc_packet_encode(h, opcode, 0x51525354, INC_QP, INC_QP, &path, payload, payload_bytes, &d,
			  trailer);
	assert_true(inc_packet_alone(&d));
	bytes = d.header_bytes;
	memcpy(out, d.header, bytes);
	for (size_t i = 0; i < d.slice_count; i++) {
		memcpy(out + bytes, d.slices[i].base, d.slices[i].bytes);
		bytes += d.slices[i].bytes;
	}
	assert_true(roce_icrc_right(&path, out, bytes));
	return bytes;
}

static struct inc_header control_header(uint8_t kind)
{
	return (struct inc_header){.src_rank = 5,
				   .comm_id = INC_COMM_CONTROL,
				   .epoch = 0x6162,
				   .kind = kind,
				   .flags = INC_FLAG_COMPAT,
				   .status = kind == INC_NOTIFIED ? 3 : 0};
}

static size_t control_make(uint8_t kind, const struct inc_control *c, uint8_t *out)
{
	const struct inc_header h = control_header(kind);
	uint8_t payload[INC_CONTROL_BYTES_MAX];

	return packet_make(&h, ROCE_UD_SEND_ONLY, payload,
			   inc_packet_control_encode(&h, c, payload), out);
}

/* The fields of the publication's MPI header (N-03), with its order and widths. */
static void inc_compat__data_bytes(void **state)
{
	static const uint8_t expected[] = {
		0xff, 0x33, 0x44, 0xf4, /* tag */
		1,    2,    3,    4,    /* src_rank */
		0xbe, 0xef,             /* comm_id */
		1,    12,               /* op_code, oper_and_type */
		0x0c,                   /* req_id */
		0,    2,                /* pkt_para_num */
	};
	const double payload[2] = {1.5, 2.5};
	uint8_t data[128];
	size_t bytes = packet_make(&data_header, ROCE_UD_SEND_ONLY, payload, sizeof(payload), data);
	const uint8_t *at = data + ROCE_BTH_BYTES + ROCE_DETH_BYTES;

	assert_int_equal(sizeof(expected), INC_COMPAT_HEADER_BYTES);
	assert_memory_equal(at, expected, sizeof(expected));
	assert_memory_equal(at + sizeof(expected), payload, sizeof(payload));
	/* 15 header and 16 payload bytes are padded to 32. The PSN holds 24 bits of req_id, the
	 * field req_id only 8. */
	assert_int_equal(bytes, ROCE_BTH_BYTES + ROCE_DETH_BYTES + 32 + ROCE_ICRC_BYTES);
	assert_int_equal(data[1] >> 4 & 3, 1);
	assert_memory_equal(data + 9, "\x0a\x0b\x0c", 3);
}

static void inc_compat__control_bytes(void **state)
{
	static const uint8_t expected[] = {
		0, 7, 1, 1, 0x22, 2,          /* sup_mpi_type, fail_cause, master_num,
						 query_notify_hop (NOTIFY, hop 2), sup_comm_type */
		0x1f, 0xfe, 0xff, 0xff, 1, 0, /* ops, types, sup_max_data_size */
		0, 9, 0, 3,                   /* global_group_size, local_group_size */
		0, 0, 0xbe, 0xef,             /* true_comm_id */
		0, 0, 0, 200,                 /* ava_grp_num */
		0, 0, 0, 5,                   /* dst_rank */
		10, 77, 0, 0xf2,              /* tor1_ip */
		10, 77, 0, 0xf1,              /* spine_ip */
		0, 0, 0, 0,                   /* tor2_ip */
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* job_id */
		0, 0, 0, 0x31, 0, 0, 0, 0x41,                   /* c_id, world_rank */
		/* extension */
		0x11, 0x12, 0x13, 0x14, 0, 0, 0x75, 0x30, /* qkey, lease_ms */
		10, 77, 0, 2, 10, 77, 0, 1,               /* member_ip, first_ip */
		10, 77, 0, 0xf1, 0xc0, 1, 0xc0, 0,        /* cause_ip, ports */
		0x61, 0x62, 0, 0,                         /* epoch, status */
		0, 3, 0, 4, 0, 0, 0, 1, 0, 2, 0, 0,       /* children, indices */
	};
	uint8_t data[256];
	size_t bytes = control_make(INC_NOTIFY, &control, data);
	const uint8_t *at = data + ROCE_BTH_BYTES + ROCE_DETH_BYTES;

	assert_int_equal(sizeof(expected), INC_COMPAT_CONTROL_BYTES + INC_COMPAT_EXTENSION_BYTES);
	assert_memory_equal(at, "\xff\x33\x44\xf4\0\0\0\0\xff\xff\0\0\0\0\0", 15);
	assert_memory_equal(at + INC_COMPAT_HEADER_BYTES, expected, sizeof(expected));
	assert_int_equal(bytes, ROCE_BTH_BYTES + ROCE_DETH_BYTES + 15 + 96 + 1 + ROCE_ICRC_BYTES);
}

static void inc_compat__data_round_trip(void **state)
{
	uint8_t payload[INC_SHORT_BYTES] = {1, 2, 3}, data[512];
	static const uint8_t opcodes[] = {ROCE_UD_SEND_ONLY, ROCE_RC_SEND_ONLY};

	for (uint16_t elements = 0; elements <= 32; elements++)
		for (size_t i = 0; i < ARRAY_COUNT(opcodes); i++) {
			struct inc_header h = data_header;
			struct inc_packet p;
			size_t bytes;

			h.elements = elements;
			h.call_elements = elements;
			h.status = elements ? 0 : (uint8_t)-DXP_EINVAL;
			bytes = packet_make(&h, opcodes[i], payload, elements * 8u, data);
			for (size_t n = 0; n < bytes; n++)
				assert_true(inc_packet_decode(data, n, &p) != DXP_OK);
			assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
			assert_memory_equal(&p.header, &h, sizeof(h));
			assert_int_equal(p.payload_bytes, elements * 8u);
			assert_memory_equal(p.payload, payload, p.payload_bytes);
		}
}

static void inc_compat__control_round_trip(void **state)
{
	for (uint8_t kind = INC_QUERY; kind <= INC_RENEW; kind++)
		for (uint8_t hops = 0; hops <= INC_COMPAT_PATH_MAX; hops++) {
			struct inc_header h = control_header(kind);
			struct inc_control c = control, out;
			struct inc_packet p;
			uint8_t data[256];
			size_t bytes;

			c.path_count = hops;
			c.path[2] = (struct inc_hop){0x0a4d00f0, 2, 0};
			for (unsigned i = hops; i < INC_COMPAT_PATH_MAX; i++)
				c.path[i] = (struct inc_hop){0};
			bytes = control_make(kind, &c, data);
			assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
			assert_memory_equal(&p.header, &h, sizeof(h));
			assert_int_equal(inc_packet_control_decode(&p, &out), DXP_OK);
			assert_int_equal(out.path_count, hops);
			assert_memory_equal(out.path, c.path, hops * sizeof(c.path[0]));
			assert_int_equal(out.sup_mpi_type, 7);
			assert_int_equal(out.master_num, DXP_INC_SOCKET);
			assert_int_equal(out.qkey, c.qkey);
			assert_int_equal(out.job_id, c.job_id);
			for (size_t n = 0; n < bytes; n++)
				assert_true(inc_packet_decode(data, n, &p) != DXP_OK);
		}
}

/* Changes the byte at `at` from the MPI header, which must make the packet malformed. */
static void spoil(const uint8_t *sound, size_t bytes, size_t at, uint8_t value)
{
	uint8_t data[256];
	struct inc_packet p;

	memcpy(data, sound, bytes);
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
	data[ROCE_BTH_BYTES + ROCE_DETH_BYTES + at] = value;
	if (inc_packet_decode(data, bytes, &p) != DXP_EMALFORMED)
		fail_msg("byte %zu may be %u", at, value);
}

static void inc_compat__unsound_control(void **state)
{
	static const struct {
		uint8_t at, value;
	} cases[] = {
		{7, 1},            /* src_rank of a NOTIFY */
		{10, 1},           /* op_code */
		{11, 1},           /* oper_and_type */
		{12, 1},           /* req_id */
		{14, 1},           /* pkt_para_num */
		{15 + 2, 99},      /* fail_cause */
		{15 + 3, 3},       /* master_num */
		{15 + 4, 0x29},    /* query_notify_hop: too many hops */
		{15 + 4, 0xa2},    /* query_notify_hop: undefined kind */
		{15 + 11, 1},      /* sup_max_data_size: not a multiple of 16 */
		{15 + 15, 4},      /* local_group_size: not the first hop's children */
		{15 + 17, 1},      /* true_comm_id: above 16 bits */
		{15 + 56 + 26, 1}, /* status: above 255 */
		{15 + 56 + 33, 1}, /* children of an absent hop */
		{15 + 56 + 35, 9}, /* index: not below the children */
		{15 + 56 + 39, 1}, /* index of an absent hop */
	};
	uint8_t sound[256];
	size_t bytes = control_make(INC_NOTIFY, &control, sound);

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		spoil(sound, bytes, cases[i].at, cases[i].value);
	bytes = control_make(INC_QUERY, &control, sound);
	spoil(sound, bytes, 15 + 27, 1); /* dst_rank of a QUERY */
	spoil(sound, bytes, 15 + 15, 1); /* local_group_size of a QUERY */
}

static void inc_compat__unsound_data(void **state)
{
	static const struct {
		uint8_t at, value;
	} cases[] = {
		{10, DXP_INC_OPS}, {10, DXP_INC_LAND}, {11, DXP_INC_TYPES}, {12, 0x0d}, {14, 3},
		{14, 0},
	};
	const double payload[2] = {1, 2};
	uint8_t sound[128];
	size_t bytes =
		packet_make(&data_header, ROCE_UD_SEND_ONLY, payload, sizeof(payload), sound);

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		spoil(sound, bytes, cases[i].at, cases[i].value);
	/* group id 0 */
	sound[ROCE_BTH_BYTES + ROCE_DETH_BYTES + 8] = 0;
	spoil(sound, bytes, 9, 0);
}

/* This bit marks the compatible format in memory only. */
static void inc_compat__flag_of_widened(void **state)
{
	struct inc_header h = data_header;
	struct inc_packet p;
	uint8_t data[128];

	h.flags = INC_FLAG_LAST;
	size_t bytes = packet_make(&h, ROCE_UD_SEND_ONLY, "0123456789abcdef", 16, data);
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_OK);
	data[ROCE_BTH_BYTES + ROCE_DETH_BYTES + INC_OFF_FLAGS] |= INC_FLAG_COMPAT;
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_EMALFORMED);
}

/* The first hop is absent. */
static void inc_compat__gap_in_path(void **state)
{
	struct inc_control c = control;
	struct inc_packet p;
	uint8_t data[256];

	c.path[0] = (struct inc_hop){0};
	size_t bytes = control_make(INC_NOTIFY, &c, data);
	assert_int_equal(inc_packet_decode(data, bytes, &p), DXP_EMALFORMED);
}

static void inc_compat__numbers(void **state)
{
	static const uint32_t cases[][3] = {
		{0, 0, 0},
		{0, 5, 5},
		{5, 0, 0},
		{0xffffff, 0, 0x1000000},
		{0x1000000, 0xffffff, 0xffffff},
		{0, 0xffffff, 0xffffffff},
		{0xffffffff, 3, 3},
		{0xabcd0000, 0xcd0007, 0xabcd0007},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		assert_int_equal(inc_compat_req_id(cases[i][0], cases[i][1]), cases[i][2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_compat__data_bytes),
		cmocka_unit_test(inc_compat__control_bytes),
		cmocka_unit_test(inc_compat__data_round_trip),
		cmocka_unit_test(inc_compat__control_round_trip),
		cmocka_unit_test(inc_compat__unsound_control),
		cmocka_unit_test(inc_compat__unsound_data),
		cmocka_unit_test(inc_compat__flag_of_widened),
		cmocka_unit_test(inc_compat__gap_in_path),
		cmocka_unit_test(inc_compat__numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
