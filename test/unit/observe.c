/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests statistics and traces of two nodes over a lossy link: values never decrease and add up, and
 * both traces agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/stats_read.h"
#include "node/tap_read.h"
#include "test/support/capture.h"
#include "wire/frame.h"

#define NEAR         1
#define FAR          2
#define BYTES        (1u << 20)
#define MESSAGES     24
#define LIMIT_NS     (60 * S_NS)
#define PUBLICATIONS 5 /* enough to detect a decrease */

struct rig {
	char folder[32];
	struct node *nodes[2];
	uint8_t *memory[2];
	uint32_t keys[2];
	struct dxp_target far;
	struct stats_list before, now;
	uint32_t publications; /* read from NEAR so far */
};

static struct node *node_new(uint16_t id, const char *name)
{
	struct node_options o = {.static_id = id, .name = name};
	struct node *n;

	address_parse("127.0.0.1", 0, &o.bind);
	assert_int_equal(node_open(&o, &n), DXP_OK);
	return n;
}

static void introduce(struct node *to, struct node *of)
{
	struct udp_address a;

	node_address(of, &a);
	assert_int_equal(node_peer(to, node_id(of), &a, node_incarnation(of)), DXP_OK);
}

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	strcpy(r->folder, "observe-test-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	setenv("DXP_STATS", r->folder, 1);
	*state = r;
	return 0;
}

static void nodes_open(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		r->nodes[i] = node_new((uint16_t)(i + 1), i == 0 ? "near" : "far");
		r->memory[i] = calloc(1, BYTES);
		assert_int_equal(nic_region_register(node_nic(r->nodes[i]), 0, r->memory[i], BYTES,
						     NIC_REMOTE_READ | NIC_REMOTE_WRITE,
						     &r->keys[i]),
				 DXP_OK);
	}
	introduce(r->nodes[0], r->nodes[1]);
	introduce(r->nodes[1], r->nodes[0]);
	r->far = (struct dxp_target){
		.node = FAR, .qp = 1, .magic = node_window(r->nodes[1])->qp_magic[1]};
}

static void nodes_close(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		node_close(r->nodes[i]);
		free(r->memory[i]);
		r->nodes[i] = NULL;
		r->memory[i] = NULL;
	}
}

static int rig_close(void **state)
{
	struct rig *r = *state;
	char command[64];

	nodes_close(r);
	stats_list_free(&r->before);
	stats_list_free(&r->now);
	unsetenv("DXP_FAULT");
	unsetenv("DXP_STATS");
	snprintf(command, sizeof(command), "rm -rf '%s'", r->folder);
	int status = system(command);
	free(r);
	return status;
}

static uint32_t poll(struct rig *r)
{
	return node_poll(r->nodes[0]) + node_poll(r->nodes[1]);
}

static const struct stats_view *view_of(const struct stats_list *list, uint16_t id)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->views[i].node.id == id)
			return &list->views[i];
	}
	fail_msg("node %u publishes nothing", id);
	return NULL;
}

static void assert_monotone(const struct stats_view *before, const struct stats_view *now)
{
	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++) {
		if (now->node.values[i] < before->node.values[i])
			fail_msg("%s shrank", stats_node_name(i));
	}
	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++) {
		if (stats_session_counts(i) && now->node.totals[i] < before->node.totals[i])
			fail_msg("%s shrank", stats_session_name(i));
	}
	for (unsigned i = 0; i < STATS_QPS; i++) {
		assert_true(now->node.qps[i].sent_bytes >= before->node.qps[i].sent_bytes);
		assert_true(now->node.qps[i].received_bytes >= before->node.qps[i].received_bytes);
	}
}

/* Every sent packet is acknowledged, in flight, marked for retransmission, or given up. */
static void assert_adds_up(const uint64_t v[STATS_SESSION_FIELDS])
{
	assert_int_equal(v[STATS_SESSION_sent_packets],
			 v[STATS_SESSION_acked_packets] + v[STATS_SESSION_abandoned_packets] +
				 v[STATS_SESSION_inflight] + v[STATS_SESSION_lost] +
				 v[STATS_SESSION_waiting]);
}

static void look(struct rig *r)
{
	stats_list_free(&r->before);
	r->before = r->now;
	assert_int_equal(stats_read(&r->now, NULL, NULL), DXP_OK);
	assert_int_equal(r->now.count, 2);
	for (uint16_t id = NEAR; id <= FAR; id++) {
		const struct stats_view *now = view_of(&r->now, id);
		assert_adds_up(now->node.totals);
		for (uint32_t i = 0; i < now->node.session_rows; i++)
			assert_adds_up(now->sessions[i].values);
		if (r->before.count)
			assert_monotone(view_of(&r->before, id), now);
		if (r->before.count && id == NEAR)
			r->publications += now->node.published_ns !=
					   view_of(&r->before, id)->node.published_ns;
	}
}

