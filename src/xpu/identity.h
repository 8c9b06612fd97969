/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of an xPU in its state folder. NAME.id holds 16 random bytes; by them the manager assigns
 * the same id after a restart. binaries.key holds the key that seals the xPU's program binaries. */
#ifndef XPU_IDENTITY_H
#define XPU_IDENTITY_H

#include <stdint.h>

#include "base/limits.h"
#include "wire/ids.h"

/* Creates the folder and missing parents, mode 0700. DXP_EACCESS: the system denies access.
 * DXP_EINVAL: the name is empty or too long. Errors are logged. */
int identity_folder(const char *folder);

/* Reads FOLDER/NAME.id. If there is none, draws an identity and writes it there, mode 0600. A crash
 * cannot leave a part of the file. DXP_EMALFORMED: not an identity. DXP_EACCESS: the system denies
 * access. DXP_EINVAL: the name is too long. Errors are logged with the next step. */
int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES]);

/* Reads FOLDER/binaries.key. If there is none, draws the key and writes it there, mode 0600.
 * Statuses of identity_get(). */
int identity_seal_key(const char *folder, uint8_t key[FABRIC_KEY_BYTES]);

#endif
