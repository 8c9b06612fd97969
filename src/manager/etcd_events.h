/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as texts, for values of etcd and for the file of an export: a text holds consecutive
 * events, a line for each: number, time, kind, subject, a tab, text. Pure. */
#ifndef MANAGER_ETCD_EVENTS_H
#define MANAGER_ETCD_EVENTS_H

#include "manager/event_journal.h"

/* events of a text at most: a value is small, and 10,000 events of a busy fabric have few keys */
#define ETCD_EVENTS_PART 16
/* bytes of a line at most, with its end */
#define ETCD_EVENTS_LINE (64 + EVENT_SUBJECT_BYTES + EVENT_TEXT_BYTES)

/* Returns the events with first <= sequence < end, at most ETCD_EVENTS_PART; free() it. NULL: no
 * memory. */
char *etcd_events_write(const struct event_journal *l, uint64_t first, uint64_t end);
/* Adds events to the log, which have first <= sequence < first + ETCD_EVENTS_PART. Returns how many
 * lines are invalid. Changes `text`. */
unsigned etcd_events_read(char *text, uint64_t first, struct event_journal *l);

#endif
