/* SPDX-License-Identifier: BSD-3-Clause */
/* A user who breaks the rules of his window: what he reads for it, that his neighbour goes on, and
 * that his function can be closed and opened again. Then one who changes every field while the
 * engine works. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"
#include "nic/user.h"
#include "test/support/invariants.h"

#define MEMORY      4096
#define CANARY      0x5C
#define GOOD        0 /* function of the neighbour */
#define BAD         1
#define HOSTILE_BIT (1u << BAD)
#define LIVES       10
#define STORES      50000 /* of a scribbler in each, at least */

struct user {
	struct dxp_window *window;
	uint8_t memory[3][MEMORY]; /* the one in the middle is registered */
	uint32_t key;
};

struct rig {
	struct nic *nic;
	struct user users[2];
	_Atomic bool over;
	_Atomic uint32_t stores;
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static int user_open(struct rig *r, uint32_t which)
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

static int rig_open(void **state)
{
	static struct rng secrets = {7};
	struct rig *r = calloc(1, sizeof(*r));
	const struct nic_options o = {.node = 1,
				      .incarnation = 1,
				      .entropy = entropy_rng,
				      .entropy_context = &secrets,
				      .token = token};

	*state = r;
	if (nic_create(&o, &r->nic) != DXP_OK)
		return -1;
	return user_open(r, GOOD) || user_open(r, BAD);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	nic_destroy(r->nic);
	munmap(r->users[GOOD].window, sizeof(struct dxp_window));
	munmap(r->users[BAD].window, sizeof(struct dxp_window));
	free(r);
	return 0;
}

static void turn(struct rig *r)
{
	static uint64_t now_ns = S_NS;

	now_ns += US_NS;
	nic_doorbells(r->nic, now_ns);
	const char *broken = invariants_broken_but(r->nic, HOSTILE_BIT);
	if (broken)
		print_error("%s\n", broken);
	assert_null(broken);
}

static struct dxp_target target_of(const struct rig *r, uint32_t which)
{
	return (struct dxp_target){.function = (uint8_t)which,
				   .magic = r->nic->functions[which].qp_magic[0]};
}

/* The neighbour talks to himself: PUT and NAP arrive. */
static void neighbour_works(struct rig *r)
{
	struct user *u = &r->users[GOOD];
	struct dxp_target to = target_of(r, GOOD);
	struct dxp_entry from = {0, 64, u->key}, at = {64, 64, u->key};
	struct dxp_nic_event event;
	uint32_t ended = 0;

	assert_int_equal(dxp_post_put(u->window, 1, &to, &from, &at, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_nap(u->window, 1, &to, "neighbour", 10, 0, 2), DXP_OK);
	for (int i = 0; i < 100 && ended < 2; i++) {
		turn(r);
		while (dxp_sent_take(u->window, &event)) {
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

static void memory_kept(const struct rig *r)
{
	for (int u = 0; u < 2; u++)
		for (uint32_t i = 0; i < MEMORY; i++) {
			assert_int_equal(r->users[u].memory[0][i], CANARY);
			assert_int_equal(r->users[u].memory[2][i], CANARY);
		}
}

/* A NAP to the bad user himself, so that his receive ring is in use. */
static int nap_to_himself(struct rig *r, uint32_t bytes)
{
	static const uint8_t data[DXP_NAP_BYTES];
	struct dxp_target to = target_of(r, BAD);

	return dxp_post_nap(r->users[BAD].window, 0, &to, data, bytes, 0, 0);
}

/* ---- words of the user: each is stored once, with a doorbell so that the engine looks ---- */

enum word { SENT, RECEIVED, RETURNED, ENTRY, QP, LAP, PRODUCER };

struct word_case {
	const char *name;
	enum word word;
	uint32_t value;  /* added to what stands there; ENTRY, QP: stored */
	int error;       /* of the function: what the offender reads */
	int post_status; /* of his next post, when he is not stopped */
};

static const struct word_case word_cases[] = {
	{"completions taken, one back", SENT, UINT32_MAX, DXP_EINVAL, 0},
	{"completions taken, one ahead", SENT, 2, DXP_EINVAL, 0},
	{"completions taken, a ring ahead", SENT, DXP_EVENTS, DXP_EINVAL, 0},
	{"completions taken, half of all numbers ahead", SENT, 1u << 31, DXP_EINVAL, 0},
	{"events taken, before the first", RECEIVED, (uint32_t)-100, DXP_EINVAL, 0},
	{"events taken, more than came", RECEIVED, 600, DXP_EINVAL, 0},
	{"events taken, a lap back", RECEIVED, (uint32_t)-DXP_EVENTS, DXP_EINVAL, 0},
	{"buffers returned, more than there are", RETURNED, 100, DXP_EINVAL, 0},
	{"buffers returned, backwards", RETURNED, (uint32_t)-DXP_EVENTS, DXP_EINVAL, 0},
	{"buffers returned, half of all numbers ahead", RETURNED, 1u << 31, DXP_EINVAL, 0},
	{"a buffer that does not exist", ENTRY, DXP_EVENTS, DXP_EINVAL, 0},
	{"no buffer", ENTRY, DXP_NO_BUFFER, DXP_EINVAL, 0},
	{"a buffer that is not his", ENTRY, 7, DXP_EINVAL, 0},
	{"a queue pair that does not exist", QP, DXP_QPS, DXP_EINVAL, 0},
	{"a queue pair far away", QP, 255, DXP_EINVAL, 0},
	{"a doorbell of the past", LAP, UINT32_MAX, DXP_OK, DXP_OK},
	{"a doorbell of the future", LAP, 1, DXP_OK, DXP_OK},
	{"claims backwards", PRODUCER, UINT32_MAX, DXP_OK, DXP_EAGAIN},
	{"claims far ahead", PRODUCER, 1u << 20, DXP_OK, DXP_EAGAIN},
};

static void word_add(uint32_t *word, uint32_t value)
{
	dxp_store_release(word, *word + value);
}

static void word_break(struct rig *r, const struct word_case *c)
{
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_slot *slot;
	uint32_t index = 0;

	switch (c->word) {
	case SENT: word_add(&w->sent_consumer, c->value); break;
	case RECEIVED: word_add(&w->received_consumer, c->value); break;
	case RETURNED: word_add(&w->buffers_returned, c->value); break;
	case ENTRY:
		/* all that are not fetched yet, and more: those that he returns say this */
		for (int i = 0; i < DXP_EVENTS; i++)
			w->buffers[i] = (uint16_t)c->value;
		break;
	case PRODUCER: word_add(&w->producer, c->value); return;
	default:
		assert_int_equal(dxp_claim(w, &index), DXP_OK);
		slot = dxp_slot(w, index);
		memset(&slot->head, 0, offsetof(struct dxp_descriptor, lap));
		slot->head.op = DXP_OP_NAP;
		slot->head.qp = c->word == QP ? (uint8_t)c->value : 0;
		dxp_store_release(&slot->head.lap,
				  dxp_lap(index, DXP_DOORBELLS) + (c->word == LAP ? c->value : 0));
	}
}

/* Long NAPs to himself, until every buffer has been asked for. */
static void rings_use(struct rig *r)
{
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_nic_event event;

	for (int i = 0; i < 2 * DXP_EVENTS && !dxp_error(w); i++) {
		nap_to_himself(r, 100);
		turn(r);
		dxp_sent_take(w, &event);
		if (dxp_received_peek(w))
			dxp_received_keep(w); /* the buffer stays with him */
	}
}

static void bad_reopen(struct rig *r)
{
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_nic_event event;

	assert_int_equal(nic_function_close(r->nic, BAD, DXP_ECLOSED, 2 * S_NS), DXP_OK);
	assert_int_equal(dxp_error(w), DXP_ECLOSED);
	assert_true(nic_function_idle(r->nic, BAD));
	munmap(w, sizeof(*w));
	assert_int_equal(user_open(r, BAD), 0);
	assert_int_equal(nap_to_himself(r, 100), DXP_OK);
	turn(r);
	assert_int_equal(dxp_sent_take(r->users[BAD].window, &event), 1);
	assert_int_equal(event.status, DXP_OK);
	assert_non_null(dxp_received_peek(r->users[BAD].window));
	dxp_received_release(r->users[BAD].window);
}

static void hostile__words(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < ARRAY_COUNT(word_cases); i++) {
		const struct word_case *c = &word_cases[i];
		struct dxp_window *w = r->users[BAD].window;
		struct dxp_nic_event event;
		/* some of everything, so that the indices are not 0 */
		for (int k = 0; k < 3; k++) {
			assert_int_equal(nap_to_himself(r, 100), DXP_OK);
			turn(r);
			assert_int_equal(dxp_sent_take(w, &event), 1);
			dxp_received_release(w);
		}
		/* one is unread, and the engine has seen that the others were read */
		assert_int_equal(nap_to_himself(r, 100), DXP_OK);
		turn(r);
		word_break(r, c);
		if (c->error)
			rings_use(r);
		turn(r);
		if (dxp_error(w) != c->error)
			print_error("%s: reads %s\n", c->name, dxp_status_name(dxp_error(w)));
		assert_int_equal(dxp_error(w), c->error);
		assert_int_equal(w->state, c->error ? DXP_FUNCTION_STOPPED : DXP_FUNCTION_OPEN);
		assert_int_equal(nap_to_himself(r, 1), c->error ? c->error : c->post_status);
		neighbour_works(r);
		memory_kept(r);
		bad_reopen(r);
	}
}

/* ---- descriptors: each ends, and its completion says why ---- */

#define KEY_OWN   1
#define KEY_OTHER 2 /* of the neighbour */
#define KEY_NONE  3

struct entry_case {
	uint64_t offset;
	uint32_t bytes;
	uint8_t key;
};

static const struct {
	const char *name;
	uint8_t op, flags, src_count, dst_count;
	uint16_t inline_bytes;
	struct entry_case entries[3];
	int status; /* of the completion */
} descriptor_cases[] = {
	{"no operation", 0, 0, 0, 0, 0, {{0}}, DXP_EINVAL},
	{"an operation that does not exist", 77, 0, 1, 1, 0, {{0, 8, 1}, {0, 8, 1}}, DXP_EINVAL},
	{"more entries than there may be", DXP_OP_PUT, 0, 255, 255, 0, {{0}}, DXP_EINVAL},
	{"entries and data beyond the slot", DXP_OP_NAP, 1, 0, 96, 2048, {{0}}, DXP_EINVAL},
	{"data beyond the slot", DXP_OP_NAP, 1, 0, 0, 65535, {{0}}, DXP_EINVAL},
	{"data of 2049 bytes", DXP_OP_NAP, 1, 0, 0, 2049, {{0}}, DXP_EINVAL},
	{"a NAP of 4 KiB from memory", DXP_OP_NAP, 0, 1, 0, 0, {{0, 4096, 1}}, DXP_EINVAL},
	{"PUT without lists", DXP_OP_PUT, 0, 0, 0, 0, {{0}}, DXP_EINVAL},
	{"PUT of nothing", DXP_OP_PUT, 0, 1, 1, 0, {{0, 0, 1}, {0, 0, 1}}, DXP_ERANGE},
	{"totals that differ", DXP_OP_PUT, 0, 1, 1, 0, {{0, 8, 1}, {0, 9, 1}}, DXP_EINVAL},
	{"totals that wrap in 32 bits",
	 DXP_OP_PUT,
	 0,
	 1,
	 2,
	 0,
	 {{0, 8, 1}, {0, 0x80000004, 1}, {0, 0x80000004, 1}},
	 DXP_EINVAL},
	{"one byte past the end",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{MEMORY - 7, 8, 1}, {0, 8, 1}},
	 DXP_ERANGE},
	{"an offset that wraps",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{UINT64_MAX - 3, 8, 1}, {0, 8, 1}},
	 DXP_ERANGE},
	{"a length that wraps",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{8, UINT32_MAX, 1}, {8, UINT32_MAX, 1}},
	 DXP_ERANGE},
	{"target past the end",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{0, 8, 1}, {MEMORY - 7, 8, 1}},
	 DXP_ERANGE},
	{"target whose offset wraps",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{0, 8, 1}, {UINT64_MAX, 8, 1}},
	 DXP_ERANGE},
	{"GET past the end", DXP_OP_GET, 0, 1, 1, 0, {{MEMORY - 7, 8, 1}, {0, 8, 1}}, DXP_ERANGE},
	{"GET to past the end",
	 DXP_OP_GET,
	 0,
	 1,
	 1,
	 0,
	 {{0, 8, 1}, {MEMORY - 7, 8, 1}},
	 DXP_ERANGE},
	{"the neighbour's key as own", DXP_OP_PUT, 0, 1, 1, 0, {{0, 8, 2}, {0, 8, 1}}, DXP_EACCESS},
	{"the neighbour's key as target's",
	 DXP_OP_PUT,
	 0,
	 1,
	 1,
	 0,
	 {{0, 8, 1}, {0, 8, 2}},
	 DXP_EACCESS},
	{"a key of nobody", DXP_OP_PUT, 0, 1, 1, 0, {{0, 8, 3}, {0, 8, 1}}, DXP_EACCESS},
	{"an atomic that is not aligned", DXP_OP_FETCH_ADD, 0, 0, 1, 0, {{4, 8, 1}}, DXP_ERANGE},
	{"an atomic of 4 bytes", DXP_OP_FETCH_ADD, 0, 0, 1, 0, {{0, 4, 1}}, DXP_EINVAL},
	{"an atomic at the last byte",
	 DXP_OP_FETCH_ADD,
	 0,
	 0,
	 1,
	 0,
	 {{MEMORY - 1, 8, 1}},
	 DXP_ERANGE},
	{"registers into past the end",
	 DXP_OP_CFG_READ,
	 0,
	 1,
	 1,
	 0,
	 {{0, 8, 3}, {MEMORY, 8, 1}},
	 DXP_ERANGE},
};

