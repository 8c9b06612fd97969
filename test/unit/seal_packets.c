/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests handshake, packets and key updates: only a first, unchanged copy is accepted, in any
 * order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "seal/internal.h"

#define UPDATE 64
#define FRAME  2048
#define NODE   1 /* any peer: none has a key pair here */

static const uint8_t key[FABRIC_KEY_BYTES] = {1, 2, 3}, other_key[FABRIC_KEY_BYTES] = {4};

struct pair {
	struct rng rng;
	struct seal *nodes[2];
	struct rltp_seal *ends[2];
	uint8_t hello[WIRE_HELLO_SEALED_FRAME], ack[WIRE_HELLO_SEALED_FRAME];
};

struct frame {
	uint8_t data[FRAME];
	size_t bytes;
};

static struct seal *node_make(struct pair *p, const uint8_t *fabric_key)
{
	const struct seal_options o = {.fabric_key = fabric_key,
				       .entropy = rng_entropy_rng,
				       .entropy_context = &p->rng,
				       .update_packets = UPDATE};
	struct seal *s;

	assert_int_equal(seal_create(&o, &s), DXP_OK);
	return s;
}

static void hello_fill(uint8_t *frame, uint8_t type, uint8_t mode)
{
	struct wire_header h = {.type = type, .header_bytes = WIRE_COMMON_BYTES, .src_node = 1};
	struct wire_hello hello = {
		.session = 7, .rwnd = 64, .payload_bytes = 1408, .protect = mode};

	memset(frame, 0, WIRE_HELLO_SEALED_FRAME);
	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
}

static void pair_prepare(struct pair *p, const uint8_t *second_key, uint8_t mode)
{
	*p = (struct pair){.rng = {17}};
	p->nodes[0] = node_make(p, key);
	p->nodes[1] = node_make(p, second_key);
	hello_fill(p->hello, WIRE_HELLO, mode);
	hello_fill(p->ack, WIRE_HELLO_ACK, mode);
	p->ends[0] = seal_ops.hello(p->nodes[0], p->hello, NODE);
	assert_non_null(p->ends[0]);
}

static void pair_open(struct pair *p, uint8_t mode)
{
	pair_prepare(p, key, mode);
	p->ends[1] = seal_ops.accept(p->nodes[1], p->hello, NODE, false);
	assert_non_null(p->ends[1]);
	assert_true(seal_ops.answer(p->ends[1], p->ack));
	assert_true(seal_ops.finish(p->ends[0], p->ack));
}

static void pair_close(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		seal_ops.free(p->ends[i]);
		seal_destroy(p->nodes[i]);
	}
}

/* The payload is in two slices. */
static void frame_make(struct pair *p, int from, size_t bytes, uint8_t fill, struct frame *out)
{
	uint8_t payload[FRAME];
	struct wire_header h = {.type = WIRE_PUT,
				.header_bytes = WIRE_DATA_BYTES,
				.flags = WIRE_FLAG_ACKV,
				.dst_session = 9,
				.payload_bytes = (uint16_t)bytes,
				.qp_magic = 0x12345678};
	struct datagram d = {.header_bytes = WIRE_DATA_BYTES, .slice_count = 2};

	memset(payload, fill, bytes);
	wire_header_encode(&h, d.header);
	d.slices[0] = (struct datagram_slice){payload, bytes / 3};
	d.slices[1] = (struct datagram_slice){payload + bytes / 3, bytes - bytes / 3};
	seal_ops.batch(p->nodes[from]);
	assert_true(seal_ops.seal(p->ends[from], &d));
	assert_int_equal(d.slice_count, 1);
	memcpy(out->data, d.header, d.header_bytes);
	memcpy(out->data + d.header_bytes, d.slices[0].base, d.slices[0].bytes);
	out->bytes = d.header_bytes + d.slices[0].bytes;
	assert_int_equal(out->bytes, WIRE_DATA_BYTES + bytes + WIRE_SEAL_BYTES);
}

static int frame_open(struct pair *p, int to, const struct frame *f, struct datagram_arrival *out)
{
	const struct datagram_arrival a = {.data = f->data, .bytes = f->bytes};
	struct wire_header h;

	if (wire_sealed_decode(f->data, f->bytes, &h) != DXP_OK)
		return DXP_EMALFORMED;
	return seal_ops.open(p->ends[to], &a, out);
}

