/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error of a worker: a pipe that the zygote reads. The zygote copies lines to its own
 * standard error, without control characters and at a limited rate. Each worker has its own pipe:
 * with a shared pipe, a worker could open the read end and read the text of other workers. */
#ifndef WORKER_ERRORS_H
#define WORKER_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/limits.h"

struct worker_errors {
	int read_fd; /* end of the pipe that the zygote reads, non-blocking; -1: closed */
	char line[WORKER_ERROR_BYTES];
	size_t bytes; /* bytes of the incomplete line */
	uint64_t since_ns;
	uint32_t lines; /* lines written from since_ns on */
};

/* Makes the pipe. *write_fd is the worker's end; the caller closes it. DXP_EIO. */
int worker_errors_open(struct worker_errors *e, int *write_fd);
/* Copies text from the pipe, up to a bound. Closes the pipe if the worker has closed its end. */
void worker_errors_copy(struct worker_errors *e);
/* Copies the text that is left in the pipe, up to the size of a pipe, and closes the pipe. */
void worker_errors_close(struct worker_errors *e);

#endif
