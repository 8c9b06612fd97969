/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long transfer, or the start of many parts, is: a line on standard error that is written
 * over, once it has lasted a second and where somebody sees it. */
#ifndef CMD_DXP_PROGRESS_H
#define CMD_DXP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "put", "get", "up" */
	uint64_t total;   /* bytes; 0: unknown */
	uint64_t begin_ns, next_ns;
	bool shown;
};

void progress_begin(struct progress *p, const char *what, uint64_t total_bytes);
void progress_step(struct progress *p, uint64_t moved_bytes);
/* The same for things that are counted. */
void progress_count(struct progress *p, uint64_t done, uint64_t total);
/* Takes the line away. */
void progress_end(struct progress *p);

#endif
