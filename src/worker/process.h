/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker process: what the zygote's child does with its descriptors and limits before it serves
 * its rings. */
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
	/* The sandbox, as sandbox_enter. */
	bool sandboxed;
	uint32_t parts;
	uint64_t limit_bytes;
	const char *reads; /* see sandbox_options */
	uint32_t work;     /* see folders_make */
	const char *host;
	const struct folders *folders;
	struct engine *engine;
	uint8_t *memory; /* reserved addresses */
	uint64_t memory_bytes;
	uint32_t spin_ns;
};

/* Serves until STOP. Does not return. Call it in the forked process, while it has one thread. */
_Noreturn void worker_process_run(const struct worker_process *p);

#endif
