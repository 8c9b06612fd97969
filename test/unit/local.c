/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests operations between functions of one NIC: effects, and order of completions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

#define NODE 5

/* ---- effects ---- */

static void nap_check(struct rig *r, uint32_t bytes, const uint8_t *data, uint64_t trailer)
{
	const struct dxp_nic_event *e = dxp_received_peek(r->window[1]);

	assert_non_null(e);
	assert_int_equal(e->type, DXP_EVENT_NAP);
	assert_int_equal(e->bytes, bytes);
	assert_int_equal(e->imm, 99);
	assert_int_equal(e->context, trailer);
	assert_int_equal(e->qp, 3);
	assert_int_equal(e->peer_qp, 0 << 8 | 2);
	assert_int_equal(e->status, DXP_OK);
	assert_memory_equal(dxp_received_data(r->window[1], e), data, bytes);
	for (uint32_t i = bytes <= DXP_EVENT_BYTES ? bytes : 0; i < DXP_EVENT_BYTES; i++)
		assert_int_equal(e->data[i], 0);
	assert_int_equal(e->buffer == DXP_NO_BUFFER, bytes <= DXP_EVENT_BYTES);
	dxp_received_release(r->window[1]);
	assert_null(dxp_received_peek(r->window[1]));
}

/* A NAP, inline or from memory, arrives with all bytes. */
static void local__nap(void **state)
{
	const uint32_t sizes[] = {0, 1, 19, 20, 21, 27, 28, 29, 64, 2000, 2048};
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	rig_fill(&r, 0, 3);
	const struct dxp_target to = rig_target(&r, 1, 3);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct dxp_descriptor d = dxp_head(DXP_OP_NAP, 2, &to, i);
		const struct dxp_entry pieces[] = {rig_entry(&r, 0, 0, 1), rig_entry(&r, 0, 1, 7),
						   rig_entry(&r, 0, 8, sizes[i] - 8)};
		d.imm = 99;
		d.trailer = 1ull << 60 | i;
		struct dxp_descriptor indirect = d;
		indirect.src_count = ARRAY_COUNT(pieces);
		d.flags = DXP_FLAG_INLINE;
		d.inline_bytes = (uint16_t)sizes[i];
		assert_int_equal(dxp_post(r.window[0], &d, NULL, r.memory[0]), DXP_OK);
		rig_run(&r);
		nap_check(&r, sizes[i], r.memory[0], d.trailer);
		assert_int_equal(rig_sent(&r, 0, i, DXP_OK).bytes, sizes[i]);
		if (sizes[i] <= 8)
			continue;
		assert_int_equal(dxp_post(r.window[0], &indirect, pieces, NULL), DXP_OK);
		rig_run(&r);
		nap_check(&r, sizes[i], r.memory[0], d.trailer);
		assert_int_equal(rig_sent(&r, 0, i, DXP_OK).bytes, sizes[i]);
	}
	assert_int_equal(nic_endpoint(r.nic) != NULL, true);
	rig_end(&r);
}

/* Node 0 means the own node, as does its id once known; the receiver can answer the event's
 * source. */
static void local__own_node(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	struct dxp_target here = rig_target(&r, 1, 0), own = here, none = here;
	own.node = NODE;
	none.node = WIRE_NODE_NONE;
	for (int known = 0; known < 2; known++) {
		assert_int_equal(dxp_post_nap(r.window[0], 0, &here, "a", 1, 0, 1), DXP_OK);
		assert_int_equal(dxp_post_nap(r.window[0], 0, &own, "b", 1, 0, 2), DXP_OK);
		assert_int_equal(dxp_post_nap(r.window[0], 0, &none, "c", 1, 0, 3), DXP_OK);
		rig_run(&r);
		rig_sent(&r, 0, 1, DXP_OK);
		rig_sent(&r, 0, 2, known ? DXP_OK : DXP_ENOENT);
		rig_sent(&r, 0, 3, DXP_ENOENT);
		assert_int_equal(dxp_received_peek(r.window[1])->node, known ? NODE : 0);
		assert_int_equal(rig_received(&r, 1), known ? 2 : 1);
		nic_node_set(r.nic, NODE);
	}
	rig_end(&r);
}

