/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by libdeflate, and the choice of implementation. */
#include "base/crc32.h"

#include <libdeflate.h>

#define FOLD_MIN 64 /* for shorter input libdeflate is as fast */

uint32_t crc32_plain(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		     size_t count)
{
	uint32_t crc = libdeflate_crc32(0, head, CRC32_HEAD_WORDS * sizeof(*head));

	for (size_t i = 0; i < count; i++)
		if (pieces[i].bytes > 0)
			crc = libdeflate_crc32(crc, pieces[i].data, pieces[i].bytes);
	return crc;
}

uint32_t crc32_of(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		  size_t count)
{
	return crc32_fold_can() ? crc32_fold(head, pieces, count)
				: crc32_plain(head, pieces, count);
}

uint32_t crc32_ieee(uint32_t crc, const void *data, size_t bytes)
{
	return bytes >= FOLD_MIN && crc32_fold_can() ? crc32_fold_ieee(crc, data, bytes)
						     : libdeflate_crc32(crc, data, bytes);
}
