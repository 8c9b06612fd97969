/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), with the processor's instruction where it has one.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 for the first piece) over `bytes` more; pieces may be of any size. crc32c(0,
 * "123456789", 9) is 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* The same without special instructions: for machines that lack them, and to test the fast one
 * against. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
