/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a launch: segments of a 32-bit address space. Each buffer has a segment, so that
 * accesses are checked to the exact byte; buffers that overlap share one. A segment starts at a
 * multiple of RV32_PAGE_BYTES, and no two segments share a page. */
#ifndef RV32_MEMORY_H
#define RV32_MEMORY_H

#include <stdint.h>

/* bytes per page: 65,536 entries of the page table cover the address space */
#define RV32_PAGE_BYTES 65536u
/* segments of a launch: 128 arguments, the core's own segments, and some more */
#define RV32_SEGMENTS_MAX 160

/* Fixed addresses. Code begins at RV32_CODE_BASE, and constants follow it. Buffers lie from
 * RV32_BUFFER_BASE to RV32_BUFFER_END. */
#define RV32_CODE_BASE     0x00010000u
#define RV32_BUFFER_BASE   0x10000000u
#define RV32_BUFFER_END    0xe0000000u
#define RV32_LOCAL_BASE    0xe0000000u /* LOCAL memory: the same addresses in every work-group */
#define RV32_ARGUMENT_BASE 0xe8000000u /* argument table and argument values */
#define RV32_WINDOW_BASE   0xf0000000u
/* private memory ends here, at the same addresses in every work-item */
#define RV32_PRIVATE_END 0xffff0000u

enum rv32_segment_kind {
	RV32_GLOBAL = 1,
	RV32_CONSTANT, /* constants of the program, and arguments of kind constant */
	RV32_LOCAL,    /* LOCAL memory; the core adds this segment */
	RV32_PRIVATE,  /* private memory; the core adds this segment */
	RV32_CODE,     /* code of the program; the core adds this segment */
	RV32_ARGUMENTS,
	RV32_WINDOW /* NIC window: each aligned access is one access of the host */
};

enum rv32_access { RV32_READ = 1, RV32_WRITE = 2 };

struct rv32_segment {
	uint8_t *host;  /* host address of the first byte, aligned to 4 */
	uint32_t base;  /* device address, a multiple of RV32_PAGE_BYTES */
	uint32_t bytes; /* length, 1 or more; accesses beyond it trap */
	uint8_t kind;   /* enum rv32_segment_kind */
	uint8_t access; /* bits of enum rv32_access */
	int16_t argument;
	const char *name; /* name of the argument, for messages; may be NULL */
};

/* Table of segments. `page` has an entry for each page of the address space: 0: no segment; i:
 * segments[i - 1]. */
struct rv32_memory {
	uint8_t page[65536];
	struct rv32_segment segments[RV32_SEGMENTS_MAX];
	uint32_t count;
};

/* Removes all segments. */
void rv32_memory_clear(struct rv32_memory *m);

/* Adds a copy of a segment. The host memory and the name must outlive the launch.
 * Errors: DXP_EINVAL: the base is not a multiple of the page, the segment has no bytes, ends past
 * the address space, or overlaps another segment. DXP_ENOMEM: there are RV32_SEGMENTS_MAX segments
 * already. */
int rv32_memory_add(struct rv32_memory *m, const struct rv32_segment *segment);

/* Returns the segment to which the page of an address belongs, or NULL. */
static inline const struct rv32_segment *rv32_memory_find(const struct rv32_memory *m,
							  uint32_t address)
{
	uint32_t index = m->page[address / RV32_PAGE_BYTES];

	return index ? &m->segments[index - 1] : (const struct rv32_segment *)0;
}

#endif