static void frame_check(struct pair *p, int to, const struct frame *f, uint8_t fill)
{
	struct datagram_arrival a;
	struct wire_header h;

	assert_int_equal(frame_open(p, to, f, &a), DXP_OK);
	assert_int_equal(wire_sealed_decode(f->data, f->bytes, &h), DXP_OK);
	wire_opened_decode(a.data, &h);
	assert_int_equal(h.qp_magic, 0x12345678);
	assert_int_equal(h.flags, WIRE_FLAG_ACKV);
	assert_int_equal(a.bytes, h.header_bytes + h.payload_bytes);
	for (size_t i = 0; i < h.payload_bytes; i++)
		assert_int_equal(a.data[h.header_bytes + i], fill);
}

static void packets__arrive_in_both_modes(void **state)
{
	static const size_t lengths[] = {0, 1, 15, 16, 64, 1392};
	struct pair p;
	struct frame f;

	for (uint8_t mode = WIRE_PROTECT_INTEGRITY; mode <= WIRE_PROTECT_ENCRYPT; mode++) {
		pair_open(&p, mode);
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			frame_make(&p, 0, lengths[i], (uint8_t)(0x40 + i), &f);
			frame_check(&p, 1, &f, (uint8_t)(0x40 + i));
			frame_make(&p, 1, lengths[i], (uint8_t)(0x80 + i), &f);
			frame_check(&p, 0, &f, (uint8_t)(0x80 + i));
		}
		pair_close(&p);
	}
}

static void packets__only_encrypt_hides_the_payload(void **state)
{
	const uint8_t part[16] = {[0 ... 15] = 0x5a};
	struct pair p;
	struct frame f;

	for (uint8_t mode = WIRE_PROTECT_INTEGRITY; mode <= WIRE_PROTECT_ENCRYPT; mode++) {
		pair_open(&p, mode);
		frame_make(&p, 0, 256, 0x5a, &f);
		bool found = memmem(f.data, f.bytes, part, sizeof(part)) != NULL;
		bool magic = memmem(f.data, f.bytes, "\x12\x34\x56\x78", 4) != NULL;
		assert_int_equal(found, mode == WIRE_PROTECT_INTEGRITY);
		assert_int_equal(magic, mode == WIRE_PROTECT_INTEGRITY);
		pair_close(&p);
	}
}

/* The unchanged frame is accepted afterwards. */
static void packets__every_bit_counts(void **state)
{
	struct datagram_arrival a;
	struct pair p;
	struct frame f, bad;

	for (uint8_t mode = WIRE_PROTECT_INTEGRITY; mode <= WIRE_PROTECT_ENCRYPT; mode++) {
		pair_open(&p, mode);
		frame_make(&p, 0, 48, 1, &f);
		for (size_t bit = 0; bit < 8 * f.bytes; bit++) {
			bad = f;
			bad.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			int status = frame_open(&p, 1, &bad, &a);
			assert_true(status == DXP_EAUTH || status == DXP_EMALFORMED);
		}
		frame_check(&p, 1, &f, 1);
		pair_close(&p);
	}
}

/* A packet longer than any sealed frame is refused, though its headers permit it. */
static void packets__too_long_are_refused(void **state)
{
	const uint16_t flags = WIRE_FLAG_IMM | WIRE_FLAG_TRAILER | WIRE_FLAG_LAST | WIRE_FLAG_SOL;
	static uint8_t data[WIRE_COMMON_BYTES + 2 * WIRE_PAYLOAD_MAX];
	struct wire_header h = {.type = WIRE_PUT, .flags = flags}, decoded;
	struct datagram_arrival a = {.data = data}, opened;
	struct pair p;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	unsigned longest = 0;
	for (h.header_bytes = WIRE_COMMON_BYTES; h.header_bytes <= 120; h.header_bytes += 8) {
		h.payload_bytes = WIRE_PAYLOAD_MAX + WIRE_DATA_BYTES - WIRE_SEAL_BYTES;
		wire_header_encode(&h, data);
		wire_seal_header(data, 0, 1);
		a.bytes = h.header_bytes + h.payload_bytes + WIRE_SEAL_BYTES;
		if (wire_sealed_decode(data, a.bytes, &decoded) != DXP_OK)
			continue;
		longest = (unsigned)a.bytes;
		assert_int_equal(seal_ops.open(p.ends[1], &a, &opened), DXP_EAUTH);
	}
	assert_true(longest > WIRE_COMMON_BYTES + SEAL_BODY_MAX);
	pair_close(&p);
}

