/* SPDX-License-Identifier: BSD-3-Clause */
/* The sandbox of a worker, which runs code of its host. A kernel may contain machine code, so the
 * worker itself counts as hostile from its first order on. Each part of the sandbox is one
 * mechanism of Linux. If one part is missing, the others remain.
 *
 * Works only for engines that need no devices, only files and programs (`plain` of
 * engine_description). */
#ifndef WORKER_SANDBOX_H
#define WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sandbox_mode {
	SANDBOX_AUTO,   /* all parts that this machine supports */
	SANDBOX_OFF,    /* no part */
	SANDBOX_STRICT, /* all parts; if this machine lacks one, the xPU does not start */
	SANDBOX_MODES,
};

/* Parts of a sandbox, as bits. */
enum sandbox_part {
	/* Landlock: the worker reads system folders and writes only its own folders */
	SANDBOX_FILES = 1,
	/* seccomp: permits only listed system calls; no sockets, no signals to other processes */
	SANDBOX_CALLS = 2,
	SANDBOX_ALL = SANDBOX_FILES | SANDBOX_CALLS,
};

struct sandbox_options {
	enum sandbox_mode mode;
	/* bytes of address space that a worker may add after its start; 0: no limit */
	uint64_t memory_bytes;
	/* further folders that workers may read, with ':' between them; NULL: none */
	const char *reads;
};

/* Parses "auto", "off" or "strict". Returns false for other text. */
bool sandbox_mode_parse(const char *text, enum sandbox_mode *out);

/* Returns the parts that this machine supports, as bits of enum sandbox_part. */
uint32_t sandbox_available(void);
/* Writes the names of parts, such as "files (Landlock), system calls (seccomp)". */
void sandbox_parts_text(uint32_t parts, char *out, size_t space);

/* Prepares the rules about files. Returns a descriptor for sandbox_enter(). `writes` and `reads`
 * are lists of folders that end with NULL; `more`: see sandbox_options.reads. Returns -1, logged,
 * if it failed. */
int sandbox_rules(const char *const *writes, const char *const *reads, const char *more);

/* Enters the sandbox permanently. The calling process must have one thread. `rules`: descriptor
 * from sandbox_rules(), if `parts` has SANDBOX_FILES. Returns false, logged, if Linux does not
 * permit it. */
bool sandbox_enter(uint32_t parts, int rules, uint64_t memory_bytes);

/* sandbox_calls.c
 * Limits the system calls of this thread, and of the threads and processes that it starts. Returns
 * false with errno set. */
bool sandbox_calls_limit(void);

#endif
