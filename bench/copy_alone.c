/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures memcpy by one core, in as much memory as the table's PUTs use: the minimal cost of a
 * copy. */
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/contenders.h"

#define LOOKS_BYTES (4u << 20) /* bytes between two reads of the clock */

static void *memory_get(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void copy_run(const struct work *work, uint8_t *to, const uint8_t *from, uint64_t count,
		     uint64_t end_ns, uint64_t *done)
{
	uint64_t each = work->bytes < LOOKS_BYTES ? LOOKS_BYTES / work->bytes : 1;

	for (*done = 0; *done < count && clock_now_ns() < end_ns; *done += each) {
		for (uint64_t i = 0; i < each; i++) {
			uint64_t at = work_offset(work, *done + i);
			memcpy(to + at, from + at, work->bytes);
			/* keeps the copy from being optimized away */
			__asm__ volatile("" ::: "memory");
		}
	}
}

int copy_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
	       struct tally *tally)
{
	uint64_t bytes = work_region_bytes(work), done;
	uint8_t *to = memory_get(bytes), *from = memory_get(bytes);

	(void)ends;
	(void)datagram_bytes;
	if (!to || !from)
		return DXP_ENOMEM;
	memset(from, 1, bytes);
	copy_run(work, to, from, work->warmup, clock_now_ns() + work->budget_ns, &done);
	tally->begin_ns = clock_now_ns();
	copy_run(work, to, from, work->count, tally->begin_ns + work->budget_ns, &done);
	tally->end_ns = clock_now_ns();
	tally->done = done;
	return DXP_OK;
}
