/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), by processor instructions if present. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc`, at first 0. crc32c(0, "123456789", 9) is 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* Computes crc32c without special instructions, for tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
