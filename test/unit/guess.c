/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the allowance of wrong keys and magics: it slows down a search, but no known values and no
 * other functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

#define WRONG(i) (0x80000000u + (i))

static uint32_t wrong_until_wait(struct guesses *g, struct guess_allowance *all, uint32_t first,
				 uint64_t now_ns)
{
	uint32_t count = 0;

	for (; guess_wait(g, all, now_ns) == 0; count++)
		guess_key_wrong(g, all, WRONG(first + count), now_ns);
	return count;
}

static void guess__allowance_returns_at_its_rate(void **state)
{
	struct guess_allowance all = {0};
	struct guesses g = {0};
	uint64_t now_ns = 5 * S_NS;

	assert_int_equal(wrong_until_wait(&g, &all, 0, now_ns), NIC_WRONG_OWN);
	assert_int_equal(guess_wait(&g, &all, now_ns), NIC_WRONG_OWN_NS);
	now_ns += NIC_WRONG_OWN_NS - 1;
	assert_int_equal(guess_wait(&g, &all, now_ns), 1);
	now_ns += 1;
	assert_int_equal(wrong_until_wait(&g, &all, 1000, now_ns), 1);
	now_ns += 5 * (uint64_t)NIC_WRONG_OWN_NS;
	assert_int_equal(wrong_until_wait(&g, &all, 2000, now_ns), 5);
	/* time refills it up to NIC_WRONG_OWN */
	now_ns += 1000 * (uint64_t)NIC_WRONG_OWN_NS;
	assert_int_equal(wrong_until_wait(&g, &all, 3000, now_ns), NIC_WRONG_OWN);
	/* The next user inherits the used-up allowance, but not the known values. */
	guess_forget(&g);
	assert_int_equal(wrong_until_wait(&g, &all, 4000, now_ns), 0);
}

/* All requesters share one allowance, as an attacker can be many. */
static void guess__all_requesters_share_a_bound(void **state)
{
	struct guess_allowance all = {0};
	uint64_t now_ns = 7 * S_NS;
	uint32_t count = 0;

	for (uint32_t i = 0; i < 4 * NIC_WRONG_ALL; i++) {
		struct guesses fresh = {0};
		if (guess_wait(&fresh, &all, now_ns) > 0)
			continue;
		guess_magic_wrong(&fresh, &all, WRONG(i), now_ns);
		count++;
	}
	assert_int_equal(count, NIC_WRONG_ALL);
	const struct guesses other = {0};
	assert_int_equal(guess_wait(&other, &all, now_ns), NIC_WRONG_ALL_NS);
	assert_int_equal(guess_wait(&other, &all, now_ns + NIC_WRONG_ALL_NS), 0);
}

static void guess__known_and_repeated_values_are_free(void **state)
{
	struct guess_allowance all = {0};
	struct guesses g = {0};

	assert_false(guess_key_known(&g, 0));
	for (uint32_t key = 1; key <= NIC_KEYS_KNOWN + 1; key++) {
		assert_false(guess_key_known(&g, key));
		guess_key_right(&g, key);
		guess_key_right(&g, key);
		assert_true(guess_key_known(&g, key));
	}
	assert_false(guess_key_known(&g, 1)); /* the oldest was replaced */
	for (uint32_t key = 2; key <= NIC_KEYS_KNOWN + 1; key++)
		/* a key that was known, as after a revocation, costs nothing */
		guess_key_wrong(&g, &all, key, 1);
	assert_true(g.own.paid_ns == 0);
	for (int i = 0; i < 1000; i++)
		/* one wrong key in all packets of a message counts once */
		guess_key_wrong(&g, &all, WRONG(1), 1);
	assert_true(g.own.paid_ns == 1 + NIC_WRONG_OWN_NS);
	guess_magic_right(&g, 5);
	guess_magic_right(&g, 31);
	guess_magics_forget(&g, 1u << 5);
	assert_false(guess_magic_known(&g, 5));
	assert_true(guess_magic_known(&g, 31));
}

/* ---- between functions ---- */

static int put_result(struct rig *r, uint32_t from, const struct dxp_target *to, uint32_t key)
{
	const struct dxp_entry own = rig_entry(r, from, 0, 8), other = {0, 8, key};
	struct dxp_nic_event e = {0};

	assert_int_equal(dxp_post_put(r->window[from], 0, to, &own, &other, 0, 0, 1), DXP_OK);
	rig_run(r);
	return dxp_sent_dequeue(r->window[from], &e) ? e.status : DXP_EAGAIN;
}

/* Returns the number of tries before a request waits. */
static uint32_t keys_search(struct rig *r, const struct dxp_target *to)
{
	uint32_t tries = 0;

	while (tries < 10 * NIC_WRONG_OWN &&
	       put_result(r, 0, to, r->key[1] ^ (++tries) << 12) == DXP_EACCESS)
		;
	return tries - 1;
}

