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

/* The two ways, for the tests. False: this processor cannot. */
bool crc32_fold_can(void);
uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		    size_t count);
uint32_t crc32_plain(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		     size_t count);

#endif
