/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rejections of a NIC, and outstanding operations when a peer is slow, restarts or
 * disappears. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "rltp/internal.h"
#include "sim/sim.h"
#include "wire/frame.h"

#define MEMORY 65536

struct rig {
	struct sim *sim;
	uint8_t memory[2][MEMORY];
	uint32_t key[2];
	struct dxp_nic_event event; /* dequeued by `completed` */
	uint32_t completions;
};

static uint32_t cfg_values[16];
static uint32_t cfg_writes;

static uint8_t cfg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	if (first >= 16 || count > 16 - first)
		return WIRE_NACK_BOUNDS;
	memcpy(values, cfg_values + first, 4 * count);
	return 0;
}

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	if (first >= 16 || count > 16 - first)
		return WIRE_NACK_BOUNDS;
	if (first == 0)
		return WIRE_NACK_RIGHTS;
	memcpy(cfg_values + first, values, 4 * count);
	cfg_writes++;
	return 0;
}

static const struct nic_cfg_ops cfg_ops = {cfg_read, cfg_write};

static int rig_start(void **state, uint32_t window_packets)
{
	static struct rig rig;
	struct sim_options o = {
		.seed = 11, .hosts = 2, .cfg = &cfg_ops, .window_packets = window_packets};

	memset(&rig, 0, sizeof(rig));
	if (sim_create(&o, &rig.sim) != DXP_OK)
		return -1;
	for (uint32_t i = 0; i < 2; i++)
		nic_region_register(sim_nic(rig.sim, i), 0, rig.memory[i], MEMORY,
				    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &rig.key[i]);
	for (uint32_t i = 0; i < MEMORY; i++)
		rig.memory[0][i] = (uint8_t)(i * 7 + 1);
	*state = &rig;
	return 0;
}

static int rig_open(void **state)
{
	return rig_start(state, 0);
}

static int rig_open_narrow(void **state)
{
	return rig_start(state, 4);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	sim_destroy(r->sim);
	return 0;
}

static bool completed(void *context)
{
	struct rig *r = context;

	if (!dxp_sent_dequeue(sim_window(r->sim, 0), &r->event))
		return false;
	r->completions++;
	return true;
}

static int transfer(struct rig *r, bool get, struct dxp_entry local, struct dxp_entry remote,
		    const struct dxp_target *to)
{
	struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_window *w = sim_window(r->sim, 0);

	assert_int_equal(get ? nic_user_get(w, 1, to, &lists, 42)
			     : nic_user_put(w, 1, to, &lists, 42),
			 DXP_OK);
	assert_true(sim_run(r->sim, 20 * S_NS, completed, r));
	assert_int_equal(r->event.context, 42);
	return r->event.status;
}

static void memory_untouched(const struct rig *r)
{
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->memory[1][i], 0);
}

static void nic__wrong_magic_is_rejected_and_writes_nothing(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 5000, r->key[0]}, remote = {0, 5000, r->key[1]};

	to.magic ^= 1;
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_EACCESS);
	memory_untouched(r);
	assert_true(nic_counters(sim_nic(r->sim, 1))->magic_reject > 0);
	/* the right magic still succeeds on this queue pair */
	to.magic ^= 1;
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_OK);
	assert_memory_equal(r->memory[1], r->memory[0], 5000);
}

static void nic__wrong_key_or_range_writes_nothing(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 5000, r->key[0]};

	assert_int_equal(
		transfer(r, false, local, (struct dxp_entry){0, 5000, r->key[1] ^ 0x1000}, &to),
		DXP_EACCESS);
	assert_int_equal(
		transfer(r, false, local, (struct dxp_entry){MEMORY - 4999, 5000, r->key[1]}, &to),
		DXP_ERANGE);
	assert_int_equal(transfer(r, false, local,
				  (struct dxp_entry){UINT64_MAX - 100, 5000, r->key[1]}, &to),
			 DXP_ERANGE);
	assert_int_equal(
		transfer(r, true, local, (struct dxp_entry){MEMORY - 4999, 5000, r->key[1]}, &to),
		DXP_ERANGE);
	memory_untouched(r);
	assert_int_equal(
		transfer(r, false, local, (struct dxp_entry){MEMORY - 5000, 5000, r->key[1]}, &to),
		DXP_OK);
}

