/* SPDX-License-Identifier: BSD-3-Clause */
/* A WRITE, COPY, FILL or MARK as the daemon keeps it and the worker receives it: decoded once and
 * without pointers, like a launch (run.h). */
#ifndef WORKER_EDIT_H
#define WORKER_EDIT_H

#include "wire/command.h"

/* Followed by space for events, and by the data. */
struct worker_edit {
	uint64_t event;       /* its own event, or 0 */
	uint64_t from, to;    /* device addresses; `from`: COPY */
	struct dxp_rect rect; /* COPY, FILL */
	uint16_t bytes;       /* size of the whole edit */
	uint16_t data_bytes;  /* WRITE: the bytes; FILL: the pattern */
	uint16_t data;        /* offset */
	/* Events of earlier orders that must have succeeded; set by the daemon before the start, at
	 * most as many as the command waits for. */
	uint8_t need_count;
	uint8_t op;
	uint64_t needs[];
};

/* Returns the bytes that worker_edit_make needs for a valid WRITE, COPY, FILL or MARK. */
uint32_t worker_edit_bytes(const struct command *c);
/* Copies a valid command to `out`, of worker_edit_bytes and aligned to 8. */
void worker_edit_make(const struct command *c, struct worker_edit *out);

static inline const void *worker_edit_data(const struct worker_edit *e)
{
	return (const char *)e + e->data;
}

#endif
