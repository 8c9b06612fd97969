/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/board_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/log.h"

int board_memory_get(uint64_t bytes, uint8_t **out)
{
	if (bytes == 0)
		return DXP_EINVAL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		log_error("cannot map %llu MiB of a board's memory: %s; use a smaller --memory",
			  (unsigned long long)(bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	/* Hints: no copy in child processes, huge pages for cheaper first use. */
	madvise(memory, bytes, MADV_DONTFORK);
	madvise(memory, bytes, MADV_HUGEPAGE);
	*out = memory;
	return DXP_OK;
}

void board_memory_put(uint8_t *memory, uint64_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}
