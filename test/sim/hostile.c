/* SPDX-License-Identifier: BSD-3-Clause */
/* Host 0 sends invalid frames with a right checksum in an open session; host 1 must write nothing
 * outside its regions and lose no state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/util.h"
#include "nic/internal.h"
#include "rltp/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

/* bytes around the region; more than a payload, so that a stray write hits them */
#define GUARD  9000
#define MEMORY 4096

struct rig {
	struct sim *sim;
	/* only the middle is registered */
	uint8_t memory[GUARD + MEMORY + GUARD];
	uint8_t local[MEMORY];
	uint32_t key, local_key;
	struct dxp_nic_event event;
};

static uint8_t cfg_any(void *context, uint16_t node, uint32_t first, uint32_t count,
		       uint32_t *values)
{
	return 0;
}

static uint8_t cfg_none(void *context, uint16_t node, uint32_t first, uint32_t count,
			const uint32_t *values)
{
	return 0;
}

static const struct nic_cfg_ops cfg_ops = {cfg_any, cfg_none};

static bool completed(void *context)
{
	struct rig *r = context;

	return dxp_sent_dequeue(sim_window(r->sim, 0), &r->event) ||
	       dxp_sent_dequeue(sim_window(r->sim, 1), &r->event);
}

static int rig_open(void **state)
{
	static struct rig r;
	struct sim_options o = {.seed = 3, .hosts = 2, .cfg = &cfg_ops};

	memset(&r, 0, sizeof(r));
	if (sim_create(&o, &r.sim) != DXP_OK)
		return -1;
	nic_region_register(sim_nic(r.sim, 1), 0, r.memory + GUARD, MEMORY,
			    NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &r.key);
	nic_region_register(sim_nic(r.sim, 1), 0, r.local, MEMORY, NIC_LOCAL, &r.local_key);
	/* a valid NAP opens the session */
	struct dxp_target to = sim_target(r.sim, 1, 0);
	const uint8_t *data;
	dxp_post_nap(sim_window(r.sim, 0), 0, &to, "first", 5, 0, 0);
	if (!sim_run(r.sim, S_NS, completed, &r) ||
	    !nic_user_received_peek(sim_window(r.sim, 1), &data))
		return -1;
	dxp_received_release(sim_window(r.sim, 1));
	*state = &r;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	sim_destroy(r->sim);
	return 0;
}

/* Returns the header of a data packet to queue pair 0 of host 1, with the next packet number and
 * the next message id. */
static struct wire_header packet(struct rig *r, uint8_t type)
{
	const struct nic_peer *p = nic_peer_find(sim_nic(r->sim, 1), 1);

	return (struct wire_header){
		.type = type,
		.header_bytes = WIRE_DATA_BYTES,
		.flags = WIRE_FLAG_FIRST | WIRE_FLAG_LAST | WIRE_FLAG_CRCP,
		.dst_session = p->session->local_id,
		.src_node = 1,
		.dst_node = 2,
		.psn = p->session->io->rx.cum,
		.msg_id = p->work && p->work->rx[0] ? p->work->rx[0]->next : 0,
		.qp_magic = sim_window(r->sim, 1)->qp_magic[0],
		.key = r->key,
	};
}

static void packet_give(struct rig *r, struct wire_header *h, const void *payload, uint16_t bytes)
{
	struct nic *n = sim_nic(r->sim, 1);
	uint8_t frame[WIRE_DATA_BYTES + WIRE_PAYLOAD_MAX];
	struct datagram_arrival a = {
		.data = frame, .bytes = WIRE_DATA_BYTES + bytes, .arrived_ns = sim_now(r->sim)};

	net_address(0, &a.from);
	h->payload_bytes = bytes;
	wire_header_encode(h, frame);
	memcpy(frame + WIRE_DATA_BYTES, payload, bytes);
	wire_crc_set(frame, crc32c(wire_crc_begin(frame, WIRE_DATA_BYTES), payload, bytes));
	assert_int_equal(nic_receive(n, &a, sim_now(r->sim)), DXP_OK);
	const char *broken = invariants_broken(n);
	if (broken)
		fail_msg("%s", broken);
}

