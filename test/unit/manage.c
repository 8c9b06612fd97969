/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the management codec: round trips, and rejection of changes and wrong lengths, even under a
 * right MAC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "manager/limits.h"
#include "wire/manage.h"
#include "wire/manage_entry.h"
#include "wire/stats.h"

static struct mac *mac;

static int key_make(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES] = "a fabric key that is only a test";

	return mac_create(key, &mac);
}

static int key_drop(void **state)
{
	mac_destroy(mac);
	return 0;
}

static struct node_entry entry_sample(uint16_t id)
{
	struct node_entry e = {.id = id,
			       .kind = MANAGE_XPU,
			       .alive = true,
			       .granted = true,
			       .capabilities = 0x80000001,
			       .magic = 0xdeadbeef,
			       .incarnation = 1ull << 63,
			       .memory_bytes = 1ull << 40,
			       .uuid = "0123456789abcde",
			       .engine = "ocl",
			       .device = "pthread basic (x86-64)"};

	address_parse("10.1.2.3:4796", 0, &e.address);
	snprintf(e.name, sizeof(e.name), "xpu-%u", id);
	return e;
}

static size_t stats_page_sample(uint8_t *out)
{
	struct stats_page page = {.request = 1,
				  .nonce = 2,
				  .part = STATS_PART_SESSIONS,
				  .published = true,
				  .first = 5,
				  .next = 9,
				  .count = 2,
				  .sessions = {{.peer = "a", .node = 5}, {.peer = "b", .node = 8}}};

	page.sessions[0].values[0] = UINT64_MAX;
	return stats_page_encode(&page, 6, mac, out);
}

/* Returns the length; 0: a type without frames. */
static size_t frame_sample(uint8_t type, uint8_t *out)
{
	struct manage_writer w;
	struct node_entry e = entry_sample(7);
	struct manage_renew renew = {3, 4, 2, 5, "uuid", {6, 7, 8}};
	struct manage_answer answer = {
		3, 4, type == WIRE_REFUSE ? DXP_EBUSY : 0, 9, 10, 11, "held by 10.0.0.1:1"};
	struct manage_rows rows = {
		.nonce = 4, .epoch = 5, .from = 6, .to = type == WIRE_NODE_DELTA ? 9 : 6};

	switch (type) {
	case WIRE_JOIN: return manage_join_encode(&(struct manage_join){1, 2, 3, e}, mac, out);
	case WIRE_LEASE:
		return manage_lease_encode(&(struct manage_lease){1, 2, 3, 4, 5, 6}, mac, out);
	case WIRE_RENEW:
	case WIRE_LEAVE:
	case WIRE_TABLE_ACK: return manage_renew_encode(type, 6, &renew, mac, out);
	case WIRE_ASSIGN:
		return manage_assign_encode(
			&(struct manage_assign){1, 2, 3, 4, MANAGE_GRANT, "*", "xpu-1"}, mac, out);
	case WIRE_STATUS: return manage_status_encode(&(struct manage_status){1, 2, 3}, mac, out);
	case WIRE_STATS:
		return stats_request_encode(&(struct stats_request){1, 2, STATS_PART_QPS, 3}, 6,
					    mac, out);
	case WIRE_STATS_PAGE: return stats_page_sample(out);
	case WIRE_REFUSE:
	case WIRE_ANSWER:
		return manage_answer_encode(type, 9, &answer, MANAGE_FRAME_BYTES, mac, out);
	case WIRE_NODE_TABLE:
	case WIRE_NODE_DELTA:
		manage_rows_begin(&w, out, FABRIC_DATAGRAM_BYTES);
		assert_true(manage_rows_add(&w, &e));
		e = entry_sample(9);
		assert_true(type == WIRE_NODE_TABLE ? manage_rows_add(&w, &e)
						    : manage_rows_remove(&w, 9, MANAGE_REVOKED));
		return manage_rows_finish(&w, type, 6, &rows, mac);
	}
	return 0;
}

static int body_decode(uint8_t type, struct manage_body body)
{
	union {
		struct manage_join join;
		struct manage_lease lease;
		struct manage_renew renew;
		struct manage_assign assign;
		struct manage_status status;
		struct manage_answer answer;
		struct manage_rows rows;
		struct stats_request stats;
		struct stats_page page;
	} any;
	struct manage_reader reader;

	switch (type) {
	case WIRE_JOIN: return manage_join_decode(body, &any.join);
	case WIRE_LEASE: return manage_lease_decode(body, &any.lease);
	case WIRE_RENEW:
	case WIRE_LEAVE:
	case WIRE_TABLE_ACK: return manage_renew_decode(body, &any.renew);
	case WIRE_ASSIGN: return manage_assign_decode(body, &any.assign);
	case WIRE_STATUS: return manage_status_decode(body, &any.status);
	case WIRE_STATS: return stats_request_decode(body, &any.stats);
	case WIRE_STATS_PAGE: return stats_page_decode(body, &any.page);
	case WIRE_REFUSE:
	case WIRE_ANSWER: return manage_answer_decode(body, &any.answer);
	default: return manage_rows_decode(type, body, &any.rows, &reader);
	}
}

