/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between an xPU and its worker. Both run the same build on one machine, so messages are
 * structs without a codec. The comment of each enumerator names the contents of the message.
 *
 * The worker answers each order with exactly one DONE, in order, also on failure. DATA, LOG and
 * PRINT before a DONE belong to the order that this DONE answers. */
#ifndef WORKER_MESSAGE_H
#define WORKER_MESSAGE_H

#include "wire/command.h"
#include "worker/edit.h"
#include "worker/ring.h"
#include "worker/run.h"
#include "engine/engine.h"

enum worker_order_kind {
	WORKER_RUN,  /* struct worker_run (run.h) */
	WORKER_EDIT, /* struct worker_edit (edit.h): WRITE, COPY, FILL, MARK */
	WORKER_PART, /* a part of the package of the next BUILD */
	/* struct worker_build; the worker sends the log and, as DATA, records about kernels */
	WORKER_BUILD,
	WORKER_RELEASE, /* struct worker_program */
	WORKER_FETCH,   /* struct worker_fetch; the worker sends DATA */
	/* struct worker_range: from now on, the worker may access this range of device memory */
	WORKER_MAP,
	WORKER_UNMAP, /* struct worker_range */
	WORKER_STOP,
	WORKER_ORDERS,
};

enum worker_answer_kind {
	WORKER_DONE = 64, /* struct worker_done, then a text about the failure */
	WORKER_LOG,       /* a part of a build log */
	/* a part of fetched data, or of the records about a program's kernels */
	WORKER_DATA,
	WORKER_PRINT, /* output of a kernel */
};

struct worker_build {
	uint32_t program;
	uint32_t reserved;
	uint64_t package_bytes; /* bytes of all PARTs of the package together */
};

struct worker_program {
	uint32_t program;
};

struct worker_fetch {
	uint32_t program; /* program id; 0: data about the device */
	uint32_t what;    /* enum command_fetch */
};

struct worker_range {
	uint64_t address, bytes; /* range of device memory, in whole pages */
};

struct worker_done {
	int32_t status;
	int32_t native; /* error number of the device's driver, see engine.native */
	uint32_t reserved;
	uint32_t text_bytes;
	uint64_t started_ns, ended_ns;
};

/* bytes of one DATA, LOG or PART at most */
#define WORKER_PART_BYTES (8u << 10)

/* Memory that the xPU and its worker share. */
struct worker_rings {
	/* The xPU sets it when it closes: the worker's thread then stops after the current
	 * order. */
	_Atomic uint32_t stop;
	struct worker_ring orders, answers;
};

#endif
