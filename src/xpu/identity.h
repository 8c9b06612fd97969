/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of an xPU: 16 random bytes in a file, so that after a restart the manager assigns
 * the same id. */
#ifndef XPU_IDENTITY_H
#define XPU_IDENTITY_H

#include <stdint.h>

#include "wire/ids.h"

/* Creates the folder and missing parents, mode 0700. DXP_EACCESS: the system refuses;
 * DXP_EINVAL: an empty or too long name. Logged. */
int identity_folder(const char *folder);

/* Reads FOLDER/NAME.id, or draws an identity and writes it there, mode 0600; the file is whole
 * or absent. DXP_EMALFORMED: not an identity; DXP_EACCESS: the system refuses; DXP_EINVAL: too
 * long a name. Logged with the next step. */
int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES]);

#endif