struct lists {
	uint16_t local_count, remote_count;
	uint32_t local[4], remote[4]; /* per range */
};

static const struct lists unequal[] = {
	{1, 1, {1}, {1}},
	{1, 3, {100}, {1, 98, 1}},
	{4, 1, {7, 1, 30000, 70000}, {100008}},
	{3, 4, {5, 200000, 11}, {100, 3, 199000, 913}},
	{2, 2, {300000, 1}, {1, 300000}},
};

/* Ranges have gaps of 3 bytes; returns the sum. */
static uint32_t pieces_lay(const struct rig *r, uint32_t function, const uint32_t *bytes,
			   uint16_t count, bool backwards, struct dxp_entry *out)
{
	uint32_t at = 64, total = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint16_t k = backwards ? (uint16_t)(count - 1 - i) : i;
		out[k] = rig_entry(r, function, at, bytes[k]);
		at += bytes[k] + 3;
		total += bytes[k];
	}
	return total;
}

static uint8_t *byte_at(struct rig *r, uint32_t function, const struct dxp_entry *list, uint32_t at)
{
	for (; at >= list->bytes; list++)
		at -= list->bytes;
	return &r->memory[function][list->offset + at];
}

static void lists_check(struct rig *r, bool reading)
{
	for (size_t i = 0; i < ARRAY_COUNT(unequal); i++) {
		struct dxp_entry local[4], remote[4];
		const struct lists *u = &unequal[i];
		uint32_t total = pieces_lay(r, 0, u->local, u->local_count, !reading, local);
		pieces_lay(r, 1, u->remote, u->remote_count, reading, remote);
		const struct nic_lists l = {local, remote, u->local_count, u->remote_count};
		uint32_t from = reading ? 1 : 0, to = !from;
		const struct dxp_target target = rig_target(r, 1, 1);
		rig_fill(r, from, (uint8_t)i);
		memset(r->memory[to], 0xee, RIG_BYTES);
		assert_int_equal(reading ? nic_user_get(r->window[0], 1, &target, &l, i)
					 : nic_user_put(r->window[0], 1, &target, &l, i),
				 DXP_OK);
		rig_run(r);
		assert_int_equal(rig_sent(r, 0, i, DXP_OK).bytes, total);
		for (uint32_t k = 0; k < total; k++) {
			uint8_t *target_byte = byte_at(r, to, reading ? local : remote, k);
			assert_int_equal(*target_byte,
					 *byte_at(r, from, reading ? remote : local, k));
			*target_byte = 0xee;
		}
		for (uint32_t k = 0; k < RIG_BYTES; k++)
			assert_int_equal(r->memory[to][k], 0xee);
	}
}

static void local__put_of_unequal_lists(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	lists_check(&r, false);
	/* 1 + 100 + 100008 + 200016 + 300001 bytes */
	assert_int_equal(r.window[1]->total_bytes, 600126);
	assert_int_equal(rig_counters(&r, 1).received_bytes, 600126);
	assert_int_equal(rig_counters(&r, 0).sent_bytes, 600126);
	assert_null(dxp_received_peek(r.window[1]));
	rig_end(&r);
}

static void local__get_of_unequal_lists(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	lists_check(&r, true);
	assert_int_equal(r.window[1]->total_bytes, 0);
	assert_int_equal(r.window[0]->total_bytes, 0);
	assert_int_equal(rig_counters(&r, 1).received_messages, ARRAY_COUNT(unequal));
	assert_int_equal(rig_counters(&r, 1).received_bytes, 600126);
	rig_end(&r);
}

