/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of a raw measurement: the caller, and a forked process that may enter another
 * network namespace. They exchange addresses over a socket pair, connect to each other, and at the
 * end the far one sends a report. */
#ifndef BENCH_RAW_ENDS_H
#define BENCH_RAW_ENDS_H

#include <sys/types.h>
#include <time.h>

#include "bench/raw_udp.h"

#define RAW_PATIENCE_S 2 /* silence on loopback or a cable for so long: something was lost */

/* The far end's last words. */
struct far_report {
	int status;
	uint64_t bytes;  /* received */
	uint64_t cpu_ns; /* of its measuring thread */
};

struct far_end {
	pid_t pid;
	int control; /* our end of a socket pair to it */
	int fd;      /* our UDP socket, connected to its */
};

/* What the far end does with its connected socket. */
typedef struct far_report (*far_main)(int fd, const void *options);

/* Forks the far end and connects both. On success far_stop must follow. DXP_EIO, logged. */
int far_start(struct far_end *far, const struct raw_ends *ends, far_main run, const void *options);

/* Waits for the far end, kills it first if `failed`, and returns its report. */
struct far_report far_stop(struct far_end *far, bool failed);

/* recv without sleeping. Returns the bytes, -1 when RAW_PATIENCE_S went by in silence. */
ssize_t raw_receive_spinning(int fd, void *buffer, size_t bytes);

uint64_t raw_clock_ns(clockid_t id);

#endif
