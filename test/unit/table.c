/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a node's copy of the node table: order of pages and deltas, no half-read state, each change
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "manager/limits.h"
#include "node/table.h"

static struct mac *mac;

static int key_make(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES] = {0};

	return mac_create(key, &mac);
}

static int key_drop(void **state)
{
	mac_destroy(mac);
	return 0;
}

static struct node_entry entry_make(uint16_t id, uint64_t incarnation)
{
	struct node_entry e = {.id = id,
			       .kind = MANAGE_XPU,
			       .alive = true,
			       .granted = true,
			       .incarnation = incarnation};

	snprintf(e.name, sizeof(e.name), "n%u", id);
	e.address.port = id;
	return e;
}

/* Incarnation 0 is a removal: REVOKED for the kind MANAGE_REVOKED, else GONE. */
static int apply(struct node_table *t, uint8_t type, struct manage_rows rows,
		 const struct node_entry *entries, size_t count)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct manage_writer w;
	struct manage_reader reader;

	manage_rows_begin(&w, frame, sizeof(frame));
	for (size_t i = 0; i < count; i++)
		assert_true(entries[i].incarnation
				    ? manage_rows_add(&w, &entries[i])
				    : manage_rows_remove(&w, entries[i].id,
							 entries[i].kind == MANAGE_REVOKED
								 ? MANAGE_REVOKED
								 : MANAGE_GONE));
	size_t bytes = manage_rows_finish(&w, type, 1, &rows, mac);
	struct manage_body body = {frame + WIRE_COMMON_BYTES,
				   bytes - WIRE_COMMON_BYTES - MAC_BYTES};
	assert_int_equal(manage_rows_decode(type, body, &rows, &reader), DXP_OK);
	return node_table_apply(t, type, &rows, reader);
}

static int page(struct node_table *t, uint64_t sequence, uint16_t first, uint16_t next, uint16_t id,
		uint64_t incarnation)
{
	struct node_entry e = entry_make(id, incarnation);

	return apply(
		t, WIRE_NODE_TABLE,
		(struct manage_rows){
			.epoch = 9, .from = sequence, .to = sequence, .first = first, .next = next},
		&e, 1);
}

static int delta(struct node_table *t, uint64_t from, uint64_t to, struct node_entry e)
{
	return apply(t, WIRE_NODE_DELTA, (struct manage_rows){.epoch = 9, .from = from, .to = to},
		     &e, 1);
}

/* Nodes 1 and 2 at sequence 10; all changes are read. */
static struct node_table *table_sample(void)
{
	struct table_change change;
	struct node_table *t;

	assert_int_equal(node_table_create(&t), DXP_OK);
	node_table_epoch(t, 9);
	assert_int_equal(page(t, 10, 1, 2, 1, 100), DXP_OK);
	assert_int_equal(page(t, 10, 2, 0, 2, 200), DXP_OK);
	while (node_table_next_change(t, &change))
		assert_int_equal(change.what, TABLE_JOINED);
	return t;
}

static void node_table_apply__pages_in_order_and_never_half(void **state)
{
	struct node_table *t = table_sample();

	assert_int_equal(page(t, 20, 1, 3, 1, 101), DXP_OK);
	assert_int_equal(node_table_progress(t).cursor, 3);
	assert_true(node_table_find(t, 1)->incarnation == 100);
	/* a page is missing before it */
	assert_int_equal(page(t, 20, 5, 0, 5, 500), DXP_EAGAIN);
	/* received before */
	assert_int_equal(page(t, 20, 1, 3, 1, 101), DXP_EAGAIN);
	assert_int_equal(page(t, 15, 1, 0, 1, 99), DXP_EAGAIN); /* of an older table */
	assert_int_equal(page(t, 20, 3, 5, 3, 300), DXP_OK);
	assert_null(node_table_find(t, 3));
	assert_int_equal(page(t, 20, 5, 0, 5, 500), DXP_OK);
	assert_int_equal(node_table_count(t), 3);
	assert_null(node_table_find(t, 2));
	assert_true(node_table_find(t, 1)->incarnation == 101);
	assert_true(node_table_progress(t).sequence == 20);
	assert_int_equal(node_table_progress(t).cursor, 0);
	/* complete before */
	assert_int_equal(page(t, 20, 1, 0, 1, 1), DXP_EAGAIN);
	node_table_destroy(t);
}

