/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that holds a fabric's key: 64 hexadecimal digits and a line end, readable by its owner
 * only. Whoever can read it can be any node of the fabric. */
#ifndef BASE_KEYFILE_H
#define BASE_KEYFILE_H

#include <stdint.h>

#include "base/limits.h"

/* Reads a key. Errors, each logged with the next step: DXP_ENOENT no such file; DXP_EACCESS others
 * than the owner may read or write it, or this user may not; DXP_EMALFORMED not a key; DXP_EIO. */
int keyfile_read(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Draws a key from the kernel's random source and writes it to a new file of mode 0600; the file is
 * complete or absent. DXP_EEXIST when there is a file already, which stays as it is; DXP_EIO,
 * logged. */
int keyfile_create(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

#endif
