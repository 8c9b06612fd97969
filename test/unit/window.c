/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a window between threads: each descriptor is read completely and once (C-16), and garbage
 * affects only its user. The thread sanitizer checks the barriers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/limits.h"
#include "nic/nic.h"
#include "nic/user.h"
#include "test/support/invariants.h"

#define THREADS 4
#define POSTS   3000

/* A yield costs whole time slices on a busy machine. */
static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20 * US_NS}, NULL);
}

struct rig {
	struct nic *nic;
	struct dxp_window *window;
	_Atomic uint32_t seen[THREADS * POSTS];
	_Atomic uint32_t completed;
	_Atomic uint32_t ended[THREADS]; /* per posting thread */
	_Atomic uint32_t refused;        /* posts without space */
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static int rig_open(void **state)
{
	static struct rng secrets = {7};
	struct rig *r = calloc(1, sizeof(*r));
	struct nic_options o = {.node = 1,
				.incarnation = 1,
				.entropy = rng_entropy_rng,
				.entropy_context = &secrets,
				.token = token};

	r->window = aligned_alloc(4096, sizeof(*r->window));
	memset(r->window, 0, sizeof(*r->window));
	*state = r;
	return nic_create(&o, &r->nic) == DXP_OK ? nic_function_open(r->nic, 0, r->window) : -1;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	nic_destroy(r->nic);
	free(r->window);
	free(r);
	return 0;
}

struct poster {
	struct rig *rig;
	uint32_t first;
	uint32_t most; /* outstanding requests */
};

/* Each completes at once with DXP_ENOENT and its context. */
static void *post(void *argument)
{
	const struct poster *p = argument;
	const struct dxp_target nowhere = {.node = 99};
	uint8_t data[200];

	for (uint32_t i = 0; i < POSTS; i++) {
		uint64_t context = p->first + i;
		memset(data, (int)context, sizeof(data));
		while (i - atomic_load(&p->rig->ended[p->first / POSTS]) >= p->most)
			rest();
		while (dxp_post_nap(p->rig->window, context % 4, &nowhere, data, sizeof(data),
				    context, context) == DXP_EAGAIN) {
			atomic_fetch_add(&p->rig->refused, 1);
			rest();
		}
	}
	return NULL;
}

static void *poll_completions(void *argument)
{
	struct rig *r = argument;
	struct dxp_nic_event event;

	while (atomic_load(&r->completed) < THREADS * POSTS) {
		if (!dxp_sent_dequeue(r->window, &event)) {
			rest();
			continue;
		}
		if (event.status == DXP_ENOENT && event.context < THREADS * POSTS &&
		    event.qp == event.context % 4)
			atomic_fetch_add(&r->seen[event.context], 1);
		atomic_fetch_add(&r->ended[event.context / POSTS % THREADS], 1);
		atomic_fetch_add(&r->completed, 1);
	}
	return NULL;
}

static void threads_post(struct rig *r, uint32_t most)
{
	pthread_t posters[THREADS], poller;
	struct poster arguments[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		arguments[i] = (struct poster){r, i * POSTS, most};
		assert_int_equal(pthread_create(&posters[i], NULL, post, &arguments[i]), 0);
	}
	assert_int_equal(pthread_create(&poller, NULL, poll_completions, r), 0);
	while (atomic_load(&r->completed) < THREADS * POSTS)
		if (nic_doorbells(r->nic, 1) == 0)
			rest();
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(posters[i], NULL);
	pthread_join(poller, NULL);
	for (uint32_t i = 0; i < THREADS * POSTS; i++)
		assert_int_equal(r->seen[i], 1);
	assert_int_equal(nic_counters(r->nic)->descriptors_bad, 0);
}

static void window__many_threads_post(void **state)
{
	threads_post(*state, UINT32_MAX);
}

/* A user with fewer outstanding requests than doorbells always finds a free doorbell. */
static void window__space_is_seen(void **state)
{
	struct rig *r = *state;

	threads_post(r, NIC_DOORBELLS / THREADS - 1);
	assert_int_equal(r->refused, 0);
}

/* One store starts a descriptor (C-13). */
static void window__starts_with_its_doorbell(void **state)
{
	struct rig *r = *state;
	const struct dxp_target nowhere = {.node = 99};
	struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 1, &nowhere, 42);
	struct dxp_nic_event event;
	uint32_t index = 0;

	head.flags = DXP_FLAG_INLINE;
	assert_int_equal(dxp_claim(r->window, &index), DXP_OK);
	dxp_head_store(dxp_slot(r->window, index), &head);
	for (int i = 0; i < 3 * NIC_CLAIMS_POLLS; i++)
		assert_int_equal(nic_doorbells(r->nic, 1), 0);
	assert_false(dxp_sent_dequeue(r->window, &event));
	dxp_ring(r->window, index);
	assert_int_equal(nic_doorbells(r->nic, 1), 1);
	assert_true(dxp_sent_dequeue(r->window, &event));
	assert_int_equal(event.context, 42);
	assert_int_equal(event.status, DXP_ENOENT);
}

