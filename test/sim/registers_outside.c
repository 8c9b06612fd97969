/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests register mode between nodes that are not in each other's table (P-03), by address and port
 * as policies admit. Host 0 sends, host 2 receives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/registers.h"
#include "wire/ids.h"

#define FRAME 2048

static bool admits_all(void *context, const struct udp_address *at)
{
	return true;
}

static bool admits_none(void *context, const struct udp_address *at)
{
	return false;
}

static uint16_t payload_bytes(void *context, const struct udp_address *at)
{
	return SIM_PAYLOAD_BYTES;
}

static void policy(struct rig *r, uint32_t host, bool (*admits)(void *, const struct udp_address *))
{
	const struct nic_outside outside = {.admits = admits, .payload_bytes = payload_bytes};

	nic_outside_set(sim_nic(r->sim, host), &outside);
}

/* Removes hosts 0 and 2 from each other's node table. */
static void part(struct rig *r)
{
	nic_peer_lost(sim_nic(r->sim, 0), 3, DXP_EPEERLOST);
	nic_peer_lost(sim_nic(r->sim, 2), 1, DXP_EPEERLOST);
}

static void send_start(struct rig *r, uint32_t from, uint32_t to)
{
	struct udp_address a;

	net_address(to, &a);
	send_words(r, from, to, BASE, 3000);
	*word(r, from, REGISTER(node)) = 0;
	*word(r, from, REGISTER(ip)) = (uint32_t)a.ip[12] << 24 | (uint32_t)a.ip[13] << 16 |
				       (uint32_t)a.ip[14] << 8 | a.ip[15];
	*word(r, from, REGISTER(port)) = a.port;
	go(r, from);
}

static int send_outside(struct rig *r, uint32_t from, uint32_t to)
{
	send_start(r, from, to);
	return finish(r, from);
}

static void message_arrives(struct rig *r, uint32_t from, uint32_t to)
{
	const uint64_t before = total(r, to);

	pattern(r, from, 0, 3000, (uint32_t)before + from);
	assert_int_equal(receive(r, to, BASE + 8192, 3000), DXP_OK);
	assert_int_equal(send_outside(r, from, to), DXP_OK);
	assert_true(total(r, to) == before + 3000);
	assert_memory_equal(r->memory[to] + 8192, r->memory[from], 3000);
}

static void outside__admitted_by_both(void **state)
{
	struct rig *r = *state;

	part(r);
	policy(r, 0, admits_all);
	policy(r, 2, admits_all);
	for (int i = 0; i < 3; i++) {
		message_arrives(r, 0, 2);
		message_arrives(r, 2, 0);
	}
	/* one session for both directions, so one HELLO */
	assert_int_equal(rltp_endpoint_counters(nic_endpoint(sim_nic(r->sim, 2)))->hellos_received,
			 1);
	message_goes(r); /* through the table */
}

/* Nodes of two fabrics can have the same id. */
static void outside__both_have_the_same_id(void **state)
{
	struct rig *r = *state;

	part(r);
	nic_peer_lost(sim_nic(r->sim, 1), 3, DXP_EPEERLOST);
	nic_node_set(sim_nic(r->sim, 2), 1);
	policy(r, 0, admits_all);
	policy(r, 2, admits_all);
	message_arrives(r, 0, 2);
	message_arrives(r, 2, 0);
}

static void outside__under_faults(void **state)
{
	const struct sim_faults faults = {
		.loss_ppm = 100000, .reorder_ppm = 100000, .reorder_ns = MS_NS};
	struct rig *r = rig_again(state, seed(), &faults);

	part(r);
	policy(r, 0, admits_all);
	policy(r, 2, admits_all);
	for (int i = 0; i < 20; i++)
		message_arrives(r, i % 2 ? 2 : 0, i % 2 ? 0 : 2);
}

static void outside__a_restarted_peer(void **state)
{
	struct rig *r = *state;

	part(r);
	policy(r, 0, admits_all);
	policy(r, 2, admits_all);
	message_arrives(r, 0, 2);
	assert_int_equal(sim_restart(r->sim, 2, false), DXP_OK);
	nic_peer_lost(sim_nic(r->sim, 2), 1, DXP_EPEERLOST);
	struct nic *n = sim_nic(r->sim, 2);
	assert_int_equal(nic_region_register(n, 0, r->memory[2], MEMORY, NIC_LOCAL, &r->key[2]),
			 DXP_OK);
	const struct nic_area area = {BASE, MEMORY, 0, r->key[2]};
	assert_int_equal(nic_area_add(n, 0, &area), DXP_OK);
	policy(r, 2, admits_all);
	/* its answer shows host 2's restart */
	assert_int_not_equal(send_outside(r, 0, 2), DXP_OK);
	message_arrives(r, 0, 2);
}

static void outside__no_policy(void **state)
{
	struct rig *r = *state;

	part(r);
	assert_int_equal(receive(r, 2, BASE, MEMORY), DXP_OK);
	assert_int_equal(send_outside(r, 0, 2), DXP_EPEERLOST);
	policy(r, 0, admits_none);
	assert_int_equal(send_outside(r, 0, 2), DXP_EPEERLOST);
	assert_int_equal(rltp_endpoint_counters(nic_endpoint(sim_nic(r->sim, 0)))->hellos_sent, 0);
	assert_true(total(r, 2) == 0);
}

