/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that outlive the command which started them. One is known by its id and the time it
 * started, so that a later process with the same id is never taken for it. */
#ifndef CMD_DXP_PROCESS_H
#define CMD_DXP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_NAME_BYTES 32

struct process {
	char name[PROCESS_NAME_BYTES];
	pid_t pid;
	uint64_t start; /* clock ticks after boot, field 22 of /proc/PID/stat */
};

/* The path of a file named from the folder of this program. False: it is not there. */
bool process_beside(const char *name, char *out, size_t bytes);

/* Where a program of ours is: beside this one, else as PATH finds it. */
void process_program(const char *name, char *out, size_t bytes);

/* Starts argv[0] in a session of its own, its output appended to a log file. False: said why. */
bool process_start(const char *const argv[], const char *log, struct process *out);

/* It runs. A zombie does not. */
bool process_alive(const struct process *p);

/* Writes how a child of this process ended: "signal 9 (Killed)", "exit status 3". "" where the
 * system does not report it. Takes the child off the table of processes. */
void process_end_text(const struct process *p, char *out, size_t bytes);

/* False, after a message: no /proc, without which no process is known again. */
bool process_table_check(void);

/* Ends processes, all at the same time: SIGTERM, then SIGKILL for those that have not ended after
 * `patience_ns`. Returns how many have not ended then, which are the first ones of `p` from now on;
 * said for each, with the next step. */
unsigned processes_end(struct process *p, unsigned count, uint64_t patience_ns);

#endif
