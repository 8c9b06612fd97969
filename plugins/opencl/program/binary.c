/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program/binary.h"

#include <string.h>

static const char magic[8] = {'D', 'X', 'P', 'C', 'L', 'B', 'I', 'N'};

enum {
	OFF_VERSION = 8,
	OFF_TYPE = 12,
	OFF_DEVICE = 16,
	OFF_ZERO = 20,
	OFF_BYTES = 24,
	OFF_HASH = 32,
};

#define VERSION 1

static void put(uint8_t *at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

static uint64_t hash_more(uint64_t h, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ at[i]) * 0x100000001b3u;
	return h;
}

/* Hash of the header without its hash field, and of the `behind` bytes after the header. */
static uint64_t hash(const uint8_t *at, size_t behind)
{
	uint64_t h = hash_more(0xcbf29ce484222325u, at, OFF_HASH);

	return hash_more(h, at + BINARY_HEAD_BYTES, behind);
}

size_t binary_size(const struct binary *b)
{
	return BINARY_HEAD_BYTES + b->device_bytes + b->bytes;
}

void binary_write(const struct binary *b, uint8_t *to)
{
	uint8_t *behind = to + BINARY_HEAD_BYTES;

	memset(to, 0, BINARY_HEAD_BYTES);
	memcpy(to, magic, sizeof(magic));
	put(to + OFF_VERSION, VERSION, 4);
	put(to + OFF_TYPE, b->type, 4);
	put(to + OFF_DEVICE, b->device_bytes, 4);
	put(to + OFF_BYTES, b->bytes, 8);
	memcpy(behind, b->device, b->device_bytes);
	if (b->bytes > 0)
		memcpy(behind + b->device_bytes, b->data, b->bytes);
	put(to + OFF_HASH, hash(to, b->device_bytes + b->bytes), 8);
}

bool binary_read(struct binary *out, const void *from, size_t bytes)
{
	const uint8_t *at = from;

	if (bytes < BINARY_HEAD_BYTES || memcmp(at, magic, sizeof(magic)) != 0 ||
	    get(at + OFF_VERSION, 4) != VERSION || get(at + OFF_ZERO, 4) != 0)
		return false;
	uint64_t device_bytes = get(at + OFF_DEVICE, 4), data_bytes = get(at + OFF_BYTES, 8);
	size_t behind = bytes - BINARY_HEAD_BYTES;
	if (device_bytes > behind || data_bytes != behind - device_bytes)
		return false;
	if (hash(at, behind) != get(at + OFF_HASH, 8))
		return false;
	uint32_t type = (uint32_t)get(at + OFF_TYPE, 4);
	at += BINARY_HEAD_BYTES;
	*out = (struct binary){
		.type = type,
		.device = (const char *)at,
		.device_bytes = (size_t)device_bytes,
		.data = at + device_bytes,
		.bytes = (size_t)data_bytes,
	};
	return true;
}
