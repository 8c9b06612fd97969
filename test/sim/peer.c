/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the cost of a peer: no memory after it vanished, little memory and work while idle; and
 * shares of two functions by weight. */
#include <malloc.h>
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
#include "nic/internal.h"
#include "rltp/internal.h"
#include "sim/sim.h"
#include "test/sim/memory.h"
#include "test/support/invariants.h"
#include "test/support/sanitizer.h"

#define MEMORY (256u << 10)

struct rig {
	struct sim *sim;
	uint8_t *memory[2];
	uint32_t key[2];
};

static void rig_open(struct rig *r, uint64_t rate_bps, bool lose_last)
{
	struct sim_options o = {.seed = 9, .hosts = 2, .rate_bps = rate_bps, .backlog_bytes = 100};

	if (lose_last) /* of a message from host 0 */
		o.faults = (struct sim_faults){
			.only = SIM_ONLY_LAST, .only_from = 1, .loss_ppm = 1000000};

	assert_int_equal(sim_create(&o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < 2; i++) {
		r->memory[i] = calloc(1, MEMORY);
		assert_non_null(r->memory[i]);
		nic_region_register(sim_nic(r->sim, i), 0, r->memory[i], MEMORY,
				    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r->key[i]);
	}
}

static void rig_close(struct rig *r)
{
	sim_destroy(r->sim);
	free(r->memory[0]);
	free(r->memory[1]);
}

static struct rltp_session *session_of(struct rig *r, uint32_t host, uint32_t peer)
{
	return rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, host)), (uint16_t)(peer + 1));
}

/* ---- a sender that vanishes in the middle ---- */

static bool held_in_part(void *context)
{
	return session_of(context, 1, 0)->partial > 0;
}

/* The event comes when it is complete. */
static void put_notify(struct rig *r, uint32_t bytes)
{
	struct dxp_target to = sim_target(r->sim, 1, 1);
	const struct dxp_entry from = {0, bytes, r->key[0]}, remote = {0, bytes, r->key[1]};

	assert_int_equal(
		dxp_post_put(sim_window(r->sim, 0), 1, &to, &from, &remote, DXP_FLAG_NOTIFY, 0, 0),
		DXP_OK);
}

static void vanish(struct rig *r)
{
	const struct nic_user *u = &sim_nic(r->sim, 1)->users[0];
	const uint8_t *data;

	assert_true(sim_run(r->sim, S_NS, held_in_part, r));
	sim_blackhole(r->sim, 0, 1, true);
	sim_run(r->sim, 2 * RLTP_DEAD_NS - S_NS, NULL, NULL);
	/* for a time, because the peer may return */
	assert_true(session_of(r, 1, 0)->partial > 0);
	sim_run(r->sim, 2 * S_NS, NULL, NULL);
	assert_int_equal(session_of(r, 1, 0)->partial, 0);
	assert_int_equal(u->received_reserved, 0);
	assert_null(invariants_broken(sim_nic(r->sim, 1)));
	/* no event of a partial message */
	assert_null(nic_user_received_peek(sim_window(r->sim, 1), &data));
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 1), r->key[1]), DXP_OK);
}

static void peer__sender_that_vanishes_in_a_nap(void **state)
{
	struct rig r;
	uint8_t data[NIC_NAP_BYTES_MAX] = {0};

	rig_open(&r, 0, true);
	struct dxp_target to = sim_target(r.sim, 1, 0);
	assert_int_equal(dxp_post_nap(sim_window(r.sim, 0), 0, &to, data, sizeof(data), 0, 0),
			 DXP_OK);
	vanish(&r);
	rig_close(&r);
}

static void peer__sender_that_vanishes_in_a_put_with_event(void **state)
{
	struct rig r;

	rig_open(&r, 0, true);
	put_notify(&r, 5000);
	vanish(&r);
	rig_close(&r);
}

static bool region_used(void *context)
{
	struct rig *r = context;

	return region_find(&sim_nic(r->sim, 1)->users[0], r->key[1])->uses > 0;
}

