/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the two ends of a raw measurement: the caller, and a forked process that may enter
 * another network namespace. They exchange addresses over a socket pair and connect to each other.
 * At its end, the forked process sends a report. */
#ifndef BENCH_RAW_ENDS_H
#define BENCH_RAW_ENDS_H

#include <sys/types.h>
#include <time.h>

#include "bench/raw_udp.h"

/* s; if nothing arrives for this time on loopback or on a cable, a datagram was lost */
#define RAW_PATIENCE_S 2

/* The report that the far end sends last. */
struct far_report {
	int status;
	uint64_t bytes;  /* bytes received */
	uint64_t cpu_ns; /* ns; CPU time of the thread that measures */
};

struct far_end {
	pid_t pid;
	int control; /* caller's end of a socket pair */
	int fd;      /* caller's UDP socket, connected to the far end */
};

/* Body of the far end, with its connected socket. */
typedef struct far_report (*far_main)(int fd, const void *options);

/* Forks the far end and connects both ends. Returns DXP_EIO, logged, on failure. On success the
 * caller must call raw_far_stop later. */
int raw_far_start(struct far_end *far, const struct raw_ends *ends, far_main run,
		  const void *options);

/* Kills the far end if `failed`, waits for it, and returns its report. */
struct far_report raw_far_stop(struct far_end *far, bool failed);

/* Receives without sleeping. Returns the bytes, or -1 after RAW_PATIENCE_S of silence. */
ssize_t raw_receive_spinning(int fd, void *buffer, size_t bytes);

uint64_t raw_clock_ns(clockid_t id);

#endif
