/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for the fabrics that a user has joined. The state folder of a user has:
 *
 *   manager, node.key ...   the fabric "default"
 *   fabrics/NAME            folder of the fabric NAME, or a symlink to one
 *   context                 name of the selected fabric, one line; no such file: "default"
 *
 * The name "system" is the fabric of this machine's services, in CONFIG_SERVICES. */
#ifndef HOST_CONTEXT_H
#define HOST_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/limits.h"

#define CONTEXT_DEFAULT "default"
#define CONTEXT_SYSTEM  "system"

/* All functions return a status and set the error text. */

/* Writes the state folder: $XDG_STATE_HOME/dxp, otherwise $HOME/.local/state/dxp. */
int context_base(char *out, size_t bytes);

/* Writes the folder of a context, which need not exist. DXP_EINVAL: the name is invalid. */
int context_folder(const char *name, char *out, size_t bytes);

/* Checks that the folder of a context exists. DXP_ENOENT. */
int context_check(const char *name);

/* Writes the name of the selected context: $DXP_CONTEXT, otherwise the file `context`, otherwise
 * "default". DXP_EMALFORMED, DXP_EIO: the file is unusable. */
int context_selected(char name[FABRIC_NAME_BYTES]);

/* Returns true for a name that an own folder may have: not "default", "system" or hidden. */
bool context_name_valid(const char *name);

#endif