static uint32_t key_of(const struct rig *r, uint8_t key)
{
	return key == KEY_OWN     ? r->users[BAD].key
	       : key == KEY_OTHER ? r->users[GOOD].key
				  : r->users[BAD].key ^ 0x10000;
}

static void hostile__descriptors(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_target to = target_of(r, BAD);
	struct dxp_nic_event event;
	uint32_t index = 0;

	for (uint32_t i = 0; i < ARRAY_COUNT(descriptor_cases); i++) {
		struct dxp_descriptor head = dxp_head(descriptor_cases[i].op, 0, &to, i);
		struct dxp_entry entries[3] = {{0}};
		head.flags = descriptor_cases[i].flags;
		head.src_count = descriptor_cases[i].src_count;
		head.dst_count = descriptor_cases[i].dst_count;
		head.inline_bytes = descriptor_cases[i].inline_bytes;
		for (int k = 0; k < 3; k++) {
			const struct entry_case *e = &descriptor_cases[i].entries[k];
			entries[k] = (struct dxp_entry){e->offset, e->bytes, key_of(r, e->key)};
		}
		assert_int_equal(dxp_claim(w, &index), DXP_OK);
		dxp_head_store(dxp_slot(w, index), &head);
		memcpy(dxp_slot(w, index)->body, entries, sizeof(entries));
		dxp_ring(w, index);
		turn(r);
		turn(r);
		assert_int_equal(dxp_sent_take(w, &event), 1);
		if (event.status != descriptor_cases[i].status)
			print_error("%s: reads %s\n", descriptor_cases[i].name,
				    dxp_status_name(event.status));
		assert_int_equal(event.context, i);
		assert_int_equal(event.status, descriptor_cases[i].status);
		assert_int_equal(dxp_error(w), DXP_OK);
		neighbour_works(r);
	}
	memory_kept(r);
	for (uint32_t i = 0; i < MEMORY; i++)
		assert_int_equal(r->users[BAD].memory[1][i], CANARY);
	assert_true(w->counters.descriptors_bad > 0 && w->counters.failed > 0);
}

