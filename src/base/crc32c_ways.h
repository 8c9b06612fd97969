/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C implementations, on the raw remainder; crc32c() inverts before and after. */
#ifndef BASE_CRC32C_WAYS_H
#define BASE_CRC32C_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRC32C_POLYNOMIAL 0x82f63b78u /* reflected: bit 31 is x^0 */

struct crc32c_way {
	const char *name;
	/* creates tables; false: this processor cannot run it */
	bool (*prepare)(void);
	/* after `prepare` */
	uint32_t (*run)(uint32_t crc, const uint8_t *p, size_t bytes);
};

/* Fastest first; the last one runs anywhere. */
extern const struct crc32c_way crc32c_ways[];
extern const size_t crc32c_way_count;

/* Functions of crc32c_x86.c, which other processors do not have. */
bool crc32c_fold_prepare(void);
uint32_t crc32c_fold_run(uint32_t crc, const uint8_t *p, size_t bytes);
bool crc32c_lanes_prepare(void);
uint32_t crc32c_lanes_run(uint32_t crc, const uint8_t *p, size_t bytes);

#endif
