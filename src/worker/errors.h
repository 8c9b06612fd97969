/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error of a worker: a pipe that the zygote reads. Copies lines to its own standard error,
 * without control characters and at a limited rate. Each worker has its own pipe: a process can
 * open the other end of a pipe that it has, and could read text of other workers. */
#ifndef WORKER_ERRORS_H
#define WORKER_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/limits.h"

struct worker_errors {
	int read_fd; /* the zygote's end, non-blocking; -1: closed */
	char line[WORKER_ERROR_BYTES];
	size_t bytes; /* bytes of the incomplete line */
	uint64_t since_ns;
	uint32_t lines; /* written since then */
};

/* Makes the pipe; *write_fd is the end for the worker, which the caller closes. DXP_EIO. */
int worker_errors_open(struct worker_errors *e, int *write_fd);
/* Copies the text in the pipe, up to a bound; closes the pipe if the worker has closed its end. */
void worker_errors_copy(struct worker_errors *e);
/* Copies the rest of the text, up to the size of the pipe, and closes it. */
void worker_errors_close(struct worker_errors *e);

#endif
