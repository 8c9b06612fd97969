/* SPDX-License-Identifier: BSD-3-Clause */
/* A function loses a right during an operation, by a broken rule or a revoked key; also rules to
 * open and close. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/function.h"

/* The user reads the reason, and its operations complete; other functions continue. */
static void function__is_stopped_alone(void **state)
{
	const struct sim_options o = {.seed = 5, .hosts = 2, .cfg = &cfg_ops};
	struct rig r;

	for (uint32_t at = 1; at < 60; at++) {
		rig_open(&r, &o);
		everything(&r);
		transfer_post(&r.honest[0], &r.honest[1], false);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		struct dxp_window *w = r.process.window;
		dxp_store_release(&w->buffers_returned, w->buffers_returned - 700);
		dxp_store_release(&w->received_consumer, w->received_consumer - 1);
		dxp_store_release(&w->sent_consumer, w->sent_consumer - 1);
		struct dxp_descriptor bad = {.op = DXP_OP_NAP, .qp = 9};
		dxp_post(w, &bad, NULL, NULL);
		/* no completions of the stopped process */
		r.process.window = NULL;
		run_all(&r);
		assert_int_equal(dxp_error(w), DXP_EINVAL);
		assert_int_equal(w->state, DXP_FUNCTION_STOPPED);
		assert_false(nic_region_busy(r.process.nic, r.process.key));
		r.process.window = w;
		/* rejected by the stopped function */
		transfer_post(&r.peer, &r.process, false);
		r.process.window = NULL;
		run_all(&r);
		assert_int_equal(r.peer.status, DXP_EACCESS);
		r.process.window = w;
		user_die(&r, &r.process);
		user_open(&r, &r.process, OWN, FUNCTION);
		pair_works(&r, &r.process, &r.peer);
		pair_works(&r, &r.honest[0], &r.honest[1]);
		rig_close(&r);
	}
}

/* The running transfer may complete, the next one is rejected. */
static void function__revokes_a_key(void **state)
{
	const struct sim_options o = {.seed = 6, .hosts = 2};
	struct rig r;

	for (uint32_t at = 1; at < 40; at++) {
		rig_open(&r, &o);
		transfer_post(&r.peer, &r.process, true);
		transfer_post(&r.process, &r.peer, false);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		assert_int_equal(nic_region_revoke(r.process.nic, r.process.key), DXP_OK);
		assert_int_equal(nic_region_revoke(r.process.nic, r.process.key), DXP_ENOENT);
		run_all(&r);
		sim_run(r.sim, S_NS, NULL, NULL);
		assert_false(nic_region_busy(r.process.nic, r.process.key));
		transfer_post(&r.peer, &r.process, true);
		run_all(&r);
		assert_int_equal(r.peer.status, DXP_EACCESS);
		transfer_post(&r.process, &r.peer, false);
		run_all(&r);
		assert_int_equal(r.process.status, DXP_EACCESS);
		rig_close(&r);
	}
}

static void function__opens_and_closes_by_the_rules(void **state)
{
	const struct sim_options o = {.seed = 7, .hosts = 2};
	struct rig r;

	rig_open(&r, &o);
	struct nic *n = r.process.nic;
	assert_int_equal(nic_function_open(n, FUNCTION, r.process.window), DXP_EEXIST);
	assert_int_equal(nic_function_open(n, NIC_FUNCTIONS, r.process.window), DXP_EINVAL);
	assert_int_equal(nic_user_close(n, NIC_FUNCTIONS, DXP_ECLOSED, 0), DXP_ENOENT);
	assert_int_equal(nic_user_close(n, 3, DXP_ECLOSED, 0), DXP_ENOENT);
	assert_false(nic_user_idle(n, FUNCTION));
	assert_true(nic_user_idle(n, 3));
	uint32_t magic = r.process.window->qp_magic[0];
	user_die(&r, &r.process);
	assert_int_equal(nic_user_close(n, FUNCTION, DXP_ECLOSED, 0), DXP_ENOENT);
	user_open(&r, &r.process, OWN, FUNCTION);
	assert_int_not_equal(r.process.window->qp_magic[0], magic);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function__opens_and_closes_by_the_rules),
		cmocka_unit_test(function__is_stopped_alone),
		cmocka_unit_test(function__revokes_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
