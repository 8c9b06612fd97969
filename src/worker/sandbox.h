/* SPDX-License-Identifier: BSD-3-Clause */
/* The sandbox of a worker. A kernel may contain machine code, so the worker counts as hostile from
 * its first order on. Each part is one mechanism of Linux; if one is missing, the others remain.
 *
 *  Only for engines that need no devices (`plain` of engine_description). */
#ifndef WORKER_SANDBOX_H
#define WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sandbox_mode {
	SANDBOX_AUTO, /* what this machine supports */
	SANDBOX_OFF,
	SANDBOX_STRICT, /* all; if one is missing, the xPU does not start */
	SANDBOX_MODES,
};

enum sandbox_part {
	/* Landlock: reads system folders, writes only its own */
	SANDBOX_FILES = 1,
	/* seccomp: only listed system calls; no sockets, no signals to others */
	SANDBOX_CALLS = 2,
	SANDBOX_ALL = SANDBOX_FILES | SANDBOX_CALLS,
};

struct sandbox_options {
	enum sandbox_mode mode;
	/* address space added after the start; 0: no limit */
	uint64_t memory_bytes;
	/* further readable folders, with ':' between them; NULL: none */
	const char *reads;
};

/* "auto", "off" or "strict"; false for other text. */
bool sandbox_mode_parse(const char *text, enum sandbox_mode *out);

/* Bits of enum sandbox_part that this machine supports. */
uint32_t sandbox_available(void);
/* Such as "files (Landlock), system calls (seccomp)". */
void sandbox_parts_text(uint32_t parts, char *out, size_t space);

/* Returns a descriptor of rules for sandbox_enter(); -1, logged: failed. `writes`, `reads`:
 * folders, ending with NULL; `more`: see sandbox_options.reads. */
int sandbox_rules(const char *const *writes, const char *const *reads, const char *more);

/* Permanent; the process must have one thread. `rules`: for SANDBOX_FILES. False, logged: not
 * permitted. */
bool sandbox_enter(uint32_t parts, int rules, uint64_t memory_bytes);

/* sandbox_calls.c. For this thread, and threads and processes that it starts. False: errno is
 * set. */
bool sandbox_calls_limit(void);

#endif
