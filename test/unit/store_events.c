/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event log in the store: it survives restarts and stays bounded; a failing write or a
 * damaged row loses nothing else. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "manager/limits.h"
#include "manager/store.h"
#include "manager/store_events.h"

static char folder[64], path[96];

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "store-events-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/manager.db", folder);
	return 0;
}

static int folder_remove(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char name[128];

	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	return rmdir(folder);
}

static struct registry *registry_make(uint32_t events)
{
	static struct rng rng = {1};
	struct registry_options options = {.policy = GRANTS_EXPLICIT,
					   .events = events,
					   .entropy = rng_entropy_rng,
					   .entropy_context = &rng};
	struct registry *r;

	assert_int_equal(registry_create(&options, &r), DXP_OK);
	return r;
}

/* Adds events with the numbers as texts, and a node that must be saved, too. */
static void events_add(struct registry *r, unsigned count)
{
	struct store_op node = {
		.kind = STORE_NODE_PUT, .state = NODE_DEAD, .entry = {.kind = MANAGE_XPU}};
	struct event_journal *l = registry_events(r);

	for (unsigned i = 0; i < count; i++)
		event_journal_add(l, l->next, EVENT_JOINED, "it's \"x\"", "%llu",
				  (unsigned long long)l->next);
	node.entry.id = (uint16_t)(registry_node_count(r, NODE_DEAD) + 1);
	snprintf(node.entry.name, sizeof(node.entry.name), "n%u", node.entry.id);
	node.entry.uuid[0] = (uint8_t)node.entry.id;
	assert_int_equal(registry_load(r, &node), DXP_OK);
	registry_store_again(r);
}

static struct registry *load_with(struct store **s, uint32_t events)
{
	struct registry *r = registry_make(events);

	assert_int_equal(store_open(folder, s), DXP_OK);
	assert_int_equal(store_load(*s, r), DXP_OK);
	return r;
}

static struct registry *load(struct store **s)
{
	return load_with(s, FABRIC_EVENTS_MIN);
}

/* Checks that the log has exactly the events with these numbers. */
static void events_expect(struct registry *r, uint64_t first, uint64_t last)
{
	const struct event_row *row = event_journal_next(registry_events(r), 0);
	char text[24];

	for (uint64_t i = first; i <= last; i++) {
		assert_non_null(row);
		assert_int_equal(row->sequence, i);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		assert_string_equal(row->text, text);
		assert_string_equal(row->subject, "it's \"x\"");
		row = event_journal_next(registry_events(r), i + 1);
	}
	assert_null(row);
}

static int rows_on_disk(void)
{
	sqlite3 *db;
	sqlite3_stmt *statement;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM event", -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int count = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return count;
}