#define EACH_TYPE(type) for (uint8_t type = WIRE_JOIN; type <= WIRE_STATS_PAGE; type++)

static void manage_open__accepts_each_frame(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct wire_header header;
	struct manage_body body;
	uint64_t request, nonce;

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame);
		assert_true(bytes > 0);
		assert_int_equal(manage_open(frame, bytes, mac, &header, &body), DXP_OK);
		assert_int_equal(header.type, type);
		assert_int_equal(body_decode(type, body), DXP_OK);
		assert_true(manage_prefix(body, &request, &nonce));
	}
}

static void manage_open__rejects_every_other_length(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES + 1] = {0};
	struct wire_header header;
	struct manage_body body;

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame);
		for (size_t length = 0; length <= bytes + 1; length++)
			if (length != bytes)
				assert_int_equal(manage_open(frame, length, mac, &header, &body),
						 DXP_EMALFORMED);
	}
}

static void manage_open__rejects_every_flipped_bit(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct wire_header header;
	struct manage_body body;

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame);
		for (size_t bit = 0; bit < 8 * bytes; bit++) {
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
			int status = manage_open(frame, bytes, mac, &header, &body);
			assert_true(status == DXP_EIO || status == DXP_EMALFORMED);
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

/* An attacker can compute the CRC, but not the MAC. Every bit flip in the MAC, or in the bytes that
 * it covers, is rejected: with EAUTH, unless it also changes the form of the body. */
static void manage_open__a_right_crc_does_not_help_a_forger(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct wire_header header;
	struct manage_body body;

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame);
		for (size_t bit = 8 * WIRE_OFF_DST_SESSION; bit < 8 * bytes; bit++) {
			size_t byte = bit / 8;
			if (byte >= WIRE_OFF_TX_TS && byte < WIRE_COMMON_BYTES)
				continue;
			frame[byte] ^= (uint8_t)(1u << bit % 8);
			wire_control_seal(frame, bytes);
			int status = manage_open(frame, bytes, mac, &header, &body);
			if (byte >= WIRE_OFF_DST_SESSION && byte < WIRE_OFF_SRC_NODE)
				/* the body's form changed, so any error is right */
				assert_int_not_equal(status, DXP_OK);
			else
				assert_int_equal(status, DXP_EAUTH);
			frame[byte] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

static void manage_open__another_key(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES], key[FABRIC_KEY_BYTES] = {1};
	struct wire_header header;
	struct manage_body body;
	struct mac *other;

	assert_int_equal(mac_create(key, &other), DXP_OK);
	size_t bytes = frame_sample(WIRE_JOIN, frame);
	assert_int_equal(manage_open(frame, bytes, other, &header, &body), DXP_EAUTH);
	assert_int_equal(header.type, WIRE_JOIN);
	mac_destroy(other);
}

/* Truncated anywhere, or with more bytes. */
static void body_decode__rejects_every_other_length(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame) - WIRE_COMMON_BYTES - MAC_BYTES;
		for (size_t length = 0; length <= bytes + 1; length++) {
			struct manage_body body = {frame + WIRE_COMMON_BYTES, length};
			assert_int_equal(body_decode(type, body),
					 length == bytes ? DXP_OK : DXP_EMALFORMED);
		}
	}
}

/* Any result is right, but no read outside the body (checked by the sanitizers). */
static void body_decode__survives_every_changed_byte(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	unsigned accepted = 0, refused = 0;

	EACH_TYPE(type)
	{
		size_t bytes = frame_sample(type, frame) - WIRE_COMMON_BYTES - MAC_BYTES;
		for (size_t at = 0; at < bytes; at++)
			for (unsigned value = 0; value < 256; value += 5) {
				uint8_t before = frame[WIRE_COMMON_BYTES + at];
				frame[WIRE_COMMON_BYTES + at] = (uint8_t)value;
				struct manage_body body = {frame + WIRE_COMMON_BYTES, bytes};
				*(body_decode(type, body) == DXP_OK ? &accepted : &refused) += 1;
				frame[WIRE_COMMON_BYTES + at] = before;
			}
	}
	assert_true(accepted > 0 && refused > 0);
}