static void packets__replays_are_dropped(void **state)
{
	struct datagram_arrival a;
	struct frame frames[20];
	struct pair p;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	for (int i = 0; i < 20; i++)
		frame_make(&p, 0, 32, (uint8_t)i, &frames[i]);
	for (int i = 19; i >= 0; i--) /* order alone is no replay */
		frame_check(&p, 1, &frames[i], (uint8_t)i);
	for (int i = 0; i < 20; i++)
		assert_int_equal(frame_open(&p, 1, &frames[i], &a), DXP_EEXIST);
	/* sent back to its sender */
	assert_int_equal(frame_open(&p, 0, &frames[3], &a), DXP_EAUTH);
	pair_close(&p);
}

static void packets__frames_of_another_session_are_wrong(void **state)
{
	struct datagram_arrival a;
	struct pair p, q;
	struct frame f;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	frame_make(&p, 0, 32, 1, &f);
	pair_open(&q, WIRE_PROTECT_ENCRYPT);
	q.rng.state = 99;
	pair_close(&q);
	pair_prepare(&q, key, WIRE_PROTECT_ENCRYPT);
	q.rng.state = 99; /* another ephemeral key */
	q.ends[1] = seal_ops.accept(q.nodes[1], q.hello, NODE, false);
	assert_true(seal_ops.answer(q.ends[1], q.ack));
	assert_true(seal_ops.finish(q.ends[0], q.ack));
	assert_int_equal(frame_open(&q, 1, &f, &a), DXP_EAUTH);
	pair_close(&q);
	pair_close(&p);
}

/* Late packets with the old key are accepted. */
static void update__under_reordering(void **state)
{
	enum { LATE = 10, ROUNDS = 40 };
	struct frame late[LATE], f;
	struct pair p;
	unsigned changes = 0;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	for (int round = 0; round < ROUNDS; round++) {
		bool phase = p.ends[0]->tx_phase;
		for (int i = 0; i < LATE; i++)
			frame_make(&p, 0, 32, (uint8_t)i, &late[i]);
		for (int i = 0; i < UPDATE / 2; i++) {
			frame_make(&p, 0, 32, 7, &f);
			frame_check(&p, 1, &f, 7);
		}
		for (int i = 0; i < LATE; i++)
			frame_check(&p, 1, &late[i], (uint8_t)i);
		/* shows that the new key has arrived */
		frame_make(&p, 1, 16, 9, &f);
		frame_check(&p, 0, &f, 9);
		changes += phase != p.ends[0]->tx_phase;
	}
	assert_true(changes > ROUNDS / 4);
	pair_close(&p);
}

/* A sender gets no packets from its peer. It changes its key once, then keeps it, and stops before
 * the key is used too often. */
static void update__waits_for_the_peer(void **state)
{
	struct datagram d = {.header_bytes = WIRE_COMMON_BYTES};
	struct pair p;
	uint32_t sent = 0;
	struct frame f;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	for (int i = 0; i < UPDATE + 1; i++)
		frame_make(&p, 0, 8, 1, &f); /* needs no answer */
	assert_true(p.ends[0]->tx_phase);
	seal_ops.batch(p.nodes[0]);
	while (seal_ops.seal(p.ends[0], &d) && sent++ < 10 * UPDATE) {
		d = (struct datagram){.header_bytes = WIRE_COMMON_BYTES};
		seal_ops.batch(p.nodes[0]);
	}
	assert_int_equal(sent, SEAL_UPDATE_LATE * UPDATE - 1);
	assert_true(p.ends[0]->tx_phase);
	frame_check(&p, 1, &f, 1);
	frame_make(&p, 1, 8, 2, &f);
	frame_check(&p, 0, &f, 2);
	frame_make(&p, 0, 8, 3, &f);
	assert_false(p.ends[0]->tx_phase);
	pair_close(&p);
}

/* Secrets and counters suffice to continue both ways, also after updates. */
static void rest__keeps_the_session(void **state)
{
	struct datagram_arrival a;
	struct frame f, old;
	struct pair p;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	frame_make(&p, 0, 32, 5, &old);
	for (int i = 0; i < 5 * UPDATE; i++) {
		frame_make(&p, 0, 32, (uint8_t)i, &f);
		frame_check(&p, 1, &f, (uint8_t)i);
		frame_make(&p, 1, 32, (uint8_t)i, &f);
		frame_check(&p, 0, &f, (uint8_t)i);
		if (i % 3 == 0)
			seal_ops.rest(p.ends[0]);
		if (i % 5 == 0)
			seal_ops.rest(p.ends[1]);
		assert_int_equal(frame_open(&p, 0, &f, &a), DXP_EEXIST);
	}
	assert_int_equal(frame_open(&p, 1, &old, &a), DXP_EEXIST);
	seal_ops.rest(p.ends[1]);
	assert_null(p.ends[1]->active);
	assert_true(sizeof(struct rltp_seal) <= 128);
	pair_close(&p);
}