static void outside__refused_by_the_receiver(void **state)
{
	struct rig *r = *state;

	part(r);
	policy(r, 0, admits_all);
	policy(r, 2, admits_none);
	assert_int_equal(receive(r, 2, BASE, MEMORY), DXP_OK);
	assert_int_equal(send_outside(r, 0, 2), DXP_ETIMEDOUT);
	const struct rltp_endpoint_counters *c =
		rltp_endpoint_counters(nic_endpoint(sim_nic(r->sim, 2)));
	assert_true(c->unknown_peer > 0 && c->hellos_received == 0);
	assert_true(total(r, 2) == 0);
}

struct dequeue {
	struct dxp_window *window;
	struct dxp_nic_event event;
};

static bool dequeued(void *context)
{
	struct dequeue *d = context;

	return dxp_sent_dequeue(d->window, &d->event);
}

/* Magic and key of memory are right, but only the receive registers are allowed. */
static void outside__only_receive_registers(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 2, 1);
	struct dxp_window *w = sim_window(r->sim, 0);
	struct dequeue d = {.window = w};
	uint32_t key;

	part(r);
	policy(r, 0, admits_all);
	policy(r, 2, admits_all);
	message_arrives(r, 0, 2);
	assert_int_equal(nic_region_register(sim_nic(r->sim, 2), 0, r->memory[2], MEMORY,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &key),
			 DXP_OK);
	to.node = WIRE_NODE_OUTSIDE;
	const struct dxp_entry own = {0, 64, r->key[0]}, theirs = {0, 64, key};
	assert_int_equal(dxp_post_nap(w, 0, &to, "nap", 3, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(w, 0, &to, &own, &theirs, 0, 0, 2), DXP_OK);
	assert_int_equal(dxp_post_get(w, 0, &to, &theirs, &own, 3), DXP_OK);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(sim_run(r->sim, S_NS, dequeued, &d));
		assert_int_equal(d.event.status, DXP_EACCESS);
	}
	assert_null(dxp_received_peek(sim_window(r->sim, 2)));
	message_arrives(r, 0, 2);
}

/* Returns the bytes. */
static size_t frame_copy(struct nic *n, uint64_t now_ns, uint8_t frame[FRAME])
{
	struct datagram out[4];

	assert_int_equal(nic_send(n, out, 4, now_ns), 1);
	assert_int_equal(out[0].slice_count, 0);
	memcpy(frame, out[0].header, out[0].header_bytes);
	return out[0].header_bytes;
}

/* The tag is valid, but no session opens. */
static void outside__own_handshake_reflected(void **state)
{
	struct rig *r = *state;
	struct nic *n = sim_nic(r->sim, 0);
	static uint8_t frame[FRAME];
	struct datagram_arrival a = {.data = frame};

	part(r);
	policy(r, 0, admits_all);
	net_address(2, &a.from);
	send_start(r, 0, 2);
	nic_doorbells(n, sim_now(r->sim));
	a.bytes = (uint32_t)frame_copy(n, sim_now(r->sim), frame);
	assert_int_equal(nic_receive(n, &a, sim_now(r->sim)), DXP_OK);
	assert_int_equal(rltp_endpoint_counters(nic_endpoint(n))->not_for_us, 1);
	assert_int_equal(rltp_endpoint_counters(nic_endpoint(n))->hellos_received, 0);
}

/* Addresses outside of the table have numbers, which the NIC reuses or gives up when a new peer of
 * the table has that id. */
static void outside__more_addresses_than_space(void **state)
{
	struct rig *r = *state;
	struct nic *n = sim_nic(r->sim, 0);

	policy(r, 0, admits_all);
	for (uint16_t i = 0; i < 3 * RLTP_OUTSIDE_MAX; i++) {
		const struct udp_address a = address_v4(0x7f000001, (uint16_t)(5000 + i));
		const uint16_t number = outside_node(n, &a);
		assert_true(number >= WIRE_NODE_OUTSIDE &&
			    number < WIRE_NODE_OUTSIDE + RLTP_OUTSIDE_MAX);
		assert_int_equal(outside_node(n, &a), number);
	}
	const struct rltp_peer_info peer = {.node = WIRE_NODE_OUTSIDE,
					    .address = address_v4(0x7f000001, 4000),
					    .payload_bytes = SIM_PAYLOAD_BYTES};
	assert_int_equal(nic_peer_set(n, &peer, sim_now(r->sim)), DXP_OK);
	assert_false(
		rltp_session_is_outside(rltp_endpoint_session(nic_endpoint(n), WIRE_NODE_OUTSIDE)));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(outside__admitted_by_both),
		CASE(outside__both_have_the_same_id),
		CASE(outside__under_faults),
		CASE(outside__a_restarted_peer),
		CASE(outside__no_policy),
		CASE(outside__refused_by_the_receiver),
		CASE(outside__only_receive_registers),
		CASE(outside__own_handshake_reflected),
		CASE(outside__more_addresses_than_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
