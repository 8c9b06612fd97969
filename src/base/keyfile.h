/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric key's file: 64 hexadecimal digits and a newline, for its owner only. A process with the
 * key can act as any node. */
#ifndef BASE_KEYFILE_H
#define BASE_KEYFILE_H

#include <stdint.h>

#include "base/limits.h"

/* Errors, logged: DXP_ENOENT: no such file; DXP_EACCESS: others can access it, or this user cannot;
 * DXP_EMALFORMED: no key; DXP_EIO. */
int keyfile_read(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Writes a random key to a new file of mode 0600, complete or not at all. Errors, logged:
 * DXP_EEXIST: unchanged; DXP_EIO. */
int keyfile_create(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Writes the file, replacing an old one, whose owner and mode stay; a new one has mode 0600.
 * Follows no link. DXP_EIO, logged; then an old one is unchanged. */
int keyfile_write(const char *path, const uint8_t key[FABRIC_KEY_BYTES]);

#endif