static void nic__rights_are_kept(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	uint32_t key;

	assert_int_equal(nic_region_register(sim_nic(r->sim, 1), 0, r->memory[1], 100,
					     NIC_REMOTE_READ, &key),
			 DXP_OK);
	struct dxp_entry local = {0, 100, r->key[0]}, remote = {0, 100, key};
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_EACCESS);
	memory_untouched(r);
	assert_int_equal(transfer(r, true, local, remote, &to), DXP_OK);
	/* busy until the answer's last packet is acknowledged; then the key becomes void */
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 1), key), DXP_EBUSY);
	sim_run(r->sim, MS_NS, NULL, NULL);
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 1), key), DXP_OK);
	assert_int_equal(transfer(r, true, local, remote, &to), DXP_EACCESS);
}

static void nic__own_descriptor_errors_come_back(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0), nowhere = to;
	struct dxp_entry remote = {0, 100, r->key[1]};

	assert_int_equal(transfer(r, false, (struct dxp_entry){0, 100, 0}, remote, &to),
			 DXP_EACCESS);
	assert_int_equal(
		transfer(r, false, (struct dxp_entry){MEMORY - 50, 100, r->key[0]}, remote, &to),
		DXP_ERANGE);
	assert_int_equal(transfer(r, false, (struct dxp_entry){0, 99, r->key[0]}, remote, &to),
			 DXP_EINVAL);
	nowhere.node = 9;
	assert_int_equal(
		transfer(r, false, (struct dxp_entry){0, 100, r->key[0]}, remote, &nowhere),
		DXP_ENOENT);
	nowhere = to;
	nowhere.qp = 4;
	assert_int_equal(
		transfer(r, false, (struct dxp_entry){0, 100, r->key[0]}, remote, &nowhere),
		DXP_EINVAL);
}

static void nic__registers(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 2);
	struct dxp_window *w = sim_window(r->sim, 0);
	const uint32_t values[] = {0xdeadbeef, 2, 3};
	struct dxp_entry local = {0, 12, r->key[0]};

	cfg_writes = 0;
	assert_int_equal(nic_user_cfg_write(w, 0, &to, 5, values, 3, 1), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_OK);
	assert_int_equal(cfg_writes, 1);
	assert_int_equal(nic_user_cfg_read(w, 0, &to, 5, &local, 2), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_OK);
	assert_memory_equal(r->memory[0], values, 12);
	/* each is rejected for another reason */
	assert_int_equal(nic_user_cfg_write(w, 0, &to, 0, values, 1, 3), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_EACCESS);
	assert_int_equal(nic_user_cfg_read(w, 0, &to, 14, &local, 4), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_ERANGE);
	assert_int_equal(cfg_writes, 1);
}

static bool posts_naps(void *context)
{
	struct rig *r = context;
	struct dxp_target to = sim_target(r->sim, 1, 0);

	while (dxp_sent_dequeue(sim_window(r->sim, 0), &r->event))
		r->completions++;
	while (dxp_post_nap(sim_window(r->sim, 0), 0, &to, "x", 1, 0, 0) == DXP_OK)
		;
	return false;
}

/* Nothing is lost; the sender continues when the receiver dequeues. */
static void nic__slow_receiver_holds_the_sender(void **state)
{
	struct rig *r = *state;
	const uint8_t *data;
	uint32_t dequeued = 0;

	sim_run(r->sim, 20 * MS_NS, posts_naps, r);
	assert_int_equal(r->completions, NIC_EVENTS);
	assert_int_equal(nic_counters(sim_nic(r->sim, 1))->receiver_busy, 0);
	for (int round = 0; round < 50; round++) {
		while (nic_user_received_peek(sim_window(r->sim, 1), &data)) {
			dxp_received_release(sim_window(r->sim, 1));
			dequeued++;
		}
		sim_run(r->sim, MS_NS, posts_naps, r);
	}
	assert_true(dequeued > 10 * NIC_EVENTS);
	assert_true(r->completions >= dequeued);
}