static void tags__of_the_last_frames_are_known(void **state)
{
	struct frame frames[3 * SEAL_TAGS];
	struct pair p;

	pair_open(&p, WIRE_PROTECT_ENCRYPT);
	assert_null(seal_ops.sent_tag(p.ends[0], 0));
	for (uint16_t i = 0; i < 3 * SEAL_TAGS; i++)
		frame_make(&p, 0, 16, 1, &frames[i]);
	for (uint16_t i = 0; i < 3 * SEAL_TAGS; i++) {
		const uint8_t *tag = seal_ops.sent_tag(p.ends[0], i);
		assert_int_equal(tag != NULL, i >= 2 * SEAL_TAGS);
		if (tag)
			assert_memory_equal(tag, frames[i].data + frames[i].bytes - WIRE_SEAL_BYTES,
					    WIRE_SEAL_BYTES);
	}
	assert_null(seal_ops.sent_tag(p.ends[0], 3 * SEAL_TAGS));
	pair_close(&p);
}

static void handshake__another_fabric_key_is_refused(void **state)
{
	struct pair p;

	pair_prepare(&p, other_key, WIRE_PROTECT_ENCRYPT);
	assert_null(seal_ops.accept(p.nodes[1], p.hello, NODE, false));
	pair_close(&p);
}

/* The handshake covers the HELLO, except what a retransmission may change, and key and tag of the
 * answer. */
static void handshake__every_bit_counts(void **state)
{
	uint8_t bad[WIRE_HELLO_SEALED_FRAME], fields[WIRE_OFF_HELLO_KEY], same[WIRE_OFF_HELLO_KEY];
	struct pair p;

	pair_prepare(&p, key, WIRE_PROTECT_ENCRYPT);
	wire_hello_constant(p.hello, sizeof(fields), fields);
	for (size_t bit = 0; bit < 8 * WIRE_OFF_HELLO_SEALED_TAG; bit++) {
		memcpy(bad, p.hello, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		wire_hello_constant(bad, sizeof(same), same);
		bool varies = bit / 8 < sizeof(fields) && memcmp(fields, same, sizeof(same)) == 0;
		struct rltp_seal *s = seal_ops.accept(p.nodes[1], bad, NODE, false);
		/* covered, though without meaning in X25519 */
		assert_int_equal(s != NULL, varies);
		seal_ops.free(s);
	}
	p.ends[1] = seal_ops.accept(p.nodes[1], p.hello, NODE, false);
	assert_true(seal_ops.answer(p.ends[1], p.ack));
	for (size_t bit = 8 * WIRE_OFF_HELLO_KEY; bit < 8 * WIRE_OFF_HELLO_SEALED_TAG; bit++) {
		memcpy(bad, p.ack, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(seal_ops.finish(p.ends[0], bad));
	}
	assert_true(seal_ops.finish(p.ends[0], p.ack));
	pair_close(&p);
}

/* Frames are rejected, as the keys depend on these fields. */
static void handshake__changed_fields_of_the_answer_change_the_keys(void **state)
{
	struct datagram_arrival a;
	struct frame f;
	struct pair p;

	pair_prepare(&p, key, WIRE_PROTECT_ENCRYPT);
	p.ends[1] = seal_ops.accept(p.nodes[1], p.hello, NODE, false);
	assert_true(seal_ops.answer(p.ends[1], p.ack));
	p.ack[WIRE_OFF_HELLO_RWND] ^= 1;
	assert_true(seal_ops.finish(p.ends[0], p.ack));
	frame_make(&p, 0, 16, 1, &f);
	assert_int_equal(frame_open(&p, 1, &f, &a), DXP_EAUTH);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets__arrive_in_both_modes),
		cmocka_unit_test(packets__only_encrypt_hides_the_payload),
		cmocka_unit_test(packets__every_bit_counts),
		cmocka_unit_test(packets__too_long_are_refused),
		cmocka_unit_test(packets__replays_are_dropped),
		cmocka_unit_test(packets__frames_of_another_session_are_wrong),
		cmocka_unit_test(update__under_reordering),
		cmocka_unit_test(update__waits_for_the_peer),
		cmocka_unit_test(rest__keeps_the_session),
		cmocka_unit_test(tags__of_the_last_frames_are_known),
		cmocka_unit_test(handshake__another_fabric_key_is_refused),
		cmocka_unit_test(handshake__every_bit_counts),
		cmocka_unit_test(handshake__changed_fields_of_the_answer_change_the_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
