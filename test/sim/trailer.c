/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trailers: 8 bytes that arrive unchanged with the event of a NAP or PUT, under all packet
 * faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "rltp/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define MEMORY   8192
#define MESSAGES 400
#define SEEDS    20

struct rig {
	struct sim *sim;
	uint8_t memory[2][MEMORY];
	uint32_t key[2];
	struct rng rng;
	uint32_t posted, ended, received;
	uint32_t each; /* per host */
};

static struct rig the_rig;

static struct rig *rig_make(const struct sim_options *o)
{
	struct rig *r = &the_rig;

	memset(r, 0, sizeof(*r));
	r->rng.state = o->seed;
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(nic_region_register(sim_nic(r->sim, i), 0, r->memory[i], MEMORY,
						     NIC_REMOTE_WRITE, &r->key[i]),
				 DXP_OK);
	return r;
}

/* Derived from k. Half of them nearly fill a packet, with and without immediate data and
 * trailer. */
struct message {
	bool put;
	uint32_t bytes;
	uint64_t imm, trailer;
};

static struct message message_of(uint32_t k)
{
	struct rng r = {k};
	struct message m = {.put = rng_below(&r, 3) == 0};
	uint32_t most = m.put ? MEMORY : NIC_NAP_BYTES_MAX;

	m.bytes = rng_below(&r, 2) ? SIM_PAYLOAD_BYTES - 20 + (uint32_t)rng_below(&r, 24)
				   : 1 + (uint32_t)rng_below(&r, most);
	m.imm = rng_below(&r, 2) ? rng_next(&r) | 1 : 0;
	m.trailer = rng_below(&r, 3) ? rng_next(&r) | 1 : 0;
	return m;
}

static int send_message_post(struct rig *r, uint32_t k)
{
	struct message m = message_of(k);
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_descriptor d = dxp_head(m.put ? DXP_OP_PUT : DXP_OP_NAP, 0, &to, k);
	struct dxp_entry entries[2] = {{0, m.bytes, r->key[0]}, {0, m.bytes, r->key[1]}};
	static const uint8_t data[NIC_NAP_BYTES_MAX];

	d.flags = m.put ? DXP_FLAG_NOTIFY : DXP_FLAG_INLINE;
	d.inline_bytes = m.put ? 0 : (uint16_t)m.bytes;
	d.src_count = d.dst_count = m.put;
	d.imm = m.imm;
	d.trailer = m.trailer;
	return dxp_post(sim_window(r->sim, 0), &d, entries, data);
}

static void event_check(struct rig *r, const struct dxp_nic_event *e)
{
	struct message m = message_of(r->received);

	assert_int_equal(e->type, m.put ? DXP_EVENT_PUT : DXP_EVENT_NAP);
	assert_int_equal(e->bytes, m.bytes);
	assert_true(e->imm == m.imm);
	assert_true(e->context == m.trailer);
	r->received++;
}

static bool all_received(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event sent;
	const struct dxp_nic_event *e;
	const uint8_t *data;

	while (dxp_sent_dequeue(sim_window(r->sim, 0), &sent)) {
		assert_int_equal(sent.status, DXP_OK);
		assert_true(sent.context == r->ended && sent.imm == 0);
		r->ended++;
	}
	while ((e = nic_user_received_peek(sim_window(r->sim, 1), &data)) != NULL) {
		event_check(r, e);
		dxp_received_release(sim_window(r->sim, 1));
	}
	while (r->posted < MESSAGES && send_message_post(r, r->posted) == DXP_OK)
		r->posted++;
	return r->received == MESSAGES && r->ended == MESSAGES;
}

static void all_arrive(const struct sim_options *o)
{
	struct rig *r = rig_make(o);

	/* a full packet without immediate data and trailer */
	net_mtu(sim_net(r->sim), 0, 1, WIRE_DATA_BYTES + SIM_PAYLOAD_BYTES);
	if (!sim_run(r->sim, 1000 * S_NS, all_received, r))
		fail_msg("seed %llu: not all arrive", (unsigned long long)o->seed);
	const char *broken = invariants_broken(sim_nic(r->sim, 1));
	if (broken)
		fail_msg("%s", broken);
	sim_destroy(r->sim);
}

static void trailer__comes_with_its_event(void **state)
{
	const struct sim_options o = {.seed = 1, .hosts = 2};

	all_arrive(&o);
}

/* The network loses and reorders packets, so some messages wait for earlier ones. */
static void trailer__under_loss_and_reordering(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct sim_options o = {.seed = seed,
					      .hosts = 2,
					      .faults = {.loss_ppm = 50000,
							 .duplicate_ppm = 50000,
							 .reorder_ppm = 200000,
							 .corrupt_ppm = 10000}};
		all_arrive(&o);
	}
}

static void trailer__is_not_sent_without_an_event(void **state)
{
	const struct sim_options o = {.seed = 2, .hosts = 2};
	struct rig *r = rig_make(&o);
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_descriptor d = dxp_head(DXP_OP_PUT, 0, &to, 0);
	struct dxp_entry entries[2] = {{0, SIM_PAYLOAD_BYTES, r->key[0]},
				       {0, SIM_PAYLOAD_BYTES, r->key[1]}};
	const uint8_t *data;

	d.src_count = d.dst_count = 1;
	d.trailer = 99;
	assert_int_equal(dxp_post(sim_window(r->sim, 0), &d, entries, NULL), DXP_OK);
	sim_run(r->sim, S_NS, NULL, NULL);
	assert_null(nic_user_received_peek(sim_window(r->sim, 1), &data));
	/* with its trailer in one packet */
	assert_int_equal(
		rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, 0)), 2)->counters.sent_packets,
		1);
	sim_destroy(r->sim);
}

static int nap_status(struct rig *r, uint64_t trailer)
{
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, 0, &to, 0);
	struct dxp_nic_event event = {0};

	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = 3;
	d.trailer = trailer;
	assert_int_equal(dxp_post(sim_window(r->sim, 0), &d, NULL, "nap"), DXP_OK);
	sim_run(r->sim, S_NS, NULL, NULL);
	assert_int_equal(dxp_sent_dequeue(sim_window(r->sim, 0), &event), 1);
	return event.status;
}

static void trailer__peer_of_an_older_version(void **state)
{
	const struct sim_options o = {.seed = 3, .hosts = 2};
	struct rig *r = rig_make(&o);
	uint32_t seen = 0;
	const struct dxp_nic_event *e;
	const uint8_t *data;

	assert_int_equal(nap_status(r, 0), DXP_OK);
	rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, 0)), 2)->peer_features = 0;
	for (uint32_t i = 0; i < 2 * NIC_NAP_CREDIT; i++) {
		assert_int_equal(nap_status(r, 7), DXP_EUNSUPPORTED);
		assert_int_equal(nap_status(r, 0), DXP_OK);
		while ((e = nic_user_received_peek(sim_window(r->sim, 1), &data)) != NULL) {
			seen++;
			assert_true(e->context == 0);
			dxp_received_release(sim_window(r->sim, 1));
		}
	}
	assert_int_equal(seen, 2 * NIC_NAP_CREDIT + 1);
	sim_destroy(r->sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trailer__comes_with_its_event),
		cmocka_unit_test(trailer__under_loss_and_reordering),
		cmocka_unit_test(trailer__is_not_sent_without_an_event),
		cmocka_unit_test(trailer__peer_of_an_older_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
