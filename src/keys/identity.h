/* SPDX-License-Identifier: BSD-3-Clause */
/* The key pair of a machine or user that a manager has admitted, and that manager's key. All its
 * nodes have the same key pair. */
#ifndef KEYS_IDENTITY_H
#define KEYS_IDENTITY_H

#include "keys/primitives.h"

struct identity {
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	uint8_t manager[KEYS_BYTES]; /* the manager's public key */
	uint8_t pair[KEYS_BYTES];    /* key of management frames between both */
};

/* Computes the other keys. Returns false if the manager's key is unusable. */
bool identity_make(const uint8_t private_key[KEYS_BYTES], const uint8_t manager[KEYS_BYTES],
		   struct identity *out);

#endif