static void local__put_with_event(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	rig_fill(&r, 0, 1);
	const struct dxp_target to = rig_target(&r, 1, 1);
	const struct dxp_entry entries[] = {rig_entry(&r, 0, 0, 400000),
					    rig_entry(&r, 1, 5, 400000)};
	struct dxp_descriptor d = dxp_head(DXP_OP_PUT, 2, &to, 8);
	d.src_count = d.dst_count = 1;
	d.flags = DXP_FLAG_NOTIFY;
	d.imm = 11;
	d.trailer = 12;
	assert_int_equal(dxp_post(r.window[0], &d, entries, NULL), DXP_OK);
	while (!dxp_received_peek(r.window[1])) {
		assert_int_equal(nic_doorbell_ready(r.nic) || nic_deadline(r.nic) == 0, true);
		rig_poll(&r);
	}
	const struct dxp_nic_event *e = dxp_received_peek(r.window[1]);
	assert_int_equal(e->type, DXP_EVENT_PUT);
	assert_int_equal(e->imm, 11);
	assert_int_equal(e->context, 12);
	assert_int_equal(e->bytes, 400000);
	assert_int_equal(e->peer_qp, 2);
	assert_int_equal(e->buffer, DXP_NO_BUFFER);
	assert_memory_equal(r.memory[1] + 5, r.memory[0], 400000);
	rig_sent(&r, 0, 8, DXP_OK);
	rig_end(&r);
}

/* The overlap itself is undefined, but no byte outside changes. */
static void local__overlap_touches_nothing_else(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 1);
	for (int32_t shift = -70000; shift <= 70000; shift += 14000) {
		const uint32_t bytes = 200000, at = 100000, low = (uint32_t)((int32_t)at + shift);
		const struct dxp_target to = rig_target(&r, 0, 1);
		const struct dxp_entry from = rig_entry(&r, 0, at, bytes),
				       there = rig_entry(&r, 0, low, bytes);
		rig_fill(&r, 0, 0);
		assert_int_equal(dxp_post_put(r.window[0], 0, &to, &from, &there, 0, 0, 1), DXP_OK);
		rig_run(&r);
		rig_sent(&r, 0, 1, DXP_OK);
		for (uint32_t i = 0; i < RIG_BYTES; i++)
			if (i < low || i >= low + bytes)
				assert_int_equal(r.memory[0][i], (uint8_t)(i * 7));
	}
	rig_end(&r);
}

static void local__atomics(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 2);
	const struct dxp_entry at = rig_entry(&r, 1, 16, 8), own = rig_entry(&r, 0, 100, 8);
	uint64_t word = 40, old;
	memcpy(r.memory[1] + 16, &word, 8);
	assert_int_equal(dxp_post_atomic(r.window[0], 0, &to, DXP_OP_FETCH_ADD, &at, 2, 0, 1),
			 DXP_OK);
	assert_int_equal(dxp_post_atomic(r.window[0], 0, &to, DXP_OP_COMPARE_SWAP, &at, 42, 7, 2),
			 DXP_OK);
	assert_int_equal(dxp_post_atomic(r.window[0], 0, &to, DXP_OP_FETCH_XOR, &at, 1, 0, 3),
			 DXP_OK);
	struct dxp_descriptor d = dxp_head(DXP_OP_FETCH_MAX, 0, &to, 4);
	const struct dxp_entry both[] = {own, at};
	d.src_count = d.dst_count = 1;
	d.imm = 1000;
	assert_int_equal(dxp_post(r.window[0], &d, both, NULL), DXP_OK);
	rig_run(&r);
	assert_int_equal(rig_sent(&r, 0, 1, DXP_OK).imm, 40);
	assert_int_equal(rig_sent(&r, 0, 2, DXP_OK).imm, 42);
	assert_int_equal(rig_sent(&r, 0, 3, DXP_OK).imm, 7);
	assert_int_equal(rig_sent(&r, 0, 4, DXP_OK).imm, 6);
	memcpy(&old, r.memory[0] + 100, 8);
	memcpy(&word, r.memory[1] + 16, 8);
	assert_int_equal(old, 6);
	assert_int_equal(word, 1000);
	assert_int_equal(rig_counters(&r, 1).received_messages, 4);
	rig_end(&r);
}

static uint32_t cfg_values[NIC_CFG_WORDS_MAX];
static uint16_t cfg_node;

