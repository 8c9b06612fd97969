/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what dxp-web derives from readings: health, rates, alerts, events, streams to browsers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/web/changes.h"
#include "cmd/web/connections.h"
#include "cmd/web/feed.h"
#include "cmd/web/sources.h"
#include "web_rig.h"

static void web_snapshot__health(void **state)
{
	static const struct web_rig_node nodes[] = {
		{.id = 1, .name = "a"},
		{.id = 2, .name = "b", .missing = "no answer"},
		{.id = 3, .name = "c", .missing = "publishes nothing"},
		{.id = 4, .name = "d", .dead = true},
	};
	struct web_snapshot *s = web_rig_snapshot(nodes, ARRAY_COUNT(nodes), NULL);

	assert_int_equal(s->nodes[0].health, WEB_ALIVE);
	assert_int_equal(s->nodes[1].health, WEB_SILENT);
	assert_int_equal(s->nodes[2].health, WEB_UNOBSERVED);
	assert_int_equal(s->nodes[3].health, WEB_DEAD);
	assert_ptr_equal(web_snapshot_find(s, "c"), &s->nodes[2]);
	assert_null(web_snapshot_find(s, "e"));
	assert_ptr_equal(web_snapshot_id(s, 4), &s->nodes[3]);
	assert_null(web_snapshot_id(s, 5));
	web_snapshot_release(s);
}

static void web_snapshot__rates(void **state)
{
	const struct web_rig_node before[] = {
		{.id = 1, .name = "a", .published_s = 10, .received_bytes = 100, .sent_packets = 0},
		{.id = 2, .name = "b", .published_s = 10, .received_bytes = 100},
	};
	const struct web_rig_node after[] = {
		{.id = 1,
		 .name = "a",
		 .published_s = 12,
		 .received_bytes = 300,
		 .sent_packets = 4000,
		 .repeats = 80,
		 .drops = 6},
		/* idle: no counter changed */
		{.id = 2, .name = "b", .published_s = 10, .received_bytes = 100},
		/* not in the earlier reading */
		{.id = 3, .name = "c", .published_s = 10, .received_bytes = 100},
	};
	struct web_snapshot *a = web_rig_snapshot(before, ARRAY_COUNT(before), NULL);
	struct web_snapshot *b = web_rig_snapshot(after, ARRAY_COUNT(after), a);

	assert_int_equal(b->sequence, 2);
	assert_true(b->nodes[0].rated && b->nodes[1].rated && !b->nodes[2].rated);
	assert_true(b->nodes[0].rates.received_bytes == 100);
	assert_true(b->nodes[0].rates.repeats_percent == 2);
	assert_true(b->nodes[0].rates.drops == 3);
	assert_true(b->nodes[1].rates.received_bytes == 0);
	assert_true(b->rates.received_bytes == 100 && b->rates.repeats_percent == 2);
	web_snapshot_release(a);
	web_snapshot_release(b);
}

/* Returns whether such an event is logged. The text of each event must not be empty. */
static bool logged(struct web_state *w, const char *kind, const char *subject)
{
	json_t *page = web_state_events(w, 0, WEB_EVENTS), *row;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(page, "events"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "text"));
		assert_true(text && *text);
		found |= strcmp(json_string_value(json_object_get(row, "kind")), kind) == 0 &&
			 strcmp(json_string_value(json_object_get(row, "subject")), subject) == 0;
	}
	json_decref(page);
	return found;
}

static void next(struct web_state *w, const struct web_rig_node *nodes, size_t count)
{
	struct web_snapshot *previous = web_state_snapshot(w);

	web_state_nodes(w, web_rig_snapshot(nodes, count, previous));
	web_snapshot_release(previous);
}

static size_t alerts(struct web_state *w)
{
	json_t *summary = web_state_summary(w);
	size_t count = json_array_size(json_object_get(summary, "alerts"));

	json_decref(summary);
	return count;
}

