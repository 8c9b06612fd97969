/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 as Ethernet and zlib have it. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 for the first piece) over `bytes` more; pieces may be of any size.
 * crc32_ieee(0, "123456789", 9) is 0xcbf43926. Not called crc32, which is zlib's. */
uint32_t crc32_ieee(uint32_t crc, const void *data, size_t bytes);

#endif
