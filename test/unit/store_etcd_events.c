/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event log in etcd: it survives a takeover, is bounded, is written once, and neither its
 * damage nor a write that fails affects anything else. */
#include "test/unit/capture.h"
#include "test/unit/etcd_rig.h"

#include "manager/etcd_events.h"
#include "manager/limits.h"

#define WAIT_NS           (3 * S_NS)
#define EVENT_KEY(digits) "/dxp/dxp/event/000000000000000000" digits
/* keys of a small log that is full: each has one event at least, and old ones wait for others */
#define KEYS_MAX (FABRIC_EVENTS_MIN + 15 + 64)

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

static unsigned event_keys(const struct fake_etcd *e)
{
	unsigned count = 0;

	for (size_t i = 0; i < e->count; i++)
		count += strncmp(e->keys[i].name, "/dxp/dxp/event/", 15) == 0;
	return count;
}

/* Opens a store whose manager is active. */
static struct store *active_open(struct fake_client *c)
{
	struct store *s = manager_open(c);

	assert_true(becomes_active(c, s, S_NS));
	return s;
}

/* Ends a case. `after` may be NULL. */
static void all_close(struct fake_etcd *e, struct store *s, struct registry *r,
		      struct registry *after)
{
	registry_destroy(r);
	registry_destroy(after);
	store_close(s);
	etcd_free(e);
}

/* Lets time pass, in steps in which the lease is kept. */
static void pass(struct fake_etcd *e, struct store *s, uint64_t ns)
{
	for (const uint64_t until_ns = e->now_ns + ns; e->now_ns < until_ns;) {
		e->now_ns += min_u64(until_ns - e->now_ns, 200 * MS_NS);
		store_step(s);
	}
}

/* Saves until nothing is left. */
static void log_save_all(struct fake_etcd *e, struct store *s, struct registry *r)
{
	for (uint64_t wait_ns = 0; wait_ns != UINT64_MAX;) {
		pass(e, s, wait_ns);
		wait_ns = store_log_save(s, r, false);
		assert_true(wait_ns == UINT64_MAX || wait_ns <= WAIT_NS);
	}
}

static void store_log_save__survives_takeovers_and_is_bounded(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	uint64_t last = 0;

	for (unsigned round = 0; round < 9; round++) {
		struct store *s = active_open(&c);
		struct registry *r = small_registry();
		assert_int_equal(store_load(s, r), DXP_OK);
		events_expect(r, last > FABRIC_EVENTS_MIN ? last - FABRIC_EVENTS_MIN + 1 : 1, last);
		for (unsigned i = 0; i < 10; i++) {
			events_add(r, round % 3 ? 1 : 7);
			last += round % 3 ? 1 : 7;
			log_save_all(e, s, r);
		}
		events_add(r, 37);
		log_save_all(e, s, r);
		last += 37;
		assert_in_range(event_keys(e), 1, KEYS_MAX);
		registry_destroy(r);
		store_close(s);
	}
	for (size_t i = 0; i < e->count; i++) /* sealed */
		assert_null(strstr(e->keys[i].value, "a name"));
	etcd_free(e);
}

/* The event of a change is in the transaction of the change. One without a change waits for a few
 * seconds, and is written without a new version. */