static void web_changes__events(void **state)
{
	struct web_rig_node nodes[] = {{.id = 1, .name = "a", .incarnation = 1},
				       {.id = 2, .name = "b", .incarnation = 1},
				       {.id = 3, .name = "c", .incarnation = 1}};
	struct web_state *w = web_rig_state(nodes, 2);

	/* nothing to compare with */
	assert_false(logged(w, "joined", "a"));
	next(w, nodes, 3);
	assert_true(logged(w, "joined", "c"));
	nodes[0].missing = "no answer";
	nodes[1].incarnation = 2;
	next(w, nodes, 3);
	assert_true(logged(w, "silent", "a") && logged(w, "restarted", "b"));
	assert_int_equal(alerts(w), 1);
	next(w, nodes, 3); /* the same state */
	nodes[0].dead = true;
	next(w, nodes, 2);
	assert_true(logged(w, "dead", "a") && logged(w, "cleared", "a") && logged(w, "left", "c"));
	nodes[0].dead = false;
	nodes[0].missing = NULL;
	next(w, nodes, 2);
	assert_int_equal(alerts(w), 0);
	json_t *page = web_state_events(w, 0, WEB_EVENTS);
	assert_int_equal(json_integer_value(json_object_get(page, "last")), 7);
	json_decref(page);
	web_state_destroy(w);
}

static void web_changes__overload(void **state)
{
	struct web_rig_node node = {.id = 1, .name = "a", .published_s = 1};
	struct web_state *w = web_rig_state(&node, 1);

	node.published_s = 2;
	node.drops = 1;
	node.sent_packets = 10000;
	node.repeats = 101;
	next(w, &node, 1);
	assert_true(logged(w, "drops", "a") && logged(w, "repeats", "a"));
	node.published_s = 3;
	node.sent_packets = 10100; /* too few for an alert */
	node.repeats = 201;
	next(w, &node, 1);
	assert_int_equal(alerts(w), 0);
	web_state_destroy(w);
}

/* The manager's log replaces the events that dxp-web derives from readings. */
static void web_state_log__replaces(void **state)
{
	static const struct event_row rows[] = {
		{7, 1000, EVENT_DIED, "a", "its lease has expired"},
		{9, 2000, EVENT_PATH_BLOCKED, "b", "path to c: no answer"}};
	struct web_rig_node nodes[] = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};
	struct web_state *w = web_rig_state(nodes, 1);
	struct web_alert_list *list = calloc(1, sizeof(*list));

	web_state_log(w, rows, 2);
	next(w, nodes, 2);
	web_alerts_add(list, WEB_CRITICAL, "path-blocked", "b", "to c: no answer");
	web_alerts_add(list, WEB_WARNING, "path-lossy", "b", "to a: lost");
	web_state_alerts(w, WEB_SOURCE_PATHS, list, 3000);
	assert_int_equal(alerts(w), 2);
	json_t *page = web_state_events(w, 0, 10), *events = json_object_get(page, "events");
	assert_int_equal(json_array_size(events), 3);
	static const char *const kinds[] = {"died", "path-blocked", "path-lossy"};
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(events, i), "kind")),
			kinds[i]);
	json_decref(page);
	free(list);
	web_state_destroy(w);
}

/* When the manager's log cannot be read any more, readings and alerts cause events again. */
static void web_state_log__silent(void **state)
{
	static const struct event_row row = {7, 1000, EVENT_DIED, "a", "its lease has expired"};
	struct web_rig_node nodes[] = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};
	struct web_state *w = web_rig_state(nodes, 1);
	struct web_alert_list *list = calloc(1, sizeof(*list));

	web_state_log(w, &row, 1);
	web_state_log_silent(w);
	next(w, nodes, 2);
	assert_true(logged(w, "joined", "b"));
	web_alerts_add(list, WEB_CRITICAL, "path-blocked", "b", "to c: no answer");
	web_state_alerts(w, WEB_SOURCE_PATHS, list, 3000);
	assert_true(logged(w, "path-blocked", "b"));
	web_state_log(w, NULL, 0);
	next(w, nodes, 1);
	assert_false(logged(w, "left", "b"));
	free(list);
	web_state_destroy(w);
}

