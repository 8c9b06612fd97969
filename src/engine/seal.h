/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's seal: 24 bytes after a program binary that the node has made. They contain a MAC with a
 * key that only the node has. Drivers check little of a binary, so a node loads only binaries with
 * its own seal. The functions do no I/O; a mac is not thread-safe. */
#ifndef ENGINE_SEAL_H
#define ENGINE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"

#define SEAL_BYTES (8 + MAC_BYTES)

/* Writes the seal for a binary. */
void seal_make(struct mac *key, const void *binary, size_t bytes, uint8_t out[SEAL_BYTES]);

/* Checks a sealed binary. Returns NULL and sets *binary_bytes to the length without the seal, or
 * returns a sentence that states the error. */
const char *seal_check(struct mac *key, const void *sealed, size_t bytes, size_t *binary_bytes);

/* Returns the length without the seal. Does not check the seal. Returns `bytes` if there is no
 * seal. */
size_t seal_skip(const void *data, size_t bytes);

#endif
