/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/identity.h"

#include <string.h>

#include "keys/token.h"

bool identity_make(const uint8_t private_key[KEYS_BYTES], const uint8_t manager[KEYS_BYTES],
		   struct identity *out)
{
	memcpy(out->private_key, private_key, KEYS_BYTES);
	memcpy(out->manager, manager, KEYS_BYTES);
	return keys_public(private_key, out->public_key) &&
	       keys_pair(private_key, out->public_key, manager, out->pair);
}
