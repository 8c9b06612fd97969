/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as values of etcd: a key holds a block of consecutive events, a line for each: number,
 * time, kind, subject, a tab, text. Pure. */
#ifndef MANAGER_ETCD_EVENTS_H
#define MANAGER_ETCD_EVENTS_H

#include "manager/event_journal.h"

/* events of a block: a transaction is small, and 10,000 events have few keys */
#define ETCD_EVENTS_BLOCK 16

/* Returns the events of block `number`, which are those from number * ETCD_EVENTS_BLOCK on; free()
 * it. NULL: no memory. */
char *etcd_events_write(const struct event_journal *l, uint64_t number);
/* Adds the events of a block to the log. Returns how many lines are invalid. Changes `text`. */
unsigned etcd_events_read(char *text, uint64_t number, struct event_journal *l);

#endif
