/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event log in etcd: it survives a takeover, is bounded, is written apart from other
 * changes, and damage of it affects nothing else. */
#include "test/unit/etcd_rig.h"

#include "manager/etcd_events.h"
#include "manager/limits.h"

#define INTERVAL_NS (200 * MS_NS)

static struct registry *small_registry(void)
{
	static struct rng rng = {1};
	struct registry_options options = {.policy = GRANTS_EXPLICIT,
					   .events = FABRIC_EVENTS_MIN,
					   .entropy = rng_entropy_rng,
					   .entropy_context = &rng};
	struct registry *r;

	assert_int_equal(registry_create(&options, &r), DXP_OK);
	return r;
}

static void events_add(struct registry *r, unsigned count)
{
	struct event_journal *l = registry_events(r);

	for (unsigned i = 0; i < count; i++)
		event_journal_add(l, l->next, EVENT_JOINED, "a name", "%llu",
				  (unsigned long long)l->next);
}

/* Checks that the log has exactly the events with these numbers. */
static void events_expect(struct registry *r, uint64_t first, uint64_t last)
{
	const struct event_row *row = event_journal_next(registry_events(r), 0);
	char text[24];

	for (uint64_t i = first; i <= last; i++) {
		assert_non_null(row);
		assert_int_equal(row->sequence, i);
		assert_int_equal(row->time_ms, i);
		assert_int_equal(row->kind, EVENT_JOINED);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		assert_string_equal(row->text, text);
		assert_string_equal(row->subject, "a name");
		row = event_journal_next(registry_events(r), i + 1);
	}
	assert_null(row);
}

static unsigned blocks(const struct fake_etcd *e)
{
	unsigned count = 0;

	for (size_t i = 0; i < e->count; i++)
		count += strncmp(e->keys[i].name, "/dxp/dxp/event/", 15) == 0;
	return count;
}

/* Saves until nothing is left. */
static void log_save_all(struct fake_etcd *e, struct store *s, struct registry *r)
{
	for (uint64_t wait_ns = 0; wait_ns != UINT64_MAX;) {
		e->now_ns += wait_ns;
		store_step(s);
		wait_ns = store_log_save(s, r, false);
		assert_true(wait_ns == UINT64_MAX || wait_ns <= INTERVAL_NS);
	}
}

static void store_log_save__survives_takeovers_and_is_bounded(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	uint64_t last = 0;

	for (unsigned round = 0; round < 5; round++) {
		struct store *s = manager_open(&c);
		struct registry *r = small_registry();
		assert_true(becomes_active(&c, s, S_NS));
		assert_int_equal(store_load(s, r), DXP_OK);
		events_expect(r, last > FABRIC_EVENTS_MIN ? last - FABRIC_EVENTS_MIN + 1 : 1, last);
		events_add(r, 37);
		log_save_all(e, s, r);
		events_add(r, 20);
		log_save_all(e, s, r);
		last += 57;
		assert_in_range(blocks(e), last / ETCD_EVENTS_BLOCK < 7 ? 1 : 7,
				FABRIC_EVENTS_MIN / ETCD_EVENTS_BLOCK + 2);
		registry_destroy(r);
		store_close(s);
	}
	for (size_t i = 0; i < e->count; i++) /* sealed */
		assert_null(strstr(e->keys[i].value, "a name"));
	etcd_free(e);
}

/* A change needs one transaction, and its event another one, which waits for the next interval. */
static void store_log_save__delays_no_change(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	struct registry *r = small_registry();

	assert_true(becomes_active(&c, s, S_NS));
	assert_true(store_log_save(s, r, false) == UINT64_MAX);
	registry_fill(r, 1);
	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_string_equal(fake_value(e, VERSION_KEY), "1");
	assert_int_equal(blocks(e), 0);
	assert_true(store_log_save(s, r, false) == UINT64_MAX);
	assert_string_equal(fake_value(e, VERSION_KEY), "2");
	assert_int_equal(blocks(e), 1);
	events_add(r, 1);
	const uint64_t wait_ns = store_log_save(s, r, false);
	assert_true(wait_ns > 0 && wait_ns <= INTERVAL_NS);
	assert_string_equal(fake_value(e, VERSION_KEY), "2");
	assert_true(store_log_save(s, r, true) == UINT64_MAX); /* the manager ends */
	assert_string_equal(fake_value(e, VERSION_KEY), "3");
	registry_destroy(r);
	store_close(s);
	etcd_free(e);
}

/* More events than a transaction has. */
static void store_log_save__backlog(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	struct registry *before = registry_make(), *after = registry_make();

	assert_true(becomes_active(&c, s, S_NS));
	events_add(before, 1000);
	log_save_all(e, s, before);
	assert_int_equal(store_load(s, after), DXP_OK);
	events_expect(after, 1, 1000);
	registry_destroy(before);
	registry_destroy(after);
	store_close(s);
	etcd_free(e);
}

static void store_log_save__survives_each_fault(void **state)
{
	for (enum fake_fault fault = FAKE_LOST; fault < FAKE_FAULTS; fault++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e, .fault = fake_once};
		struct store *s = manager_open(&c);
		struct registry *r = small_registry(), *after = small_registry();
		assert_true(becomes_active(&c, s, S_NS));
		events_add(r, 3);
		c.next = fault;
		assert_true(store_log_save(s, r, true) == UINT64_MAX);
		events_add(r, 3);
		assert_true(store_log_save(s, r, true) == UINT64_MAX);
		fake_late_run(e); /* the first transaction must not replace the second one */
		assert_int_equal(store_load(s, after), DXP_OK);
		events_expect(after, 1, 6);
		registry_destroy(r);
		registry_destroy(after);
		store_close(s);
		etcd_free(e);
	}
}

