/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the progress of a long transfer or start: one line on standard error, overwritten in place,
 * from the first second on, and only on a terminal. */
#ifndef CMD_DXP_PROGRESS_H
#define CMD_DXP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* name of the operation: "put", "get", "up" */
	uint64_t total;   /* bytes; 0: unknown */
	uint64_t begin_ns, next_ns;
	bool shown;
};

void progress_begin(struct progress *p, const char *what, uint64_t total_bytes);
void progress_step(struct progress *p, uint64_t moved_bytes);
/* Updates the line, for operations that count something else than bytes. */
void progress_count(struct progress *p, uint64_t done, uint64_t total);
void progress_end(struct progress *p);

#endif
