/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error of a worker: a pipe whose lines the zygote copies to its own, without control
 * characters and at a limited rate. With a shared pipe, a worker could open the read end and read
 * the text of others. */
#ifndef WORKER_ERRORS_H
#define WORKER_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/limits.h"

struct worker_errors {
	int read_fd; /* non-blocking; -1: closed */
	char line[WORKER_ERROR_BYTES];
	size_t bytes; /* of the incomplete line */
	uint64_t since_ns;
	uint32_t lines; /* written from since_ns on */
};

/* The caller closes *write_fd, the worker's end. DXP_EIO. */
int worker_errors_open(struct worker_errors *e, int *write_fd);
/* Copies text up to a bound. Closes the pipe if the worker has closed its end. */
void worker_errors_copy(struct worker_errors *e);
/* Copies what is left in the pipe, and closes it. */
void worker_errors_close(struct worker_errors *e);

#endif
