/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4: a fast keyed hash of short texts (Aumasson and Bernstein, "SipHash", 2012). It
 * cannot be predicted without the key. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* `words`: the text in units of 8 bytes, little-endian. */
uint64_t siphash_words(const uint64_t key[2], const uint64_t *words, size_t count);

#endif
