/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet's CRC-32 (reflected polynomial 0xedb88320) over pieces, for RoCE's ICRC. */
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

/* The CRC of the head (least significant bytes first), then the pieces. The head has words, because
 * a wide load of bytes just stored one by one is slow. */
uint32_t crc32_of(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		  size_t count);

/* Continues `crc` (0 at first). crc32_ieee(0, "123456789", 9) is 0xcbf43926. zlib has the name
 * crc32. */
uint32_t crc32_ieee(uint32_t crc, const void *data, size_t bytes);

/* Advances a head's CRC over a block of `bytes` behind it, so that the block's CRC is computed once
 * for many heads. */
struct crc32_shift {
	size_t bytes;
	uint32_t table[4][256];
};

/* Fills the table for blocks of `bytes`, in about 50 us. */
void crc32_shift_make(struct crc32_shift *s, size_t bytes);

/* Returns the CRC of two blocks; `s` is made for the second one's length. */
static inline uint32_t crc32_join(const struct crc32_shift *s, uint32_t front, uint32_t back)
{
	return s->table[0][front & 255] ^ s->table[1][front >> 8 & 255] ^
	       s->table[2][front >> 16 & 255] ^ s->table[3][front >> 24] ^ back;
}

/* Tests call crc32_fold, which not all processors can run, and crc32_plain, which runs on all. */
bool crc32_fold_can(void);
uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		    size_t count);
uint32_t crc32_plain(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		     size_t count);
/* `bytes` is at least 16. */
uint32_t crc32_fold_ieee(uint32_t crc, const uint8_t *data, size_t bytes);

#endif
