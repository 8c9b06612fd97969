/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet's CRC-32 (reflected polynomial 0xedb88320) over data in pieces. RoCE's ICRC uses it. */
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

/* Returns the CRC of the head (least significant bytes first) followed by the pieces. The head
 * consists of words, because a wide load of bytes that were just stored one by one is slow. */
uint32_t crc32_of(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		  size_t count);

/* Continues `crc` (0 at first) over contiguous bytes. crc32_ieee(0, "123456789", 9) is 0xcbf43926.
 * The function is not named crc32, because zlib has that name. */
uint32_t crc32_ieee(uint32_t crc, const void *data, size_t bytes);

/* Table that advances the CRC of a head over the `bytes` bytes of a block behind it. With it, the
 * CRC of a block is computed once, even if the block follows many different heads. */
struct crc32_shift {
	size_t bytes;
	uint32_t table[4][256];
};

/* Fills the table for blocks of `bytes` bytes, in about 50 us. */
void crc32_shift_make(struct crc32_shift *s, size_t bytes);

/* Returns the CRC of two blocks together. `front` and `back` are the CRCs of the blocks; `s` was
 * made for the length of the second block. */
static inline uint32_t crc32_join(const struct crc32_shift *s, uint32_t front, uint32_t back)
{
	return s->table[0][front & 255] ^ s->table[1][front >> 8 & 255] ^
	       s->table[2][front >> 16 & 255] ^ s->table[3][front >> 24] ^ back;
}

/* Two implementations, for tests: crc32_fold, and crc32_plain, which runs on all processors.
 * crc32_fold_can returns false if the processor cannot run crc32_fold. */
bool crc32_fold_can(void);
uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		    size_t count);
uint32_t crc32_plain(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		     size_t count);
/* `bytes` must be at least 16. */
uint32_t crc32_fold_ieee(uint32_t crc, const uint8_t *data, size_t bytes);

#endif