/* Taken is copied: what is written into the slot afterwards changes nothing. */
static void hostile__descriptor_changed_after_it_was_taken(void **state)
{
	struct rig *r = *state;
	struct user *u = &r->users[BAD];
	struct dxp_target to = target_of(r, BAD), nobody = {.node = 99};
	struct dxp_entry from = {0, MEMORY / 2, u->key}, at = {MEMORY / 2, MEMORY / 2, u->key};
	struct dxp_nic_event event;

	memset(u->memory[1], 1, MEMORY / 2);
	assert_int_equal(dxp_post_put(u->window, 0, &nobody, &from, &at, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(u->window, 0, &to, &from, &at, 0, 0, 2), DXP_OK);
	turn(r);
	memset(u->window->slots, 0xff, sizeof(u->window->slots));
	for (uint64_t i = 1; i <= 2; i++) {
		for (int k = 0; k < 10 && !dxp_sent_take(u->window, &event); k++)
			turn(r);
		assert_int_equal(event.context, i);
		assert_int_equal(event.status, i == 1 ? DXP_ENOENT : DXP_OK);
	}
	assert_memory_equal(u->memory[1], u->memory[1] + MEMORY / 2, MEMORY / 2);
}

/* His completions have no place left: he reads "no room", and the engine is not kept busy. */
static void hostile__never_takes_completions(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = r->users[BAD].window;
	const struct dxp_target nowhere = {.node = 99};
	uint32_t posted = 0;
	int status = DXP_OK;

	for (int i = 0; i < 10 * DXP_EVENTS; i++) {
		status = dxp_post_nap(w, 0, &nowhere, "x", 1, 0, 0);
		posted += status == DXP_OK;
		turn(r);
	}
	assert_int_equal(status, DXP_EAGAIN);
	assert_int_equal(posted, DXP_EVENTS + DXP_DOORBELLS);
	assert_false(nic_doorbell_ready(r->nic));
	assert_true(nic_deadline(r->nic) != 0 && nic_deadline(r->nic) != UINT64_MAX);
	neighbour_works(r);
	/* and it goes on when he does */
	struct dxp_nic_event event;
	uint32_t taken = 0;
	for (uint32_t i = 0; i < 2 * posted; i++) {
		taken += (uint32_t)dxp_sent_take(w, &event);
		turn(r);
	}
	assert_int_equal(taken, posted);
}

/* ---- a thread that writes into every field ---- */

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

/* Posts good descriptors, in the middle of it. */
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
#if defined(__SANITIZE_THREAD__)
	print_message("skipped: the thread sanitizer takes a hostile user's stores for mistakes\n");
	skip();
#endif
	struct rig *r = *state;

	for (int life = 0; life < LIVES; life++) {
		pthread_t threads[2];
		r->over = false;
		r->stores = 0;
		assert_int_equal(pthread_create(&threads[0], NULL, scribble, r), 0);
		assert_int_equal(pthread_create(&threads[1], NULL, post, r), 0);
		for (uint32_t i = 0; r->stores < STORES; i++) {
			turn(r);
			if (i % 64 == 0) {
				neighbour_works(r);
				sched_yield();
			}
			/* what stopped him once must not be all that is tried */
			if (r->nic->functions[BAD].stopped && i % 16 == 0) {
				r->nic->functions[BAD].stopped = false;
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
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(hostile__words),
		CASE(hostile__descriptors),
		CASE(hostile__descriptor_changed_after_it_was_taken),
		CASE(hostile__never_takes_completions),
		CASE(hostile__scribbles_while_the_engine_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