static void node_table_apply__a_newer_full_table_restarts(void **state)
{
	struct node_table *t = table_sample();

	assert_int_equal(page(t, 20, 1, 3, 1, 101), DXP_OK);
	assert_int_equal(page(t, 30, 1, 0, 4, 400), DXP_OK);
	assert_int_equal(node_table_count(t), 1);
	assert_non_null(node_table_find(t, 4));
	node_table_destroy(t);
}

static void node_table_apply__deltas_exactly_in_order(void **state)
{
	struct node_table *t = table_sample();

	assert_int_equal(delta(t, 11, 12, entry_make(3, 1)), DXP_EAGAIN);
	assert_int_equal(delta(t, 9, 12, entry_make(3, 1)), DXP_EAGAIN);
	assert_int_equal(delta(t, 10, 12, entry_make(3, 1)), DXP_OK);
	assert_int_equal(delta(t, 10, 12, entry_make(3, 1)), DXP_EAGAIN);
	assert_int_equal(delta(t, 12, 13, entry_make(1, 0)), DXP_OK);
	/* no change */
	assert_int_equal(delta(t, 13, 14, entry_make(77, 0)), DXP_OK);
	assert_int_equal(node_table_count(t), 2);
	assert_int_equal(node_table_at(t, 0)->id, 2);
	assert_int_equal(node_table_at(t, 1)->id, 3);
	assert_null(node_table_at(t, 2));
	node_table_destroy(t);
}

static void node_table_epoch__a_new_manager_needs_a_new_table(void **state)
{
	struct node_table *t = table_sample();
	struct node_entry e = entry_make(1, 100);

	node_table_epoch(t, 11);
	assert_true(node_table_progress(t).epoch == 0);
	assert_int_equal(delta(t, 10, 12, entry_make(3, 1)), DXP_EAGAIN);
	assert_int_equal(node_table_count(t), 2); /* the old rows stay */
	assert_int_equal(apply(t, WIRE_NODE_TABLE,
			       (struct manage_rows){.epoch = 11, .from = 1, .to = 1, .first = 1},
			       &e, 1),
			 DXP_OK);
	assert_int_equal(node_table_count(t), 1);
	node_table_destroy(t);
}

static void expect(struct node_table *t, uint32_t what, uint16_t id)
{
	struct table_change change;

	assert_true(node_table_next_change(t, &change));
	assert_int_equal(change.what, what);
	assert_int_equal(change.entry.id, id);
	assert_false(node_table_next_change(t, &change));
}

static void node_table_next_change__each_kind(void **state)
{
	struct node_table *t = table_sample();
	struct node_entry e = entry_make(1, 101);

	assert_int_equal(delta(t, 10, 11, e), DXP_OK);
	expect(t, TABLE_RESTARTED, 1);
	e.address.port = 9;
	assert_int_equal(delta(t, 11, 12, e), DXP_OK);
	expect(t, TABLE_MOVED, 1);
	e.granted = false;
	assert_int_equal(delta(t, 12, 13, e), DXP_OK);
	expect(t, TABLE_GRANT, 1);
	e.granted = true;
	e.magic = 5;
	e.incarnation++;
	e.address.port++;
	assert_int_equal(delta(t, 13, 14, e), DXP_OK);
	expect(t, TABLE_GRANT | TABLE_MOVED | TABLE_RESTARTED, 1);
	e.alive = false;
	assert_int_equal(delta(t, 14, 15, e), DXP_OK);
	expect(t, TABLE_LOST, 1);
	e.alive = true;
	assert_int_equal(delta(t, 15, 16, e), DXP_OK);
	expect(t, TABLE_JOINED, 1);
	assert_int_equal(delta(t, 16, 17, entry_make(1, 0)), DXP_OK);
	expect(t, TABLE_LOST, 1);
	assert_int_equal(delta(t, 17, 18, e), DXP_OK);
	expect(t, TABLE_JOINED, 1);
	node_table_destroy(t);
}

