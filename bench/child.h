/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a measurement: forked, in a network namespace if asked, tied to us by a socket pair
 * and by their life, which ends with ours. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int control; /* our end of a socket pair to it */
};

/* What the new process does; `control` is its end of the socket pair. When it returns the process
 * ends with status 0. */
typedef void (*child_body)(int control, void *context);

/* Enters the namespace that `ip netns add NAME` made; NULL: stays. DXP_EINVAL, DXP_EIO: logged. */
int netns_enter(const char *name);

/* Forks. DXP_EIO, logged; on success child_end must follow. */
int child_spawn(child_body body, void *context, struct child *out);

/* Closes the socket pair, kills the process and waits for it. One that was never spawned (pid 0) is
 * left alone. */
void child_end(struct child *c);

/* CPU time that a process has used so far, in ns, its threads included; 0 = ours. */
uint64_t child_cpu_ns(pid_t pid);

#endif