static void sql_run(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Writes a database with these events. */
static void events_fill(uint64_t first, uint64_t count)
{
	struct store *s;
	struct registry *r = load(&s);
	char sql[400];

	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	snprintf(sql, sizeof(sql),
		 "DELETE FROM event; WITH RECURSIVE n(i) AS (SELECT %llu UNION ALL SELECT i + 1 "
		 "FROM n LIMIT %llu) INSERT INTO event SELECT i, i, %d, 'it''s \"x\"', i FROM n",
		 (unsigned long long)first, (unsigned long long)count, EVENT_JOINED);
	sql_run(sql);
}

/* A manager with a small bound reads only what it keeps of a large log, and deletes the others in
 * several transactions, also if there are no new events. */
static void store_events__large_log_is_trimmed(void **state)
{
	const int first = 1000, count = 20000, last = first + count - 1;
	const uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	int before = count, runs = 0;
	struct registry *r;
	struct store *s;

	events_fill(first, count);
	for (; before > FABRIC_EVENTS_MIN; runs++) {
		assert_true(clock_now_ns() < until_ns);
		r = load(&s);
		events_expect(r, last + 1 - FABRIC_EVENTS_MIN, last);
		assert_int_equal(registry_events(r)->read, FABRIC_EVENTS_MIN);
		for (int i = 0; i < 2; i++) /* the second one does not delete at once */
			assert_int_equal(store_save(s, r), DXP_OK);
		store_close(s);
		registry_destroy(r);
		const int now = rows_on_disk();
		assert_true(now < before && before - now < 5000);
		before = now;
	}
	assert_true(runs > 2);
	assert_int_equal(before, FABRIC_EVENTS_MIN);
	r = load(&s);
	events_expect(r, last + 1 - FABRIC_EVENTS_MIN, last);
	store_close(s);
	registry_destroy(r);
}

/* A manager with a large bound loads the newest events first, the others in parts. */
static void store_events__large_log_is_loaded_in_parts(void **state)
{
	const uint64_t first = 7, count = STORE_EVENTS_START + 9000, last = first + count - 1;
	struct event_journal *l;
	unsigned parts = 0;
	struct store *s;

	events_fill(first, count);
	struct registry *r = load_with(&s, 2 * STORE_EVENTS_START);
	l = registry_events(r);
	assert_int_equal(l->read, STORE_EVENTS_START);
	events_expect(r, last + 1 - STORE_EVENTS_START, last);
	event_journal_add(l, l->next, EVENT_JOINED, "it's \"x\"", "%llu",
			  (unsigned long long)l->next);
	for (uint64_t read = l->read; store_log_save(s, r, false) == 0; read = l->read, parts++)
		assert_true(l->read - read < 3000);
	assert_true(parts > 2);
	assert_int_equal(l->read, count);
	assert_int_equal(store_save(s, r), DXP_OK);
	events_expect(r, first, last + 1);
	store_close(s);
	registry_destroy(r);
	assert_int_equal(rows_on_disk(), count + 1);
}

/* Events that exceed the bound while older ones are being loaded are left out. */
static void store_events__bound_is_reached_during_the_load(void **state)
{
	const uint64_t count = STORE_EVENTS_START + 5000, added = 3000;
	struct store *s;

	events_fill(1, count);
	struct registry *r = load_with(&s, (uint32_t)count);
	assert_int_equal(store_log_save(s, r, false), 0);
	for (uint64_t i = 0; i < added; i++)
		event_journal_add(registry_events(r), i, EVENT_JOINED, "it's \"x\"", "%llu",
				  (unsigned long long)(count + 1 + i));
	while (store_log_save(s, r, false) == 0)
		;
	events_expect(r, added + 1, count + added);
	store_close(s);
	registry_destroy(r);
}

static void store_events__restart_and_bound(void **state)
{
	struct store *s;
	struct registry *r = load(&s);

	for (unsigned round = 0; round < 3; round++) {
		events_add(r, 60);
		assert_int_equal(store_save(s, r), DXP_OK);
		store_close(s);
		registry_destroy(r);
		r = load(&s);
	}
	events_expect(r, 81, 180);
	store_close(s);
	registry_destroy(r);
	assert_int_equal(rows_on_disk(), FABRIC_EVENTS_MIN);
}

/* The database is removed while the manager runs: all events are written again. */
static void store_events__file_removed(void **state)
{
	struct store *s;
	struct registry *r = load(&s);

	events_add(r, 5);
	assert_int_equal(store_save(s, r), DXP_OK);
	unlink(path);
	assert_int_equal(store_check(s, r), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	r = load(&s);
	events_expect(r, 1, 5);
	store_close(s);
	registry_destroy(r);
}

/* The table rejects events: the node is saved all the same, and the events later. */
static void store_events__write_fails(void **state)
{
	struct store *s;
	struct registry *r = load(&s);

	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	sql_run("CREATE TRIGGER no BEFORE INSERT ON event BEGIN SELECT raise(ABORT, 'no'); END");
	r = load(&s);
	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	sql_run("DROP TRIGGER no");
	assert_int_equal(rows_on_disk(), 1);
	struct registry *after = load(&s);
	assert_int_equal(registry_node_count(after, NODE_DEAD), 2);
	events_expect(after, 1, 1);
	/* the first registry still has the event, and another store object has no wait */
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	assert_int_equal(rows_on_disk(), 2);
	registry_destroy(after);
	registry_destroy(r);
}

/* The table rejects events for so long that the log replaces some: they count as lost. */
static void store_events__lost(void **state)
{
	struct store *s;
	struct registry *r = load(&s);

	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	sql_run("CREATE TRIGGER no BEFORE INSERT ON event BEGIN SELECT raise(ABORT, 'no'); END");
	assert_int_equal(store_open(folder, &s), DXP_OK);
	events_add(r, 30);
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_int_equal(registry_events(r)->lost, 0);
	events_add(r, FABRIC_EVENTS_MIN - 20);
	assert_int_equal(registry_events(r)->lost, 10);
	store_close(s);
	sql_run("DROP TRIGGER no");
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_int_equal(registry_events(r)->lost, 10);
	store_close(s);
	registry_destroy(r);
	r = load(&s);
	events_expect(r, 12, 111);
	store_close(s);
	registry_destroy(r);
}

/* The disk is full (modelled by a limit on file sizes): nothing is saved, and nothing is lost. */
static void store_events__full_disk(void **state)
{
	struct rlimit before, tight;
	struct store *s;
	struct registry *r = load(&s);

	signal(SIGXFSZ, SIG_IGN);
	events_add(r, 50);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = (struct rlimit){4096, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	const int status = store_save(s, r);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, DXP_EIO);
	assert_int_equal(store_save(s, r), DXP_OK);
	const uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	while (registry_events(r)->unsaved < registry_events(r)->next && clock_now_ns() < until_ns)
		assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	r = load(&s);
	events_expect(r, 1, 50);
	assert_int_equal(registry_node_count(r, NODE_DEAD), 1);
	store_close(s);
	registry_destroy(r);
}

/* Invalid rows are left out; the others, and the nodes, are loaded. New events get new numbers. */
static void store_events__damaged_rows(void **state)
{
	struct store *s;
	struct registry *r = load(&s);

	events_add(r, 3);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	sql_run("INSERT INTO event VALUES (-5,1,1,'a','b'); INSERT INTO event VALUES "
		"(4,-1,1,'a','b'); INSERT INTO event VALUES (5,1,0,'a','b'); INSERT INTO event "
		"VALUES (6,1,300,'a','b'); INSERT INTO event VALUES (7,1,1,'a',"
		"hex(zeroblob(200))); INSERT INTO event VALUES (9223372036854775807,1,1,'a','b')");
	r = load(&s);
	events_expect(r, 1, 3);
	assert_int_equal(registry_node_count(r, NODE_DEAD), 1);
	events_add(r, 1);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	r = load(&s);
	events_expect(r, 1, 4);
	store_close(s);
	registry_destroy(r);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(store_events__restart_and_bound),
		IN_FOLDER(store_events__file_removed),
		IN_FOLDER(store_events__write_fails),
		IN_FOLDER(store_events__full_disk),
		IN_FOLDER(store_events__damaged_rows),
		IN_FOLDER(store_events__lost),
		IN_FOLDER(store_events__large_log_is_trimmed),
		IN_FOLDER(store_events__large_log_is_loaded_in_parts),
		IN_FOLDER(store_events__bound_is_reached_during_the_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
