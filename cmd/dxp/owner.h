/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_DXP_OWNER_H
#define CMD_DXP_OWNER_H

#include <stdbool.h>

/* As root, becomes the user that can change this path: the owner of its first part that is not
 * root's, such as the user of the services, or the user of a home folder. So symlinks of that user
 * lead only where this user may write, and all files and processes belong to this user. `path` need
 * not exist. Returns false after it has printed the reason. */
bool owner_become(const char *path);

#endif
