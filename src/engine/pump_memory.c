/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/pump_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/log.h"

#define HUGE_BYTES (2ull << 20)

/* Keeps `bytes` from the first huge page on; unmaps the rest. */
static uint8_t *trim(uint8_t *base, uint64_t mapped, uint64_t bytes)
{
	uint64_t before = -(uint64_t)(uintptr_t)base % HUGE_BYTES;
	uint64_t after = mapped - before - bytes;

	if (before > 0)
		munmap(base, before);
	if (after > 0)
		munmap(base + before + bytes, after);
	return base + before;
}

int pump_memory_map(struct engine *engine, uint64_t bytes, struct pump_memory *out)
{
	uint64_t mapped = bytes >= HUGE_BYTES ? bytes + HUGE_BYTES : bytes;
	uint8_t *base =
		mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED) {
		log_error("cannot map %llu KiB for buffers of DMA: %s; use fewer or smaller "
			  "buffers",
			  (unsigned long long)(bytes >> 10), strerror(errno));
		return DXP_ENOMEM;
	}
	if (mapped > bytes) {
		base = trim(base, mapped, bytes);
		madvise(base, bytes, MADV_HUGEPAGE); /* small pages work too */
	}
	/* So that the first transfer need not wait. */
	madvise(base, bytes, MADV_POPULATE_WRITE);
	int status = engine_pin(engine, base, bytes);
	if (status != DXP_OK && status != DXP_EUNSUPPORTED) {
		log_error(
			"cannot pin %llu KiB for buffers of DMA: %s; use fewer or smaller buffers, "
			"or raise the limit of locked memory (ulimit -l)",
			(unsigned long long)(bytes >> 10), dxp_status_text(status));
		munmap(base, bytes);
		return status;
	}
	*out = (struct pump_memory){.base = base, .bytes = bytes, .pinned = status == DXP_OK};
	return DXP_OK;
}

void pump_memory_unmap(struct engine *engine, struct pump_memory *m)
{
	if (m->pinned)
		engine_unpin(engine, m->base);
	if (m->base)
		munmap(m->base, m->bytes);
	*m = (struct pump_memory){0};
}
