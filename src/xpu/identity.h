/* SPDX-License-Identifier: BSD-3-Clause */
/* Who an xPU is, over restarts: 16 random bytes in a file of its own, so that the manager gives it
 * its id again. */
#ifndef XPU_IDENTITY_H
#define XPU_IDENTITY_H

#include <stdint.h>

#include "wire/ids.h"

/* Makes the folder, and folders above it, with mode 0700 where they are missing. DXP_EACCESS: the
 * system does not let us; DXP_EINVAL: too long a name. Logged. */
int identity_folder(const char *folder);

/* Reads FOLDER/NAME.id, or draws an identity and writes it there with mode 0600; the file is whole
 * or absent. DXP_EMALFORMED: not an identity; DXP_EACCESS: the system does not let us. All logged
 * with the next step. */
int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES]);

#endif