/* The GET behind an incomplete PUT holds its region, which must be released. */
static void peer__sender_that_vanishes_before_its_get(void **state)
{
	struct rig r;
	struct dxp_entry local = {0, 100, 0}, remote = {0, 100, 0};
	struct nic_lists lists = {&local, &remote, 1, 1};

	rig_open(&r, 10000000, false);
	local.key = r.key[0];
	remote.key = r.key[1];
	struct dxp_target to = sim_target(r.sim, 1, 1);
	put_notify(&r, 100000);
	assert_true(sim_run(r.sim, S_NS, held_in_part, &r));
	assert_int_equal(nic_user_get(sim_window(r.sim, 0), 2, &to, &lists, 0), DXP_OK);
	assert_true(sim_run(r.sim, S_NS, region_used, &r));
	vanish(&r);
	rig_close(&r);
}

/* ---- idle sessions ---- */

struct end {
	struct nic *nic;
	struct dxp_window *window;
	struct udp_address address;
	uint8_t memory[64];
	uint32_t key;
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static void end_open(struct end *e, uint16_t node)
{
	static struct rng secrets = {7};
	struct nic_options o = {.node = node,
				.incarnation = 1,
				.entropy = rng_entropy_rng,
				.entropy_context = &secrets,
				.token = token};

	memset(e, 0, sizeof(*e));
	e->window = aligned_alloc(4096, sizeof(*e->window));
	assert_non_null(e->window);
	memset(e->window, 0, sizeof(*e->window));
	assert_int_equal(nic_create(&o, &e->nic), DXP_OK);
	assert_int_equal(nic_function_open(e->nic, 0, e->window), DXP_OK);
	nic_region_register(e->nic, 0, e->memory, sizeof(e->memory), NIC_REMOTE_READ, &e->key);
	e->address = (struct udp_address){.port = node};
	e->address.ip[15] = 1;
}

static void end_close(struct end *e)
{
	nic_destroy(e->nic);
	free(e->window);
}

static void introduce(struct end *e, const struct end *other, uint64_t now_ns)
{
	struct rltp_peer_info peer = {.node = other->address.port,
				      .address = other->address,
				      .incarnation = 1,
				      .payload_bytes = WIRE_PAYLOAD_MIN};

	assert_int_equal(nic_peer_set(e->nic, &peer, now_ns), DXP_OK);
}

static void pump(struct end *from, struct end *to, uint64_t now_ns)
{
	struct datagram out;
	uint8_t data[DATAGRAM_HEADER_BYTES_MAX + WIRE_PAYLOAD_MIN];

	nic_doorbells(from->nic, now_ns);
	while (nic_send(from->nic, &out, 1, now_ns) == 1) {
		uint32_t bytes = out.header_bytes;
		memcpy(data, out.header, bytes);
		for (uint32_t i = 0; i < out.slice_count; i++) {
			memcpy(data + bytes, out.slices[i].base, out.slices[i].bytes);
			bytes += (uint32_t)out.slices[i].bytes;
		}
		struct datagram_arrival a = {
			.from = from->address, .data = data, .bytes = bytes, .arrived_ns = now_ns};
		if (address_equal(&out.to, &to->address))
			nic_receive(to->nic, &a, now_ns);
	}
}

static void ends_run(struct end *a, struct end *b, uint64_t *now_ns, uint64_t duration_ns)
{
	uint64_t end_ns = *now_ns + duration_ns;

	while (*now_ns < end_ns) {
		pump(a, b, *now_ns);
		pump(b, a, *now_ns);
		uint64_t next_ns = min_u64(nic_deadline(a->nic), nic_deadline(b->nic));
		*now_ns = min_u64(max_u64(next_ns, *now_ns + US_NS), end_ns);
	}
}

static void talk(struct end *from, struct end *to, uint8_t qp)
{
	struct dxp_target target = {to->address.port, 0, qp, to->window->qp_magic[qp]};
	struct dxp_entry local = {0, 32, from->key}, remote = {32, 32, to->key};
	struct nic_lists lists = {&local, &remote, 1, 1};

	assert_int_equal(dxp_post_nap(from->window, qp, &target, "hello", 5, 0, 0), DXP_OK);
	assert_int_equal(nic_user_get(from->window, qp, &target, &lists, 0), DXP_OK);
}

static void drain(struct end *e, uint32_t *good)
{
	struct dxp_nic_event event;
	const uint8_t *data;

	while (dxp_sent_dequeue(e->window, &event))
		*good += event.status == DXP_OK;
	while (nic_user_received_peek(e->window, &data))
		dxp_received_release(e->window);
}

/* Exchanges messages between hub and guest in both directions, then runs until the session is
 * idle. */
static void visit(struct end *hub, struct end *guest, uint64_t *now_ns)
{
	uint32_t good = 0;

	talk(hub, guest, 0);
	ends_run(hub, guest, now_ns, 10 * MS_NS);
	talk(guest, hub, 0);
	ends_run(hub, guest, now_ns, 10 * MS_NS);
	drain(hub, &good);
	drain(guest, &good);
	assert_int_equal(good, 4);
	ends_run(hub, guest, now_ns, 2 * RLTP_REST_NS);
	assert_null(nic_peer_find(hub->nic, guest->address.port)->work);
	assert_null(nic_peer_find(hub->nic, guest->address.port)->session->io);
}

static void peer__costs_little_at_rest(void **state)
{
	enum { PEERS = 1000 };
	static struct end hub, guest;
	uint64_t now_ns = S_NS;
	size_t before = 0;

#if SANITIZED_ADDRESS || SANITIZED_THREAD
	print_message("skipped: the allocator of a sanitizer counts nothing\n");
	skip();
#endif
	end_open(&hub, 1);
	for (uint16_t i = 0; i <= PEERS; i++) {
		end_open(&guest, (uint16_t)(i + 2));
		introduce(&hub, &guest, now_ns);
		introduce(&guest, &hub, now_ns);
		visit(&hub, &guest, &now_ns);
		end_close(&guest);
		if (i == 0)
			/* the first visit fills the NIC's pools */
			before = mallinfo2().uordblks;
	}
	size_t each = (mallinfo2().uordblks - before) / PEERS;
	print_message("%zu bytes for each open session at rest\n", each);
	assert_in_range(each, 1, 512);
	assert_null(invariants_broken(hub.nic));
	end_close(&hub);
}

/* Message ids and credits continue at both peers. */
static void peer__goes_on_after_a_rest(void **state)
{
	static struct end a, b;
	uint64_t now_ns = S_NS;

	end_open(&a, 1);
	end_open(&b, 2);
	introduce(&a, &b, now_ns);
	introduce(&b, &a, now_ns);
	for (int i = 0; i < 3 * NIC_NAP_CREDIT; i++)
		visit(&a, &b, &now_ns);
	assert_int_equal(nic_counters(b.nic)->naps_received, 3 * NIC_NAP_CREDIT);
	assert_int_equal(nic_counters(b.nic)->receiver_busy, 0);
	end_close(&a);
	end_close(&b);
}

/* A timer tries again, because no other event would wake the NIC. */
static void peer__request_waits_for_memory(void **state)
{
	static struct end a, b;
	uint64_t now_ns = S_NS;
	uint32_t good = 0;

	end_open(&a, 1);
	end_open(&b, 2);
	introduce(&a, &b, now_ns);
	introduce(&b, &a, now_ns);
	/* without a session; with an idle one */
	for (int round = 0; round < 2; round++) {
		talk(&a, &b, 0);
		memory_gone = true;
		for (int i = 0; i < 10; i++) {
			nic_doorbells(a.nic, now_ns);
			assert_true(nic_deadline(a.nic) > now_ns);
			assert_true(nic_deadline(a.nic) <= now_ns + 10 * MS_NS);
			now_ns = nic_deadline(a.nic);
		}
		memory_gone = false;
		ends_run(&a, &b, &now_ns, 50 * MS_NS);
		drain(&a, &good);
		assert_int_equal(good, 2 * (round + 1));
		ends_run(&a, &b, &now_ns, 2 * RLTP_REST_NS);
	}
	end_close(&a);
	end_close(&b);
}

/* ---- functions share by weight ---- */

struct share {
	struct rig rig;
	struct dxp_window *windows[2]; /* of host 0 */
	uint32_t keys[2];              /* for the same memory of host 0 */
	uint64_t bytes[2];
};

static bool puts_step(void *context)
{
	struct share *s = context;
	struct dxp_target to = sim_target(s->rig.sim, 1, 1);
	struct dxp_nic_event event;

	for (uint32_t f = 0; f < 2; f++) {
		struct dxp_entry local = {0, 65536, s->keys[f]}, remote = {0, 65536, s->rig.key[1]};
		struct nic_lists lists = {&local, &remote, 1, 1};
		while (dxp_sent_dequeue(s->windows[f], &event))
			s->bytes[f] += event.bytes;
		/* to queue pair f of host 1 */
		to.qp = (uint8_t)f;
		to.magic = sim_window(s->rig.sim, 1)->qp_magic[f];
		while (nic_user_put(s->windows[f], 0, &to, &lists, 0) == DXP_OK)
			;
	}
	return false;
}

static void peer__functions_share_by_weight(void **state)
{
	static struct share s;
	struct nic *n;

	memset(&s, 0, sizeof(s));
	rig_open(&s.rig, 1000000000, false);
	n = sim_nic(s.rig.sim, 0);
	s.windows[0] = sim_window(s.rig.sim, 0);
	s.windows[1] = aligned_alloc(4096, sizeof(*s.windows[1]));
	assert_non_null(s.windows[1]);
	memset(s.windows[1], 0, sizeof(*s.windows[1]));
	assert_int_equal(nic_function_open(n, 1, s.windows[1]), DXP_OK);
	s.keys[0] = s.rig.key[0];
	assert_int_equal(nic_region_register(n, 1, s.rig.memory[0], MEMORY, NIC_LOCAL, &s.keys[1]),
			 DXP_OK);
	assert_int_equal(nic_function_weight(n, 1, 3), DXP_OK);
	assert_int_equal(nic_function_weight(n, 1, 0), DXP_EINVAL);
	assert_int_equal(nic_function_weight(n, 1, RLTP_WEIGHT_MAX + 1), DXP_EINVAL);
	assert_int_equal(nic_function_weight(n, NIC_FUNCTIONS, 1), DXP_EINVAL);
	for (int round = 0; round < 2; round++) { /* the second after an idle time */
		puts_step(&s);
		s.bytes[0] = s.bytes[1] = 0;
		sim_run(s.rig.sim, 400 * MS_NS, puts_step, &s);
		double share = (double)s.bytes[1] / (double)(s.bytes[0] + s.bytes[1]);
		print_message("a weight of 3 beside 1 has %.1f %%\n", 100 * share);
		/* 75 % for function 1, within 5 % of that */
		assert_true(share > 0.7125 && share < 0.7875);
		sim_run(s.rig.sim, 10 * S_NS, NULL, NULL);
		assert_null(session_of(&s.rig, 0, 1)->io);
	}
	struct dxp_window *own = s.windows[1];
	rig_close(&s.rig);
	free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peer__sender_that_vanishes_in_a_nap),
		cmocka_unit_test(peer__sender_that_vanishes_in_a_put_with_event),
		cmocka_unit_test(peer__sender_that_vanishes_before_its_get),
		cmocka_unit_test(peer__costs_little_at_rest),
		cmocka_unit_test(peer__goes_on_after_a_rest),
		cmocka_unit_test(peer__request_waits_for_memory),
		cmocka_unit_test(peer__functions_share_by_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
