/* SPDX-License-Identifier: BSD-3-Clause */
/* Host 0 guesses keys and magics of host 1 (TARGET), which admits few per second. Right keys in
 * use, and host 2, are not affected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "sim/sim.h"

#define MEMORY  65536
#define SEARCH  0
#define TARGET  1
#define HONEST  2
#define SECONDS 100

struct rig {
	struct sim *sim;
	uint8_t memory[3][MEMORY];
	uint32_t key[3], second_key;
	uint64_t tries; /* completed with DXP_EACCESS */
	uint32_t from, posted;
	/* awaited by `completed`; guesses have 1 */
	uint64_t context;
	bool magics, get;
	struct dxp_nic_event event;
};

static int rig_open(void **state)
{
	static struct rig r;
	struct sim_options o = {.seed = 5, .hosts = 3};

	memset(&r, 0, sizeof(r));
	r.context = 1;
	if (sim_create(&o, &r.sim) != DXP_OK)
		return -1;
	for (uint32_t i = 0; i < 3; i++)
		nic_region_register(sim_nic(r.sim, i), 0, r.memory[i], MEMORY,
				    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r.key[i]);
	nic_region_register(sim_nic(r.sim, TARGET), 0, r.memory[TARGET], MEMORY,
			    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r.second_key);
	*state = &r;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	sim_destroy(r->sim);
	return 0;
}

static void transfer_post(struct rig *r, uint32_t from, uint8_t qp, uint32_t key, uint32_t magic,
			  uint64_t context)
{
	const struct dxp_entry own = {0, 64, r->key[from]}, other = {0, 64, key};
	struct dxp_target to = sim_target(r->sim, TARGET, 0);
	struct dxp_window *w = sim_window(r->sim, from);

	to.magic ^= magic;
	assert_int_equal(r->get ? dxp_post_get(w, qp, &to, &other, &own, context)
				: dxp_post_put(w, qp, &to, &own, &other, 0, 0, context),
			 DXP_OK);
}

static void next_try(struct rig *r)
{
	uint32_t value = ++r->posted;

	transfer_post(r, SEARCH, 0, r->magics ? r->key[TARGET] : r->key[TARGET] ^ value << 12,
		      r->magics ? value : 0, 1);
}

/* Posts a guess at each rejection; true after SECONDS. */
static bool searches(void *context)
{
	struct rig *r = context;

	while (dxp_sent_dequeue(sim_window(r->sim, SEARCH), &r->event)) {
		assert_int_equal(r->event.status, DXP_EACCESS);
		r->tries++;
		next_try(r);
	}
	return sim_now(r->sim) >= SECONDS * S_NS;
}

static bool completed(void *context)
{
	struct rig *r = context;

	while (dxp_sent_dequeue(sim_window(r->sim, r->from), &r->event))
		if (r->event.context == r->context)
			return true;
	return false;
}

static int transfer(struct rig *r, uint32_t from, uint8_t qp, uint32_t key, uint64_t limit_ns)
{
	r->from = from;
	transfer_post(r, from, qp, key, 0, ++r->context);
	if (!sim_run(r->sim, limit_ns, completed, r))
		return DXP_EAGAIN;
	return r->event.status;
}

static void search(struct rig *r)
{
	next_try(r);
	sim_run(r->sim, (SECONDS + 1) * S_NS, searches, r);
	assert_in_range(r->tries, NIC_WRONG_OWN, NIC_WRONG_OWN + SECONDS + 1);
	assert_true(nic_counters(sim_nic(r->sim, TARGET))->key_waits > 0);
}

static void guess__one_key_a_second(void **state)
{
	struct rig *r = *state;

	assert_int_equal(transfer(r, SEARCH, 1, r->key[TARGET], S_NS), DXP_OK);
	search(r);
	const struct nic_counters *c = nic_counters(sim_nic(r->sim, TARGET));
	assert_in_range(c->key_reject, r->tries, r->tries + 1);
	/* a key in use works, even on the queue pair of the guesses */
	assert_int_equal(transfer(r, SEARCH, 1, r->key[TARGET], S_NS / 10), DXP_OK);
	/* a right key not used before waits like a guess */
	assert_int_equal(transfer(r, SEARCH, 2, r->second_key, S_NS / 10), DXP_EAGAIN);
	/* host 2 does not wait */
	assert_int_equal(transfer(r, HONEST, 0, r->key[TARGET], S_NS / 10), DXP_OK);
	assert_int_equal(transfer(r, HONEST, 0, r->second_key, S_NS / 10), DXP_OK);
}

static void guess__gets_are_bounded_too(void **state)
{
	struct rig *r = *state;

	r->get = true;
	search(r);
	assert_int_equal(transfer(r, HONEST, 0, r->key[TARGET], S_NS / 10), DXP_OK);
}

static void guess__one_magic_a_second(void **state)
{
	struct rig *r = *state;

	r->magics = true;
	search(r);
	const struct nic_counters *c = nic_counters(sim_nic(r->sim, TARGET));
	assert_in_range(c->magic_reject, r->tries, r->tries + 1);
	assert_int_equal(transfer(r, HONEST, 0, r->key[TARGET], S_NS / 10), DXP_OK);
}

/* A new connection for each guess fills only the peer's allowance; that of all peers together
 * bounds it. */
static void guess__peer_that_comes_back(void **state)
{
	struct rig *r = *state;
	struct nic *n = sim_nic(r->sim, TARGET);

	for (uint32_t i = 0; i < 2 * NIC_WRONG_ALL && r->tries == i; i++) {
		next_try(r);
		r->from = SEARCH;
		if (!sim_run(r->sim, NIC_WRONG_ALL_NS / 4, completed, r))
			break;
		r->tries++;
		struct rltp_peer_info again =
			rltp_session_peer(rltp_endpoint_session(nic_endpoint(n), SEARCH + 1));
		nic_peer_lost(n, SEARCH + 1, DXP_ECLOSED);
		assert_int_equal(nic_peer_set(n, &again, sim_now(r->sim)), DXP_OK);
		nic_peer_reset(sim_nic(r->sim, SEARCH), TARGET + 1, DXP_ECLOSED);
	}
	assert_in_range(r->tries, NIC_WRONG_ALL, 2 * NIC_WRONG_ALL - 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		TEST(guess__one_key_a_second),
		TEST(guess__gets_are_bounded_too),
		TEST(guess__one_magic_a_second),
		TEST(guess__peer_that_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
