/* SPDX-License-Identifier: BSD-3-Clause */
/* Message authentication with the fabric key: HMAC-SHA-256 (RFC 2104, by libcrypto), truncated to
 * 16 bytes. A struct mac stores the hashed key, so a short message needs only two hash blocks. Not
 * thread-safe. */
#ifndef BASE_MAC_H
#define BASE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define MAC_BYTES 16 /* bytes; a forgery succeeds with probability 2^-128 */

struct mac;

/* Calls `function` when the process exits, just before libcrypto frees its state. libcrypto frees
 * it only if the program has used libcrypto before this library was loaded. Otherwise libcrypto
 * remains usable until the process has exited, and `function` is not called. */
void mac_before_end(void (*function)(void));

/* Creates a struct mac; destroy it with mac_destroy. DXP_ENOMEM: out of memory. DXP_EIO: libcrypto
 * has no HMAC-SHA-256. */
int mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out);
void mac_destroy(struct mac *m);

/* Computes the mac of `head` followed by `body`. Aborts if libcrypto fails, which cannot happen
 * after mac_create() succeeded. */
void mac_compute(struct mac *m, const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, uint8_t out[MAC_BYTES]);

/* Returns true if both are equal. The time that it takes does not depend on the bytes. */
bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES]);

#endif
