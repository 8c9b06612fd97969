/* SPDX-License-Identifier: BSD-3-Clause */
/* A WRITE, COPY or FILL as the daemon keeps it and the worker receives it: decoded once,
 * without pointers, as a launch (run.h). */
#ifndef WORKER_EDIT_H
#define WORKER_EDIT_H

#include "wire/command.h"

/* Space for `needs` and the bytes of `data` follow the struct. */
struct worker_edit {
	uint64_t event;       /* event of this command, or 0 */
	uint64_t from, to;    /* device addresses; `from` only for COPY */
	struct dxp_rect rect; /* COPY, FILL */
	uint16_t bytes;       /* of the whole edit */
	uint16_t data_bytes;  /* WRITE: bytes to write; FILL: pattern */
	uint16_t data;        /* offset of these bytes from the struct */
	/* Events of earlier orders that must have succeeded, set by the daemon before the start. At
	 * most those for which the command waits. */
	uint8_t need_count;
	uint8_t op;
	uint64_t needs[];
};

/* Returns the bytes that worker_edit_make() needs for a valid WRITE, COPY or FILL. */
uint32_t worker_edit_bytes(const struct command *c);
/* `out` has worker_edit_bytes() bytes and is aligned to 8. */
void worker_edit_make(const struct command *c, struct worker_edit *out);

static inline const void *worker_edit_data(const struct worker_edit *e)
{
	return (const char *)e + e->data;
}

#endif
