/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of tests with a hostile user of a NIC and a well-behaved neighbour. Include cmocka.h
 * first. */
#ifndef TEST_UNIT_HOSTILE_RIG_H
#define TEST_UNIT_HOSTILE_RIG_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"
#include "nic/user.h"
#include "test/support/invariants.h"

#define MEMORY      4096
#define CANARY      0x5C
#define GOOD        0 /* the neighbour */
#define BAD         1
#define HOSTILE_BIT (1u << BAD)

struct user {
	struct dxp_window *window;
	uint8_t memory[3][MEMORY]; /* only memory[1] is registered */
	uint32_t key;
};

struct rig {
	struct nic *nic;
	struct user users[2];
	_Atomic bool over;
	_Atomic uint32_t stores;
};

static inline uint64_t token(void *context, uint32_t id)
{
	return id;
}

static inline int user_open(struct rig *r, uint32_t which)
{
	struct user *u = &r->users[which];

	u->window = mmap(NULL, sizeof(*u->window), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (u->window == MAP_FAILED || nic_function_open(r->nic, which, u->window) != DXP_OK)
		return -1;
	memset(u->memory, CANARY, sizeof(u->memory));
	return nic_region_register(r->nic, which, u->memory[1], MEMORY,
				   NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &u->key);
}

static inline int rig_open(void **state)
{
	static struct rng secrets = {7};
	struct rig *r = calloc(1, sizeof(*r));
	const struct nic_options o = {.node = 1,
				      .incarnation = 1,
				      .entropy = rng_entropy_rng,
				      .entropy_context = &secrets,
				      .token = token};

	*state = r;
	if (nic_create(&o, &r->nic) != DXP_OK)
		return -1;
	return user_open(r, GOOD) || user_open(r, BAD);
}

static inline int rig_close(void **state)
{
	struct rig *r = *state;

	nic_destroy(r->nic);
	munmap(r->users[GOOD].window, sizeof(struct dxp_window));
	munmap(r->users[BAD].window, sizeof(struct dxp_window));
	free(r);
	return 0;
}

static inline void poll(struct rig *r)
{
	static uint64_t now_ns = S_NS;

	now_ns += US_NS;
	nic_doorbells(r->nic, now_ns);
	const char *broken = invariants_broken_but(r->nic, HOSTILE_BIT);
	if (broken)
		print_error("%s\n", broken);
	assert_null(broken);
}

static inline struct dxp_target target_of(const struct rig *r, uint32_t which)
{
	return (struct dxp_target){.function = (uint8_t)which,
				   .magic = r->nic->functions[which].qp_magic[0]};
}

/* The good user's PUT and NAP to itself must arrive. */
static inline void neighbour_works(struct rig *r)
{
	struct user *u = &r->users[GOOD];
	struct dxp_target to = target_of(r, GOOD);
	struct dxp_entry from = {0, 64, u->key}, at = {64, 64, u->key};
	struct dxp_nic_event event;
	uint32_t ended = 0;

	assert_int_equal(dxp_post_put(u->window, 1, &to, &from, &at, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_nap(u->window, 1, &to, "neighbour", 10, 0, 2), DXP_OK);
	for (int i = 0; i < 100 && ended < 2; i++) {
		poll(r);
		while (dxp_sent_dequeue(u->window, &event)) {
			assert_int_equal(event.status, DXP_OK);
			ended++;
		}
	}
	assert_int_equal(ended, 2);
	const struct dxp_nic_event *nap = dxp_received_peek(u->window);
	assert_non_null(nap);
	assert_string_equal((const char *)dxp_received_data(u->window, nap), "neighbour");
	dxp_received_release(u->window);
}

static inline void memory_kept(const struct rig *r)
{
	for (int u = 0; u < 2; u++)
		for (uint32_t i = 0; i < MEMORY; i++) {
			assert_int_equal(r->users[u].memory[0][i], CANARY);
			assert_int_equal(r->users[u].memory[2][i], CANARY);
		}
}

/* The bad user sends itself a NAP, so that its receive ring is in use. */
static inline int nap_to_itself(struct rig *r, uint32_t bytes)
{
	static const uint8_t data[DXP_NAP_BYTES];
	struct dxp_target to = target_of(r, BAD);

	return dxp_post_nap(r->users[BAD].window, 0, &to, data, bytes, 0, 0);
}

static inline void bad_reopen(struct rig *r)
{
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_nic_event event;

	assert_int_equal(nic_user_close(r->nic, BAD, DXP_ECLOSED, 2 * S_NS), DXP_OK);
	assert_int_equal(dxp_error(w), DXP_ECLOSED);
	assert_true(nic_user_idle(r->nic, BAD));
	munmap(w, sizeof(*w));
	assert_int_equal(user_open(r, BAD), 0);
	assert_int_equal(nap_to_itself(r, 100), DXP_OK);
	poll(r);
	assert_int_equal(dxp_sent_dequeue(r->users[BAD].window, &event), 1);
	assert_int_equal(event.status, DXP_OK);
	assert_non_null(dxp_received_peek(r->users[BAD].window));
	dxp_received_release(r->users[BAD].window);
}

#endif
