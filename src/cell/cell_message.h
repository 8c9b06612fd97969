/* SPDX-License-Identifier: BSD-3-Clause */
/* What a slot and a cell say to each other through their rings. Both are the same build of the same
 * code on one machine, so these are structs and no codec; behind each is what its comment says.
 *
 * Every order is answered by one DONE, in order, whatever becomes of it; DATA and PRINT belong to
 * the order whose DONE comes next. */
#ifndef CELL_MESSAGE_H
#define CELL_MESSAGE_H

#include "wire/command.h"
#include "cell/cell_ring.h"
#include "engine/engine.h"

enum cell_order_kind {
	CELL_RUN,     /* struct cell_run, the command as it came */
	CELL_EDIT,    /* struct cell_needs, the command as it came: WRITE, COPY, FILL, MARK */
	CELL_PART,    /* bytes of the package of the BUILD that comes next */
	CELL_BUILD,   /* struct cell_build; then DATA: log, records about kernels */
	CELL_RELEASE, /* struct cell_program */
	CELL_FETCH,   /* struct cell_fetch; then DATA */
	CELL_MAP,     /* struct cell_range: from now on the cell may touch it */
	CELL_UNMAP,   /* struct cell_range */
	CELL_STOP,
	CELL_ORDERS,
};

enum cell_answer_kind {
	CELL_DONE = 64, /* struct cell_done, text */
	CELL_LOG,       /* a part of a build log */
	CELL_DATA,  /* a part of what was fetched, or of the records about a program's kernels */
	CELL_PRINT, /* what a kernel printed */
};

/* Of commands of the engine's lane. */
struct cell_needs {
	uint64_t event;                    /* its own, or 0 */
	uint64_t needs[COMMAND_WAITS_MAX]; /* events of earlier orders that must have gone well */
	uint32_t need_count;
	uint32_t command_bytes;
};

struct cell_run {
	struct cell_needs needs;
	uint64_t window; /* of the NIC, from the begin of device memory; or CELL_NO_WINDOW */
	uint32_t argument_count;
	uint32_t reserved;
	/* How much its host has from the address of each argument on; 0 where it has none. As many
	 * as there are arguments. */
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
	int32_t native; /* as struct engine's */
	uint32_t reserved;
	uint32_t text_bytes;
	uint64_t started_ns, ended_ns;
};

/* A part of DATA, LOG or PART. */
#define CELL_PART_BYTES (8u << 10)

/* What both sides share. */
struct cell_rings {
	_Atomic uint32_t stop; /* the slot closes: a thread ends after the present order */
	struct cell_ring orders, answers;
};

#endif