static uint8_t cfg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	cfg_node = node;
	if (first + count > NIC_CFG_WORDS_MAX)
		return WIRE_NACK_BOUNDS;
	memcpy(values, cfg_values + first, 4 * count);
	return 0;
}

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	cfg_node = node;
	if (first + count > NIC_CFG_WORDS_MAX)
		return WIRE_NACK_RIGHTS;
	memcpy(cfg_values + first, values, 4 * count);
	return 0;
}

static void local__registers_of_the_node(void **state)
{
	static const struct nic_cfg_ops ops = {cfg_read, cfg_write};
	struct nic_options o = rig_options();
	const uint32_t values[] = {1, 2, 0xdeadbeef};
	struct rig r;

	o.cfg = &ops;
	o.node = NODE;
	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 0, 0);
	const struct dxp_entry own = rig_entry(&r, 1, 40, 12);
	nic_user_cfg_write(r.window[1], 0, &to, 9, values, 3, 1);
	nic_user_cfg_read(r.window[1], 0, &to, 9, &own, 2);
	nic_user_cfg_read(r.window[1], 0, &to, NIC_CFG_WORDS_MAX - 1, &own, 3);
	nic_user_cfg_write(r.window[1], 0, &to, NIC_CFG_WORDS_MAX - 1, values, 3, 4);
	rig_run(&r);
	rig_sent(&r, 1, 1, DXP_OK);
	rig_sent(&r, 1, 2, DXP_OK);
	rig_sent(&r, 1, 3, DXP_ERANGE);
	rig_sent(&r, 1, 4, DXP_EACCESS);
	assert_memory_equal(r.memory[1] + 40, values, sizeof(values));
	assert_int_equal(cfg_node, NODE);
	rig_end(&r);
}

/* Key 0 appends to the receive area (register mode), also from a register PUT, and is rejected when
 * it is full. */
