/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker process: sets up descriptors and limits in the zygote's child, then serves its rings. */
#ifndef WORKER_PROCESS_H
#define WORKER_PROCESS_H

#include <sys/types.h>

#include "worker/folders.h"
#include "worker/server.h"

struct worker_process {
	pid_t parent; /* the zygote */
	int rings_fd;
	int wakeup_fd; /* an eventfd that only this worker writes */
	int memory_fd; /* the tenant's device memory */
	int errors_fd; /* becomes standard error */
	bool plain;    /* see engine_description */
	/* See sandbox_enter(). */
	bool sandboxed;
	uint32_t parts;
	uint64_t limit_bytes;
	const char *reads; /* more folders, see sandbox_options */
	uint32_t work;     /* see folders_make() */
	const char *host;
	const struct folders *folders;
	struct engine *engine;
	uint8_t *memory; /* reserved addresses of device memory */
	uint64_t memory_bytes;
	uint32_t spin_ns;
};

/* Serves until STOP, in the forked process, which must have one thread. */
_Noreturn void worker_process_run(const struct worker_process *p);

#endif
