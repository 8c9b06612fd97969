/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests functions whose queue pairs have their own users: 32 at once, their isolation, open and
 * close in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"
#include "nic/nic.h"
#include "test/support/invariants.h"
#include "wire/ids.h"

#define MEMORY 65536
#define COPY   16384 /* a full queue of these takes more than one poll */
#define RIGHTS (NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC)

struct user {
	struct dxp_window *window;
	uint8_t memory[MEMORY];
	uint32_t key;
};

struct rig {
	struct nic *nic;
	uint64_t now_ns;
	struct user users[NIC_USERS];
	uint32_t hostile; /* bit i: user i may have written anything to its window */
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static int rig_open(void **state)
{
	static struct rng secrets = {11};
	const struct nic_options o = {.node = WIRE_NODE_NONE,
				      .incarnation = 1,
				      .entropy = rng_entropy_rng,
				      .entropy_context = &secrets,
				      .token = token};
	struct rig *r = calloc(1, sizeof(*r));

	*state = r;
	return r ? nic_create(&o, &r->nic) : -1;
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	nic_destroy(r->nic);
	for (uint32_t i = 0; i < NIC_USERS; i++)
		free(r->users[i].window);
	free(r);
	return 0;
}

static int user_open(struct rig *r, uint32_t user, uint32_t qps)
{
	struct user *u = &r->users[user];

	if (!u->window)
		u->window = aligned_alloc(4096, sizeof(*u->window));
	assert_non_null(u->window);
	memset(u->window, 0, sizeof(*u->window));
	int status = nic_user_open(r->nic, user, qps, u->window);
	if (status == DXP_OK)
		assert_int_equal(
			nic_region_register(r->nic, user, u->memory, MEMORY, RIGHTS, &u->key),
			DXP_OK);
	return status;
}

static void poll(struct rig *r)
{
	r->now_ns += US_NS;
	nic_doorbells(r->nic, r->now_ns);
	const char *broken = invariants_broken_but(r->nic, r->hostile);
	if (broken)
		fail_msg("%s", broken);
}

static struct dxp_target target_of(const struct rig *r, uint32_t user)
{
	return dxp_self(r->users[user].window, 0);
}

static struct dxp_nic_event completes(struct rig *r, uint32_t user, uint64_t context, int status)
{
	struct dxp_nic_event e = {0};
	int polls = 0;

	while (!dxp_sent_dequeue(r->users[user].window, &e) && ++polls < 1000)
		poll(r);
	assert_int_equal(e.type, DXP_EVENT_SENT);
	assert_int_equal(e.context, context);
	assert_int_equal(e.status, status);
	assert_int_equal(e.qp, 0);
	return e;
}

static void nap_received(struct rig *r, uint32_t user, uint32_t from)
{
	struct dxp_window *w = r->users[user].window;
	const struct dxp_nic_event *e = dxp_received_peek(w);
	uint32_t sender;

	assert_non_null(e);
	assert_int_equal(e->type, DXP_EVENT_NAP);
	assert_int_equal(e->qp, 0);
	assert_int_equal(e->peer_qp, (from % NIC_FUNCTIONS) << 8 | from / NIC_FUNCTIONS);
	assert_int_equal(e->bytes, sizeof(sender));
	memcpy(&sender, dxp_received_data(w, e), sizeof(sender));
	assert_int_equal(sender, from);
	dxp_received_release(w);
}

static void exchange(struct rig *r, uint32_t from, uint32_t to)
{
	struct user *a = &r->users[from], *b = &r->users[to];
	const struct dxp_target t = target_of(r, to);
	struct dxp_entry own = {0, 512, a->key}, other = {1024, 512, b->key};

	memset(a->memory, (int)(from + 1), 512);
	assert_int_equal(dxp_post_nap(a->window, 0, &t, &from, sizeof(from), 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(a->window, 0, &t, &own, &other, 0, 0, 2), DXP_OK);
	own.offset = 2048;
	assert_int_equal(dxp_post_get(a->window, 0, &t, &other, &own, 3), DXP_OK);
	for (uint64_t context = 1; context <= 3; context++)
		completes(r, from, context, DXP_OK);
	nap_received(r, to, from);
	assert_memory_equal(b->memory + 1024, a->memory, 512);
	assert_memory_equal(a->memory + 2048, a->memory, 512);
}

static void users__32_at_once(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < NIC_USERS; i++)
		assert_int_equal(user_open(r, i, 1), DXP_OK);
	for (uint32_t i = 0; i < NIC_USERS; i++)
		exchange(r, i, (i + 1) % NIC_USERS);
	for (uint32_t f = 0; f < NIC_FUNCTIONS; f++) {
		struct dxp_function_counters sum, part;
		uint64_t sent = 0;
		nic_function_counters(r->nic, f, &sum);
		for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
			nic_user_counters(r->nic, NIC_USER(f, q), &part);
			assert_int_equal(part.sent_messages, 3);
			sent += part.sent_bytes;
		}
		assert_int_equal(sum.sent_messages, 3 * NIC_QPS_PER_FUNCTION);
		assert_int_equal(sum.sent_bytes, sent);
	}
}

