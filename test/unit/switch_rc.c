/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks groups over reliable connections (RC) by the rules of rc_checker.h. */
#include <stdio.h>

#include "test/support/rc_capture.h"
#include "test/support/rc_checker.h"
#include "test/unit/inc_rig.h"

#define ELEMENTS 2000
#define CALLS    3
#define SEGMENT  992 /* bytes; fills path MTU 1024 with the header */
#define SEGMENTS ((8 * ELEMENTS + SEGMENT - 1) / SEGMENT)

static struct rc_checker checker;
static struct rig rig;

/* ---- observation ---- */

static size_t frame_of(const struct rig_packet *p, uint8_t *out)
{
	struct rc_frame_path path = rc_frame_path_v4(p->path.from_ip, p->path.to_ip,
						     p->path.from_port, p->path.to_port);

	return rc_frame_make(&path, p->data, p->bytes, out);
}

static unsigned observe_sent(struct rig *r, const struct rig_packet *p)
{
	uint8_t frame[RIG_PACKET + RC_FRAME_HEADERS];

	size_t bytes = frame_of(p, frame);

	rc_checker_sent(&checker, frame, bytes, r->now_ns);
	if (p->path.to_port == ROCE_PORT)
		rc_capture_write(frame, bytes, r->now_ns);
	return r->count != r->drop;
}

/* 3 % each; a duplicate comes after all that is in flight. */
static unsigned observe_with_faults(struct rig *r, const struct rig_packet *p)
{
	observe_sent(r, p);
	if (rng_chance_ppm(&r->rng, 30000))
		return 0;
	return rng_chance_ppm(&r->rng, 30000) ? 2 : 1;
}

static void observe_arrived(struct rig *r, const struct rig_packet *p)
{
	uint8_t frame[RIG_PACKET + RC_FRAME_HEADERS];

	rc_checker_arrived(&checker, frame, frame_of(p, frame), r->now_ns);
}

/* ---- exchanges ---- */

static void exchange_open(unsigned members, const uint8_t *leaves, unsigned switches,
			  const uint8_t *parents)
{
	memset(&checker, 0, sizeof(checker));
	rig_open(&rig, members, leaves, switches, parents);
	rig.framing = DXP_INC_RC;
	rig.segment_bytes = SEGMENT;
	rig.hook = observe_sent;
	rig.arrives = observe_arrived;
}

static void sums_run(void)
{
	static uint64_t data[CALLS][RIG_MEMBERS][ELEMENTS];
	static struct inc_operation calls[CALLS][RIG_MEMBERS];
	bool all = false;

	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned m = 0; m < rig.members; m++) {
			for (uint64_t i = 0; i < ELEMENTS; i++)
				data[c][m][i] = (i + c) * (m + 1);
			calls[c][m] = (struct inc_operation){.collective = INC_ALLREDUCE,
							     .op = DXP_INC_SUM,
							     .type = DXP_INC_UINT64,
							     .send = data[c][m],
							     .receive = data[c][m],
							     .elements = ELEMENTS};
			assert_int_equal(
				inc_group_start(rig.hosts[m].group, &calls[c][m], rig.now_ns),
				DXP_OK);
		}
	for (unsigned steps = 0; steps < 3000 && !all; steps++) {
		rig_run(&rig, 10 * MS_NS);
		all = true;
		for (unsigned c = 0; c < CALLS; c++)
			for (unsigned m = 0; m < rig.members; m++)
				all &= calls[c][m].done;
	}
	assert_true(all);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned m = 0; m < rig.members; m++) {
			assert_int_equal(calls[c][m].status, DXP_OK);
			for (uint64_t i = 0; i < ELEMENTS; i++)
				assert_int_equal(data[c][m][i],
						 (i + c) * rig.members * (rig.members + 1) / 2);
		}
}

static const uint8_t two_leaves[] = {0, 0, 1, 1}, one_root[] = {4, 4, 0};

static void exchange_finish(void)
{
	rc_checker_finish(&checker);
	assert_int_equal(rc_checker_report(&checker), 0);
	rc_capture_close();
	rig_close(&rig);
}

/* `offset`: of the counter in struct rc_flow. */
static uint64_t flows_sum(size_t offset)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < checker.flow_count; i++)
		sum += *(const uint64_t *)((const char *)&checker.flows[i] + offset);
	return sum;
}
#define FLOWS_SUM(field) flows_sum(offsetof(struct rc_flow, field))

static void rc__tree_without_faults(void **state)
{
	exchange_open(4, two_leaves, 3, one_root);
	rc_capture_open("tree");
	rig_ready(&rig);
	sums_run();
	/* four members, and two switches below the root */
	assert_int_equal(checker.connection_count, 6);
	assert_int_equal(checker.flow_count, 12);
	/* 4 contributions and 2 partial results up, as many results down */
	assert_int_equal(FLOWS_SUM(requests), CALLS * SEGMENTS * 12);
	assert_int_equal(FLOWS_SUM(repeats), 0);
	assert_int_equal(FLOWS_SUM(naks), 0);
	assert_true(FLOWS_SUM(acks) > 0);
	exchange_finish();
}

