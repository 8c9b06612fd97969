/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 as Ethernet and zlib have it. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 for the first piece) over `bytes` more; pieces may be of any size.
 * crc32_ieee(0, "123456789", 9) is 0xcbf43926. Not called crc32, which is zlib's. */
uint32_t crc32_ieee(uint32_t crc, const void *data, size_t bytes);

/* What moves a sum over this many bytes that come behind: for a block that goes out behind many
 * heads, and is summed once. */
struct crc32_shift {
	size_t bytes;
	uint32_t table[4][256];
};

/* Takes some 50 us. */
void crc32_shift_make(struct crc32_shift *s, size_t bytes);

/* The sum of front and back together; s is for the bytes of back. */
static inline uint32_t crc32_join(const struct crc32_shift *s, uint32_t front, uint32_t back)
{
	return s->table[0][front & 255] ^ s->table[1][front >> 8 & 255] ^
	       s->table[2][front >> 16 & 255] ^ s->table[3][front >> 24] ^ back;
}

#endif