static void open__in_parts_or_as_a_whole(void **state)
{
	struct rig *r = *state;
	const struct dxp_window *w;

	assert_int_equal(user_open(r, NIC_USER(3, 1), 1), DXP_OK);
	w = r->users[NIC_USER(3, 1)].window;
	assert_int_equal(w->function, 3);
	assert_int_equal(w->first_qp, 1);
	assert_int_equal(w->qp_count, 1);
	assert_int_equal(w->qp_magic[0], nic_qp_magic(r->nic, 3, 1));
	assert_int_not_equal(w->qp_magic[0], 0);
	assert_int_equal(w->qp_magic[1], 0);
	assert_int_equal(nic_qp_magic(r->nic, 3, 0), 0);
	assert_int_equal(user_open(r, NIC_USER(3, 0), NIC_QPS_PER_FUNCTION), DXP_EEXIST);
	assert_int_equal(user_open(r, NIC_USER(3, 0), 2), DXP_EEXIST);
	assert_int_equal(user_open(r, NIC_USER(3, 2), 2), DXP_OK);
	assert_int_equal(user_open(r, NIC_USER(3, 3), 1), DXP_EEXIST);
	assert_int_equal(nic_user_qps(r->nic, NIC_USER(3, 2)), 2);
	assert_int_equal(user_open(r, NIC_USER(3, 2), 3), DXP_EINVAL);
	assert_int_equal(user_open(r, NIC_USER(3, 0), 0), DXP_EINVAL);
	assert_int_equal(nic_user_open(r->nic, NIC_USERS, 1, r->users[0].window), DXP_EINVAL);

	/* all parts are closed */
	assert_int_equal(nic_user_close(r->nic, NIC_USER(3, 1), DXP_ECLOSED, ++r->now_ns), DXP_OK);
	assert_int_equal(nic_user_close(r->nic, NIC_USER(3, 2), DXP_ECLOSED, ++r->now_ns), DXP_OK);
	assert_int_equal(nic_user_close(r->nic, NIC_USER(3, 2), DXP_ECLOSED, ++r->now_ns),
			 DXP_ENOENT);
	assert_int_equal(user_open(r, NIC_USER(3, 0), NIC_QPS_PER_FUNCTION), DXP_OK);
	assert_int_equal(user_open(r, NIC_USER(3, 1), 1), DXP_EEXIST);
}

/* Descriptors and events number a user's queue pairs from 0. */
static void open__several_queue_pairs_of_one_user(void **state)
{
	struct rig *r = *state;
	const uint32_t two = NIC_USER(2, 2), one = NIC_USER(2, 0);
	struct dxp_nic_event e;

	assert_int_equal(user_open(r, two, 2), DXP_OK);
	assert_int_equal(user_open(r, one, 1), DXP_OK);
	struct dxp_window *w = r->users[two].window;
	const struct dxp_target second = dxp_self(w, 1), peer = target_of(r, one);
	assert_int_equal(second.qp, 3);
	assert_int_equal(dxp_post_nap(r->users[one].window, 0, &second, "x", 1, 0, 1), DXP_OK);
	completes(r, one, 1, DXP_OK);
	assert_int_equal(dxp_received_peek(w)->qp, 1);
	dxp_received_release(w);
	assert_int_equal(dxp_post_nap(w, 1, &peer, "y", 1, 0, 2), DXP_OK);
	poll(r);
	assert_true(dxp_sent_dequeue(w, &e));
	assert_int_equal(e.qp, 1);
	assert_int_equal(dxp_received_peek(r->users[one].window)->peer_qp, 2 << 8 | 3);
	dxp_received_release(r->users[one].window);
}

