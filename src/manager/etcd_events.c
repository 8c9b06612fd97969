/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/etcd_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces control characters, because they end the parts of a line. */
static void printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = '?';
}

char *etcd_events_write(const struct event_journal *l, uint64_t first, uint64_t end)
{
	char *out = malloc(ETCD_EVENTS_PART * ETCD_EVENTS_LINE + 1);
	size_t used = 0;

	if (!out)
		return NULL;
	out[0] = '\0';
	for (const struct event_row *at = event_journal_next(l, first); at && at->sequence < end;
	     at = event_journal_next(l, at->sequence + 1)) {
		struct event_row row = *at;
		printable(row.subject);
		printable(row.text);
		used += (size_t)snprintf(out + used, ETCD_EVENTS_LINE,
					 "%" PRIu64 " %" PRIu64 " %u %s\t%s\n", row.sequence,
					 row.time_ms, row.kind, row.subject, row.text);
	}
	return out;
}

/* Reads a number and the space behind it; moves *at. */
static bool number_read(char **at, uint64_t most, uint64_t *out)
{
	const size_t digits = strspn(*at, "0123456789");

	if (digits == 0 || digits > 19 || (*at)[digits] != ' ')
		return false;
	*out = strtoull(*at, NULL, 10);
	*at += digits + 1;
	return *out <= most;
}

/* Reads a line without its end. */
static bool line_read(char *line, struct event_row *out)
{
	uint64_t kind;

	if (!number_read(&line, EVENT_SEQUENCE_MAX, &out->sequence) ||
	    !number_read(&line, INT64_MAX, &out->time_ms) || !number_read(&line, UINT8_MAX, &kind))
		return false;
	char *tab = strchr(line, '\t');
	if (!tab)
		return false;
	*tab++ = '\0';
	if (strlen(line) >= sizeof(out->subject) || strlen(tab) >= sizeof(out->text))
		return false;
	memcpy(out->subject, line, strlen(line) + 1);
	memcpy(out->text, tab, strlen(tab) + 1);
	out->kind = (uint8_t)kind;
	return true;
}

unsigned etcd_events_read(char *text, uint64_t first, struct event_journal *l)
{
	unsigned invalid = 0;

	for (char *end; *text; text = end) {
		struct event_row row = {0};
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		invalid += !line_read(text, &row) || row.sequence < first ||
			   row.sequence - first >= ETCD_EVENTS_PART || !event_journal_load(l, &row);
	}
	return invalid;
}
