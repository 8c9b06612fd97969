/* SPDX-License-Identifier: BSD-3-Clause */
/* Many hosts share the receive buffers and the output of one host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "sim/sim.h"

#define HOSTS 8
#define NAPS  60 /* per host and queue pair */
#define TOTAL (NAPS * NIC_QPS_PER_FUNCTION * (HOSTS - 1))

/* Host 0 has fewer buffers, and dequeues at intervals. */
struct crowd {
	struct sim *sim;
	uint32_t posted[HOSTS][NIC_QPS_PER_FUNCTION], completed, received;
	uint64_t next_ns; /* next dequeue */
};

static bool crowd_step(void *context)
{
	struct crowd *c = context;
	struct dxp_nic_event event;
	const uint8_t *data;

	for (uint32_t i = 1; i < HOSTS; i++) {
		for (uint8_t q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
			struct dxp_target to = sim_target(c->sim, 0, q);
			while (c->posted[i][q] < NAPS && dxp_post_nap(sim_window(c->sim, i), q, &to,
								      "crowd", 5, 0, 0) == DXP_OK)
				c->posted[i][q]++;
		}
		while (dxp_sent_dequeue(sim_window(c->sim, i), &event))
			c->completed += event.status == DXP_OK;
	}
	if (sim_now(c->sim) < c->next_ns)
		return false;
	for (int k = 0; k < 4 && nic_user_received_peek(sim_window(c->sim, 0), &data); k++) {
		dxp_received_release(sim_window(c->sim, 0));
		c->received++;
	}
	c->next_ns = sim_now(c->sim) + 300 * US_NS;
	return c->received == TOTAL && c->completed == TOTAL;
}

/* The number of early messages, which wait for earlier ones of their stream, is bounded. Otherwise
 * early messages could hold all buffers, and the earlier ones could never arrive. */
static void crowd__early_messages_leave_space_for_those_due(void **state)
{
	struct sim_options o = {.seed = 9, .hosts = HOSTS, .faults = {.reorder_ppm = 300000}};
	struct crowd c = {0};
	bool finished = false;

	assert_int_equal(sim_create(&o, &c.sim), DXP_OK);
	/* a pause is no event of the simulator, so sim_run may stop */
	for (int i = 0; i < 200 && !finished; i++, c.next_ns = 0)
		finished = sim_run(c.sim, 10 * MS_NS, crowd_step, &c);
	sim_destroy(c.sim);
	assert_true(finished);
}

static bool all_sent(void *context)
{
	struct crowd *c = context;
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(sim_window(c->sim, 0), &event))
		c->completed++;
	return c->completed == 2;
}

static void crowd__busy_session_leaves_space_for_others(void **state)
{
	struct sim_options o = {.seed = 9, .hosts = 3};
	struct datagram batch[8];
	struct crowd c = {0};
	bool poll[3] = {false};

	assert_int_equal(sim_create(&o, &c.sim), DXP_OK);
	struct dxp_target to[3] = {{0}, sim_target(c.sim, 1, 0), sim_target(c.sim, 2, 0)};
	for (int host = 1; host < 3; host++)
		assert_int_equal(dxp_post_nap(sim_window(c.sim, 0), 0, &to[host], "opens", 5, 0, 0),
				 DXP_OK);
	assert_true(sim_run(c.sim, S_NS, all_sent, &c));
	/* both sessions can fill both batches */
	for (uint8_t i = 0; i < NIC_DOORBELLS; i++)
		assert_int_equal(
			dxp_post_nap(sim_window(c.sim, 0), i % 4, &to[1 + i / 16], "busy", 4, 0, 0),
			DXP_OK);
	nic_doorbells(sim_nic(c.sim, 0), sim_now(c.sim));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			nic_send(sim_nic(c.sim, 0), batch, ARRAY_COUNT(batch), sim_now(c.sim)),
			ARRAY_COUNT(batch));
		poll[batch[0].to.ip[15] - 1] = true;
	}
	sim_destroy(c.sim);
	assert_true(poll[1] && poll[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crowd__busy_session_leaves_space_for_others),
		cmocka_unit_test(crowd__early_messages_leave_space_for_those_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
