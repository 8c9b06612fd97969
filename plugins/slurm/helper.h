/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs `dxp` as a process with a deadline, so that a manager that does not answer blocks a daemon
 * of Slurm only until then. */
#ifndef SLURM_HELPER_H
#define SLURM_HELPER_H

#include <stddef.h>
#include <stdint.h>

enum helper_result {
	HELPER_DONE,     /* exit status 0 */
	HELPER_FAILED,   /* other exit status, or not started */
	HELPER_KILLED,   /* ended by a signal of another process */
	HELPER_TIMED_OUT /* killed at the deadline */
};

/* Runs argv[0], a path, with an environment of its own and without input. Waits until it exits, at
 * the latest until the deadline, when it is killed. `out` gets the first bytes of its output and
 * errors without the last newline, or the reason why it did not start. */
enum helper_result helper_run(const char *const argv[], uint64_t deadline_ns, char *out,
			      size_t bytes);

#endif
