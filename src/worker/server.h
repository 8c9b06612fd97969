/* SPDX-License-Identifier: BSD-3-Clause */
/* Server loop of a worker: reads orders from one ring, executes them one after another on an
 * engine, and writes answers to the other ring. It runs in a thread of the daemon or in a tenant's
 * process, without difference. It depends only on its rings, its engine and the address of device
 * memory. */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include "worker/message.h"

struct worker_print;

struct worker_server_options {
	struct worker_rings *rings;
	struct engine *engine;
	uint8_t *memory;       /* address 0, or NULL: BRIDGED */
	uint64_t memory_bytes; /* bytes of device memory, without the WORKER_TAIL_BYTES behind it */
	uint8_t *windows;      /* these WORKER_TAIL_BYTES, if BRIDGED */
	/* file of device memory, of which WORKER_MAP maps ranges. -1: all of the memory is mapped,
	 * and there is no WORKER_MAP. */
	int memory_fd;
	uint32_t spin_ns;
	struct worker_print *print;  /* NULL: kernels' output is not captured */
	void (*wake)(void *context); /* there is an answer */
	void *wake_context;
};

/* Serves until STOP, or until an invalid message; then releases every program. */
void worker_serve(const struct worker_server_options *options);

#endif