static void store_log_save__shares_transactions(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *r = small_registry();

	assert_true(store_log_save(s, r, false) == UINT64_MAX);
	registry_fill(r, 1);
	events_add(r, 1);
	const unsigned before = e->transactions;
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_int_equal(e->transactions, before + 1);
	assert_string_equal(fake_value(e, VERSION_KEY), "1");
	assert_int_equal(event_keys(e), 1);
	assert_true(store_log_save(s, r, false) == UINT64_MAX);
	assert_int_equal(e->transactions, before + 1);
	events_add(r, 1);
	const uint64_t first_ns = store_log_save(s, r, false);
	assert_true(first_ns > 0 && first_ns <= WAIT_NS);
	pass(e, s, first_ns / 2);
	events_add(r, 1);
	assert_true(store_log_save(s, r, false) <= first_ns / 2); /* it waits no longer */
	assert_int_equal(e->transactions, before + 1);
	pass(e, s, first_ns);
	assert_true(store_log_save(s, r, false) == UINT64_MAX);
	assert_int_equal(e->transactions, before + 2);
	assert_int_equal(event_keys(e), 2);
	assert_string_equal(fake_value(e, VERSION_KEY), "1");
	events_add(r, 1);
	assert_true(store_log_save(s, r, true) == UINT64_MAX); /* the manager ends */
	assert_int_equal(event_keys(e), 3);
	assert_int_equal(registry_events(r)->unsaved, registry_events(r)->next);
	all_close(e, s, r, NULL);
}

/* A burst that fills a transaction is written at once. */
static void store_log_save__a_burst_waits_for_nothing(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *r = registry_make();

	events_add(r, 16 * ETCD_EVENTS_PART - 1);
	assert_true(store_log_save(s, r, false) != UINT64_MAX);
	assert_int_equal(event_keys(e), 0);
	events_add(r, 2);
	store_log_save(s, r, false);
	assert_int_equal(event_keys(e), 16);
	assert_int_equal(registry_events(r)->unsaved, 16 * ETCD_EVENTS_PART + 1);
	all_close(e, s, r, NULL);
}

/* Each event is written once, in a key with the others of the last seconds. Rewriting a block of 16
 * every 0.2 s took 441, 270 and 81 bytes for an event, and 4 to 15 times as many transactions. */
static void store_log_save__bytes(void **state)
{
	static const struct {
		unsigned per_s, bytes_most; /* events; bytes of keys and values for an event */
	} cases[] = {{1, 80}, {10, 70}, {100, 70}};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e};
		struct store *s = active_open(&c);
		struct registry *r = registry_make();
		const uint64_t begin = e->put_bytes, until_ns = e->now_ns + 300 * S_NS;
		const unsigned transactions = e->transactions;
		uint64_t next_ns = e->now_ns;
		while (e->now_ns < until_ns) {
			for (; next_ns <= e->now_ns; next_ns += S_NS / cases[i].per_s)
				events_add(r, 1);
			store_step(s);
			store_log_save(s, r, false);
			e->now_ns += 10 * MS_NS;
		}
		store_log_save(s, r, true);
		const uint64_t events = registry_events(r)->next - 1;
		const uint64_t bytes = (e->put_bytes - begin) / events;
		print_message("%u events/s: %llu bytes an event, %u transactions in 300 s\n",
			      cases[i].per_s, (unsigned long long)bytes,
			      e->transactions - transactions);
		assert_true(bytes <= cases[i].bytes_most);
		assert_true(e->transactions - transactions <= 101 + events / 256);
		all_close(e, s, r, NULL);
	}
}

/* etcd is above its quota: it keeps leases, but takes no puts. Without changes the manager stays
 * active, tries again ever less often, counts what it loses, and then writes the rest. */