/* A log that fails to be read, again and again, counts as silent. */
static void web_event_log__no_manager(void **state)
{
	static const struct event_row row = {7, 1000, EVENT_DIED, "a", "its lease has expired"};
	const struct dxp_fabric_options nowhere = {.directory = "/nonexistent"};
	struct web_rig_node nodes[] = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};
	struct web_state *w = web_rig_state(nodes, 1);
	struct web_event_log log = {.fabric = &nowhere, .state = w};

	web_state_log(w, &row, 1);
	for (int i = 0; i < WEB_LOG_MISSES - 1; i++)
		web_event_log_poll(&log);
	next(w, nodes, 2);
	assert_false(logged(w, "joined", "b"));
	web_event_log_poll(&log);
	next(w, nodes, 1);
	assert_true(logged(w, "left", "b"));
	web_state_destroy(w);
}

/* There are more alerts than the server keeps. It still reports how many it left out. */
static void web_alerts__bounded(void **state)
{
	struct web_rig_node nodes[WEB_ALERTS + 10] = {0};
	char names[WEB_ALERTS + 10][8];

	for (unsigned i = 0; i < ARRAY_COUNT(nodes); i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		nodes[i] = (struct web_rig_node){
			.id = (uint16_t)(i + 1), .name = names[i], .dead = true};
	}
	struct web_state *w = web_rig_state(nodes, ARRAY_COUNT(nodes));
	json_t *summary = web_state_summary(w);
	assert_int_equal(json_array_size(json_object_get(summary, "alerts")), WEB_ALERTS);
	assert_int_equal(json_integer_value(json_object_get(summary, "alerts_left_out")), 10);
	json_decref(summary);
	web_state_destroy(w);
}

static void web_events__wrap(void **state)
{
	struct web_events *e = calloc(1, sizeof(*e));
	const struct web_event event = {.kind = "joined", .subject = "a", .text = "t"};

	assert_null(web_events_next(e, 0));
	for (unsigned i = 0; i < WEB_EVENTS + 3; i++)
		web_events_add(e, &event);
	assert_int_equal(web_events_next(e, 0)->id, 4);
	assert_int_equal(web_events_next(e, 3)->id, 4);
	assert_int_equal(web_events_next(e, 4)->id, 5);
	assert_null(web_events_next(e, WEB_EVENTS + 3));
	assert_null(web_events_next(e, UINT64_MAX));
	json_t *page = web_events_json(e, 1, 10);
	assert_int_equal(json_array_size(json_object_get(page, "events")), 10);
	assert_int_equal(json_integer_value(json_object_get(page, "lost")), 2);
	json_decref(page);
	free(e);
}

/* ---- streams ---- */

static void web_stream__resumes(void **state)
{
	struct web_rig_node nodes[] = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};
	struct web_state *w = web_rig_state(nodes, 1);
	struct web_stream s;

	web_stream_begin(&s, w, NULL);
	struct web_text *t = web_stream_next(&s, w);
	assert_non_null(strstr(t->data, "id: 0\nevent: update\ndata: {"));
	assert_string_equal(t->data + t->bytes - 3, "}\n\n");
	web_text_release(t);
	assert_null(web_stream_next(&s, w)); /* nothing new */
	next(w, nodes, 2);
	t = web_stream_next(&s, w);
	assert_non_null(strstr(t->data, "id: 1\n"));
	assert_non_null(strstr(t->data, "\"kind\":\"joined\",\"subject\":\"b\""));
	web_text_release(t);
	/* Events missed meanwhile; ids of an earlier run are ignored. */
	static const struct {
		const char *after;
		uint64_t event;
	} rows[] = {{"0", 0}, {"1", 1}, {"", 1}, {"99", 1}, {"x", 1}, {"-5", 1}};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		web_stream_begin(&s, w, rows[i].after);
		assert_int_equal(s.event, rows[i].event);
	}
	web_state_destroy(w);
}

static unsigned resumed;

static void resume_count(void *connection)
{
	resumed++;
}

