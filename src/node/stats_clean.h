/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files of killed processes from a folder of counters: counter files, trace rings, and
 * drafts of both. Files of a running process are locked (stats_folder.h), so they stay. */
#ifndef NODE_STATS_CLEAN_H
#define NODE_STATS_CLEAN_H

#include <stdbool.h>

/* Returns true if `fd` is a counter file or ring whose owner has exited. */
bool stats_leftover(int fd);

/* Removes all such files from `folder`, which belongs to this user. */
void stats_clean(int folder);

#endif