static void store_log_save__failures_end_no_term(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *r = small_registry(), *after = small_registry();
	struct event_journal *l = registry_events(r);
	struct datagram out[DATAGRAM_BATCH];
	unsigned failures = 0;

	const uint64_t term = store_term(s), until_ns = e->now_ns + 300 * S_NS;
	registry_start(r, e->now_ns);
	assert_true(store_log_save(s, r, true) == UINT64_MAX);
	e->full = true;
	events_add(r, 1);
	while (e->now_ns < until_ns) {
		const unsigned posts = c.posts;
		store_step(s);
		const unsigned stepped = c.posts;
		const uint64_t wait_ns = store_log_save(s, r, false);
		assert_true(wait_ns > 0 && wait_ns <= 32 * S_NS);
		failures += c.posts > stepped;
		assert_true(stepped - posts <= 1);
		e->now_ns += 100 * MS_NS;
	}
	assert_int_equal(store_term(s), term);
	assert_in_range(failures, 5, 16);
	assert_int_equal(l->lost, 0);
	events_add(r, FABRIC_EVENTS_MIN + 20);
	assert_int_equal(l->lost, 21);
	registry_send(r, out, DATAGRAM_BATCH, e->now_ns);
	assert_true(registry_counters(r)->events_lost >= 21);
	const struct event_row *last = event_journal_next(l, l->next - 1);
	assert_int_equal(last->kind, EVENT_LOST);
	assert_int_equal(strtoull(last->text, NULL, 10), 21);
	registry_send(r, out, DATAGRAM_BATCH, e->now_ns + S_NS); /* at most once a minute */
	assert_int_equal(l->next - 1, last->sequence);
	e->full = false;
	for (const uint64_t end_ns = e->now_ns + 40 * S_NS; e->now_ns < end_ns;) {
		store_step(s);
		store_log_save(s, r, false);
		e->now_ns += 100 * MS_NS;
	}
	assert_int_equal(l->unsaved, l->next);
	assert_int_equal(store_load(s, after), DXP_OK);
	assert_int_equal(registry_events(after)->next, l->next);
	e->full = true; /* a change needs etcd */
	registry_fill(r, 1);
	assert_int_equal(store_save(s, r), DXP_EIO);
	assert_false(store_term(s));
	all_close(e, s, r, after);
}

/* More events than a transaction has. */
static void store_log_save__backlog(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *before = registry_make(), *after = registry_make();

	events_add(before, 1000);
	log_save_all(e, s, before);
	assert_int_equal(store_load(s, after), DXP_OK);
	events_expect(after, 1, 1000);
	all_close(e, s, before, after);
}

/* The first write has an unknown outcome. The next one adds new events to none of its keys, so a
 * copy of the first that comes late replaces none of them. */
static void store_log_save__late_copy(void **state)
{
	for (enum fake_fault fault = FAKE_LOST; fault < FAKE_FAULTS; fault++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e, .fault = fake_once};
		struct store *s = active_open(&c);
		struct registry *r = small_registry(), *after = small_registry();
		events_add(r, 20);
		c.next = fault;
		char *late = NULL;
		while (registry_events(r)->unsaved == 1) { /* tries again after a while */
			events_add(r, 1);
			store_step(s);
			store_log_save(s, r, false);
			late = late || !e->late_body ? late : strdup(e->late_body);
			e->now_ns += S_NS;
		}
		log_save_all(e, s, r);
		assert_true(fault != FAKE_LATE || late);
		free(e->late_body);
		e->late_body = late;
		fake_late_run(e);
		assert_int_equal(store_load(s, after), DXP_OK);
		events_expect(after, 1, registry_events(r)->next - 1);
		all_close(e, s, r, after);
	}
}

/* A change that is saved after a write of events whose outcome is unknown is not taken for it. */
static void store_save__after_a_lost_answer_of_events(void **state)
{
	for (enum fake_fault fault = FAKE_LOST; fault < FAKE_FAULTS; fault++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e, .fault = fake_once};
		struct store *s = active_open(&c);
		struct registry *r = small_registry(), *after = small_registry();
		events_add(r, 5);
		store_log_save(s, r, false);
		pass(e, s, WAIT_NS);
		c.next = fault;
		store_log_save(s, r, false);
		assert_int_equal(registry_events(r)->unsaved, 1);
		events_add(r, 5);
		registry_fill(r, 2);
		assert_int_equal(store_save(s, r), DXP_OK);
		assert_string_equal(fake_value(e, VERSION_KEY), "1");
		log_save_all(e, s, r);
		fake_late_run(e);
		assert_int_equal(store_load(s, after), DXP_OK);
		events_expect(after, 1, 10);
		assert_int_equal(registry_node_count(after, NODE_DEAD), 2);
		all_close(e, s, r, after);
	}
}

