/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between an xPU and its worker. Both run the same build on one machine, so messages are
 * structs without a codec. Each enumerator's comment names the message's contents.
 *
 * Each order is answered by exactly one DONE, in order, also on failure. DATA and PRINT belong to
 * the order whose DONE comes next. */
#ifndef WORKER_MESSAGE_H
#define WORKER_MESSAGE_H

#include "wire/command.h"
#include "worker/edit.h"
#include "worker/ring.h"
#include "worker/run.h"
#include "engine/engine.h"

enum worker_order_kind {
	WORKER_RUN,     /* struct worker_run (run.h) */
	WORKER_EDIT,    /* struct worker_edit (edit.h): WRITE, COPY, FILL, MARK */
	WORKER_PART,    /* a part of the package for the next BUILD */
	WORKER_BUILD,   /* struct worker_build; answered with DATA: log, records about kernels */
	WORKER_RELEASE, /* struct worker_program */
	WORKER_FETCH,   /* struct worker_fetch; sends DATA */
	WORKER_MAP,     /* struct worker_range: the worker may access it from now on */
	WORKER_UNMAP,   /* struct worker_range */
	WORKER_STOP,
	WORKER_ORDERS,
};

enum worker_answer_kind {
	WORKER_DONE = 64, /* struct worker_done, text */
	WORKER_LOG,       /* a part of a build log */
	/* a part of fetched data, or of the records about a program's kernels */
	WORKER_DATA,
	WORKER_PRINT, /* output of a kernel */
};

struct worker_build {
	uint32_t program;
	uint32_t reserved;
	uint64_t package_bytes; /* bytes of all PARTs together */
};

struct worker_program {
	uint32_t program;
};

struct worker_fetch {
	uint32_t program; /* 0: the device */
	uint32_t what;    /* enum command_fetch */
};

struct worker_range {
	uint64_t address, bytes; /* whole pages */
};

struct worker_done {
	int32_t status;
	int32_t native; /* see engine.native */
	uint32_t reserved;
	uint32_t text_bytes;
	uint64_t started_ns, ended_ns;
};

/* bytes in one DATA, LOG or PART, at most */
#define WORKER_PART_BYTES (8u << 10)

/* Memory that both sides share. */
struct worker_rings {
	/* the xPU closes: a worker thread stops after the current order */
	_Atomic uint32_t stop;
	struct worker_ring orders, answers;
};

#endif