/* `h` has the type and its fields. */
static void control_give(struct rig *r, struct wire_header h, const uint8_t *body, size_t bytes)
{
	struct nic *n = sim_nic(r->sim, 1);
	uint8_t frame[DATAGRAM_HEADER_BYTES_MAX];
	struct datagram_arrival a = {
		.data = frame, .bytes = WIRE_COMMON_BYTES + bytes, .arrived_ns = sim_now(r->sim)};

	net_address(0, &a.from);
	h.header_bytes = WIRE_COMMON_BYTES;
	h.dst_session = nic_peer_find(n, 1)->session->local_id;
	h.src_node = 1;
	h.dst_node = 2;
	wire_header_encode(&h, frame);
	memcpy(frame + WIRE_COMMON_BYTES, body, bytes);
	wire_control_seal(frame, a.bytes);
	assert_int_equal(nic_receive(n, &a, sim_now(r->sim)), DXP_OK);
	const char *broken = invariants_broken(n);
	if (broken)
		fail_msg("%s", broken);
}

static void nack_give(struct rig *r, uint32_t psn, uint8_t code, uint32_t retry_us)
{
	const struct wire_nack_body nack = {.code = code, .psn = psn, .retry_us = retry_us};
	uint8_t body[WIRE_NACK_BODY_BYTES];

	wire_nack_encode(&nack, body);
	control_give(r, (struct wire_header){.type = WIRE_NACK}, body, sizeof(body));
}

/* `bitmap`: first word of received packets, from `cum` on; 0: none. */
static void ack_give(struct rig *r, uint32_t cum, uint64_t bitmap, struct wire_ack ack)
{
	uint8_t body[WIRE_ACK_BODY_BYTES + 8], word[8];

	put_be64(word, bitmap);
	ack.bitmap = word;
	ack.sack_words = bitmap != 0;
	wire_ack_encode(&ack, body);
	control_give(
		r, (struct wire_header){.type = WIRE_ACK, .flags = WIRE_FLAG_ACKV, .cum_ack = cum},
		body, WIRE_ACK_BODY_BYTES + 8u * ack.sack_words);
}

/* Sends NAPs that are discarded before host 0 receives them. */
static struct rltp_session *naps_send(struct rig *r, uint32_t count)
{
	static struct datagram batch[16];
	struct dxp_target to = sim_target(r->sim, 0, 0);
	struct nic *n = sim_nic(r->sim, 1);

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(dxp_post_nap(sim_window(r->sim, 1), 0, &to, "nap", 3, 0, i),
				 DXP_OK);
	nic_doorbells(n, sim_now(r->sim));
	nic_send(n, batch, ARRAY_COUNT(batch), sim_now(r->sim));
	return nic_peer_find(n, 1)->session;
}

static void memory_untouched(const struct rig *r)
{
	for (uint32_t i = 0; i < sizeof(r->memory); i++)
		assert_int_equal(r->memory[i], 0);
}

static void hostile__payload_longer_than_its_message(void **state)
{
	struct rig *r = *state;
	static const uint8_t ones[200] = {1, 1, 1};
	struct wire_header put = packet(r, WIRE_PUT), nap = packet(r, WIRE_NAP);

	/* 200 bytes claim to end a message of 10: it would start 190 bytes before the region */
	put.msg_bytes = nap.msg_bytes = 10;
	put.addr = (uint64_t)-190;
	packet_give(r, &put, ones, sizeof(ones));
	packet_give(r, &nap, ones, sizeof(ones));
	memory_untouched(r);
	/* not the last packet, but past the end */
	put.flags &= ~WIRE_FLAG_LAST;
	put.sub = UINT32_MAX;
	put.addr = (uint64_t)UINT32_MAX * 200;
	put.msg_bytes = 1000;
	packet_give(r, &put, ones, sizeof(ones));
	memory_untouched(r);
	assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->session->counters.refused, 3);
}

static void hostile__request_in_two_packets(void **state)
{
	struct rig *r = *state;
	struct nic *n = sim_nic(r->sim, 1);
	uint8_t get[WIRE_GET_BYTES], word[4] = {0, 0, 0, 1};
	struct wire_header request = packet(r, WIRE_GET_REQ), read = packet(r, WIRE_CFG_RD);

	wire_get_encode(&(struct wire_get){.bytes = 8}, get);
	request.flags &= ~WIRE_FLAG_LAST;
	read.flags &= ~WIRE_FLAG_FIRST;
	request.msg_bytes = sizeof(get);
	read.msg_bytes = sizeof(word);
	for (int i = 0; i < 2; i++, request.psn++, read.psn++) {
		packet_give(r, &request, get, sizeof(get));
		packet_give(r, &read, word, sizeof(word));
	}
	nic_peer_lost(n, 1, DXP_EPEERLOST);
	assert_int_equal(nic_region_deregister(n, r->key), DXP_OK);
}

