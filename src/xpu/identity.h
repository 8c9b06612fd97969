/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in an xPU's state folder. NAME.id: 16 random bytes, for which the manager assigns the same
 * id after a restart. binaries.key: seals the xPU's program binaries. */
#ifndef XPU_IDENTITY_H
#define XPU_IDENTITY_H

#include <stdint.h>

#include "base/limits.h"
#include "wire/ids.h"

/* Creates missing parents too, mode 0700. DXP_EACCESS: denied. DXP_EINVAL: the name is empty or too
 * long. Logged. */
int identity_folder(const char *folder);

/* Reads FOLDER/NAME.id, or writes a new identity there, mode 0600, whole or not at all.
 * DXP_EMALFORMED: not an identity. DXP_EACCESS: denied. DXP_EINVAL: the name is too long. Logged
 * with the next step. */
int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES]);

/* The same for FOLDER/binaries.key. */
int identity_seal_key(const char *folder, uint8_t key[FABRIC_KEY_BYTES]);

#endif
