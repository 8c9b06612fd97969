/* SPDX-License-Identifier: BSD-3-Clause */
/* What killed processes left in a folder of counters: files of counters, rings of traces, and
 * drafts of both. A live process holds the lock of its file (stats_place.h). */
#ifndef NODE_STATS_CLEAN_H
#define NODE_STATS_CLEAN_H

#include <stdbool.h>

/* Is it a file of counters, or a ring, whose owner is gone? Not just any file. */
bool stats_leftover(int fd);

/* Removes all of them from a folder of this user. */
void stats_clean(int folder);

#endif