static void store_log_save__without_the_lease_writes_nothing(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client a = {.etcd = e}, b = {.etcd = e};
	struct store *first = manager_open(&a), *second = manager_open(&b);
	struct registry *r = small_registry();

	assert_true(becomes_active(&a, first, S_NS));
	a.stopped = true;
	a.stopped_ns = e->now_ns;
	assert_true(becomes_active(&b, second, 2 * LEASE_NS));
	events_add(r, 1);
	assert_true(store_log_save(first, r, true) != 0);
	assert_int_equal(registry_events(r)->unsaved, 1);
	assert_false(store_term(first));
	assert_true(store_log_save(first, r, true) == UINT64_MAX);
	assert_int_equal(blocks(e), 0);
	registry_destroy(r);
	store_close(first);
	store_close(second);
	etcd_free(e);
}

/* A damaged block, one of another place and a strange key are left out; all else is loaded. */
static void store_load__leaves_damaged_events_out(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	struct registry *r = registry_make(), *after = registry_make();

	assert_true(becomes_active(&c, s, S_NS));
	registry_fill(r, 2);
	events_add(r, 50);
	assert_int_equal(store_save(s, r), DXP_OK);
	log_save_all(e, s, r);
	char *moved = strdup(fake_value(e, "/dxp/dxp/event/000000000000000001"));
	fake_put(e, "/dxp/dxp/event/000000000000000000", "rubbish", 0);
	fake_put(e, "/dxp/dxp/event/000000000000000002", moved, 0);
	fake_put(e, "/dxp/dxp/event/x", moved, 0);
	free(moved);
	assert_int_equal(store_load(s, after), DXP_OK);
	const struct event_row *row = event_journal_next(registry_events(after), 0);
	assert_int_equal(row->sequence, 16);
	row = event_journal_next(registry_events(after), 32);
	assert_int_equal(row->sequence, 48);
	assert_int_equal(registry_node_count(after, NODE_DEAD), 2);
	registry_destroy(r);
	registry_destroy(after);
	store_close(s);
	etcd_free(e);
}

/* Names and texts with control characters, and the longest ones, stay one line. */
static void etcd_events__texts(void **state)
{
	struct event_journal a, b;
	char longest[EVENT_TEXT_BYTES + 50];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(event_journal_create(&a, 100), DXP_OK);
	assert_int_equal(event_journal_create(&b, 100), DXP_OK);
	for (unsigned i = 0; i < 2 * ETCD_EVENTS_BLOCK; i++)
		event_journal_add(&a, INT64_MAX, EVENT_UNLOGGED, i % 2 ? longest : "a\tb\n", "%s",
				  i % 2 ? longest : "c\td\ne");
	for (uint64_t number = 0; number < 3; number++) {
		char *text = etcd_events_write(&a, number);
		assert_non_null(text);
		assert_int_equal(etcd_events_read(text, number, &b), 0);
		free(text);
	}
	assert_int_equal(b.next, a.next);
	assert_string_equal(event_journal_next(&b, 1)->subject, "a?b?");
	assert_string_equal(event_journal_next(&b, 1)->text, "c?d?e");
	assert_string_equal(event_journal_next(&b, 2)->text, event_journal_next(&a, 2)->text);
	event_journal_destroy(&a);
	event_journal_destroy(&b);
}

static void etcd_events_read__rejects(void **state)
{
	static const char *const bad[] = {"1",
					  "1 2",
					  "1 2 3",
					  "1 2 3 a",
					  "x 2 3 a\tb",
					  "1 x 3 a\tb",
					  "1 2 x a\tb",
					  "1 2 256 a\tb",
					  "1 2 0 a\tb",
					  "16 2 3 a\tb",
					  "-1 2 3 a\tb",
					  "99999999999999999999 2 3 a\tb",
					  "1 9999999999999999999 3 a\tb"};
	char text[64];

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		struct event_journal l;
		assert_int_equal(event_journal_create(&l, 100), DXP_OK);
		snprintf(text, sizeof(text), "%s", bad[i]);
		assert_int_equal(etcd_events_read(text, 0, &l), 1);
		assert_null(event_journal_next(&l, 0));
		snprintf(text, sizeof(text), "%s\n1 2 3 a\tb\n", bad[i]); /* the next line counts */
		assert_int_equal(etcd_events_read(text, 0, &l), 1);
		assert_non_null(event_journal_next(&l, 0));
		event_journal_destroy(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_log_save__survives_takeovers_and_is_bounded),
		cmocka_unit_test(store_log_save__delays_no_change),
		cmocka_unit_test(store_log_save__backlog),
		cmocka_unit_test(store_log_save__survives_each_fault),
		cmocka_unit_test(store_log_save__without_the_lease_writes_nothing),
		cmocka_unit_test(store_load__leaves_damaged_events_out),
		cmocka_unit_test(etcd_events__texts),
		cmocka_unit_test(etcd_events_read__rejects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
