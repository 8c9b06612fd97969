/* SPDX-License-Identifier: BSD-3-Clause */
/* Server loop of a worker: executes orders from one ring one after another on an engine, and
 * answers on the other. It is the same in a thread of the daemon and in a tenant's process. */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include "worker/message.h"

struct worker_print;

struct worker_server_options {
	struct worker_rings *rings;
	struct engine *engine;
	/* device address 0; NULL: BRIDGED memory, which the worker cannot access */
	uint8_t *memory;
	uint64_t memory_bytes; /* without the WORKER_TAIL_BYTES behind it */
	uint8_t *windows;      /* BRIDGED: the WORKER_TAIL_BYTES */
	/* File of which WORKER_MAP maps ranges. -1: all is mapped, and no WORKER_MAP comes. */
	int memory_fd;
	uint32_t spin_ns;            /* of spinning before sleep */
	struct worker_print *print;  /* output of kernels; NULL: not captured */
	void (*wake)(void *context); /* called when there is an answer */
	void *wake_context;
};

/* Serves until STOP, or until an invalid message arrives. Then releases every program. */
void worker_serve(const struct worker_server_options *options);

#endif