static void nic__doorbells_are_bounded(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);

	for (int i = 0; i < NIC_DOORBELLS; i++)
		assert_int_equal(dxp_post_nap(sim_window(r->sim, 0), 0, &to, "x", 1, 0, i), DXP_OK);
	assert_int_equal(dxp_post_nap(sim_window(r->sim, 0), 0, &to, "x", 1, 0, 99), DXP_EAGAIN);
	for (int i = 0; i < NIC_DOORBELLS; i++) {
		assert_true(sim_run(r->sim, S_NS, completed, r));
		assert_int_equal(r->event.context, i);
	}
}

static void nic__silent_peer_ends_work(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 5000, r->key[0]}, remote = {0, 5000, r->key[1]};
	uint64_t begin_ns = sim_now(r->sim);

	sim_blackhole(r->sim, 0, 1, true);
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_ETIMEDOUT);
	assert_in_range(sim_now(r->sim) - begin_ns, RLTP_DEAD_NS, RLTP_DEAD_NS + 500 * MS_NS);
	sim_blackhole(r->sim, 0, 1, false);
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_OK);
}

/* Outstanding operations complete with PEERRESET, and none reaches the new process. */
static void restart_case(struct rig *r, bool announce)
{
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 5000, r->key[0]}, remote = {0, 5000, r->key[1]};

	assert_int_equal(transfer(r, false, local, remote, &to), DXP_OK);
	memset(r->memory[1], 0, MEMORY);
	assert_int_equal(sim_restart(r->sim, 1, announce), DXP_OK);
	if (!announce)
		assert_int_equal(transfer(r, false, local, remote, &to), DXP_EPEERRESET);
	/* magic and key of the old process */
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_EACCESS);
	memory_untouched(r);
	to = sim_target(r->sim, 1, 0);
	nic_region_register(sim_nic(r->sim, 1), 0, r->memory[1], MEMORY, NIC_REMOTE_WRITE,
			    &r->key[1]);
	remote.key = r->key[1];
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_OK);
	assert_memory_equal(r->memory[1], r->memory[0], 5000);
}

static void nic__restart_is_found_by_reset(void **state)
{
	restart_case(*state, false);
}

static void nic__restart_is_reported_by_the_table(void **state)
{
	restart_case(*state, true);
}

/* The queue is full; if the doorbell counted, the node would spin until the peer is lost. */
static void nic__doorbell_of_a_full_queue_is_not_ready(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_window *w = sim_window(r->sim, 0);
	struct nic *n = sim_nic(r->sim, 0);

	for (uint64_t i = 0; i < NIC_OUTSTANDING_MAX; i++) {
		assert_int_equal(dxp_post_nap(w, 0, &to, "x", 1, 0, i), DXP_OK);
		assert_true(nic_doorbell_ready(n));
		assert_int_equal(nic_doorbells(n, sim_now(r->sim)), 1);
	}
	assert_false(nic_doorbell_ready(n));
	assert_int_equal(dxp_post_nap(w, 0, &to, "x", 1, 0, 0), DXP_OK);
	assert_false(nic_doorbell_ready(n));
	assert_int_equal(nic_doorbells(n, sim_now(r->sim)), 0);
	/* failed requests leave space, so the doorbell is ready */
	nic_peer_lost(n, 2, DXP_EPEERLOST);
	assert_int_equal(nic_deadline(n), 0);
	assert_true(nic_doorbell_ready(n));
}

static bool second_queue_completed(void *context)
{
	struct rig *r = context;

	while (completed(r))
		if (r->event.qp == 1)
			return true;
	return false;
}

static void nic__queue_pairs_share_the_table_of_reads(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 900, r->key[0]}, whole = {0, 900, r->key[1]}, remote[90];
	struct nic_lists many = {&local, remote, 1, ARRAY_COUNT(remote)},
			 one = {&local, &whole, 1, 1};

	for (uint32_t i = 0; i < ARRAY_COUNT(remote); i++)
		remote[i] = (struct dxp_entry){20 * i, 10, r->key[1]};
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(nic_user_get(sim_window(r->sim, 0), 0, &to, &many, i), DXP_OK);
	assert_int_equal(nic_user_get(sim_window(r->sim, 0), 1, &to, &one, 8), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, second_queue_completed, r));
	assert_int_equal(r->event.status, DXP_OK);
	assert_true(r->completions <= 3);
}

/* Requests beyond the stream's space are cut into packets only after the first ones have failed,
 * without an event in between. The NIC is polled at its deadlines only. */
