/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags of handshakes and of frames that belong to them: hashes keyed by the fabric key. */
#include <string.h>

#include "rltp/endpoint_internal.h"

bool endpoint_authenticate(const struct rltp_endpoint *e, enum rltp_key key, const uint8_t *text,
			   size_t bytes, uint8_t tag[WIRE_TAG_BYTES])
{
	if (e->options.authenticate)
		return e->options.authenticate(e->options.authenticate_context, key, text, bytes,
					       tag);
	memset(tag, 0, WIRE_TAG_BYTES);
	return key != RLTP_KEY_FORMER;
}

static bool tags_equal(const uint8_t a[WIRE_TAG_BYTES], const uint8_t b[WIRE_TAG_BYTES])
{
	volatile uint8_t difference = 0;

	for (uint32_t i = 0; i < WIRE_TAG_BYTES; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

bool endpoint_authentic(const struct rltp_endpoint *e, const uint8_t *text, size_t bytes,
			const uint8_t tag[WIRE_TAG_BYTES], enum rltp_key *key)
{
	uint8_t own[WIRE_TAG_BYTES];

	for (enum rltp_key k = RLTP_KEY_PRESENT; k <= RLTP_KEY_FORMER; k++)
		if (endpoint_authenticate(e, k, text, bytes, own) && tags_equal(own, tag)) {
			*key = k;
			return true;
		}
	return false;
}