/* Only the user that posted to a sibling's queue pair is stopped. */
static void rejects__a_siblings_queue_pair(void **state)
{
	struct rig *r = *state;
	const uint32_t bad = NIC_USER(1, 0), good = NIC_USER(1, 1), far = NIC_USER(2, 0);

	assert_int_equal(user_open(r, bad, 1), DXP_OK);
	assert_int_equal(user_open(r, good, 1), DXP_OK);
	assert_int_equal(user_open(r, far, 1), DXP_OK);
	const struct dxp_target to = target_of(r, far);
	exchange(r, good, far);
	assert_int_equal(dxp_post_nap(r->users[bad].window, 1, &to, "as sibling", 10, 0, 1),
			 DXP_OK);
	poll(r);
	assert_int_equal(dxp_error(r->users[bad].window), DXP_EINVAL);
	assert_int_equal(nic_user_state(r->nic, bad), DXP_FUNCTION_STOPPED);
	assert_null(dxp_received_peek(r->users[far].window));
	assert_int_equal(dxp_error(r->users[good].window), DXP_OK);
	exchange(r, good, far);
	exchange(r, far, good);
}

/* A sibling's key is rejected in own descriptors and in requests to own queue pairs. */
static void rejects__a_siblings_key(void **state)
{
	struct rig *r = *state;
	const uint32_t a = NIC_USER(4, 2), b = NIC_USER(4, 3), far = NIC_USER(5, 0);

	assert_int_equal(user_open(r, a, 1), DXP_OK);
	assert_int_equal(user_open(r, b, 1), DXP_OK);
	assert_int_equal(user_open(r, far, 1), DXP_OK);
	struct dxp_window *w = r->users[a].window;
	const struct dxp_entry siblings = {0, 64, r->users[b].key}, own = {0, 64, r->users[a].key};
	const struct dxp_entry fars = {0, 64, r->users[far].key};
	const struct dxp_target to_far = target_of(r, far), to_a = target_of(r, a);

	memset(r->users[b].memory, 0x5a, MEMORY);
	assert_int_equal(dxp_post_put(w, 0, &to_far, &siblings, &fars, 0, 0, 1), DXP_OK);
	completes(r, a, 1, DXP_EACCESS);
	/* to itself, with the other's key */
	assert_int_equal(dxp_post_put(w, 0, &to_a, &own, &siblings, 0, 0, 2), DXP_OK);
	completes(r, a, 2, DXP_EACCESS);
	assert_int_equal(dxp_post_get(w, 0, &to_a, &siblings, &own, 3), DXP_OK);
	completes(r, a, 3, DXP_EACCESS);
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->users[b].memory[i], 0x5a);
	exchange(r, b, far);
}

/* When one user of a function is stopped, its sibling continues. */
static void stop__one_user_of_a_function(void **state)
{
	struct rig *r = *state;
	const uint32_t bad = NIC_USER(6, 3), good = NIC_USER(6, 0);

	assert_int_equal(user_open(r, bad, 1), DXP_OK);
	assert_int_equal(user_open(r, good, 1), DXP_OK);
	r->hostile = 1u << bad;
	dxp_store_release(&r->users[bad].window->producer, DXP_DOORBELLS + 1);
	for (uint32_t i = 0; i < 2 * NIC_CLAIMS_POLLS; i++)
		poll(r);
	assert_int_equal(dxp_error(r->users[bad].window), DXP_EOVERRUN);
	exchange(r, good, good);
	/* opened anew */
	assert_int_equal(nic_user_close(r->nic, bad, DXP_ECLOSED, ++r->now_ns), DXP_OK);
	assert_int_equal(user_open(r, bad, 1), DXP_OK);
	r->hostile = 0;
	exchange(r, bad, good);
}