static void nic__silent_peer_ends_what_waits_for_space(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 480, r->key[0]}, remote[48];
	struct nic_lists lists = {&local, remote, 1, ARRAY_COUNT(remote)};
	struct nic *n = sim_nic(r->sim, 0);
	uint64_t now_ns = sim_now(r->sim);
	static struct datagram batch[64];

	for (uint32_t i = 0; i < ARRAY_COUNT(remote); i++)
		remote[i] = (struct dxp_entry){100 * i, 10, r->key[1]};
	for (uint64_t i = 0; i < 6; i++)
		assert_int_equal(nic_user_put(sim_window(r->sim, 0), 1, &to, &lists, i), DXP_OK);
	nic_doorbells(n, now_ns);
	while (r->completions < 6) {
		while (nic_send(n, batch, ARRAY_COUNT(batch), now_ns) > 0)
			;
		assert_true(nic_deadline(n) != UINT64_MAX);
		now_ns = max_u64(now_ns, nic_deadline(n));
		nic_doorbells(n, now_ns);
		while (completed(r))
			assert_int_equal(r->event.status, DXP_ETIMEDOUT);
	}
	assert_true(now_ns < 20 * S_NS);
}

/* The request is acknowledged, and a part of the answer is there. */
static bool answer_begun(void *context)
{
	struct rig *r = context;
	const struct rltp_session *s = rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, 0)), 2);

	return s->counters.received_packets > 0 && s->io->tx_una == s->tx_next;
}

static void nic__answer_that_never_comes(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 60000, r->key[0]}, remote = {0, 60000, r->key[1]};
	struct nic_lists lists = {&local, &remote, 1, 1};

	assert_int_equal(nic_user_get(sim_window(r->sim, 0), 1, &to, &lists, 42), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, answer_begun, r));
	sim_blackhole(r->sim, 1, 0, true);
	assert_true(sim_run(r->sim, 20 * S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_ETIMEDOUT);
	assert_int_equal(nic_region_deregister(sim_nic(r->sim, 0), r->key[0]), DXP_OK);
}

static void nic__path_of_a_known_peer_may_change(void **state)
{
	struct rig *r = *state;
	struct nic *n = sim_nic(r->sim, 0);
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 5000, r->key[0]}, remote = {0, 5000, r->key[1]};
	const struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n), 2);
	struct rltp_peer_info peer = {.node = 2,
				      .address = s->address,
				      .incarnation = s->peer_incarnation,
				      .payload_bytes = WIRE_PAYLOAD_MIN};

	assert_int_equal(nic_peer_set(n, &peer, sim_now(r->sim)), DXP_OK);
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_OK);
	assert_int_equal(s->unit, WIRE_PAYLOAD_MIN);
}

static void nic__unknown_node_cannot_open_a_session(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_entry local = {0, 50, r->key[0]}, remote = {0, 50, r->key[1]};

	nic_peer_lost(sim_nic(r->sim, 1), 1, DXP_EPEERLOST);
	assert_int_equal(transfer(r, false, local, remote, &to), DXP_ETIMEDOUT);
	assert_true(rltp_endpoint_counters(nic_endpoint(sim_nic(r->sim, 1)))->unknown_peer > 0);
	memory_untouched(r);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(nic__wrong_magic_is_rejected_and_writes_nothing),
		CASE(nic__wrong_key_or_range_writes_nothing),
		CASE(nic__rights_are_kept),
		CASE(nic__own_descriptor_errors_come_back),
		CASE(nic__registers),
		CASE(nic__slow_receiver_holds_the_sender),
		CASE(nic__doorbells_are_bounded),
		CASE(nic__silent_peer_ends_work),
		CASE(nic__doorbell_of_a_full_queue_is_not_ready),
		CASE(nic__queue_pairs_share_the_table_of_reads),
		CASE(nic__silent_peer_ends_what_waits_for_space),
		cmocka_unit_test_setup_teardown(nic__answer_that_never_comes, rig_open_narrow,
						rig_close),
		CASE(nic__restart_is_found_by_reset),
		CASE(nic__restart_is_reported_by_the_table),
		CASE(nic__path_of_a_known_peer_may_change),
		CASE(nic__unknown_node_cannot_open_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
