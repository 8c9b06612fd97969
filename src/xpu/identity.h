/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of an xPU: 16 random bytes in a file, kept over restarts, so that the manager
 * assigns the same node id again. */
#ifndef XPU_IDENTITY_H
#define XPU_IDENTITY_H

#include <stdint.h>

#include "wire/ids.h"

/* Creates the folder and missing parents with mode 0700. DXP_EACCESS: not permitted by the
 * system; DXP_EINVAL: the name is empty or too long. Logged. */
int identity_folder(const char *folder);

/* Reads FOLDER/NAME.id, or draws an identity and writes it there with mode 0600; the file is
 * written completely or not at all. DXP_EMALFORMED: not an identity; DXP_EACCESS: not permitted
 * by the system; DXP_EINVAL: the name is too long. Logged with the next step. */
int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES]);

#endif
