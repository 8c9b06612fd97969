/* SPDX-License-Identifier: BSD-3-Clause */
/* Key pair of an admitted machine or user, the same for all its nodes, and the manager's public
 * key. */
#ifndef KEYS_IDENTITY_H
#define KEYS_IDENTITY_H

#include "keys/primitives.h"

struct identity {
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	uint8_t manager[KEYS_BYTES]; /* public key of the manager */
	/* shared key that authenticates management frames between this machine and the manager */
	uint8_t pair[KEYS_BYTES];
};

/* Computes public_key and pair. Returns false if the manager's key is unusable. */
bool identity_make(const uint8_t private_key[KEYS_BYTES], const uint8_t manager[KEYS_BYTES],
		   struct identity *out);

#endif
