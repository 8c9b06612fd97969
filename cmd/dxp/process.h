/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages processes that outlive the command that started them. A process is identified by its id
 * and start time, so a later process with the same id is not confused with it. */
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

/* Writes the path of a file relative to this program's folder. Returns false if it does not
 * exist. */
bool process_beside(const char *name, char *out, size_t bytes);

/* Finds a program of this project: in this program's folder, else in PATH. */
void process_program(const char *name, char *out, size_t bytes);

/* Starts argv[0] in its own session, with output appended to a log file. Returns false after it has
 * printed the reason. */
bool process_start(const char *const argv[], const char *log, struct process *out);

/* Returns whether the process runs; a zombie does not. */
bool process_alive(const struct process *p);

/* Writes how a child of this process exited: "signal 9 (Killed)", "exit status 3"; "" if unknown.
 * Reaps the child. */
void process_end_text(const struct process *p, char *out, size_t bytes);

/* Checks that /proc is readable, which process_alive needs. Returns false after it has printed the
 * reason. */
bool process_table_check(void);

/* Stops processes in parallel: SIGTERM, then SIGKILL for those that still run after `patience_ns`.
 * Moves the processes that still run after that to the front of `p` and returns their number.
 * Prints a message with the next step for each. */
unsigned processes_end(struct process *p, unsigned count, uint64_t patience_ns);

#endif