static void rc__one_member(void **state)
{
	exchange_open(1, NULL, 1, NULL);
	rig_ready(&rig);
	sums_run();
	assert_int_equal(checker.connection_count, 1);
	exchange_finish();
}

/* Data both ways, acknowledgements, and packets that open connections. */
static void rc__each_packet_lost_once(void **state)
{
	uint64_t packets = 1;

	for (uint64_t k = 1; k <= packets; k++) {
		exchange_open(2, NULL, 1, NULL);
		rig_ready(&rig);
		rig.drop = rig.count + k;
		sums_run();
		packets = rig.count + k - rig.drop;
		assert_false(inc_group_lost(rig.hosts[0].group));
		exchange_finish();
	}
	assert_true(packets > 2 * CALLS * SEGMENTS);
}

static void rc__random_faults(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		exchange_open(4, two_leaves, 3, one_root);
		rc_capture_open("tree-faults");
		rig_ready(&rig);
		rig.rng.state = seed;
		rig.hook = observe_with_faults;
		sums_run();
		assert_true(FLOWS_SUM(repeats) > 0 && FLOWS_SUM(naks) > 0);
		exchange_finish();
	}
}

/* A switch that does not have the group rejects a connection for it. */
static void rc__unknown_group(void **state)
{
	struct inc_control n;
	uint32_t silent;

	exchange_open(2, NULL, 1, NULL);
	rig_ready(&rig);
	assert_int_equal(inc_create_outcome(rig.hosts[0].create, &n, &silent), DXP_OK);
	for (unsigned m = 0; m < 2; m++)
		inc_group_destroy(rig.hosts[m].group);
	n.true_comm_id++;
	for (unsigned m = 0; m < 2; m++)
		rig_group(&rig, m, &n);
	for (unsigned steps = 0; steps < 100 && !inc_group_lost(rig.hosts[0].group); steps++)
		rig_run(&rig, MS_NS);
	assert_true(inc_group_lost(rig.hosts[0].group));
	exchange_finish();
}

static void raw_give(const struct roce_header *h, const struct roce_path *path, const void *message,
		     size_t bytes)
{
	const struct roce_ends ends = {address_v4(path->from_ip, path->from_port),
				       address_v4(path->to_ip, path->to_port)};
	uint8_t trailer[ROCE_TRAILER_BYTES], data[RIG_PACKET];
	struct datagram d;
	size_t at;

	roce_datagram_encode(h, &ends, message, bytes, &d, trailer);
	memcpy(data, d.header, at = d.header_bytes);
	for (unsigned i = 0; i < d.slice_count; i++) {
		memcpy(data + at, d.slices[i].base, d.slices[i].bytes);
		at += d.slices[i].bytes;
	}
	switch_receive(rig.sw[0], data, at, path, rig.now_ns);
}

static struct sw_counters counters(void)
{
	struct sw_counters c;

	switch_counters(rig.sw[0], &c);
	return c;
}

/* No answer on a queue pair; no connection without the group's key. */
static void rc__unknown_senders(void **state)
{
	struct inc_connect hello = {RIG_GROUP, 0, 7};
	struct rc_cm_message m = {
		.kind = RC_CM_REQ, .local_id = 5, .qp = 5, .mtu = 3, .service = RC_CM_SERVICE};
	struct roce_path path = {rig_host_ip(0), rig_switch_ip(0), ROCE_SOURCE_PORT, ROCE_PORT};
	struct roce_header h = {.opcode = ROCE_RC_SEND_ONLY, .dest_qp = 2};
	uint8_t mad[RC_CM_MAD_BYTES];

	exchange_open(2, NULL, 1, NULL);
	rig_ready(&rig);
	rig_run(&rig, MS_NS);
	path.from_ip = rig_host_ip(7);
	raw_give(&h, &path, "data", 4);
	assert_int_equal(counters().refused, 1);
	path.from_ip = rig_host_ip(0);
	h.dest_qp = 0x445850;
	raw_give(&h, &path, "data", 4);
	assert_int_equal(counters().refused, 2);
	h = (struct roce_header){.opcode = ROCE_UD_SEND_ONLY,
				 .dest_qp = RC_CM_QP,
				 .qkey = RC_CM_QKEY,
				 .source_qp = RC_CM_QP};
	inc_connect_encode(&hello, m.private_data); /* wrong key */
	rc_cm_encode(&m, mad);
	raw_give(&h, &path, mad, sizeof(mad));
	assert_int_equal(counters().refused, 3);
	assert_int_not_equal(switch_deadline(rig.sw[0]), 0); /* no answer */
	h.qkey = 0;
	raw_give(&h, &path, mad, sizeof(mad));
	assert_int_equal(counters().malformed, 1);
	sums_run();
	exchange_finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc__tree_without_faults),   cmocka_unit_test(rc__one_member),
		cmocka_unit_test(rc__each_packet_lost_once), cmocka_unit_test(rc__random_faults),
		cmocka_unit_test(rc__unknown_group),         cmocka_unit_test(rc__unknown_senders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
