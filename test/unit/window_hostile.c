/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a user that breaks its window's rules: it reads an error, others continue, and its function
 * can be reopened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/hostile_rig.h"

/* ---- words of the user: each is stored once, with a doorbell so that the NIC reads it ---- */

enum word { SENT, RECEIVED, RETURNED, ENTRY, QP, LAP, PRODUCER };

struct word_case {
	const char *name;
	enum word word;
	/* added to the value; for ENTRY and QP, stored */
	uint32_t value;
	int error;       /* of the function; 0: none */
	int post_status; /* of the next post, if the function was not stopped */
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
	{"a doorbell of the next round", LAP, 1, DXP_EOVERRUN, 0},
	{"a doorbell of a later round", LAP, 1000, DXP_EOVERRUN, 0},
	{"claims backwards", PRODUCER, UINT32_MAX, DXP_EOVERRUN, 0},
	{"claims far ahead", PRODUCER, 1u << 20, DXP_EOVERRUN, 0},
	{"one claim more than descriptors", PRODUCER, DXP_DOORBELLS + 1, DXP_EOVERRUN, 0},
	{"a claim that is not filled yet", PRODUCER, 1, DXP_OK, DXP_OK},
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
		/* of buffers not fetched yet, and of returned ones */
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

/* Sends long NAPs to the user's own function until the NIC has used every receive buffer. */
static void rings_use(struct rig *r)
{
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_nic_event event;

	for (int i = 0; i < 2 * DXP_EVENTS && !dxp_error(w); i++) {
		nap_to_itself(r, 100);
		poll(r);
		dxp_sent_dequeue(w, &event);
		if (dxp_received_peek(w))
			dxp_received_keep(w);
	}
}

static void hostile__words(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < ARRAY_COUNT(word_cases); i++) {
		const struct word_case *c = &word_cases[i];
		struct dxp_window *w = r->users[BAD].window;
		struct dxp_nic_event event;
		/* so that no index is 0 */
		for (int k = 0; k < 3; k++) {
			assert_int_equal(nap_to_itself(r, 100), DXP_OK);
			poll(r);
			assert_int_equal(dxp_sent_dequeue(w, &event), 1);
			dxp_received_release(w);
		}
		/* one event unread, the others known as dequeued */
		assert_int_equal(nap_to_itself(r, 100), DXP_OK);
		poll(r);
		word_break(r, c);
		if (c->error)
			rings_use(r);
		poll(r);
		if (dxp_error(w) != c->error)
			print_error("%s: reads %s\n", c->name, dxp_status_name(dxp_error(w)));
		assert_int_equal(dxp_error(w), c->error);
		assert_int_equal(w->state, c->error ? DXP_FUNCTION_STOPPED : DXP_FUNCTION_OPEN);
		assert_int_equal(nap_to_itself(r, 1), c->error ? c->error : c->post_status);
		neighbour_works(r);
		memory_kept(r);
		bad_reopen(r);
	}
}

/* ---- overrun (C-15) ---- */

/* Stores doorbells `first` .. `first + count - 1` without claiming entries for them. */
static void doorbells_store(struct rig *r, uint32_t first, uint32_t count)
{
	struct dxp_window *w = r->users[BAD].window;
	const struct dxp_target to = target_of(r, BAD);
	const struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 0, &to, 0);

	for (uint32_t i = first; i < first + count; i++) {
		dxp_head_store(dxp_slot(w, i), &head);
		dxp_ring(w, i);
	}
}

/* 40 doorbells for 32 descriptors: no request completes, calls return the error, a sleeper is
 * woken. `before`: descriptors used correctly. */
static void hostile__overrun_is_an_error(void **state)
{
	static const uint32_t before[] = {0, 5, DXP_DOORBELLS, 3 * DXP_DOORBELLS + 7};
	struct rig *r = *state;

	for (size_t k = 0; k < ARRAY_COUNT(before); k++) {
		struct dxp_window *w = r->users[BAD].window;
		struct dxp_nic_event event;
		uint32_t index;
		for (uint32_t i = 0; i < before[k]; i++) {
			assert_int_equal(nap_to_itself(r, 1), DXP_OK);
			poll(r);
			assert_int_equal(dxp_sent_dequeue(w, &event), 1);
		}
		dxp_store_release(&w->user_waits, 1);
		doorbells_store(r, w->producer, 40);
		assert_true(nic_doorbell_ready(r->nic));
		poll(r);
		assert_int_equal(dxp_error(w), DXP_EOVERRUN);
		assert_int_equal(w->state, DXP_FUNCTION_STOPPED);
		assert_int_equal(nic_wakes(r->nic) & HOSTILE_BIT, HOSTILE_BIT);
		assert_false(nic_doorbell_ready(r->nic));
		assert_int_equal(dxp_claim(w, &index), DXP_EOVERRUN);
		assert_int_equal(dxp_sent_wait(w, &event, 3), DXP_EOVERRUN);
		poll(r);
		assert_int_equal(dxp_error(w), DXP_EOVERRUN);
		neighbour_works(r);
		bad_reopen(r);
	}
}

