/* SPDX-License-Identifier: BSD-3-Clause */
/* The key pair of a machine or user that a manager has admitted, and the public key of that
 * manager. All nodes of the machine or user have the same key pair. */
#ifndef KEYS_IDENTITY_H
#define KEYS_IDENTITY_H

#include "keys/primitives.h"

struct identity {
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	uint8_t manager[KEYS_BYTES]; /* public key of the manager */
	/* key that authenticates management frames between node and manager */
	uint8_t pair[KEYS_BYTES];
};

/* Computes the other keys from these two. Returns false if the manager's key is unusable. */
bool identity_make(const uint8_t private_key[KEYS_BYTES], const uint8_t manager[KEYS_BYTES],
		   struct identity *out);

#endif
