/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the caller to a forked process, perhaps in another network namespace, over a socket
 * pair. */
#ifndef BENCH_RAW_ENDS_H
#define BENCH_RAW_ENDS_H

#include <sys/types.h>
#include <time.h>

#include "bench/raw_udp.h"

/* s of silence, on loopback or a cable, that mean a lost datagram */
#define RAW_PATIENCE_S 2

struct far_report {
	int status;
	uint64_t bytes;  /* bytes received */
	uint64_t cpu_ns; /* of the measuring thread */
};

struct far_end {
	pid_t pid;
	int control;
	int fd;
};

typedef struct far_report (*far_main)(int fd, const void *options);

/* Forks and connects the far end. Returns DXP_EIO, logged, on failure; on success the caller must
 * call raw_far_stop. */
int raw_far_start(struct far_end *far, const struct raw_ends *ends, far_main run,
		  const void *options);

/* Kills the far end if `failed`, waits for it, and returns its report. */
struct far_report raw_far_stop(struct far_end *far, bool failed);

/* Never sleeps. Returns the bytes, or -1 after RAW_PATIENCE_S of silence. */
ssize_t raw_receive_spinning(int fd, void *buffer, size_t bytes);

uint64_t raw_clock_ns(clockid_t id);

#endif