static void post(struct rig *r, int i)
{
	const struct dxp_entry local = {0, BYTES, r->keys[0]}, remote = {0, BYTES, r->keys[1]};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_window *w = node_window(r->nodes[0]);

	assert_int_equal((i % 2 ? nic_user_get : nic_user_put)(w, 1, &r->far, &lists, 0), DXP_OK);
}

/* Reads the statistics every 20 ms. */
static void traffic(struct rig *r, int messages)
{
	uint64_t end_ns = clock_now_ns() + LIMIT_NS, look_ns = 0;
	struct dxp_nic_event event;

	for (int i = 0; i < messages; i++) {
		post(r, i);
		while (!dxp_sent_dequeue(node_window(r->nodes[0]), &event)) {
			uint64_t now_ns = clock_now_ns();
			assert_true(now_ns < end_ns);
			if (poll(r) == 0)
				usleep(20);
			if (now_ns >= look_ns) {
				look(r);
				look_ns = now_ns + 20 * MS_NS;
			}
		}
		assert_int_equal(event.status, DXP_OK);
	}
}

static void settle(struct rig *r)
{
	uint64_t end_ns = clock_now_ns() + 3 * STATS_INTERVAL_NS;

	for (int polls = 0; polls < 1000 || clock_now_ns() < end_ns; polls++) {
		if (poll(r) == 0)
			usleep(50);
	}
	look(r);
}

static void observe__counters_are_monotone_and_add_up(void **state)
{
	struct rig *r = *state;

	setenv("DXP_FAULT", "loss=5%,dup=1%,reorder=1%,seed=3", 1);
	uint64_t messages = 0;

	nodes_open(r);
	for (; r->publications < PUBLICATIONS; messages += MESSAGES)
		traffic(r, MESSAGES);
	settle(r);
	const struct stats_node *a = &view_of(&r->now, NEAR)->node,
				*b = &view_of(&r->now, FAR)->node;
	assert_int_equal(a->totals[STATS_SESSION_inflight], 0);
	assert_int_equal(a->totals[STATS_SESSION_sent_packets],
			 a->totals[STATS_SESSION_acked_packets]);
	/* each received all of the other's, once */
	assert_int_equal(a->totals[STATS_SESSION_sent_packets],
			 b->totals[STATS_SESSION_received_packets]);
	assert_int_equal(a->totals[STATS_SESSION_sent_bytes],
			 b->totals[STATS_SESSION_received_bytes]);
	assert_int_equal(b->totals[STATS_SESSION_sent_bytes],
			 a->totals[STATS_SESSION_received_bytes]);
	/* 5 % were lost, and retransmitted for one of these reasons */
	uint64_t repeats = a->totals[STATS_SESSION_retransmitted_gap] +
			   a->totals[STATS_SESSION_retransmitted_probe] +
			   a->totals[STATS_SESSION_retransmitted_timeout];
	assert_in_range(repeats, a->totals[STATS_SESSION_sent_packets] / 40, UINT32_MAX);
	assert_true(a->values[STATS_LINK_faults] > 0);
	assert_int_equal(a->qps[1].sent_messages, messages);
	assert_int_equal(a->qps[1].sent_bytes, messages * BYTES);
	/* a sum of round-trip times has no meaning */
	assert_true(a->totals[STATS_SESSION_srtt_ns] == 0);
	const struct stats_view *view = view_of(&r->now, NEAR);
	assert_int_equal(view->node.session_rows, 1);
	assert_int_equal(view->sessions[0].node, FAR);
	assert_true(view->sessions[0].values[STATS_SESSION_srtt_ns] > 0);
}

static void observe__totals_outlive_a_session(void **state)
{
	struct rig *r = *state;

	nodes_open(r);
	traffic(r, 4);
	settle(r);
	uint64_t sent = view_of(&r->now, NEAR)->node.totals[STATS_SESSION_sent_packets];
	assert_true(sent > 0);
	/* as peers_update does for a lost node */
	observe_peer_lost(r->nodes[0], FAR);
	nic_peer_lost(node_nic(r->nodes[0]), FAR, DXP_EPEERLOST);
	observe_publish(r->nodes[0], clock_now_ns());
	look(r);
	assert_int_equal(view_of(&r->now, NEAR)->node.totals[STATS_SESSION_sent_packets], sent);
	assert_int_equal(view_of(&r->now, NEAR)->node.session_rows, 0);
	introduce(r->nodes[0], r->nodes[1]);
	traffic(r, 4);
	settle(r);
	assert_true(view_of(&r->now, NEAR)->node.totals[STATS_SESSION_sent_packets] > sent);
}

/* One direction in one node's trace. */
struct flow {
	uint64_t frames,
		/* what the other's trace should have, given the faults */
		expected;
	uint64_t repeats, probes, comments_gap, comments_probe, dropped;
};

