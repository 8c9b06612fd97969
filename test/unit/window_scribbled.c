/* SPDX-License-Identifier: BSD-3-Clause */
/* A user changes every field of its window while the NIC runs; others continue, and its function
 * can be reopened. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/support/sanitizer.h"
#include "test/unit/hostile_rig.h"

#define ROUNDS 10
#define STORES 50000 /* before the close */

static void *scribble(void *argument)
{
	struct rig *r = argument;
	_Atomic uint32_t *words = (_Atomic uint32_t *)(void *)r->users[BAD].window;
	const uint32_t slots = offsetof(struct dxp_window, slots) / 4;
	const uint32_t user = offsetof(struct dxp_window, producer) / 4;
	struct rng rng = {.state = 5};

	while (!atomic_load_explicit(&r->over, memory_order_relaxed)) {
		uint32_t at = (uint32_t)rng_below(&rng, sizeof(struct dxp_window) / 4);
		uint32_t value = (uint32_t)rng_next(&rng);
		switch (rng_below(&rng, 8)) {
		case 0: at = user + 16 * (uint32_t)rng_below(&rng, 5); break;
		case 1: at = user + 1024 + (uint32_t)rng_below(&rng, 48); break;
		case 2:
		case 3:
		case 4:
		case 5:
			at = slots + 528 * (uint32_t)rng_below(&rng, 32) +
			     (uint32_t)rng_below(&rng, 24);
			break;
		default: break;
		}
		if (value & 1) {
			value = atomic_load_explicit(&words[at], memory_order_relaxed) +
				(value >> 1) % 5 - 2;
		} else if (value & 2) {
			value %= 1024;
		}
		atomic_store_explicit(&words[at], value, memory_order_relaxed);
		atomic_fetch_add_explicit(&r->stores, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Valid descriptors, while another thread writes to the window. */
static void *post(void *argument)
{
	struct rig *r = argument;
	struct user *u = &r->users[BAD];
	const struct dxp_target to = target_of(r, BAD);
	struct dxp_entry from = {0, 64, u->key}, at = {64, 64, u->key};
	uint32_t index = 0;

	while (!atomic_load_explicit(&r->over, memory_order_relaxed)) {
		struct dxp_slot *slot = dxp_slot(u->window, index++);
		struct dxp_descriptor head = dxp_head(DXP_OP_PUT, index % 4, &to, 0);
		struct dxp_entry entries[2] = {from, at};
		head.src_count = head.dst_count = 1;
		dxp_head_store(slot, &head);
		memcpy(slot->body, entries, sizeof(entries));
		dxp_store_release(&slot->head.lap,
				  dxp_lap(dxp_load_acquire(&u->window->consumer), DXP_DOORBELLS));
	}
	return NULL;
}

static void hostile__scribbles_while_the_engine_works(void **state)
{
#if SANITIZED_THREAD
	print_message("skipped: the thread sanitizer takes a hostile user's stores for mistakes\n");
	skip();
#endif
	struct rig *r = *state;

	for (int lifetime = 0; lifetime < ROUNDS; lifetime++) {
		pthread_t threads[2];
		r->over = false;
		r->stores = 0;
		assert_int_equal(pthread_create(&threads[0], NULL, scribble, r), 0);
		assert_int_equal(pthread_create(&threads[1], NULL, post, r), 0);
		for (uint32_t i = 0; r->stores < STORES; i++) {
			poll(r);
			if (i % 64 == 0) {
				neighbour_works(r);
				sched_yield();
			}
			/* so that other errors are tested too */
			if (r->nic->users[BAD].stopped && i % 16 == 0) {
				r->nic->users[BAD].stopped = false;
				dxp_store_release(&r->users[BAD].window->error, 0);
			}
		}
		r->over = true;
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		neighbour_works(r);
		memory_kept(r);
		bad_reopen(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hostile__scribbles_while_the_engine_works, rig_open,
						rig_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