/* Each completes with an error, without a crash. */
static void window__random_descriptors(void **state)
{
	struct rig *r = *state;
	struct rng rng = {13};
	struct dxp_nic_event event;

	for (int i = 0; i < 200000; i++) {
		uint8_t bytes[256];
		uint32_t index = 0;
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] =
				(uint8_t)(rng_below(&rng, 3) ? rng_below(&rng, 4) : rng_next(&rng));
		/* a queue pair that does not exist would stop the function */
		bytes[2] &= 3;
		assert_int_equal(dxp_claim(r->window, &index), DXP_OK);
		memcpy(dxp_slot(r->window, index), bytes, sizeof(bytes));
		dxp_ring(r->window, index);
		nic_doorbells(r->nic, 1);
		while (dxp_sent_dequeue(r->window, &event))
			assert_int_not_equal(event.status, DXP_OK);
	}
	assert_true(nic_counters(r->nic)->descriptors_bad > 0);
}

/* Posts a NAP to an unknown node from a correct function. Checks that it completes with its context
 * and the error for an unknown node. */
static void bystander_works(struct rig *r, struct dxp_window *window, uint64_t context)
{
	const struct dxp_target nowhere = {.node = 99};
	struct dxp_nic_event event;

	assert_int_equal(dxp_post_nap(window, 1, &nowhere, "x", 1, 0, context), DXP_OK);
	nic_doorbells(r->nic, 1);
	assert_true(dxp_sent_dequeue(window, &event));
	assert_int_equal(event.status, DXP_ENOENT);
	assert_int_equal(event.context, context);
	assert_false(dxp_sent_dequeue(window, &event));
}

static void reopen(struct rig *r)
{
	assert_int_equal(nic_user_close(r->nic, 0, DXP_ECLOSED, 1), DXP_OK);
	assert_true(nic_user_idle(r->nic, 0));
	memset(r->window, 0, sizeof(*r->window));
	assert_int_equal(nic_function_open(r->nic, 0, r->window), DXP_OK);
}

/* The NIC stops the function at an impossible index; others are not affected, and it works once
 * reopened. */
static void window__scribbled_words(void **state)
{
	struct rig *r = *state;
	struct rng rng = {17};
	const struct dxp_target nowhere = {.node = 99};
	struct dxp_window *beside = aligned_alloc(4096, sizeof(*beside));
	uint32_t posted = 0, stopped = 0;

	assert_non_null(beside);
	memset(beside, 0, sizeof(*beside));
	assert_int_equal(nic_function_open(r->nic, 1, beside), DXP_OK);
	for (int i = 0; i < 20000; i++) {
		uint32_t junk = (uint32_t)rng_next(&rng);
		switch (rng_below(&rng, 5)) {
		case 0: dxp_store_release(&r->window->sent_consumer, junk); break;
		case 1: dxp_store_release(&r->window->received_consumer, junk); break;
		case 2:
			r->window->slots[junk % NIC_DOORBELLS].head.src_count = (uint8_t)junk;
			break;
		case 3:
			dxp_store_release(&r->window->slots[junk % NIC_DOORBELLS].head.lap,
					  junk % 64);
			break;
		default: posted += dxp_post_nap(r->window, 0, &nowhere, "x", 1, 0, 0) == DXP_OK;
		}
		nic_doorbells(r->nic, 1);
		if (i % 16 == 0)
			bystander_works(r, beside, (uint64_t)i);
		const char *broken = invariants_broken_but(r->nic, 1u << 0);
		if (broken)
			fail_msg("word %d: %s", i, broken);
		if (r->window->state == DXP_FUNCTION_STOPPED) {
			assert_true(dxp_error(r->window) == DXP_EINVAL ||
				    dxp_error(r->window) == DXP_EOVERRUN);
			stopped++;
			reopen(r);
			/* an impossible lap blocks its doorbell until then */
		} else if (i % 50 == 49) {
			reopen(r);
		}
	}
	print_message("%u posted, stopped %u times\n", posted, stopped);
	assert_true(posted > 1000 && stopped > 1000);
	reopen(r);
	bystander_works(r, r->window, 77);
	bystander_works(r, beside, 78);
	assert_null(invariants_broken(r->nic));
	assert_int_equal(nic_user_close(r->nic, 1, DXP_ECLOSED, 1), DXP_OK);
	free(beside);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(window__many_threads_post),        CASE(window__space_is_seen),
		CASE(window__starts_with_its_doorbell), CASE(window__random_descriptors),
		CASE(window__scribbled_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