/* Encoded again, because padding is undefined. */
static void manage_join__comes_back(void **state)
{
	uint8_t frame[MANAGE_FRAME_BYTES], again[MANAGE_FRAME_BYTES];
	struct manage_join in = {.request = 1ull << 60, .nonce = 77, .self = entry_sample(12)},
			   out = {0};
	struct wire_header header;
	struct manage_body body;

	memset(in.self.device, 'd', FABRIC_DEVICE_BYTES - 1);
	memset(in.self.name, 'n', FABRIC_NAME_BYTES - 1);
	memset(in.self.engine, 'e', FABRIC_NAME_BYTES - 1);
	size_t bytes = manage_join_encode(&in, mac, frame);
	assert_int_equal(manage_open(frame, bytes, mac, &header, &body), DXP_OK);
	assert_int_equal(header.src_node, WIRE_NODE_NONE);
	assert_int_equal(header.dst_node, WIRE_NODE_MANAGER);
	assert_int_equal(manage_join_decode(body, &out), DXP_OK);
	assert_string_equal(out.self.name, in.self.name);
	assert_int_equal(manage_join_encode(&out, mac, again), bytes);
	assert_memory_equal(again, frame, bytes);
}

/* All optional parts of a LEASE, and every length between them. */
static void manage_lease__parts(void **state)
{
	struct manage_lease lease = {1, 2, 3, 4, 5, 6}, back;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct wire_header header;
	struct manage_body body;

	for (uint32_t parts = 0; parts < 4; parts++) {
		lease.rekey = (struct manage_rekey){0};
		lease.repin = (struct manage_repin){0};
		if (parts & 1)
			lease.rekey = (struct manage_rekey){7, 8, 9, .sealed = {10, [59] = 11}};
		if (parts & 2)
			lease.repin = (struct manage_repin){12, .key = {13, [31] = 14}};
		size_t bytes = manage_lease_encode(&lease, mac, frame);
		assert_int_equal(manage_open(frame, bytes, mac, &header, &body), DXP_OK);
		assert_int_equal(manage_lease_decode(body, &back), DXP_OK);
		assert_int_equal(back.node, 6);
		assert_memory_equal(&back.rekey, &lease.rekey, sizeof(lease.rekey));
		assert_memory_equal(&back.repin, &lease.repin, sizeof(lease.repin));
		const size_t whole = body.bytes;
		for (body.bytes = 0; body.bytes < whole; body.bytes++)
			if (body.bytes != whole - 36 && body.bytes != whole - 72 &&
			    body.bytes != whole - 108)
				assert_int_equal(manage_lease_decode(body, &back), DXP_EMALFORMED);
	}
}

static void manage_answer__never_longer_than_requested(void **state)
{
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct manage_answer in = {1, 2, DXP_EAUTH, 3, 4, 5, {0}}, out;

	memset(in.text, 't', MANAGE_TEXT_BYTES - 1);
	for (size_t max = MANAGE_ANSWER_MIN; max < 320; max++) {
		size_t bytes = manage_answer_encode(WIRE_REFUSE, 1, &in, max, NULL, frame);
		assert_true(bytes <= max);
		struct manage_body body = {frame + WIRE_COMMON_BYTES,
					   bytes - WIRE_COMMON_BYTES - MAC_BYTES};
		assert_int_equal(manage_answer_decode(body, &out), DXP_OK);
		assert_int_equal(out.status, DXP_EAUTH);
	}
	assert_int_equal(strlen(out.text), MANAGE_TEXT_BYTES - 1);
}

/* No rejection is longer than its request, so a manager does not amplify traffic. */
static void manage_requests__are_as_long_as_a_rejection(void **state)
{
	static const uint8_t requests[] = {WIRE_RENEW, WIRE_LEAVE, WIRE_ASSIGN, WIRE_STATUS};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct manage_join join = {.self = {.kind = MANAGE_HOST, .name = "h"}};

	for (size_t i = 0; i < sizeof(requests); i++)
		assert_true(frame_sample(requests[i], frame) >= MANAGE_ANSWER_MIN);
	assert_true(manage_join_encode(&join, mac, frame) >= MANAGE_ANSWER_MIN);
}

