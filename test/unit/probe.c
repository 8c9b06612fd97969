/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the measurement of paths between nodes on a simulated lossy network, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "node/probe.h"

#define NODES 200
#define OWN   1 /* node that measures; others: 2 .. */
#define LIMIT 8952

struct rig {
	struct mac *mac;
	uint64_t now_ns;
	unsigned peers;
	struct node_entry peer[NODES + 2]; /* by id */
	struct probe own, *others;         /* by id */
	unsigned blocked_node, mtu;        /* blocked_node: never answers; mtu: bytes that arrive */
	unsigned lost_each; /* datagrams that are lost, one of each so many; 0: none */
	uint64_t delay_ns, sent, sent_bytes;
	uint8_t frame[PROBE_BYTES_MAX];
	struct stats_page page;
};

static const struct node_entry *peer_next(void *context, uint16_t after)
{
	const struct rig *r = context;

	for (unsigned id = after + 1u; id < OWN + 1 + r->peers; id++)
		if (id != OWN && r->peer[id].id && r->peer[id].alive)
			return &r->peer[id];
	return NULL;
}

static const struct node_entry *peer_none(void *context, uint16_t after)
{
	return NULL;
}

static uint16_t limit(void *context, const struct udp_address *to)
{
	return LIMIT;
}

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	uint8_t key[FABRIC_KEY_BYTES] = {3};

	r->now_ns = 1000 * S_NS;
	r->delay_ns = 50 * US_NS;
	r->mtu = LIMIT;
	r->others = calloc(NODES + 2, sizeof(*r->others));
	for (unsigned id = OWN + 1; id < OWN + 1 + NODES; id++) {
		r->peer[id] = (struct node_entry){.id = (uint16_t)id,
						  .alive = true,
						  .incarnation = 1,
						  .address = address_v4(0x0a000000 + id, 9)};
		snprintf(r->peer[id].name, sizeof(r->peer[id].name), "n%u", id);
	}
	probe_init(&r->own, 77, r->now_ns);
	*state = r;
	return mac_create(key, &r->mac);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	mac_destroy(r->mac);
	free(r->others);
	free(r);
	return 0;
}

static struct probe_view view_of(struct rig *r, uint16_t node)
{
	return (struct probe_view){.next = node == OWN ? peer_next : peer_none,
				   .limit = limit,
				   .context = r,
				   .mac = r->mac,
				   .node = node};
}

/* Returns whether it answers with *out. */
static bool deliver(struct rig *r, struct probe *to, uint16_t node, const struct datagram *d,
		    struct datagram *out)
{
	const struct probe_view view = view_of(r, node);
	struct datagram_arrival a = {.data = r->frame,
				     .bytes = d->header_bytes + d->slices[0].bytes,
				     .arrived_ns = r->now_ns,
				     .stamped = true};