/* Messages to a sibling still arrive. */
static void full__receive_ring_of_a_sibling(void **state)
{
	struct rig *r = *state;
	const uint32_t full = NIC_USER(7, 0), good = NIC_USER(7, 1), from = NIC_USER(1, 0);
	uint32_t posted = 0;

	assert_int_equal(user_open(r, full, 1), DXP_OK);
	assert_int_equal(user_open(r, good, 1), DXP_OK);
	assert_int_equal(user_open(r, from, 1), DXP_OK);
	assert_int_equal(user_open(r, NIC_USER(1, 1), 1), DXP_OK);
	struct dxp_window *w = r->users[from].window;
	const struct dxp_target to = target_of(r, full);
	struct dxp_nic_event e;
	/* until the queue pair waits and all doorbells are in use */
	for (int idle = 0; idle < 100; idle++) {
		while (dxp_post_nap(w, 0, &to, "fill", 4, 0, posted) == DXP_OK) {
			posted++;
			idle = 0;
		}
		poll(r);
		while (dxp_sent_dequeue(w, &e))
			assert_int_equal(e.status, DXP_OK);
	}
	assert_true(posted > DXP_EVENTS);
	exchange(r, NIC_USER(1, 1), good);
	exchange(r, good, NIC_USER(1, 1));
}

/* Long copies of two users of a function get equal shares. */
static void share__alternates_between_users(void **state)
{
	struct rig *r = *state;
	const uint32_t a = NIC_USER(3, 0), b = NIC_USER(3, 1);
	uint32_t done[2] = {0, 0};

	assert_int_equal(user_open(r, a, 1), DXP_OK);
	assert_int_equal(user_open(r, b, 1), DXP_OK);
	for (int polls = 0; polls < 2000; polls++) {
		for (int i = 0; i < 2; i++) {
			struct user *u = &r->users[i ? b : a];
			const struct dxp_target self = dxp_self(u->window, 0);
			const struct dxp_entry from = {0, COPY, u->key}, to = {COPY, COPY, u->key};
			struct dxp_nic_event e;
			while (dxp_post_put(u->window, 0, &self, &from, &to, 0, 0, 0) == DXP_OK)
				;
			while (dxp_sent_dequeue(u->window, &e))
				done[i]++;
		}
		poll(r);
	}
	assert_true(done[0] > 1000 && done[1] > 1000);
	assert_in_range(done[0], done[1] - done[1] / 10, done[1] + done[1] / 10);
}

static void wakes__name_the_user(void **state)
{
	struct rig *r = *state;
	const uint32_t sleeper = NIC_USER(5, 3), sibling = NIC_USER(5, 2);

	assert_int_equal(user_open(r, sleeper, 1), DXP_OK);
	assert_int_equal(user_open(r, sibling, 1), DXP_OK);
	dxp_store_release(&r->users[sleeper].window->user_waits, 1);
	const struct dxp_target to = target_of(r, sleeper);
	assert_int_equal(dxp_post_nap(r->users[sibling].window, 0, &to, "up", 2, 0, 1), DXP_OK);
	poll(r);
	assert_int_equal(nic_wakes(r->nic), 1u << sleeper);
}

static void labels__name_one_user(void **state)
{
	struct rig *r = *state;
	const char left[FABRIC_NAME_BYTES] = "left", right[FABRIC_NAME_BYTES] = "right";

	assert_int_equal(user_open(r, NIC_USER(2, 1), 1), DXP_OK);
	assert_int_equal(user_open(r, NIC_USER(2, 2), 1), DXP_OK);
	assert_int_equal(nic_user_label(r->nic, NIC_USER(2, 1), left), DXP_OK);
	assert_int_equal(nic_user_label(r->nic, NIC_USER(2, 2), left), DXP_EEXIST);
	assert_int_equal(nic_user_label(r->nic, NIC_USER(2, 2), right), DXP_OK);
	assert_int_equal(nic_user_labelled(r->nic, "right"), NIC_USER(2, 2));
	assert_int_equal(nic_user_close(r->nic, NIC_USER(2, 2), DXP_ECLOSED, ++r->now_ns), DXP_OK);
	assert_int_equal(nic_user_labelled(r->nic, "right"), NIC_USERS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(users__32_at_once),
		TEST(open__in_parts_or_as_a_whole),
		TEST(open__several_queue_pairs_of_one_user),
		TEST(rejects__a_siblings_queue_pair),
		TEST(rejects__a_siblings_key),
		TEST(stop__one_user_of_a_function),
		TEST(full__receive_ring_of_a_sibling),
		TEST(share__alternates_between_users),
		TEST(wakes__name_the_user),
		TEST(labels__name_one_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
