/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between an xPU and its worker. Both run the same build on one machine, so messages are
 * structs without a codec. Each enumerator's comment names the message's contents.
 *
 * Each order is answered by exactly one DONE, in order, also on failure. DATA and PRINT belong to
 * the order whose DONE comes next. */
#ifndef CELL_MESSAGE_H
#define CELL_MESSAGE_H

#include "wire/command.h"
#include "cell/cell_ring.h"
#include "engine/engine.h"

enum cell_order_kind {
	CELL_RUN,     /* struct cell_run, encoded command */
	CELL_EDIT,    /* struct cell_needs, encoded command: WRITE, COPY, FILL, MARK */
	CELL_PART,    /* a part of the package for the next BUILD */
	CELL_BUILD,   /* struct cell_build; sends DATA: log, records about kernels */
	CELL_RELEASE, /* struct cell_program */
	CELL_FETCH,   /* struct cell_fetch; sends DATA */
	CELL_MAP,     /* struct cell_range: the worker may access it from now on */
	CELL_UNMAP,   /* struct cell_range */
	CELL_STOP,
	CELL_ORDERS,
};

enum cell_answer_kind {
	CELL_DONE = 64, /* struct cell_done, text */
	CELL_LOG,       /* a part of a build log */
	/* a part of fetched data, or of the records about a program's kernels */
	CELL_DATA,
	CELL_PRINT, /* output of a kernel */
};

/* Head of commands that the engine's queue executes in order. */
struct cell_needs {
	uint64_t event;                    /* its own event, or 0 */
	uint64_t needs[COMMAND_WAITS_MAX]; /* events of earlier orders that must have succeeded */
	uint32_t need_count;
	uint32_t command_bytes;
};

struct cell_run {
	struct cell_needs needs;
	uint64_t window; /* offset of a NIC window in device memory, or CELL_NO_WINDOW */
	uint32_t argument_count;
	uint32_t reserved;
	/* Per argument: bytes that the host owns from the argument's address on; 0: no memory.
	 * `argument_count` entries. */
	uint64_t rests[COMMAND_ARGS_MAX];
};
#define CELL_NO_WINDOW UINT64_MAX
#define CELL_RUN_BYTES(arguments) \
	(offsetof(struct cell_run, rests) + (arguments) * sizeof(uint64_t))

struct cell_build {
	uint32_t program;
	uint32_t reserved;
	uint64_t package_bytes; /* of all PARTs together */
};

struct cell_program {
	uint32_t program;
};

struct cell_fetch {
	uint32_t program; /* 0: the device */
	uint32_t what;    /* enum command_fetch */
};

struct cell_range {
	uint64_t address, bytes; /* whole pages */
};

struct cell_done {
	int32_t status;
	int32_t native; /* as engine.native */
	uint32_t reserved;
	uint32_t text_bytes;
	uint64_t started_ns, ended_ns;
};

/* bytes in one DATA, LOG or PART, at most */
#define CELL_PART_BYTES (8u << 10)

/* Memory that both sides share. */
struct cell_rings {
	/* the xPU closes: a worker thread stops after the current order */
	_Atomic uint32_t stop;
	struct cell_ring orders, answers;
};

#endif
