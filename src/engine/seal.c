/* SPDX-License-Identifier: BSD-3-Clause */
/* A seal: magic, then a MAC over a purpose and the binary. */
#include "engine/seal.h"

#include <stdbool.h>
#include <string.h>

#define MAGIC       "dxpseal1"
#define MAGIC_BYTES 8

/* separates this MAC from that of any other message */
static const char purpose[] = "dxp program binary";

static bool sealed(const uint8_t *data, size_t bytes)
{
	return bytes >= SEAL_BYTES && memcmp(data + bytes - SEAL_BYTES, MAGIC, MAGIC_BYTES) == 0;
}

void seal_make(struct mac *key, const void *binary, size_t bytes, uint8_t out[SEAL_BYTES])
{
	memcpy(out, MAGIC, MAGIC_BYTES);
	mac_compute(key, purpose, sizeof(purpose), binary, bytes, out + MAGIC_BYTES);
}

const char *seal_check(struct mac *key, const void *data, size_t bytes, size_t *binary_bytes)
{
	uint8_t mac[MAC_BYTES];

	if (!sealed(data, bytes))
		return "the binary has no seal of a node, or is cut; build the program from source";
	mac_compute(key, purpose, sizeof(purpose), data, bytes - SEAL_BYTES, mac);
	if (!mac_equal(mac, (const uint8_t *)data + bytes - MAC_BYTES))
		return "the binary is changed, or made by another node or an earlier run without "
		       "--state; build the program from source";
	*binary_bytes = bytes - SEAL_BYTES;
	return NULL;
}

size_t seal_skip(const void *data, size_t bytes)
{
	return sealed(data, bytes) ? bytes - SEAL_BYTES : bytes;
}
