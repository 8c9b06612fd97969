/* SPDX-License-Identifier: BSD-3-Clause */
/* The sandbox of a worker, which runs code of its host. A kernel may contain machine code, so the
 * worker itself counts as hostile from its first order on. Each part is one mechanism of Linux. If
 * one is missing, the others remain.
 *
 * Works for engines that need files and programs only (`plain` of engine_description). */
#ifndef WORKER_SANDBOX_H
#define WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sandbox_mode {
	SANDBOX_AUTO,   /* all parts that this machine has */
	SANDBOX_OFF,    /* none */
	SANDBOX_STRICT, /* all parts, or no xPU */
	SANDBOX_MODES,
};

/* Bits. */
enum sandbox_part {
	SANDBOX_FILES = 1, /* Landlock: reads system folders, writes its own folders */
	/* seccomp: permits a list of system calls; no sockets, no signals to other processes */
	SANDBOX_CALLS = 2,
	SANDBOX_ALL = SANDBOX_FILES | SANDBOX_CALLS,
};

struct sandbox_options {
	enum sandbox_mode mode;
	/* bytes of address space that a worker may add after its start; 0: no limit */
	uint64_t memory_bytes;
	const char *reads; /* more folders to read, with ':' between them; NULL: none */
};

/* Parses "auto", "off" or "strict". */
bool sandbox_mode_parse(const char *text, enum sandbox_mode *out);

/* Returns the parts that this machine has. */
uint32_t sandbox_available(void);
/* Writes the names of parts, such as "files (Landlock), system calls (seccomp)". */
void sandbox_parts_text(uint32_t parts, char *out, size_t space);

/* Prepares the rules about files. Returns a descriptor for sandbox_enter(). `writes`, `reads`:
 * folders, up to a NULL entry; `more`: see sandbox_options.reads. -1: it failed; logged. */
int sandbox_rules(const char *const *writes, const char *const *reads, const char *more);

/* Enters the sandbox permanently; the calling process must have one thread. `rules`: descriptor of
 * sandbox_rules(), if `parts` has FILES. Returns false if the kernel does not permit it; logged. */
bool sandbox_enter(uint32_t parts, int rules, uint64_t memory_bytes);

/* sandbox_calls.c: limits the system calls of this thread and of threads and processes it starts.
 * Returns false with errno set. */
bool sandbox_calls_limit(void);

#endif