/* A sleeping NIC does not poll, so it checks claims before. */
static void hostile__wrong_claims_are_seen_before_sleep(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = r->users[BAD].window;

	word_add(&w->producer, DXP_DOORBELLS + 1);
	assert_false(nic_sleep_announce(r->nic));
	nic_sleep_end(r->nic);
	assert_int_equal(dxp_error(w), DXP_EOVERRUN);
	poll(r);
	assert_true(nic_sleep_announce(r->nic));
	nic_sleep_end(r->nic);
	neighbour_works(r);
	bad_reopen(r);
}

/* Nor do laps that wrap, or entries of the previous round. */
static void hostile__a_full_fifo_is_no_overrun(void **state)
{
	struct rig *r = *state;
	struct nic_user *u = &r->nic->users[BAD];
	struct dxp_window *w = r->users[BAD].window;
	struct dxp_nic_event event;

	u->consumer = (uint32_t)-3 * DXP_DOORBELLS;
	dxp_store_release(&w->consumer, u->consumer);
	dxp_store_release(&w->producer, u->consumer);
	for (int round = 0; round < 6; round++) {
		for (uint32_t i = 0; i < DXP_DOORBELLS; i++)
			assert_int_equal(nap_to_itself(r, 1), DXP_OK);
		assert_int_equal(nap_to_itself(r, 1), DXP_EAGAIN);
		for (uint32_t i = 0; i < 2 * NIC_CLAIMS_POLLS; i++)
			poll(r);
		assert_int_equal(dxp_error(w), DXP_OK);
		for (uint32_t i = 0; i < DXP_DOORBELLS; i++) {
			assert_int_equal(dxp_sent_dequeue(w, &event), 1);
			dxp_received_release(w);
		}
	}
	doorbells_store(r, w->producer + DXP_DOORBELLS, 1);
	poll(r);
	assert_int_equal(dxp_error(w), DXP_EOVERRUN);
}

/* ---- descriptors: each completes with a status ---- */

#define KEY_OWN   1
#define KEY_OTHER 2 /* of the other function */
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
	struct dxp_nic_event event = {0};
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
		poll(r);
		poll(r);
		assert_int_equal(dxp_sent_dequeue(w, &event), 1);
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

/* The NIC has copied it. */
static void hostile__descriptor_changed_after_it_was_accepted(void **state)
{
	struct rig *r = *state;
	struct user *u = &r->users[BAD];
	struct dxp_target to = target_of(r, BAD), none = {.node = 99};
	struct dxp_entry from = {0, MEMORY / 2, u->key}, at = {MEMORY / 2, MEMORY / 2, u->key};
	struct dxp_nic_event event;

	memset(u->memory[1], 1, MEMORY / 2);
	assert_int_equal(dxp_post_put(u->window, 0, &none, &from, &at, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(u->window, 0, &to, &from, &at, 0, 0, 2), DXP_OK);
	poll(r);
	memset(u->window->slots, 0xff, sizeof(u->window->slots));
	for (uint64_t i = 1; i <= 2; i++) {
		for (int k = 0; k < 10 && !dxp_sent_dequeue(u->window, &event); k++)
			poll(r);
		assert_int_equal(event.context, i);
		assert_int_equal(event.status, i == 1 ? DXP_ENOENT : DXP_OK);
	}
	assert_memory_equal(u->memory[1], u->memory[1] + MEMORY / 2, MEMORY / 2);
}

/* Posts get the status for no space, and the NIC does not spin. */
static void hostile__never_dequeues_completions(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = r->users[BAD].window;
	const struct dxp_target nowhere = {.node = 99};
	uint32_t posted = 0;
	int status = DXP_OK;

	for (int i = 0; i < 10 * DXP_EVENTS; i++) {
		status = dxp_post_nap(w, 0, &nowhere, "x", 1, 0, 0);
		posted += status == DXP_OK;
		poll(r);
	}
	assert_int_equal(status, DXP_EAGAIN);
	assert_int_equal(posted, DXP_EVENTS + DXP_DOORBELLS);
	assert_false(nic_doorbell_ready(r->nic));
	assert_true(nic_deadline(r->nic) != 0 && nic_deadline(r->nic) != UINT64_MAX);
	neighbour_works(r);
	/* the NIC continues */
	struct dxp_nic_event event;
	uint32_t dequeued = 0;
	for (uint32_t i = 0; i < 2 * posted; i++) {
		dequeued += (uint32_t)dxp_sent_dequeue(w, &event);
		poll(r);
	}
	assert_int_equal(dequeued, posted);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(hostile__words),
		CASE(hostile__overrun_is_an_error),
		CASE(hostile__wrong_claims_are_seen_before_sleep),
		CASE(hostile__a_full_fifo_is_no_overrun),
		CASE(hostile__descriptors),
		CASE(hostile__descriptor_changed_after_it_was_accepted),
		CASE(hostile__never_dequeues_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