static void hostile__wrong_answer_ends_the_request(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 0, 0);
	struct dxp_entry local = {0, 100, r->local_key}, remote = {0, 100, 1};
	struct nic_lists lists = {&local, &remote, 1, 1};
	const uint8_t zeros[200] = {0};

	/* discarded, so that the test forges the answer */
	sim_blackhole(r->sim, 1, 0, true);
	assert_int_equal(nic_user_get(sim_window(r->sim, 1), 0, &to, &lists, 7), DXP_OK);
	nic_doorbells(sim_nic(r->sim, 1), sim_now(r->sim));
	struct wire_header answer = packet(r, WIRE_GET_RSP);
	answer.msg_bytes = sizeof(zeros);
	for (uint32_t i = 0; i < NIC_READS_MAX; i++)
		if (nic_peer_find(sim_nic(r->sim, 1), 1)->work->reads[i].request)
			answer.msg_id = nic_peer_find(sim_nic(r->sim, 1), 1)->work->reads[i].id;
	packet_give(r, &answer, zeros, sizeof(zeros));
	assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->work->read_count, 0);
	assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->session->counters.refused, 0);
}

static void atomic_give(struct rig *r, struct wire_header *h, uint8_t op)
{
	const struct wire_atomic atomic = {.op = op, .operand = 1};
	uint8_t body[WIRE_ATOMIC_BYTES];

	wire_atomic_encode(&atomic, body);
	h->msg_bytes = sizeof(body);
	packet_give(r, h, body, sizeof(body));
}

/* Atomics with unknown operations, wrong lengths, or two packets are rejected. */
static void hostile__atomics_that_are_none(void **state)
{
	struct rig *r = *state;
	const struct nic_counters *c = nic_counters(sim_nic(r->sim, 1));
	const uint8_t zeros[2 * WIRE_ATOMIC_BYTES] = {0};
	struct wire_header h = packet(r, WIRE_ATOMIC);
	uint32_t refused = 0;

	for (int op = 0; op < 256; op++) {
		if (op >= DXP_OP_FETCH_ADD && op <= DXP_OP_FETCH_XOR)
			continue;
		atomic_give(r, &h, (uint8_t)op);
		assert_int_equal(c->type_reject, ++refused);
	}
	for (uint16_t bytes = 0; bytes <= sizeof(zeros); bytes++) {
		h.msg_bytes = bytes;
		packet_give(r, &h, zeros, bytes);
	}
	/* for the right length, operation 0 is wrong */
	assert_int_equal(c->bounds_reject, sizeof(zeros));
	h.flags &= ~WIRE_FLAG_LAST;
	atomic_give(r, &h, DXP_OP_FETCH_ADD);
	assert_int_equal(c->atomics_received, 0);
	memory_untouched(r);
}

/* A packet with a new number and the id of an executed atomic changes nothing. */
static void hostile__atomic_repeated_as_another_packet(void **state)
{
	struct rig *r = *state;
	struct wire_header h = packet(r, WIRE_ATOMIC);

	for (int i = 0; i < 5; i++, h.psn++)
		atomic_give(r, &h, DXP_OP_FETCH_ADD);
	assert_int_equal(r->memory[GUARD], 1);
	assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->session->counters.refused, 4);
}

