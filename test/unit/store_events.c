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

static struct registry *registry_make(void)
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

static struct registry *load(struct store **s)
{
	struct registry *r = registry_make();

	assert_int_equal(store_open(folder, s), DXP_OK);
	assert_int_equal(store_load(*s, r), DXP_OK);
	return r;
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
		IN_FOLDER(store_events__restart_and_bound), IN_FOLDER(store_events__file_removed),
		IN_FOLDER(store_events__write_fails),       IN_FOLDER(store_events__full_disk),
		IN_FOLDER(store_events__damaged_rows),      IN_FOLDER(store_events__lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
