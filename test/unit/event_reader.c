/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a reader of the event log misses no event of a manager that was started again, with or
 * without the last events of the run before. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/util.h"
#include "cmd/dxp/event_reader.h"
#include "manager/server.h"

static char folder[64], key_file[96], address[UDP_ADDRESS_TEXT_BYTES];
static struct server_options options;
static struct dxp_fabric_options fabric = {.manager = address, .key_file = key_file};
static struct server *server;
static pthread_t thread;

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "event-reader-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(key_file, sizeof(key_file), "%s/fabric.key", folder);
	options = (struct server_options){.state_folder = folder, .policy = GRANTS_EXPLICIT};
	address_parse("127.0.0.1:0", 0, &options.bind);
	return keyfile_create(key_file, options.key) == DXP_OK ? 0 : -1;
}

static int folder_remove(void **state)
{
	static const char *const names[] = {"manager.db", "manager.db-wal", "manager.db-shm",
					    "manager.key", "fabric.key"};
	char path[128];

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

static void *server_main(void *context)
{
	server_run(context);
	return NULL;
}

/* Starts the manager, again at the same address. */
static void manager_start(void)
{
	assert_int_equal(server_open(&options, &server), DXP_OK);
	server_address(server, &options.bind);
	address_format(&options.bind, address);
	assert_int_equal(pthread_create(&thread, NULL, server_main, server), 0);
}

static void manager_stop(void)
{
	server_stop(server);
	assert_int_equal(pthread_join(thread, NULL), 0);
	server_close(server);
}

/* Removes the newest events from the store, as if the manager had ended before it saved them. */
static void events_lose(const char *sql)
{
	char path[96];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/manager.db", folder);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void grant(const char *host)
{
	struct inquiry q = {.fabric = &fabric, .kind = QUERY_GRANT, .host = host, .xpu = "x"};
	struct query *a;

	assert_int_equal(inquiry_run(&q, &a), DXP_OK);
	query_destroy(a);
}

/* Reads the next events; they must be exactly these subjects. */
static void read_expect(struct event_reader *r, const char *const *subjects, size_t count)
{
	const struct events_page *last;
	const struct event_row *rows;
	struct query *a;

	assert_int_equal(event_reader_next(r, &a), DXP_OK);
	assert_int_equal(query_events(a, &rows, &last), count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(rows[i].subject, subjects[i]);
	query_destroy(a);
}

#define EXPECT(reader, ...)                                           \
	do {                                                          \
		static const char *const subjects[] = {__VA_ARGS__};  \
		read_expect(reader, subjects, ARRAY_COUNT(subjects)); \
	} while (0)

static void event_reader__follows_each_run(void **state)
{
	struct event_reader r = {.q = {.fabric = &fabric, .kind = QUERY_EVENTS}};

	manager_start();
	grant("a");
	grant("b");
	grant("c");
	EXPECT(&r, "manager", "a", "b", "c");
	read_expect(&r, NULL, 0);
	manager_stop();
	manager_start();
	grant("d");
	EXPECT(&r, "manager", "d");
	assert_false(r.reused);
	manager_stop();
	events_lose("DELETE FROM event WHERE id > 2");
	manager_start();
	for (char name[2] = "p"; *name <= 's'; (*name)++)
		grant(name); /* up to the number that the reader has read already */
	EXPECT(&r, "manager", "p", "q", "r", "s");
	assert_true(r.reused);
	read_expect(&r, NULL, 0);
	assert_false(r.reused);
	manager_stop();
	events_lose("DELETE FROM event");
	manager_start();
	EXPECT(&r, "manager");
	assert_true(r.reused);
	grant("t");
	EXPECT(&r, "t");
	assert_false(r.reused);
	assert_int_equal(r.missed, 0);
	manager_stop();
}

/* Only events of one kind; the manager does not answer for a while. */
static void event_reader__filter_and_silence(void **state)
{
	struct event_reader r = {.q = {.fabric = &fabric,
				       .kind = QUERY_EVENTS,
				       .events.kind = EVENT_GRANTED,
				       .timeout_ns = S_NS / 4}};
	struct query *a;

	manager_start();
	grant("a");
	EXPECT(&r, "a");
	manager_stop();
	assert_int_equal(event_reader_next(&r, &a), DXP_ETIMEDOUT);
	events_lose("DELETE FROM event");
	r.q.timeout_ns = 0;
	manager_start();
	grant("b");
	EXPECT(&r, "b");
	assert_true(r.reused);
	manager_stop();
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(event_reader__follows_each_run),
		IN_FOLDER(event_reader__filter_and_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