static void hostile__answer_to_an_atomic_that_is_none(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 0, 0);
	const uint8_t nines[16] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

	sim_blackhole(r->sim, 1, 0, true);
	for (uint16_t bytes = 0; bytes <= sizeof(nines); bytes++) {
		struct dxp_descriptor d = dxp_head(DXP_OP_FETCH_ADD, 0, &to, bytes);
		const struct dxp_entry entries[2] = {{0, 8, r->local_key}, {0, 8, 1}};
		d.src_count = d.dst_count = 1;
		assert_int_equal(dxp_post(sim_window(r->sim, 1), &d, entries, NULL), DXP_OK);
		nic_doorbells(sim_nic(r->sim, 1), sim_now(r->sim));
		struct wire_header answer = packet(r, WIRE_ATOMIC_RSP);
		answer.msg_bytes = bytes;
		answer.key = 0;
		for (uint32_t i = 0; i < NIC_READS_MAX; i++)
			if (nic_peer_find(sim_nic(r->sim, 1), 1)->work->reads[i].request)
				answer.msg_id =
					nic_peer_find(sim_nic(r->sim, 1), 1)->work->reads[i].id;
		packet_give(r, &answer, nines, bytes);
		assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->work->read_count, 0);
		/* only 8 bytes change memory */
		assert_int_equal(r->local[0], bytes < 8 ? 0 : 9);
		assert_int_equal(r->local[8], 0);
	}
}

static void hostile__part_of_a_nap_sent_twice(void **state)
{
	struct rig *r = *state;
	uint8_t part[10];
	const uint8_t *data;

	/* the next receive record probably reuses this block */
	memset(part, 5, sizeof(part));
	void *secret = malloc(NIC_NAP_BYTES_MAX);
	memset(secret, 9, NIC_NAP_BYTES_MAX);
	free(secret);
	struct wire_header nap = packet(r, WIRE_NAP);
	nap.msg_bytes = NIC_NAP_BYTES_MAX;
	nap.flags &= ~WIRE_FLAG_LAST;
	packet_give(r, &nap, part, sizeof(part));
	nap.flags |= WIRE_FLAG_LAST;
	nap.psn++;
	nap.sub = 1;
	packet_give(r, &nap, part, sizeof(part));
	assert_non_null(nic_user_received_peek(sim_window(r->sim, 1), &data));
	for (size_t i = sizeof(part); i < NIC_NAP_BYTES_MAX - sizeof(part); i++)
		assert_int_equal(data[i], 0);
}

static void hostile__register_index_beyond_32_bits(void **state)
{
	struct rig *r = *state;
	struct wire_header h = packet(r, WIRE_CFG_WR);

	h.addr = 4ull << 32; /* 2^34: cut to 32 bits, register 0 */
	h.msg_bytes = 4;
	packet_give(r, &h, "word", 4);
	assert_int_equal(nic_peer_find(sim_nic(r->sim, 1), 1)->session->counters.refused, 1);
}

static void hostile__rejected_then_acknowledged(void **state)
{
	struct rig *r = *state;
	const struct rltp_session *s = naps_send(r, 2);

	/* the retry time of an hour must not count as the packet's arrival */
	nack_give(r, s->io->tx_una, WIRE_NACK_RNR, UINT32_MAX);
	ack_give(r, s->io->tx_una + 1, 0, (struct wire_ack){.hold = WIRE_HOLD_NONE});
	assert_int_equal(s->io->sent.count, 1);
	assert_int_equal(s->io->lost.count, 0);
}

static void hostile__echo_of_the_future(void **state)
{
	struct rig *r = *state;
	const struct rltp_session *s = naps_send(r, 1);
	uint64_t srtt_ns = s->srtt_ns;

	ack_give(r, s->io->tx_una, 0,
		 (struct wire_ack){.echo_psn = s->io->tx_una,
				   .echo_ts = (uint32_t)(sim_now(r->sim) / WIRE_TS_NS) + 2});
	assert_int_equal(s->srtt_ns, srtt_ns);
}

static void hostile__all_acknowledged_but_the_first_number(void **state)
{
	struct rig *r = *state;
	const struct rltp_session *s = naps_send(r, 3);

	ack_give(r, s->io->tx_una, 7, (struct wire_ack){.hold = WIRE_HOLD_NONE});
	assert_int_equal(s->io->tx_una, s->tx_next);
	assert_false(rltp_session_busy(s));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(hostile__payload_longer_than_its_message),
		CASE(hostile__request_in_two_packets),
		CASE(hostile__wrong_answer_ends_the_request),
		CASE(hostile__atomics_that_are_none),
		CASE(hostile__atomic_repeated_as_another_packet),
		CASE(hostile__answer_to_an_atomic_that_is_none),
		CASE(hostile__part_of_a_nap_sent_twice),
		CASE(hostile__register_index_beyond_32_bits),
		CASE(hostile__rejected_then_acknowledged),
		CASE(hostile__echo_of_the_future),
		CASE(hostile__all_acknowledged_but_the_first_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
