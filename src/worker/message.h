/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between an xPU and its worker: structs without a codec, because both run the same build
 * on one machine. Enumerators name the contents.
 *
 *  The worker answers each order with exactly one DONE, in order, also on failure. DATA, LOG and
 *  PRINT before it belong to the same order. */
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
	WORKER_PART, /* a part of the next BUILD's package */
	/* struct worker_build; answers: log and, as DATA, records about kernels */
	WORKER_BUILD,
	WORKER_RELEASE, /* struct worker_program */
	WORKER_FETCH,   /* struct worker_fetch; answers: DATA */
	/* struct worker_range: the worker may access it from now on */
	WORKER_MAP,
	WORKER_UNMAP, /* struct worker_range */
	WORKER_STOP,
	WORKER_ORDERS,
};

enum worker_answer_kind {
	WORKER_DONE = 64, /* struct worker_done, then a text about the failure */
	WORKER_LOG,       /* part of a build log */
	/* part of fetched data, or of the records about kernels */
	WORKER_DATA,
	WORKER_PRINT, /* output of a kernel */
};

struct worker_build {
	uint32_t program;
	uint32_t reserved;
	uint64_t package_bytes; /* of all its PARTs */
};

struct worker_program {
	uint32_t program;
};

struct worker_fetch {
	uint32_t program; /* 0: the device */
	uint32_t what;    /* enum command_fetch */
};

struct worker_range {
	uint64_t address, bytes; /* device memory, whole pages */
};

struct worker_done {
	int32_t status;
	int32_t native; /* see engine.native */
	uint32_t reserved;
	uint32_t text_bytes;
	uint64_t started_ns, ended_ns;
	struct dxp_event_cycles cycles; /* of a launch; see engine.cycles */
};

/* of a DATA, LOG or PRINT */
#define WORKER_PART_BYTES (8u << 10)

/* Shared by the xPU and its worker. */
struct worker_rings {
	/* The xPU closes: stop after the current order. */
	_Atomic uint32_t stop;
	struct worker_ring orders, answers;
};

#endif
