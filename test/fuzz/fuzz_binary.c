/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes program binaries from hosts: seal, pack, and rv32 objects. The first byte selects how much
 * is made valid, so mutations get past each check. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include <openssl/evp.h>

#include "engine/ocl_pack.h"
#include "engine/rv32_objects.h"
#include "engine/seal.h"
#include "test/fuzz/fuzz.h"

#define SUM_AT 8 /* in a pack, behind its magic */

/* The parts of an accepted pack lie inside its bytes. */
static void pack_check(const uint8_t *data, size_t bytes)
{
	static struct rv32_object list[RV32_OBJECTS_MAX];
	struct ocl_pack p;
	int count;

	if (ocl_pack_read(data, bytes, &p))
		return;
	assert((const uint8_t *)p.log >= data && p.log_bytes <= bytes);
	assert((const uint8_t *)p.about == (const uint8_t *)p.log + p.log_bytes);
	assert((const uint8_t *)p.binary == (const uint8_t *)p.about + p.about_bytes);
	assert((const uint8_t *)p.binary + p.binary_bytes == data + bytes);
	size_t again_bytes;
	uint8_t *again = ocl_pack_make(&p, &again_bytes);
	assert(again && again_bytes == bytes && memcmp(again, data, bytes) == 0);
	free(again);
	if (rv32_objects_open(data, bytes, &p, list, &count))
		return;
	for (int i = 0; i < count; i++) {
		const uint8_t *at = list[i].data;
		assert(at >= data && at + list[i].bytes <= data + bytes);
	}
}

static void sum_repair(uint8_t *pack, size_t bytes)
{
	const size_t skip = SUM_AT + OCL_KEY_BYTES;

	if (bytes >= skip)
		EVP_Digest(pack + skip, bytes - skip, pack + SUM_AT, NULL, EVP_sha256(), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint8_t secret[FABRIC_KEY_BYTES] = {7};
	struct mac *key;
	size_t inner = 0;

	if (bytes == 0 || mac_create(secret, &key) != DXP_OK)
		return 0;
	const uint8_t how = *data++;
	bytes--;
	uint8_t *copy = malloc(bytes + SEAL_BYTES);
	assert(copy);
	memcpy(copy, data, bytes);
	/* no input has a right MAC */
	assert(seal_check(key, copy, bytes, &inner));
	assert(seal_skip(copy, bytes) <= bytes);
	if (how & 1)
		sum_repair(copy, bytes);
	seal_make(key, copy, bytes, copy + bytes);
	assert(!seal_check(key, copy, bytes + SEAL_BYTES, &inner) && inner == bytes);
	pack_check(copy, inner);
	free(copy);
	mac_destroy(key);
	return 0;
}