	memcpy(r->frame, d->header, d->header_bytes);
	memcpy(r->frame + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	return probe_receive(to, &view, &a, out, r->now_ns) == 1;
}

static void run(struct rig *r, unsigned seconds)
{
	const struct probe_view view = view_of(r, OWN);
	const uint64_t end_ns = r->now_ns + seconds * S_NS;
	struct datagram out, back, none;

	while (r->own.due_ns <= end_ns) {
		r->now_ns = r->own.due_ns;
		if (!probe_send(&r->own, &view, &out, r->now_ns))
			continue;
		const size_t bytes = out.header_bytes + out.slices[0].bytes;
		const unsigned id = out.to.ip[15];
		r->sent++;
		r->sent_bytes += bytes;
		if (id == r->blocked_node || bytes > r->mtu ||
		    (r->lost_each && r->sent % r->lost_each == 0))
			continue;
		r->now_ns += r->delay_ns;
		assert_true(deliver(r, &r->others[id], (uint16_t)id, &out, &back));
		assert_true(back.header_bytes + back.slices[0].bytes <= bytes);
		assert_false(deliver(r, &r->own, OWN, &back, &none));
	}
	r->now_ns = end_ns;
}

static const struct stats_path *path_of(struct rig *r, uint16_t node)
{
	r->page = (struct stats_page){.part = STATS_PART_PATHS, .first = node};
	probe_page_fill(&r->own, &r->page, r->now_ns);
	assert_true(r->page.count > 0 && r->page.paths[0].node == node);
	return &r->page.paths[0];
}

static void probe__measures_round_trip_and_mtu(void **state)
{
	struct rig *r = *state;

	r->peers = 3;
	run(r, 60);
	for (uint16_t id = 2; id < 5; id++) {
		const struct stats_path *p = path_of(r, id);
		assert_int_equal(p->state, STATS_PATH_OPEN);
		assert_int_equal(p->sent, 15); /* each fourth of 20 is a long one */
		assert_int_equal(p->answered, 15);
		assert_int_equal(p->min_rtt_ns, r->delay_ns);
		assert_in_range(p->srtt_ns, r->delay_ns - 10, r->delay_ns);
		assert_int_equal(p->answered_bytes, LIMIT);
		assert_int_equal(p->limit_bytes, LIMIT);
	}
	assert_string_equal(path_of(r, 3)->peer, "n3");
	assert_int_equal(r->sent, 60); /* one a second */
}

static void probe__finds_a_blocked_path_and_its_return(void **state)
{
	struct rig *r = *state;

	r->peers = 8;
	run(r, 20);
	r->blocked_node = 4;
	run(r, 8 + PROBE_BLOCKED); /* one turn, and the probes in a row */
	assert_int_equal(path_of(r, 4)->state, STATS_PATH_BLOCKED);
	assert_true(path_of(r, 4)->age_ns >= PROBE_BLOCKED * S_NS);
	assert_int_equal(path_of(r, 5)->state, STATS_PATH_OPEN);
	run(r, 100);
	/* others keep their turns */
	assert_true(path_of(r, 5)->sent >= 10);
	r->blocked_node = 0;
	run(r, 10);
	assert_int_equal(path_of(r, 4)->state, STATS_PATH_OPEN);
}

static void probe__finds_the_longest_datagram(void **state)
{
	struct rig *r = *state;

	r->peers = 1;
	r->mtu = 1472;
	run(r, 60);
	assert_int_equal(path_of(r, 2)->state, STATS_PATH_OPEN);
	assert_int_equal(path_of(r, 2)->answered_bytes, 1472);
	assert_int_equal(path_of(r, 2)->limit_bytes, LIMIT);
	/* long ones lost in the search do not count */
	assert_int_equal(path_of(r, 2)->answered, path_of(r, 2)->sent);
	assert_true(path_of(r, 2)->sent >= 45);
}

static void probe__shows_recent_loss(void **state)
{
	struct rig *r = *state;

	r->peers = 1;
	run(r, 10000);
	assert_int_equal(path_of(r, 2)->sent, PROBE_WINDOW);
	assert_int_equal(path_of(r, 2)->answered, PROBE_WINDOW);
	r->lost_each = 5;
	run(r, 2 * PROBE_WINDOW);
	assert_int_equal(path_of(r, 2)->sent, PROBE_WINDOW);
	assert_in_range(path_of(r, 2)->answered, PROBE_WINDOW / 2, PROBE_WINDOW * 19 / 20 - 1);
	r->lost_each = 0;
	run(r, 2 * PROBE_WINDOW);
	assert_int_equal(path_of(r, 2)->answered, PROBE_WINDOW);
	/* answered before the window only */
	r->blocked_node = 2;
	run(r, 2 * PROBE_WINDOW);
	assert_int_equal(path_of(r, 2)->answered, 0);
	assert_int_equal(path_of(r, 2)->state, STATS_PATH_BLOCKED);
	assert_true(path_of(r, 2)->age_ns >= PROBE_WINDOW * S_NS);
}

static void probe__rotates_over_many_peers(void **state)
{
	struct rig *r = *state;
	unsigned seen[NODES + 2] = {0};

	r->peers = NODES;
	for (unsigned i = 0; i < 4 * NODES; i++) {
		run(r, PROBE_ROUNDS);
		assert_true(r->own.count <= PROBE_PATHS);
		for (unsigned k = 0; k < r->own.count; k++)
			seen[r->own.paths[k].node] |= r->own.paths[k].answered_ns > 0;
	}
	assert_int_equal(r->sent, 4 * NODES * PROBE_ROUNDS);
	for (unsigned id = OWN + 1; id < OWN + 1 + NODES; id++)
		assert_true(seen[id]);
	/* each path once, in order */
	unsigned rows = 0;
	uint16_t first = 0;
	do {
		r->page = (struct stats_page){.part = STATS_PART_PATHS, .first = first};
		probe_page_fill(&r->own, &r->page, r->now_ns);
		for (unsigned i = 1; i < r->page.count; i++)
			assert_true(r->page.paths[i - 1].node < r->page.paths[i].node);
		rows += r->page.count;
		first = r->page.next;
	} while (first);
	assert_int_equal(rows, PROBE_PATHS);
}

static void probe__forgets_peers_that_leave_and_begins_again_after_a_restart(void **state)
{
	struct rig *r = *state;

	r->peers = 3;
	run(r, 30);
	r->peer[3].alive = false;
	r->peer[4].incarnation++;
	run(r, 2);
	assert_int_equal(r->own.count, 2);
	assert_true(path_of(r, 4)->sent <= 2);
	assert_true(path_of(r, 2)->sent >= 7);
}

static void probe__demands_pauses_and_limits_answers(void **state)
{
	struct rig *r = *state;
	const struct probe_view view = view_of(r, OWN);
	struct probe *to = &r->others[2];
	struct datagram out, back, none;
	unsigned answered = 0;

	r->peers = 1;
	r->now_ns = r->own.due_ns;
	assert_int_equal(probe_send(&r->own, &view, &out, r->now_ns), 1);
	for (unsigned i = 0; i < 4 * PROBE_REPLIES_PER_S; i++)
		answered += deliver(r, to, 2, &out, &back);
	assert_int_equal(answered, PROBE_REPLIES_PER_S);
	r->now_ns += S_NS; /* next second: answers are allowed again */
	assert_true(deliver(r, to, 2, &out, &back));
	assert_false(deliver(r, &r->own, OWN, &back, &none));
	const uint64_t before = r->sent;
	run(r, PROBE_REPLIES_PER_S / PROBE_REPLIES_UNPAUSED - 1);
	assert_int_equal(r->sent, before);
	run(r, 3);
	assert_true(r->sent > before);
}

/* Forged PROBEs have a wrong MAC; the sender has no key. */
static void probe__answers_during_a_flood_of_forged_probes(void **state)
{
	struct rig *r = *state;
	const struct probe_view view = view_of(r, OWN);
	struct probe *to = &r->others[2];
	struct datagram out, back;

	r->peers = 1;
	r->now_ns = r->own.due_ns;
	assert_int_equal(probe_send(&r->own, &view, &out, r->now_ns), 1);
	struct datagram forged = out;
	uint8_t body[PROBE_BYTES_MIN];
	memcpy(body, out.slices[0].base, out.slices[0].bytes);
	body[out.slices[0].bytes - 1] ^= 1;
	forged.slices[0].base = body;
	for (unsigned i = 1; i < PROBE_CHECKS_PER_S; i++)
		assert_false(deliver(r, to, 2, &forged, &back));
	assert_true(deliver(r, to, 2, &out, &back));
	/* no more checks in this second */
	assert_false(deliver(r, to, 2, &out, &back));
	assert_int_equal(to->replies, 1);
	r->now_ns += S_NS;
	assert_true(deliver(r, to, 2, &out, &back));
}

static void probe__ignores_what_is_not_for_it(void **state)
{
	struct rig *r = *state;
	const struct probe_view view = view_of(r, OWN);
	struct datagram out, back, none;

	r->peers = 2;
	r->now_ns = r->own.due_ns;
	assert_int_equal(probe_send(&r->own, &view, &out, r->now_ns), 1);
	const uint16_t id = out.to.ip[15], other = id == 2 ? 3 : 2;
	assert_false(deliver(r, &r->others[other], other, &out, &back)); /* for another node */
	struct probe_reply reply = {.number = r->own.number + 1};
	uint8_t frame[PROBE_BYTES_MIN];
	for (unsigned i = 0; i < 3; i++) { /* number; peer; key */
		uint8_t key[FABRIC_KEY_BYTES] = {4};
		struct mac *mac = r->mac;
		if (i > 0)
			reply.number = r->own.number;
		if (i == 2)
			assert_int_equal(mac_create(key, &mac), DXP_OK);
		const size_t bytes =
			probe_reply_encode(&reply, i == 1 ? other : id, OWN, mac, frame);
		back = (struct datagram){.header_bytes = WIRE_COMMON_BYTES, .slice_count = 1};
		memcpy(back.header, frame, WIRE_COMMON_BYTES);
		back.slices[0] = (struct datagram_slice){frame + WIRE_COMMON_BYTES,
							 bytes - WIRE_COMMON_BYTES};
		assert_false(deliver(r, &r->own, OWN, &back, &none));
		assert_true(r->own.outstanding);
		if (mac != r->mac)
			mac_destroy(mac);
	}
}

static void frames__reject_unsound_bodies(void **state)
{
	struct rig *r = *state;
	struct probe_reply reply = {1, 2};
	uint64_t number;
	size_t bytes = probe_encode(5, 100, 1, 2, r->mac, r->frame) - WIRE_COMMON_BYTES - MAC_BYTES;
	struct manage_body body = {.data = r->frame + WIRE_COMMON_BYTES, .bytes = bytes};

	assert_int_equal(probe_decode(body, &number), DXP_OK);
	assert_int_equal(number, 5);
	for (body.bytes = 0; body.bytes < 9; body.bytes++)
		assert_int_equal(probe_decode(body, &number), DXP_EMALFORMED);
	body.bytes = bytes;
	r->frame[WIRE_COMMON_BYTES + bytes - 1] = 1;
	assert_int_equal(probe_decode(body, &number), DXP_EMALFORMED);
	bytes = probe_reply_encode(&reply, 1, 2, r->mac, r->frame) - WIRE_COMMON_BYTES - MAC_BYTES;
	for (body.bytes = 0; body.bytes <= bytes + 1; body.bytes++)
		assert_int_equal(probe_reply_decode(body, &reply),
				 body.bytes == bytes ? DXP_OK : DXP_EMALFORMED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(probe__measures_round_trip_and_mtu),
		TEST(probe__finds_a_blocked_path_and_its_return),
		TEST(probe__finds_the_longest_datagram),
		TEST(probe__shows_recent_loss),
		TEST(probe__rotates_over_many_peers),
		TEST(probe__forgets_peers_that_leave_and_begins_again_after_a_restart),
		TEST(probe__demands_pauses_and_limits_answers),
		TEST(probe__answers_during_a_flood_of_forged_probes),
		TEST(probe__ignores_what_is_not_for_it),
		TEST(frames__reject_unsound_bodies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
