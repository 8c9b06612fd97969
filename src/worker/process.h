/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker process: sets up descriptors and limits in the zygote's child, then serves its rings. */
#ifndef WORKER_PROCESS_H
#define WORKER_PROCESS_H

#include <sys/types.h>

#include "worker/folders.h"
#include "worker/server.h"

struct worker_process {
	pid_t parent; /* process id of the zygote */
	int rings_fd;
	int wakeup_fd; /* an eventfd that only this worker writes */
	int memory_fd; /* the tenant's device memory */
	int errors_fd; /* descriptor that becomes standard error */
	bool plain;    /* see engine_description */
	/* Options of the sandbox, as for sandbox_enter(). */
	bool sandboxed;
	uint32_t parts;
	uint64_t limit_bytes;
	const char *reads; /* more folders to read, see sandbox_options */
	uint32_t work;     /* number of the compiler's folder, see folders_make() */
	const char *host;
	const struct folders *folders;
	struct engine *engine;
	uint8_t *memory; /* start of the reserved addresses of device memory */
	uint64_t memory_bytes;
	uint32_t spin_ns;
};

/* Serves orders until STOP. Does not return. Call it in the forked process, while the process has
 * one thread. */
_Noreturn void worker_process_run(const struct worker_process *p);

#endif
