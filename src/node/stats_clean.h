/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files of killed processes from a folder of counters: counter files, trace rings, and
 * drafts of both. A running process locks its files (stats_folder.h). */
#ifndef NODE_STATS_CLEAN_H
#define NODE_STATS_CLEAN_H

#include <stdbool.h>

/* Returns true for a counter file or ring whose owner has exited. */
bool stats_leftover(int fd);

/* Removes all such files from a folder of this user. */
void stats_clean(int folder);

#endif
