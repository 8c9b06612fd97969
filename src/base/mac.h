/* SPDX-License-Identifier: BSD-3-Clause */
/* HMAC-SHA-256 (RFC 2104, libcrypto) with the fabric key, cut to 16 bytes. The hashed key is
 * stored, so a short message needs two hash blocks. Not thread-safe. */
#ifndef BASE_MAC_H
#define BASE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define MAC_BYTES 16 /* a forgery succeeds with 2^-128 */

struct mac;

/* Calls `function` at exit, just before libcrypto frees its state: only if the program used
 * libcrypto before this library was loaded. Otherwise libcrypto stays usable, and it is not
 * called. */
void mac_before_end(void (*function)(void));

/* DXP_ENOMEM; DXP_EIO: libcrypto has no HMAC-SHA-256. */
int mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out);
void mac_destroy(struct mac *m);

/* Computes the mac of `head`, then `body`. Aborts if libcrypto fails, which cannot happen after
 * mac_create(). */
void mac_compute(struct mac *m, const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, uint8_t out[MAC_BYTES]);

/* Compares in constant time. */
bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES]);

#endif
