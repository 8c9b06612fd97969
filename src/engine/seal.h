/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's seal: 24 bytes behind a program binary that the node has made, with a MAC by a key that
 * only the node has. Drivers check little of a binary, so a node loads only binaries with its seal.
 * Pure; a mac is not thread-safe. */
#ifndef ENGINE_SEAL_H
#define ENGINE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"

#define SEAL_BYTES (8 + MAC_BYTES)

/* Writes the seal of a binary. */
void seal_make(struct mac *key, const void *binary, size_t bytes, uint8_t out[SEAL_BYTES]);

/* Checks a sealed binary. Returns NULL and sets the length without the seal, or a sentence that
 * states the error. */
const char *seal_check(struct mac *key, const void *sealed, size_t bytes, size_t *binary_bytes);

/* Returns the length without a seal, which is not checked; `bytes` if there is none. */
size_t seal_skip(const void *data, size_t bytes);

#endif
