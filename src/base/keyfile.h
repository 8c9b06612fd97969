/* SPDX-License-Identifier: BSD-3-Clause */
/* File with a fabric key: 64 hexadecimal digits and a newline, readable by its owner only. A
 * process with the key can act as any node of the fabric. */
#ifndef BASE_KEYFILE_H
#define BASE_KEYFILE_H

#include <stdint.h>

#include "base/limits.h"

/* Reads a key and logs errors. Returns DXP_ENOENT if there is no such file. DXP_EACCESS: other
 * users can access the file, or this user cannot read it. DXP_EMALFORMED: the content is not a key.
 * DXP_EIO: reading failed. */
int keyfile_read(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Writes a random key to a new file of mode 0600. The file appears complete or not at all. Logs
 * errors. DXP_EEXIST: the file exists and is not changed. DXP_EIO: the file cannot be written. */
int keyfile_create(const char *path, uint8_t key[FABRIC_KEY_BYTES]);

/* Writes a key to a file of mode 0600, and replaces the file if it exists. Logs errors. DXP_EIO:
 * the file cannot be written. */
int keyfile_write(const char *path, const uint8_t key[FABRIC_KEY_BYTES]);

#endif
