/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests staged memory while processes restart, peers are lost and functions close: all buffers,
 * requests and operations end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/staged.h"

#define MOMENTS 16

enum ending {
	SENDER_RESTARTS,
	OWNER_RESTARTS,
	PEER_LOST,
	FUNCTION_CLOSES,
	REGION_REVOKED,
	ENDINGS
};

/* Does what staged_step does, but posts no operations and checks no completions. */
static bool quiet_step(void *context)
{
	struct staged_scene *s = context;

	while (staged_device_poll(&s->device, sim_now(s->sim)))
		;
	for (uint32_t i = 0; i <= s->senders; i++) {
		const char *broken = invariants_broken(sim_nic(s->sim, i));
		if (broken)
			staged_wrong(s, broken, i, 0);
	}
	if (s->device.broken)
		staged_wrong(s, s->device.broken, 0, 0);
	return s->wrong[0] || staged_device_next(&s->device) < s->until_ns;
}

static void quiet_run(struct staged_scene *s, uint64_t for_ns)
{
	uint64_t end_ns = sim_now(s->sim) + for_ns, before_ns = 0;

	while (sim_now(s->sim) < end_ns && !s->wrong[0]) {
		s->until_ns = min_u64(staged_device_next(&s->device), end_ns);
		/* an idle network does not advance the clock, but the device's last polls do */
		if (sim_now(s->sim) == before_ns && !staged_device_poll(&s->device, s->until_ns))
			break;
		before_ns = sim_now(s->sim);
		sim_run(s->sim, s->until_ns - min_u64(before_ns, s->until_ns), quiet_step, s);
	}
}

static void end_bring(struct staged_scene *s, enum ending what)
{
	struct nic *owner = sim_nic(s->sim, STAGED_HOST);

	switch (what) {
	case SENDER_RESTARTS:
		assert_int_equal(sim_restart(s->sim, 0, true), DXP_OK);
		witness_forget(s->witness, 0);
		break;
	case OWNER_RESTARTS:
		assert_int_equal(sim_restart(s->sim, STAGED_HOST, true), DXP_OK);
		witness_forget(s->witness, STAGED_HOST);
		staged_device_nic_gone(&s->device);
		break;
	case PEER_LOST: nic_peer_lost(owner, 1, DXP_EPEERLOST); break;
	case FUNCTION_CLOSES:
		assert_int_equal(nic_user_close(owner, 0, DXP_ECLOSED, sim_now(s->sim)), DXP_OK);
		if (s->device.writes + s->device.reads > 0)
			staged_wrong(s, "a closed function still asks its device", 0, 0);
		break;
	default: assert_int_equal(nic_region_revoke(owner, s->key), DXP_OK);
	}
	for (uint32_t i = 0; i <= s->senders; i++)
		net_touch(sim_net(s->sim), i);
}

/* The device is idle; a restarted sender's operations do not count. */
static void ended_check(struct staged_scene *s, enum ending what)
{
	struct dxp_nic_event event;

	for (uint32_t i = what == SENDER_RESTARTS; i < s->senders; i++) {
		struct staged_sender *sender = &s->sender[i];
		while (dxp_sent_dequeue(sim_window(s->sim, sender->host), &event))
			sender->ended++;
		if (sender->ended != sender->posted)
			staged_wrong(s, "something never ends", i, sender->ended);
	}
	if (s->device.writes + s->device.reads + s->device.buffers > 0)
		staged_wrong(s, "the device still has something", 0, s->device.buffers);
	if (nic_region_busy(sim_nic(s->sim, STAGED_HOST), s->key))
		staged_wrong(s, "the region is in use", 0, 0);
}

static void one_ending(enum ending what, uint64_t at_ns, uint64_t latency_ns)
{
	const struct staged_plan plan = {
		.sim = {.seed = at_ns},
		.device = {.buffers = 4, .buffer_bytes = 4 * STAGED_UNIT, .latency_ns = latency_ns},
		.senders = 2,
		.puts = 30,
		.may_fail = true,
	};
	static struct staged_scene s;

	staged_open(&s, &plan);
	staged_run(&s, at_ns);
	end_bring(&s, what);
	quiet_run(&s, 20 * S_NS);
	ended_check(&s, what);
	staged_close(&s);
	if (s.wrong[0])
		fail_msg("ending %d after %llu ns, DMA of %llu ns: %s", what,
			 (unsigned long long)at_ns, (unsigned long long)latency_ns, s.wrong);
}

static void staged_lifetime__ends_at_any_moment(void **state)
{
	for (enum ending what = 0; what < ENDINGS; what++) {
		for (uint64_t k = 0; k < MOMENTS; k++) {
			one_ending(what, 20 * US_NS + k * 23 * US_NS, 25 * US_NS);
			one_ending(what, 20 * US_NS + k * 700 * US_NS, MS_NS);
		}
	}
}

/* The target declares a silent sender lost and releases its buffers. */
static void staged_lifetime__silent_sender(void **state)
{
	const struct staged_plan plan = {
		.sim = {.seed = 3},
		.device = {.buffers = 4, .buffer_bytes = 4 * STAGED_UNIT, .latency_ns = MS_NS},
		.senders = 2,
		.puts = 30,
		.may_fail = true,
	};
	static struct staged_scene s;

	staged_open(&s, &plan);
	staged_run(&s, 300 * US_NS);
	assert_true(s.device.writes > 0);
	sim_blackhole(s.sim, 0, STAGED_HOST, true);
	sim_blackhole(s.sim, STAGED_HOST, 0, true);
	quiet_run(&s, 20 * S_NS);
	ended_check(&s, PEER_LOST);
	staged_close(&s);
	assert_string_equal(s.wrong, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_lifetime__ends_at_any_moment),
		cmocka_unit_test(staged_lifetime__silent_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
