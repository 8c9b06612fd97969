/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's seal: 24 bytes after a program binary that the node made, with a MAC by its own key.
 * Drivers check little of a binary, so a node loads only binaries that it sealed. No I/O; a mac is
 * not thread-safe. */
#ifndef ENGINE_SEAL_H
#define ENGINE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"

#define SEAL_BYTES (8 + MAC_BYTES)

void seal_make(struct mac *key, const void *binary, size_t bytes, uint8_t out[SEAL_BYTES]);

/* NULL, and the length without the seal; else a sentence with the error. */
const char *seal_check(struct mac *key, const void *sealed, size_t bytes, size_t *binary_bytes);

/* Length without the seal, which is not checked, if any. */
size_t seal_skip(const void *data, size_t bytes);

#endif