static void store_log_save__survives_each_fault(void **state)
{
	for (enum fake_fault fault = FAKE_LOST; fault < FAKE_FAULTS; fault++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e, .fault = fake_once};
		struct store *s = active_open(&c);
		struct registry *r = small_registry(), *after = small_registry();
		events_add(r, 3);
		c.next = fault;
		assert_true(store_log_save(s, r, true) == UINT64_MAX);
		events_add(r, 3);
		assert_true(store_log_save(s, r, true) == UINT64_MAX);
		fake_late_run(e); /* the first transaction must not replace the second one */
		assert_int_equal(store_load(s, after), DXP_OK);
		events_expect(after, 1, 6);
		all_close(e, s, r, after);
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
	assert_true(store_log_save(first, r, true) == UINT64_MAX);
	assert_int_equal(registry_events(r)->unsaved, 1);
	assert_false(store_term(first));
	assert_true(store_log_save(first, r, true) == UINT64_MAX);
	assert_int_equal(event_keys(e), 0);
	registry_destroy(r);
	store_close(first);
	store_close(second);
	etcd_free(e);
}

/* A damaged value, one of another key and a strange key are left out; all else is loaded. */
static void store_load__leaves_damaged_events_out(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *r = registry_make(), *after = registry_make();

	registry_fill(r, 2);
	events_add(r, 50);
	assert_int_equal(store_save(s, r), DXP_OK);
	log_save_all(e, s, r);
	char *moved = strdup(fake_value(e, EVENT_KEY("17")));
	fake_put(e, EVENT_KEY("01"), "rubbish", 0);
	fake_put(e, EVENT_KEY("33"), moved, 0);
	fake_put(e, "/dxp/dxp/event/x", moved, 0);
	free(moved);
	assert_int_equal(store_load(s, after), DXP_OK);
	const struct event_row *row = event_journal_next(registry_events(after), 0);
	assert_int_equal(row->sequence, 17);
	row = event_journal_next(registry_events(after), 33);
	assert_int_equal(row->sequence, 49);
	assert_int_equal(registry_node_count(after, NODE_DEAD), 2);
	all_close(e, s, r, after);
}

/* Keys of 18 digits, of an older layout, are deleted at the next takeover, with one warning. */
static void store_load__deletes_an_older_layout(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = active_open(&c);
	struct registry *r = small_registry(), *after = small_registry();
	struct stderr_capture capture;
	char key[64], text[1024];

	events_add(r, 20);
	log_save_all(e, s, r);
	for (unsigned i = 0; i < ETCD_ROWS_MAX + 20; i++) {
		snprintf(key, sizeof(key), "/dxp/dxp/event/%018u", i);
		fake_put(e, key, "0 of another layout", 0);
	}
	const unsigned transactions = e->transactions;
	stderr_capture_begin(&capture);
	const int status = store_load(s, after);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_int_equal(status, DXP_OK);
	assert_non_null(strstr(text, "120 keys"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(e->transactions - transactions, 2);
	assert_int_equal(event_keys(e), 2);
	assert_int_equal(registry_events(after)->next, 21);
	events_expect(after, 1, 20);
	all_close(e, s, r, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_log_save__survives_takeovers_and_is_bounded),
		cmocka_unit_test(store_log_save__shares_transactions),
		cmocka_unit_test(store_log_save__a_burst_waits_for_nothing),
		cmocka_unit_test(store_log_save__bytes),
		cmocka_unit_test(store_log_save__failures_end_no_term),
		cmocka_unit_test(store_log_save__late_copy),
		cmocka_unit_test(store_save__after_a_lost_answer_of_events),
		cmocka_unit_test(store_log_save__backlog),
		cmocka_unit_test(store_log_save__survives_each_fault),
		cmocka_unit_test(store_log_save__without_the_lease_writes_nothing),
		cmocka_unit_test(store_load__leaves_damaged_events_out),
		cmocka_unit_test(store_load__deletes_an_older_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