static void node_table_next_change__a_revoked_grant(void **state)
{
	struct node_table *t = table_sample();
	struct node_entry e = entry_make(1, 0);
	struct table_change change;

	e.kind = MANAGE_REVOKED;
	assert_int_equal(delta(t, 10, 11, e), DXP_OK);
	assert_null(node_table_find(t, 1));
	assert_true(node_table_next_change(t, &change));
	assert_int_equal(change.what, TABLE_LOST | TABLE_GRANT);
	assert_int_equal(change.entry.id, 1);
	assert_false(change.entry.granted);
	assert_false(change.entry.alive);
	assert_int_equal(delta(t, 11, 12, entry_make(1, 100)), DXP_OK);
	expect(t, TABLE_JOINED, 1);
	assert_int_equal(delta(t, 12, 13, e), DXP_OK);
	/* granted again */
	assert_int_equal(delta(t, 13, 14, entry_make(1, 100)), DXP_OK);
	assert_int_equal(delta(t, 14, 15, entry_make(1, 0)), DXP_OK);
	expect(t, TABLE_LOST, 1);
	e.id = 77; /* never in this table */
	assert_int_equal(delta(t, 15, 16, e), DXP_OK);
	assert_null(node_table_find(t, 77));
	node_table_destroy(t);
}

static void node_table_next_change__a_short_visit_is_not_reported(void **state)
{
	struct node_table *t = table_sample();
	struct table_change change;

	assert_int_equal(delta(t, 10, 11, entry_make(5, 1)), DXP_OK);
	assert_int_equal(delta(t, 11, 12, entry_make(5, 0)), DXP_OK);
	assert_int_equal(delta(t, 12, 13, entry_make(1, 7)), DXP_OK);
	assert_int_equal(delta(t, 13, 14, entry_make(1, 100)), DXP_OK);
	assert_false(node_table_next_change(t, &change));
	node_table_destroy(t);
}

static void node_table_own__the_own_row_is_no_peer(void **state)
{
	struct node_table *t = table_sample();
	struct table_change change;

	node_table_own(t, 2);
	expect(t, TABLE_LOST, 2);
	assert_non_null(node_table_find(t, 2));
	assert_int_equal(delta(t, 10, 11, entry_make(2, 999)), DXP_OK);
	assert_false(node_table_next_change(t, &change));
	node_table_own(t, 3);
	expect(t, TABLE_JOINED, 2);
	node_table_destroy(t);
}

static void node_table_find_name__an_alive_row_wins(void **state)
{
	struct node_table *t = table_sample();
	struct node_entry dead = entry_make(1, 1);

	strcpy(dead.name, "n2");
	dead.alive = false;
	assert_int_equal(delta(t, 10, 11, dead), DXP_OK);
	assert_int_equal(node_table_find_name(t, "n2")->id, 2);
	assert_null(node_table_find_name(t, "n3"));
	node_table_destroy(t);
}

static struct node_entry silent_make(uint16_t id, uint64_t incarnation)
{
	struct node_entry e = entry_make(id, incarnation);

	e.alive = false;
	return e;
}

/* With node_table_keep, a silent node stays in the table. It leaves this state when it is back,
 * when the owner declares it lost, or by another event. */