/* One update waits; then comes the newest state. */
static void web_feed__slow(void **state)
{
	const struct web_rig_node node = {.id = 1, .name = "a"};
	struct web_state *w = web_rig_state(&node, 1);
	struct web_feed *f = calloc(1, sizeof(*f));
	char buffer[7];
	size_t bytes, total = 0;

	web_feed_init(f, w, resume_count);
	struct web_feed_reader *r = web_feed_open(f, f, NULL);
	assert_int_equal(web_feed_read(r, buffer, sizeof(buffer), &bytes), WEB_FEED_DATA);
	for (unsigned i = 0; i < 100; i++)
		next(w, &node, 1);
	assert_true(web_feed_pending(r));
	while (web_feed_read(r, buffer, sizeof(buffer), &bytes) == WEB_FEED_DATA)
		total += bytes;
	assert_false(web_feed_pending(r));
	json_t *summary = web_state_summary(w);
	char *text = json_dumps(summary, 0);
	/* two updates at most */
	assert_in_range(total, strlen(text), 3 * strlen(text) + 200);
	free(text);
	json_decref(summary);
	web_feed_end(f);
	assert_int_equal(web_feed_read(r, buffer, sizeof(buffer), &bytes), WEB_FEED_END);
	web_feed_close(r);
	free(f);
	web_state_destroy(w);
}

static void web_feed__many(void **state)
{
	const struct web_rig_node node = {.id = 1, .name = "a"};
	struct web_state *w = web_rig_state(&node, 1);
	struct web_feed *f = calloc(1, sizeof(*f));
	struct web_feed_reader *readers[WEB_STREAMS];

	web_feed_init(f, w, resume_count);
	for (unsigned i = 0; i < WEB_STREAMS; i++)
		assert_non_null(readers[i] = web_feed_open(f, f, NULL));
	assert_null(web_feed_open(f, f, NULL));
	resumed = 0;
	web_feed_wake(f);
	assert_int_equal(resumed, WEB_STREAMS);
	web_feed_close(readers[7]);
	assert_ptr_equal(web_feed_open(f, f, NULL), readers[7]);
	for (unsigned i = 0; i < WEB_STREAMS; i++)
		web_feed_close(readers[i]);
	free(f);
	web_state_destroy(w);
}

/* ---- connections ---- */

static void web_connections__expire(void **state)
{
	struct web_connections *c = calloc(1, sizeof(*c));
	const uint64_t limit_ns = WEB_REQUEST_S * S_NS;
	int ends[2];
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	web_connections_init(c);
	struct web_connection *row = web_connections_open(c, ends[0], 1);
	assert_int_equal(web_connections_expire(c, limit_ns), 0);
	web_connections_next(c, row, 2);
	assert_int_equal(web_connections_expire(c, limit_ns + 1), 0);
	web_connections_stream(c, row);
	assert_int_equal(web_connections_expire(c, UINT64_MAX - 1), 0);
	web_connections_next(c, row, 2);
	assert_int_equal(web_connections_expire(c, limit_ns + 2), 1);
	/* the peer detects the close */
	assert_int_equal(read(ends[1], &byte, 1), 0);
	assert_int_equal(web_connections_expire(c, limit_ns + 3), 0);
	web_connections_close(c, row);
	for (unsigned i = 0; i < WEB_CONNECTIONS; i++)
		assert_non_null(web_connections_open(c, ends[0], 1));
	assert_null(web_connections_open(c, ends[0], 1));
	close(ends[0]);
	close(ends[1]);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(web_snapshot__health),
		cmocka_unit_test(web_snapshot__rates),
		cmocka_unit_test(web_changes__events),
		cmocka_unit_test(web_changes__overload),
		cmocka_unit_test(web_state_log__replaces),
		cmocka_unit_test(web_alerts__bounded),
		cmocka_unit_test(web_state_log__silent),
		cmocka_unit_test(web_event_log__no_manager),
		cmocka_unit_test(web_events__wrap),
		cmocka_unit_test(web_stream__resumes),
		cmocka_unit_test(web_feed__slow),
		cmocka_unit_test(web_feed__many),
		cmocka_unit_test(web_connections__expire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
