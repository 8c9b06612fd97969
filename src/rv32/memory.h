/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of a launch's 32-bit address space. Each buffer has one, so accesses are checked to the
 * byte; overlapping buffers share one. Segments start at multiples of RV32_PAGE_BYTES and share no
 * page. */
#ifndef RV32_MEMORY_H
#define RV32_MEMORY_H

#include <stdint.h>

/* 65,536 entries cover the address space */
#define RV32_PAGE_BYTES 65536u
/* 128 arguments, the core's own, and some more */
#define RV32_SEGMENTS_MAX 160

/* Constants follow the code. */
#define RV32_CODE_BASE     0x00010000u
#define RV32_BUFFER_BASE   0x10000000u
#define RV32_BUFFER_END    0xe0000000u
#define RV32_LOCAL_BASE    0xe0000000u /* the same in every work-group */
#define RV32_ARGUMENT_BASE 0xe8000000u /* argument table and values */
#define RV32_WINDOW_BASE   0xf0000000u
/* private memory ends here, in every work-item */
#define RV32_PRIVATE_END 0xffff0000u

enum rv32_segment_kind {
	RV32_GLOBAL = 1,
	RV32_CONSTANT, /* also arguments of kind constant */
	RV32_LOCAL,    /* added by the core */
	RV32_PRIVATE,  /* added by the core */
	RV32_CODE,     /* added by the core */
	RV32_ARGUMENTS,
	RV32_WINDOW /* an aligned access is one of the host */
};

enum rv32_access { RV32_READ = 1, RV32_WRITE = 2 };

struct rv32_segment {
	uint8_t *host;  /* aligned to 4 */
	uint32_t base;  /* multiple of RV32_PAGE_BYTES */
	uint32_t bytes; /* at least 1; accesses beyond trap */
	uint8_t kind;   /* enum rv32_segment_kind */
	uint8_t access; /* enum rv32_access */
	int16_t argument;
	const char *name; /* argument, for messages; may be NULL */
};

/* `page`: 0: none; i: segments[i - 1]. */
struct rv32_memory {
	uint8_t page[65536];
	struct rv32_segment segments[RV32_SEGMENTS_MAX];
	uint32_t count;
};

void rv32_memory_clear(struct rv32_memory *m);

/* Copies it; host memory and name must outlive the launch. DXP_EINVAL: base no multiple of the
 * page, no bytes, past the address space, or overlap. DXP_ENOMEM: RV32_SEGMENTS_MAX already. */
int rv32_memory_add(struct rv32_memory *m, const struct rv32_segment *segment);

/* Returns the segment on the address' page, or NULL. */
static inline const struct rv32_segment *rv32_memory_find(const struct rv32_memory *m,
							  uint32_t address)
{
	uint32_t index = m->page[address / RV32_PAGE_BYTES];

	return index ? &m->segments[index - 1] : (const struct rv32_segment *)0;
}

#endif