static void guess__function_that_searches_waits(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 3);
	const struct dxp_target to = rig_target(&r, 1, 0);
	assert_int_equal(keys_search(&r, &to), NIC_WRONG_OWN);
	assert_int_equal(rig_counters(&r, 1).refused_key, NIC_WRONG_OWN);
	assert_true(nic_counters(r.nic)->key_waits > 0);
	uint64_t due_ns = nic_deadline(r.nic); /* no poll is needed before */
	assert_in_range(due_ns, r.now_ns + NIC_WRONG_OWN_NS - S_NS / 2,
			r.now_ns + NIC_WRONG_OWN_NS);
	assert_int_equal(put_result(&r, 2, &to, r.key[1]), DXP_OK);
	r.now_ns = due_ns;
	rig_run(&r);
	rig_sent(&r, 0, 1, DXP_EACCESS);
	assert_int_equal(rig_counters(&r, 1).refused_key, NIC_WRONG_OWN + 1);
	rig_end(&r);
}

/* Without allowance, a right key waits as long as a wrong one, so the time reveals nothing. A key
 * that was used before does not wait, in each way by which the NIC executes a request. */
static void guess__known_key_does_not_wait(void **state)
{
	struct nic_options o = rig_options();
	uint32_t other;
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 0);
	assert_int_equal(nic_region_register(r.nic, 1, r.memory[1], 4096, RIG_ALL, &other), DXP_OK);
	assert_int_equal(put_result(&r, 0, &to, r.key[1]), DXP_OK);
	for (uint32_t i = 1; i <= NIC_WRONG_OWN; i++)
		assert_int_equal(put_result(&r, 0, &to, r.key[1] ^ i << 12), DXP_EACCESS);
	for (int i = 0; i < 100; i++)
		assert_int_equal(put_result(&r, 0, &to, r.key[1]), DXP_OK);
	assert_int_equal(put_result(&r, 0, &to, other), DXP_EAGAIN);
	r.now_ns += NIC_WRONG_OWN_NS;
	rig_run(&r);
	rig_sent(&r, 0, 1, DXP_OK);
	assert_int_equal(rig_counters(&r, 1).refused_key, NIC_WRONG_OWN);
	rig_end(&r);
}

static void guess__magics_are_bounded_too(void **state)
{
	struct nic_options o = rig_options();
	struct dxp_nic_event e;
	struct rig r;
	uint32_t tries = 0;

	rig_make(&r, &o, 2);
	for (bool waits = false; !waits && tries < 10 * NIC_WRONG_OWN; tries++) {
		struct dxp_target to = rig_target(&r, 1, 0);
		to.magic ^= tries + 1;
		assert_int_equal(dxp_post_nap(r.window[0], 0, &to, "x", 1, 0, 1), DXP_OK);
		rig_run(&r);
		waits = !dxp_sent_dequeue(r.window[0], &e);
	}
	assert_int_equal(tries, NIC_WRONG_OWN + 1);
	/* Another queue pair, so it is not behind the request that waits. */
	struct dxp_target to = rig_target(&r, 1, 0);
	assert_int_equal(dxp_post_nap(r.window[0], 1, &to, "x", 1, 0, 2), DXP_OK);
	rig_run(&r);
	assert_int_equal(rig_received(&r, 1), 0);
	r.now_ns += 2 * (uint64_t)NIC_WRONG_OWN_NS;
	rig_run(&r);
	for (int i = 0; i < 2; i++) { /* queue pairs complete in any order */
		assert_true(dxp_sent_dequeue(r.window[0], &e));
		assert_int_equal(e.status, e.context == 1 ? DXP_EACCESS : DXP_OK);
	}
	assert_int_equal(rig_received(&r, 1), 1);
	rig_end(&r);
}

/* A chain is checked in the same way: without allowance, it waits although its keys are right. */
static void guess__chain_waits(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 0);
	assert_int_equal(keys_search(&r, &to), NIC_WRONG_OWN);
	r.now_ns += NIC_WRONG_OWN_NS;
	/* the search's last request uses the allowance that had returned */
	rig_run(&r);
	rig_sent(&r, 0, 1, DXP_EACCESS);
	struct dxp_entry own[40], other[40];
	for (uint32_t i = 0; i < 40; i++) {
		own[i] = rig_entry(&r, 0, 8 * i, 8);
		other[i] = rig_entry(&r, 1, 8 * i, 8);
	}
	struct dxp_chain *chain = (void *)(r.memory[0] + 65536);
	const struct dxp_descriptor head = dxp_head(DXP_OP_PUT, 0, &to, 3);
	dxp_chain_store(chain, &head, 40, 40);
	memcpy(chain + 1, own, sizeof(own));
	memcpy((uint8_t *)(chain + 1) + sizeof(own), other, sizeof(other));
	const struct dxp_entry at = rig_entry(&r, 0, 65536, (uint32_t)dxp_chain_bytes(40, 40));
	assert_int_equal(dxp_post_reference(r.window[0], 0, &at, 3), DXP_OK);
	rig_run(&r);
	struct dxp_nic_event e;
	assert_false(dxp_sent_dequeue(r.window[0], &e));
	r.now_ns += NIC_WRONG_OWN_NS;
	rig_run(&r);
	rig_sent(&r, 0, 3, DXP_OK);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guess__allowance_returns_at_its_rate),
		cmocka_unit_test(guess__all_requesters_share_a_bound),
		cmocka_unit_test(guess__known_and_repeated_values_are_free),
		cmocka_unit_test(guess__function_that_searches_waits),
		cmocka_unit_test(guess__known_key_does_not_wait),
		cmocka_unit_test(guess__magics_are_bounded_too),
		cmocka_unit_test(guess__chain_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
