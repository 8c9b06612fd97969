/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the fastest implementation at the first call; has the portable one, eight bytes at a time
 * by tables. */
#include "base/crc32c.h"

#include <stdatomic.h>
#include <string.h>
#include <pthread.h>

#include "base/crc32c_ways.h"

static uint32_t byte_table[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static uint32_t table_step(uint32_t crc, uint8_t byte)
{
	return byte_table[0][(crc ^ byte) & 0xff] ^ (crc >> 8);
}

static void tables_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >> 1) ^ CRC32C_POLYNOMIAL : crc >> 1;
		byte_table[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int slice = 1; slice < 8; slice++)
			byte_table[slice][i] = table_step(byte_table[slice - 1][i], 0);
}

static bool tables_prepare(void)
{
	pthread_once(&tables_once, tables_make);
	return true;
}

static uint32_t tables_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	for (; bytes >= 8; bytes -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, sizeof(word));
		word ^= crc;
		crc = 0;
		for (int i = 0; i < 8; i++)
			crc ^= byte_table[7 - i][(word >> (8 * i)) & 0xff];
	}
	for (; bytes > 0; bytes--)
		crc = table_step(crc, *p++);
	return crc;
}

const struct crc32c_way crc32c_ways[] = {
#ifdef __x86_64__
	{"folding", crc32c_fold_prepare, crc32c_fold_run},
	{"lanes", crc32c_lanes_prepare, crc32c_lanes_run},
#endif
	{"tables", tables_prepare, tables_run},
};
const size_t crc32c_way_count = sizeof(crc32c_ways) / sizeof(crc32c_ways[0]);

typedef uint32_t (*run_function)(uint32_t crc, const uint8_t *p, size_t bytes);

static uint32_t choose_and_run(uint32_t crc, const uint8_t *p, size_t bytes);

static _Atomic run_function chosen = choose_and_run;

/* Runs at the first call of crc32c(); concurrent threads select the same. */
static uint32_t choose_and_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	const struct crc32c_way *way = crc32c_ways;

	while (!way->prepare())
		way++;
	/* Pairs with the acquire in crc32c, so that readers of the selection see its tables. */
	atomic_store_explicit(&chosen, way->run, memory_order_release);
	return way->run(crc, p, bytes);
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	return ~atomic_load_explicit(&chosen, memory_order_acquire)(~crc, data, bytes);
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
	tables_prepare();
	return ~tables_run(~crc, data, bytes);
}
