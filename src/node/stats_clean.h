/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files of killed processes from a directory of counters: counter files, trace rings,
 * drafts of both. A running process holds its file's lock (stats_folder.h). */
#ifndef NODE_STATS_CLEAN_H
#define NODE_STATS_CLEAN_H

#include <stdbool.h>

/* Returns whether the file is a counter file or a ring without an owner. */
bool stats_leftover(int fd);

/* Removes all of them from a directory of this user. */
void stats_clean(int folder);

#endif
