/* SPDX-License-Identifier: BSD-3-Clause */
/* File of a fabric key: 64 hexadecimal digits and a line end, readable by its owner only. A reader
 * of the key can act as any node of the fabric. */
#ifndef BASE_KEYFILE_H
#define BASE_KEYFILE_H

#include <stdint.h>

#include "base/limits.h"

/* Reads a key. Each error is logged with the next step. DXP_ENOENT: no such file; DXP_EACCESS:
 * other users may access it, or this user may not; DXP_EMALFORMED: no key; DXP_EIO. */
int keyfile_read(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Draws a key from the kernel's random source and writes it to a new file of mode 0600, which is
 * complete or absent. DXP_EEXIST: the file exists and is unchanged; DXP_EIO, logged. */
int keyfile_create(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

#endif