static void local__receive_area(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	o.node = NODE;
	rig_make(&r, &o, 2);
	rig_fill(&r, 0, 9);
	for (uint32_t f = 0; f < 2; f++) {
		const struct nic_area area = {
			.vaddr = 0x10000, .bytes = 4096, .offset = 512, .key = r.key[f]};
		assert_int_equal(nic_area_add(r.nic, f, &area), DXP_OK);
	}
	struct dxp_registers *g = &r.window[1]->registers, *from = &r.window[0]->registers;
	g->recv_vaddr = 0x10000;
	g->recv_bytes = 100;
	dxp_store_release(&g->recv_go, 1);
	const struct dxp_target to = rig_target(&r, 1, 0);
	const struct dxp_entry own = rig_entry(&r, 0, 0, 60), area = {.bytes = 60};
	const struct dxp_entry rest = rig_entry(&r, 0, 60, 40), there = {.bytes = 40};
	assert_int_equal(dxp_post_put(r.window[0], 0, &to, &own, &area, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(r.window[0], 0, &to, &own, &area, 0, 0, 2), DXP_OK);
	assert_int_equal(dxp_post_put(r.window[0], 0, &to, &rest, &there, 0, 0, 3), DXP_OK);
	rig_run(&r);
	rig_sent(&r, 0, 1, DXP_OK);
	rig_sent(&r, 0, 2, DXP_EBUSY);
	rig_sent(&r, 0, 3, DXP_OK);
	assert_memory_equal(r.memory[1] + 512, r.memory[0], 100);
	assert_int_equal(g->recv_used, 100);
	assert_int_equal(r.window[1]->total_bytes, 100);
	assert_int_equal(rig_counters(&r, 1).receiver_busy, 1);

	dxp_store_release(&g->recv_go, 2);
	from->send_vaddr = 0x10000 + 100;
	from->send_bytes = 33;
	from->node = NODE;
	from->queue = 1 << 8;
	from->magic = to.magic;
	dxp_store_release(&from->send_go, 1);
	rig_run(&r);
	assert_int_equal(dxp_load_acquire(&from->send_done), 1);
	assert_int_equal(from->send_error, 0);
	assert_memory_equal(r.memory[1] + 512, r.memory[0] + 512 + 100, 33);
	rig_end(&r);
}

/* ---- order ---- */

/* Local requests behind a remote one take effect at once and complete after it. */
static void local__completions_in_order_with_remote_ones(void **state)
{
	struct nic_options o = rig_options();
	struct rltp_peer_info peer = {.node = 9, .incarnation = 1, .payload_bytes = 1408};
	struct rig r;

	o.node = NODE;
	rig_make(&r, &o, 2);
	peer.address = address_v4(0x7f000001, 4795);
	assert_int_equal(nic_peer_set(r.nic, &peer, r.now_ns), DXP_OK);
	const struct dxp_target here = rig_target(&r, 1, 0), far = {.node = 9, .magic = 1};
	dxp_post_nap(r.window[0], 0, &here, "a", 1, 0, 1);
	dxp_post_nap(r.window[0], 0, &far, "b", 1, 0, 2);
	rig_poll(&r);
	dxp_post_nap(r.window[0], 0, &here, "c", 1, 0, 3);
	dxp_post_nap(r.window[0], 1, &here, "d", 1, 0, 4);
	const struct dxp_entry own = rig_entry(&r, 0, 0, 64), other = rig_entry(&r, 1, 0, 64);
	dxp_post_put(r.window[0], 0, &here, &own, &other, 0, 0, 5);
	rig_poll(&r);
	rig_poll(&r);
	rig_sent(&r, 0, 1, DXP_OK);
	rig_sent(&r, 0, 4, DXP_OK);
	struct dxp_nic_event e;
	assert_false(dxp_sent_dequeue(r.window[0], &e));
	assert_int_equal(rig_received(&r, 1), 3);
	/* A request that took effect holds its sender's memory until it completes. It no longer
	 * holds its target's memory. */
	assert_int_equal(nic_region_deregister(r.nic, r.key[1]), DXP_OK);
	assert_int_equal(nic_region_deregister(r.nic, r.key[0]), DXP_EBUSY);
	nic_peer_lost(r.nic, 9, DXP_EPEERLOST);
	rig_poll(&r);
	rig_sent(&r, 0, 2, DXP_EPEERLOST);
	rig_sent(&r, 0, 3, DXP_OK);
	rig_sent(&r, 0, 5, DXP_OK);
	rig_end(&r);
}

/* Requests of different kinds on one queue pair take effect in order. */
static void local__effects_in_order(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 0);
	for (uint32_t i = 0; i < 8; i++) {
		const struct dxp_entry own = rig_entry(&r, 0, 1000 * i, 100000),
				       other = rig_entry(&r, 1, 0, 100000);
		memset(r.memory[0] + 1000 * i, (int)i + 1, 100000);
		dxp_post_put(r.window[0], 0, &to, &own, &other, 0, 0, 3 * i);
		dxp_post_nap(r.window[0], 0, &to, "x", 1, i, 3 * i + 1);
		dxp_post_put(r.window[0], 0, &to, &own, &other, DXP_FLAG_NOTIFY, i, 3 * i + 2);
		for (uint32_t seen = 0; seen < 2; rig_poll(&r)) {
			const struct dxp_nic_event *e = dxp_received_peek(r.window[1]);
			if (!e)
				continue;
			assert_int_equal(e->type, seen == 0 ? DXP_EVENT_NAP : DXP_EVENT_PUT);
			assert_int_equal(e->imm, i);
			assert_int_equal(r.memory[1][0], i + 1);
			assert_int_equal(r.memory[1][99999], i + 1);
			dxp_received_release(r.window[1]);
			seen++;
		}
		for (uint32_t k = 0; k < 3; k++)
			rig_sent(&r, 0, 3 * i + k, DXP_OK);
	}
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local__nap),
		cmocka_unit_test(local__own_node),
		cmocka_unit_test(local__put_of_unequal_lists),
		cmocka_unit_test(local__get_of_unequal_lists),
		cmocka_unit_test(local__put_with_event),
		cmocka_unit_test(local__overlap_touches_nothing_else),
		cmocka_unit_test(local__atomics),
		cmocka_unit_test(local__registers_of_the_node),
		cmocka_unit_test(local__receive_area),
		cmocka_unit_test(local__completions_in_order_with_remote_ones),
		cmocka_unit_test(local__effects_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
