/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp events`: prints the event log of the fabric, which the manager keeps. */
#include "cmd/dxp/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/program.h"
#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/event_reader.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/token.h"

#define FOLLOW_MS 500 /* time between two requests of --follow */

struct since {
	uint64_t sequence; /* number of the first event; 0: the oldest */
	uint64_t seconds;  /* age of the oldest event; 0: any */
};

struct events {
	struct session_options o;
	struct event_reader reader;
	bool follow;
	json_t *all;    /* rows for --json without --follow */
	bool silent;    /* the manager does not answer; this was printed */
	bool beginning; /* no page has arrived yet */
};

static const char *since_parse(const char *text, void *to)
{
	struct since since = {0};
	uint64_t number;

	if (option_number_parse(text, &number) && number > 0 && number < EVENT_SEQUENCE_MAX)
		since.sequence = number;
	else if (token_expires_parse(text, &since.seconds) != NULL)
		return "is the number of an event, or a time up to 366d with s, m, h or d such as "
		       "30m";
	*(struct since *)to = since;
	return NULL;
}

static const char *kind_parse(const char *text, void *to)
{
	const uint8_t kind = event_kind_find(text);

	if (kind == 0)
		return "is a kind of event, such as joined, died, granted, refused or "
		       "path-blocked; docs/guide/observe.md lists them";
	*(uint8_t *)to = kind;
	return NULL;
}

static int line_print(const struct event_row *row)
{
	const time_t seconds = (time_t)(row->time_ms / 1000);
	char text[32] = "-";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%6llu  %s.%03u  %-13s  %-15s  %s\n", (unsigned long long)row->sequence, text,
	       (unsigned)(row->time_ms % 1000), event_kind_name(row->kind), row->subject,
	       row->text);
	return EXIT_DONE;
}

static int json_line_print(const struct event_row *row)
{
	json_t *json = event_row_json(row);
	const int written = json ? json_dumpf(json, stdout, JSON_COMPACT) : -1;

	json_decref(json);
	if (written != 0)
		return print_fail("cannot create the output: out of memory");
	putchar('\n');
	return EXIT_DONE;
}

static int row_print(struct events *e, const struct event_row *row)
{
	if (!e->o.json)
		return line_print(row);
	if (e->follow)
		return json_line_print(row);
	json_array_append_new(e->all, event_row_json(row));
	return EXIT_DONE;
}

/* Reports events that the log removed before they were read, or that a manager lost which ended
 * before it stored them. */
static void gap_report(const struct events *e)
{
	if (e->reader.missed)
		fprintf(stderr, "dxp: warning: %llu events are no longer kept\n",
			(unsigned long long)e->reader.missed);
	if (e->reader.reused)
		fprintf(stderr,
			"dxp: warning: the log has restarted: another manager is active, or "
			"it was started again, without its last events; their numbers come "
			"again\n");
}

/* Prints the next events. Sets *end if there are no further ones yet. */
static int page_print(struct events *e, bool *end)
{
	const struct events_page *last;
	const struct event_row *rows;
	int status = EXIT_DONE;
	struct query *a;

	if (event_reader_next(&e->reader, &a) != DXP_OK) {
		if (!e->follow || e->beginning)
			return print_fail("%s", e->reader.q.text);
		if (!e->silent)
			fprintf(stderr, "dxp: warning: %s; trying again\n", e->reader.q.text);
		*end = e->silent = true;
		return EXIT_DONE;
	}
	e->silent = false;
	const size_t count = query_events(a, &rows, &last);
	gap_report(e);
	for (size_t i = 0; i < count && status == EXIT_DONE; i++)
		status = row_print(e, &rows[i]);
	e->beginning = false;
	*end = last->next > last->newest;
	query_destroy(a);
	return status;
}

static int print_all(struct events *e)
{
	const struct timespec wait = {0, FOLLOW_MS * (long)MS_NS};
	int status;
	bool end;

	do {
		end = false;
		status = page_print(e, &end);
		if (status == EXIT_DONE && !program_output_check())
			return EXIT_FAILED;
		if (end && e->follow)
			nanosleep(&wait, NULL);
	} while (status == EXIT_DONE && (!end || e->follow));
	if (status == EXIT_DONE && e->all)
		return print_json_text(json_pack("{s:O}", "events", e->all));
	return status;
}

static void since_set(struct events *e, const struct since *since)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	e->reader.q.events.from = since->sequence;
	if (since->seconds)
		e->reader.q.events.since_ms =
			((uint64_t)now.tv_sec - min_u64((uint64_t)now.tv_sec, since->seconds)) *
			1000;
}

int command_events(int argc, char **argv)
{
	struct events e = {.beginning = true, .reader.q.kind = QUERY_EVENTS};
	struct since since = {0};
	const struct option_row rows[] = {
		MANAGER_ROWS(e.o),
		{"follow", NULL, "also print new events, until interrupted", OPTION_FLAG, &e.follow,
		 .letter = 'f'},
		{"since", "SEQ|TIME",
		 "only events from this number on, or of the last time, such as 30m, 1h or 7d",
		 OPTION_PARSED, &since, .parse = since_parse},
		{"kind", "KIND", "only events of this kind", OPTION_PARSED, &e.reader.q.events.kind,
		 .parse = kind_parse},
		{"json", NULL, "print JSON; with --follow, one object a line", OPTION_FLAG,
		 &e.o.json},
	};
	const struct usage usage = {
		"events", "",
		"Prints the event log of the fabric, which its manager keeps: a line for each "
		"event, with its number, time, kind, subject\n"
		"and text. Kinds: started, joined, left, died, removed, granted, revoked, refused, "
		"token-created, token-used,\n"
		"token-revoked, rotated, path-blocked, path-slow, path-restored, unlogged, lost.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	e.reader.q.fabric = &e.o.fabric;
	since_set(&e, &since);
	if (e.o.json && !e.follow)
		e.all = json_array();
	const int status = print_all(&e);
	json_decref(e.all);
	return status;
}
