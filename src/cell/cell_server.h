/* SPDX-License-Identifier: BSD-3-Clause */
/* Server loop of a worker: reads orders from one ring, executes them one after another on an
 * engine, and writes answers to the other ring. It runs alike in a thread of the daemon and in a
 * tenant's process. It depends only on its rings, its engine and the address of device memory. */
#ifndef CELL_SERVER_H
#define CELL_SERVER_H

#include "cell/cell_message.h"

struct cell_print;

struct cell_server_options {
	struct cell_rings *rings;
	struct engine *engine;
	uint8_t *memory;       /* address 0, or NULL: BRIDGED */
	uint64_t memory_bytes; /* without the XPU_TAIL_BYTES behind it */
	/* CELL_MAP maps ranges of it; -1: all of it is mapped, and no CELL_MAP comes */
	int memory_fd;
	uint32_t spin_ns;
	struct cell_print *print;    /* NULL: kernels' output is not captured */
	void (*wake)(void *context); /* there is an answer */
	void *wake_context;
};

/* Serves until STOP, or until an invalid message; then releases every program. */
void cell_serve(const struct cell_server_options *options);

#endif