static void flow_add(struct flow *f, const struct capture_packet *p, const struct wire_header *h)
{
	bool dropped = strstr(p->comment, "dropped") != NULL;
	bool repeat = strstr(p->comment, "retransmission") != NULL;

	if (h->type == WIRE_BYE)
		return; /* of a close, when the peer may read no more */
	f->frames++;
	f->dropped += dropped;
	f->expected += dropped ? 0 : strstr(p->comment, "sent twice") ? 2 : 1;
	f->repeats += (h->flags & WIRE_FLAG_RTX) != 0;
	f->probes += (h->flags & WIRE_FLAG_RTX) && (h->flags & WIRE_FLAG_PROBE);
	f->comments_gap += strstr(p->comment, "retransmission: gap") != NULL;
	f->comments_probe += strstr(p->comment, "tail probe") != NULL;
	assert_true(!repeat || h->flags & WIRE_FLAG_RTX);
}

static void capture_check(const char *path, struct flow flows[2])
{
	struct wire_header h;
	struct capture c;

	if (!capture_load(&c, path))
		fail_msg("%s: %s", path, c.wrong);
	assert_int_equal(c.interface_count, 1);
	assert_int_equal(c.interfaces[0].dropped, 0);
	assert_int_equal(c.interfaces[0].seen, c.packet_count);
	for (uint32_t i = 0; i < c.packet_count; i++) {
		const struct capture_packet *p = &c.packets[i];
		assert_int_equal(p->captured_bytes, p->bytes);
		assert_int_equal(wire_header_decode(p->payload, p->bytes, &h), DXP_OK);
		flow_add(&flows[p->outbound], p, &h);
	}
	capture_free(&c);
}

static void observe__a_trace_is_the_same_at_both_ends(void **state)
{
	struct rig *r = *state;
	struct flow near[2] = {0}, far[2] = {0};
	char path[64];

	setenv("DXP_FAULT", "loss=3%,dup=1%,seed=9", 1);
	snprintf(path, sizeof(path), "%s/trace", r->folder);
	setenv("DXP_TRACE", path, 1);
	setenv("DXP_TRACE_SNAP", "65507", 1);
	nodes_open(r);
	unsetenv("DXP_TRACE");
	unsetenv("DXP_TRACE_SNAP");
	traffic(r, MESSAGES);
	settle(r);
	uint64_t drops = view_of(&r->now, NEAR)->node.values[STATS_LINK_receive_drops] +
			 view_of(&r->now, FAR)->node.values[STATS_LINK_receive_drops];
	nodes_close(r);
	capture_check(path, near);
	snprintf(path, sizeof(path), "%s/trace.2", r->folder);
	capture_check(path, far);
	for (int i = 0; i < 2; i++) {
		const struct flow *out = i ? &near[1] : &far[1], *in = i ? &far[0] : &near[0];
		assert_true(out->repeats > 0 && out->dropped > 0);
		assert_int_equal(out->probes, out->comments_probe);
		assert_true(out->comments_gap > 0);
		if (drops == 0)
			assert_int_equal(in->frames, out->expected);
		else
			assert_in_range(in->frames, 1, out->expected);
	}
}

/* Attaches to a node's tap while both nodes run, like `dxp trace`. The tap delivers the frames of
 * the node until it is detached. */
static void observe__a_tracer_sees_a_running_node(void **state)
{
	struct rig *r = *state;
	struct tap_reader *reader;
	uint32_t other, seen = 0;
	bool broken = false;

	nodes_open(r);
	traffic(r, 2);
	look(r);
	assert_int_equal(tap_attach(view_of(&r->now, NEAR), 16u << 20, 64, &reader, &other),
			 DXP_OK);
	traffic(r, 2);
	assert_int_equal(tap_answered(reader), TAP_BUSY);
	tap_stop(reader);
	poll(r);
	const struct tap_record *record;
	while ((record = tap_next(reader, &broken)) != NULL) {
		const uint8_t *frame = (const uint8_t *)(record + 1);
		assert_true(record->captured_bytes >= WIRE_COMMON_BYTES);
		assert_true(wire_type_known(frame[WIRE_OFF_TYPE]));
		assert_int_equal(get_be16(frame + WIRE_OFF_SRC_NODE),
				 record->outbound ? NEAR : FAR);
		seen++;
		tap_release(reader);
	}
	assert_false(broken);
	/* enough for the data, though the last poll may be missed */
	assert_true(seen >= BYTES / WIRE_LONG_PAYLOAD_MAX);
	traffic(r, 2);
	assert_null(tap_next(reader, &broken));
	tap_detach(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		/* must be first: only the first traced node gets the plain file name */
		TEST(observe__a_trace_is_the_same_at_both_ends),
		TEST(observe__counters_are_monotone_and_add_up),
		TEST(observe__totals_outlive_a_session),
		TEST(observe__a_tracer_sees_a_running_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
