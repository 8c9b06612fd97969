/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks processes for measurements. Each has a socket pair to its parent, and is killed when that
 * exits. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int control;
};

/* Runs in the new process; `control` is its end of the socket pair. Returning exits with status
 * 0. */
typedef void (*child_body)(int control, void *context);

/* Enters the namespace made by `ip netns add NAME`; NULL: none. Returns DXP_EINVAL or DXP_EIO,
 * logged. */
int child_netns_enter(const char *name);

/* Forks. Returns DXP_EIO, logged, on failure; on success the caller must call child_end. */
int child_spawn(child_body body, void *context, struct child *out);

/* Closes the socket pair, kills the process and waits for it. Ignores pid 0. */
void child_end(struct child *c);

/* Returns the CPU time in ns of a process with its threads; pid 0: the caller. */
uint64_t child_cpu_ns(pid_t pid);

#endif
