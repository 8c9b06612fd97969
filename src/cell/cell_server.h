/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a cell: takes orders from one ring and has an engine do them, one after another;
 * tells their ends through the other. The same in a thread of the slot and in a process of a
 * tenant: it knows nothing but its rings, its engine and where device memory is. */
#ifndef CELL_SERVER_H
#define CELL_SERVER_H

#include "cell/cell_message.h"

struct cell_print;

struct cell_server_options {
	struct cell_rings *rings;
	struct engine *engine;
	uint8_t *memory;       /* address 0, or NULL: BRIDGED */
	uint64_t memory_bytes; /* without what lies behind it */
	int memory_fd; /* to map ranges from; -1: all of it is mapped, and there are no MAPs */
	uint32_t spin_ns;
	struct cell_print *print;    /* NULL: what kernels print is not caught */
	void (*wake)(void *context); /* there is an answer */
	void *wake_context;
};

/* Serves until STOP, or until the other side writes nonsense. Then every program is released. */
void cell_serve(const struct cell_server_options *options);

#endif