static void manage_rows__fill_a_datagram_and_come_back(void **state)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES], again[FABRIC_DATAGRAM_BYTES];
	struct manage_rows rows = {.nonce = 1, .epoch = 2, .from = 3, .to = 3, .first = 1}, got;
	struct node_entry entry;
	struct manage_writer w;
	struct manage_reader reader;
	uint16_t id = 1;
	bool removed;

	manage_rows_begin(&w, frame, sizeof(frame));
	for (entry = entry_sample(id); manage_rows_add(&w, &entry); entry = entry_sample(id))
		id++;
	assert_true(id > 8);
	rows.next = id;
	size_t bytes = manage_rows_finish(&w, WIRE_NODE_TABLE, 5, &rows, mac);
	assert_true(bytes <= sizeof(frame));
	struct manage_body body = {frame + WIRE_COMMON_BYTES,
				   bytes - WIRE_COMMON_BYTES - MAC_BYTES};
	assert_int_equal(manage_rows_decode(WIRE_NODE_TABLE, body, &got, &reader), DXP_OK);
	assert_int_equal(got.next, id);
	manage_rows_begin(&w, again, sizeof(again));
	for (uint16_t i = 1; i < id; i++) {
		assert_true(manage_rows_next(&reader, &entry, &removed));
		assert_false(removed);
		assert_int_equal(entry.id, i);
		assert_true(manage_rows_add(&w, &entry));
	}
	assert_false(manage_rows_next(&reader, &entry, &removed));
	assert_int_equal(manage_rows_finish(&w, WIRE_NODE_TABLE, 5, &got, mac), bytes);
	assert_memory_equal(again, frame, bytes);
}

/* Pages that are unsorted, out of range or hold removals; deltas that do not advance. */
static void manage_rows__reject_what_makes_no_sense(void **state)
{
	static const struct {
		uint8_t type;
		struct manage_rows rows;
		uint16_t ids[2];
		bool remove;
	} cases[] = {
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1}, {2, 1}, false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1}, {2, 2}, false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1, .first = 3}, {2, 4}, false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1, .next = 4}, {2, 4}, false},
		{WIRE_NODE_TABLE,
		 {.epoch = 1, .from = 1, .to = 1, .first = 5, .next = 5},
		 {2, 4},
		 false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 2}, {2, 4}, false},
		{WIRE_NODE_TABLE, {.epoch = 0, .from = 1, .to = 1}, {2, 4}, false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1}, {2, 4}, true},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1}, {2, WIRE_NODE_MANAGER}, false},
		{WIRE_NODE_TABLE, {.epoch = 1, .from = 1, .to = 1}, {0, 1}, false},
		{WIRE_NODE_DELTA, {.epoch = 1, .from = 2, .to = 2}, {1, 2}, false},
		{WIRE_NODE_DELTA, {.epoch = 1, .from = 2, .to = 1}, {1, 2}, false},
		{WIRE_NODE_DELTA, {.epoch = 1, .from = 2, .to = 3}, {1, 0}, true},
		{WIRE_NODE_DELTA, {.epoch = 1, .from = 2, .to = 3, .first = 1}, {1, 2}, true},
	};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct manage_reader reader;
	struct manage_rows got;
	struct manage_writer w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		manage_rows_begin(&w, frame, sizeof(frame));
		for (int k = 0; k < 2; k++) {
			struct node_entry e = entry_sample(cases[i].ids[k]);
			assert_true(cases[i].remove ? manage_rows_remove(&w, e.id, MANAGE_GONE)
						    : manage_rows_add(&w, &e));
		}
		size_t bytes = manage_rows_finish(&w, cases[i].type, 5, &cases[i].rows, mac);
		struct manage_body body = {frame + WIRE_COMMON_BYTES,
					   bytes - WIRE_COMMON_BYTES - MAC_BYTES};
		assert_int_equal(manage_rows_decode(cases[i].type, body, &got, &reader),
				 DXP_EMALFORMED);
	}
}

static void manage_name_valid__table(void **state)
{
	assert_true(manage_name_valid("a"));
	assert_true(manage_name_valid("xpu-1.rack_B"));
	assert_true(manage_name_valid("0123456789012345678901234567890"));
	assert_false(manage_name_valid("01234567890123456789012345678901"));
	assert_false(manage_name_valid(""));
	assert_false(manage_name_valid("*"));
	assert_false(manage_name_valid("a b"));
	assert_false(manage_name_valid("a/b"));
	assert_false(manage_name_valid("a\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manage_open__accepts_each_frame),
		cmocka_unit_test(manage_open__rejects_every_other_length),
		cmocka_unit_test(manage_open__rejects_every_flipped_bit),
		cmocka_unit_test(manage_open__a_right_crc_does_not_help_a_forger),
		cmocka_unit_test(manage_open__another_key),
		cmocka_unit_test(body_decode__rejects_every_other_length),
		cmocka_unit_test(body_decode__survives_every_changed_byte),
		cmocka_unit_test(manage_join__comes_back),
		cmocka_unit_test(manage_lease__parts),
		cmocka_unit_test(manage_answer__never_longer_than_requested),
		cmocka_unit_test(manage_requests__are_as_long_as_a_rejection),
		cmocka_unit_test(manage_rows__fill_a_datagram_and_come_back),
		cmocka_unit_test(manage_rows__reject_what_makes_no_sense),
		cmocka_unit_test(manage_name_valid__table),
	};
	return cmocka_run_group_tests(tests, key_make, key_drop);
}
