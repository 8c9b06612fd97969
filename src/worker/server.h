/* SPDX-License-Identifier: BSD-3-Clause */
/* Server loop of a worker: reads orders from one ring, executes them one after another on an
 * engine, and writes answers to the other ring. The loop is the same in a thread of the daemon and
 * in a tenant's process. It depends only on its rings, its engine and the address of device
 * memory. */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include "worker/message.h"

struct worker_print;

struct worker_server_options {
	struct worker_rings *rings;
	struct engine *engine;
	/* where device address 0 is; NULL: BRIDGED memory, which the worker cannot access */
	uint8_t *memory;
	uint64_t memory_bytes; /* bytes of device memory, without the WORKER_TAIL_BYTES behind it */
	uint8_t *windows; /* BRIDGED memory: where the WORKER_TAIL_BYTES behind device memory are */
	/* File of device memory. A WORKER_MAP maps a range of this file. -1: all of the memory is
	 * already mapped, and no WORKER_MAP comes. */
	int memory_fd;
	uint32_t spin_ns;            /* ns of spinning for an order before the worker sleeps */
	struct worker_print *print;  /* captures the output of kernels; NULL: not captured */
	void (*wake)(void *context); /* called when there is an answer */
	void *wake_context;
};

/* Serves until STOP, or until an invalid message arrives. Then releases every program. */
void worker_serve(const struct worker_server_options *options);

#endif
