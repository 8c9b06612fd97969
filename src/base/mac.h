/* SPDX-License-Identifier: BSD-3-Clause */
/* Message authentication with the fabric key: HMAC-SHA-256 (RFC 2104, by libcrypto), truncated to
 * 16 bytes. A mac stores the hashed key, so a short message costs two hash blocks. Not
 * thread-safe. */
#ifndef BASE_MAC_H
#define BASE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define MAC_BYTES 16 /* a forgery succeeds with 2^-128 per attempt */

struct mac;

/* Calls `function` at the exit of the process before libcrypto frees its state, if it does so. A
 * program that has used libcrypto before this library is loaded makes it do so; otherwise libcrypto
 * remains usable until the process is gone. */
void mac_before_end(void (*function)(void));

/* Creates a mac; destroy it with mac_destroy. DXP_ENOMEM; DXP_EIO: libcrypto has no
 * HMAC-SHA-256. */
int mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out);
void mac_destroy(struct mac *m);

/* Computes the mac of `head` followed by `body`. Aborts if libcrypto fails, which is impossible
 * after mac_create. */
void mac_compute(struct mac *m, const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, uint8_t out[MAC_BYTES]);

/* Compares in constant time. */
bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES]);

#endif
