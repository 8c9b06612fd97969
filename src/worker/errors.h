/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error of all workers: a pipe that the zygote reads. Copies lines to its own standard
 * error, without control characters and at a limited rate. */
#ifndef WORKER_ERRORS_H
#define WORKER_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/limits.h"

struct worker_errors {
	int read_fd;  /* non-blocking, of the zygote */
	int write_fd; /* end that workers write to */
	char line[WORKER_ERROR_BYTES];
	size_t bytes; /* bytes of the incomplete line */
	uint64_t since_ns;
	uint32_t lines; /* written since then */
};

/* DXP_EIO. */
int worker_errors_open(struct worker_errors *e);
/* Copies what is in the pipe. */
void worker_errors_copy(struct worker_errors *e);

#endif
