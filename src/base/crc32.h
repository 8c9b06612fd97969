/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet's CRC-32 (reflected polynomial 0xedb88320) of things that lie in pieces, as RoCE's ICRC
 * needs it. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRC32_HEAD_WORDS 6

struct crc32_piece {
	const uint8_t *data;
	size_t bytes;
};

/* Of the words, their least significant bytes first, then the pieces. Words, because what was just
 * written byte by byte is slow to read in one go. */
uint32_t crc32_of(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		  size_t count);

/* Of contiguous bytes: continues `crc`, 0 for the first ones. crc32_ieee(0, "123456789", 9) is
 * 0xcbf43926. Not called crc32, which is zlib's. */
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

/* The two ways, for the tests. False: this processor cannot. */
bool crc32_fold_can(void);
uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		    size_t count);
uint32_t crc32_plain(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		     size_t count);
uint32_t crc32_fold_ieee(uint32_t crc, const uint8_t *data, size_t bytes); /* 16 or more */

#endif
