/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack: magic, hash, device, type, three lengths, three parts; numbers are little-endian. The
 * hash is the SHA-256 of all bytes after it. */
#include "engine/ocl_pack.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include <dxp/about.h>

#define MAGIC       "dxpprog1"
#define MAGIC_BYTES 8
#define HEAD_BYTES  (MAGIC_BYTES + 2 * OCL_KEY_BYTES + 4 + 3 * 8)

static void put_le(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

static bool sum_make(const uint8_t *pack, size_t bytes, uint8_t out[OCL_KEY_BYTES])
{
	const size_t skip = MAGIC_BYTES + OCL_KEY_BYTES;

	return EVP_Digest(pack + skip, bytes - skip, out, NULL, EVP_sha256(), NULL) == 1;
}

uint8_t *ocl_pack_make(const struct ocl_pack *p, size_t *bytes)
{
	*bytes = HEAD_BYTES + p->log_bytes + p->about_bytes + p->binary_bytes;
	uint8_t *out = malloc(*bytes), *at = out;

	if (!out)
		return NULL;
	memcpy(at, MAGIC, MAGIC_BYTES);
	at += MAGIC_BYTES + OCL_KEY_BYTES;
	memcpy(at, p->device, OCL_KEY_BYTES);
	at += OCL_KEY_BYTES;
	put_le(at, p->type, 4);
	put_le(at + 4, p->log_bytes, 8);
	put_le(at + 12, p->about_bytes, 8);
	put_le(at + 20, p->binary_bytes, 8);
	at += 28;
	const struct {
		const void *data;
		uint64_t bytes;
	} parts[] = {
		{p->log, p->log_bytes}, {p->about, p->about_bytes}, {p->binary, p->binary_bytes}};
	for (size_t i = 0; i < 3; i++) {
		if (parts[i].bytes)
			memcpy(at, parts[i].data, parts[i].bytes);
		at += parts[i].bytes;
	}
	if (sum_make(out, *bytes, out + MAGIC_BYTES))
		return out;
	free(out);
	return NULL;
}

const char *ocl_pack_read(const void *data, size_t bytes, struct ocl_pack *out)
{
	const uint8_t *pack = data, *at = pack + MAGIC_BYTES + OCL_KEY_BYTES;
	uint8_t sum[OCL_KEY_BYTES];

	if (bytes < HEAD_BYTES || memcmp(pack, MAGIC, MAGIC_BYTES) != 0)
		return "these bytes are not a program binary for this kind of device";
	if (!sum_make(pack, bytes, sum) || memcmp(sum, pack + MAGIC_BYTES, OCL_KEY_BYTES) != 0)
		return "the binary is damaged";
	struct ocl_pack p = {.type = dxp_about_u32(at + OCL_KEY_BYTES)};
	memcpy(p.device, at, OCL_KEY_BYTES);
	at += OCL_KEY_BYTES + 4;
	p.log_bytes = dxp_about_u64(at);
	p.about_bytes = dxp_about_u64(at + 8);
	p.binary_bytes = dxp_about_u64(at + 16);
	const uint64_t rest = bytes - HEAD_BYTES;
	if (p.log_bytes > rest || p.about_bytes > rest - p.log_bytes ||
	    p.binary_bytes != rest - p.log_bytes - p.about_bytes)
		return "the binary is damaged";
	p.log = pack + HEAD_BYTES;
	p.about = pack + HEAD_BYTES + p.log_bytes;
	p.binary = pack + HEAD_BYTES + p.log_bytes + p.about_bytes;
	*out = p;
	return NULL;
}