static void node_table_keep__the_silent_stay(void **state)
{
	struct node_table *t = table_sample();
	struct table_change change;

	node_table_keep(t);
	assert_int_equal(delta(t, 10, 11, silent_make(1, 100)), DXP_OK);
	expect(t, TABLE_SILENT, 1);
	assert_false(node_table_next_change(t, &change));
	assert_true(node_table_silent(t, 1) && node_table_find(t, 1)->alive);
	assert_int_equal(delta(t, 11, 12, entry_make(1, 100)), DXP_OK);
	expect(t, TABLE_BACK, 1);
	assert_false(node_table_silent(t, 1));
	node_table_lose(t, 1); /* no longer silent */
	assert_false(node_table_next_change(t, &change));

	assert_int_equal(delta(t, 12, 13, silent_make(1, 100)), DXP_OK);
	expect(t, TABLE_SILENT, 1);
	node_table_lose(t, 1);
	expect(t, TABLE_LOST, 1);
	assert_false(node_table_find(t, 1)->alive);
	assert_int_equal(delta(t, 13, 14, entry_make(1, 100)), DXP_OK);
	expect(t, TABLE_JOINED, 1);

	assert_int_equal(delta(t, 14, 15, silent_make(1, 100)), DXP_OK);
	expect(t, TABLE_SILENT, 1);
	assert_int_equal(delta(t, 15, 16, entry_make(1, 101)), DXP_OK);
	expect(t, TABLE_RESTARTED | TABLE_BACK, 1);
	assert_int_equal(delta(t, 16, 17, silent_make(1, 101)), DXP_OK);
	expect(t, TABLE_SILENT, 1);
	/* it left, or another node took its name */
	assert_int_equal(delta(t, 17, 18, entry_make(1, 0)), DXP_OK);
	expect(t, TABLE_LOST, 1);
	/* another incarnation */
	assert_int_equal(delta(t, 18, 19, silent_make(2, 201)), DXP_OK);
	expect(t, TABLE_LOST, 2);
	node_table_destroy(t);
}

/* A node that a restarted manager lacks is silent, not lost. */
static void node_table_keep__a_new_manager_ends_no_session(void **state)
{
	struct node_table *t = table_sample();
	struct node_entry one = entry_make(1, 100), other = entry_make(2, 50);
	struct manage_rows rows = {.epoch = 10, .from = 3, .to = 3, .first = 1};
	struct table_change change;

	node_table_keep(t);
	node_table_epoch(t, 10);
	assert_int_equal(apply(t, WIRE_NODE_TABLE, rows, &one, 1), DXP_OK);
	expect(t, TABLE_SILENT, 2);
	assert_int_equal(node_table_count(t), 2);
	rows.from = rows.to = 4; /* still missing */
	assert_int_equal(apply(t, WIRE_NODE_TABLE, rows, &one, 1), DXP_OK);
	assert_true(node_table_silent(t, 2));
	other.uuid[0] = 1; /* another node's id now */
	rows = (struct manage_rows){.epoch = 10, .from = 4, .to = 5};
	assert_int_equal(apply(t, WIRE_NODE_DELTA, rows, &other, 1), DXP_OK);
	assert_true(node_table_next_change(t, &change) && change.what == TABLE_LOST);
	expect(t, TABLE_JOINED, 2);
	node_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_table_apply__pages_in_order_and_never_half),
		cmocka_unit_test(node_table_apply__a_newer_full_table_restarts),
		cmocka_unit_test(node_table_apply__deltas_exactly_in_order),
		cmocka_unit_test(node_table_epoch__a_new_manager_needs_a_new_table),
		cmocka_unit_test(node_table_next_change__each_kind),
		cmocka_unit_test(node_table_next_change__a_revoked_grant),
		cmocka_unit_test(node_table_next_change__a_short_visit_is_not_reported),
		cmocka_unit_test(node_table_own__the_own_row_is_no_peer),
		cmocka_unit_test(node_table_find_name__an_alive_row_wins),
		cmocka_unit_test(node_table_keep__the_silent_stay),
		cmocka_unit_test(node_table_keep__a_new_manager_ends_no_session),
	};
	return cmocka_run_group_tests(tests, key_make, key_drop);
}
