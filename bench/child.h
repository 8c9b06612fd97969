/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the processes of a measurement. Each is forked, optionally into a network namespace, and has
 * a socket pair to its parent. A process is killed when its parent exits. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int control; /* parent's end of the socket pair */
};

/* Body of the new process; `control` is the process's end of the socket pair. When the body
 * returns, the process exits with status 0. */
typedef void (*child_body)(int control, void *context);

/* Enters the namespace made by `ip netns add NAME`; NULL: no change. Returns DXP_EINVAL or DXP_EIO,
 * logged, on failure. */
int child_netns_enter(const char *name);

/* Forks. Returns DXP_EIO, logged, on failure. On success the caller must call child_end later. */
int child_spawn(child_body body, void *context, struct child *out);

/* Closes the socket pair, kills the process and waits for it. Does nothing for a child that was
 * never spawned (pid 0). */
void child_end(struct child *c);

/* Returns the CPU time of a process and its threads so far, in ns; pid 0: the caller. */
uint64_t child_cpu_ns(pid_t pid);

#endif
