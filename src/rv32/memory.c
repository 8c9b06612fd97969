/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of segments. */
#include "rv32/memory.h"

#include <string.h>

#include <dxp/status.h>

static uint32_t last_page(const struct rv32_segment *s)
{
	return (s->base + (s->bytes - 1)) / RV32_PAGE_BYTES;
}

void rv32_memory_clear(struct rv32_memory *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct rv32_segment *s = &m->segments[i];
		uint32_t first = s->base / RV32_PAGE_BYTES;

		memset(m->page + first, 0, last_page(s) - first + 1);
	}
	m->count = 0;
}

int rv32_memory_add(struct rv32_memory *m, const struct rv32_segment *segment)
{
	const uint32_t first = segment->base / RV32_PAGE_BYTES;

	if (segment->base % RV32_PAGE_BYTES || segment->bytes == 0 || !segment->host ||
	    segment->bytes - 1 > UINT32_MAX - segment->base)
		return DXP_EINVAL;
	if (m->count == RV32_SEGMENTS_MAX)
		return DXP_ENOMEM;
	for (uint32_t page = first; page <= last_page(segment); page++)
		if (m->page[page])
			return DXP_EINVAL;
	m->segments[m->count++] = *segment;
	memset(m->page + first, (int)m->count, last_page(segment) - first + 1);
	return DXP_OK;
}
