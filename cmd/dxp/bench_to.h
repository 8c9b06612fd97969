/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench latency|stream|rate --to NODE`: measures between this machine and an xPU of the
 * fabric, on another machine or on this one. The benchmark is a host like any other. It needs a
 * grant from the manager, allocates memory on the xPU, and frees this memory at the end. */
#ifndef CMD_DXP_BENCH_TO_H
#define CMD_DXP_BENCH_TO_H

#include "base/util.h"
#include "bench/report.h"
#include "cmd/dxp/session.h"
#include "rltp/session.h"

#define BENCH_TO_SAMPLES 20000       /* round-trip times kept for one case */
#define BENCH_TO_WAIT    (10 * S_NS) /* ns: bound of one operation */

struct bench_to {
	struct session_options options;
	const char *to;
	const char *only; /* runs only cases whose name contains this text; NULL: all */
	uint64_t rounds;
	bool quick;
	uint64_t budget_ns; /* ns; longest duration of one sample */
	const char *bench;  /* "latency", "stream" or "rate" */
	struct session session;
	uint64_t address, bytes; /* memory on the xPU, as long as `buffer` */
	uint8_t *buffer;
	uint64_t *times_ns; /* array of BENCH_TO_SAMPLES times */
	struct rltp_counters before;
	uint64_t begin_ns; /* start time of the last operation */
	unsigned rows;
};

/* Run all cases and print a row for each. Return a status; dxp_fabric_error() has its text. */
int bench_to_latency(struct bench_to *b);
int bench_to_stream(struct bench_to *b);
int bench_to_rate(struct bench_to *b);

/* Returns whether to run this case. If so, the caller calls bench_to_row() after the case. */
bool bench_to_begin(struct bench_to *b, const char *name, uint64_t bytes);
/* Prints the row, with the packets that were sent again since bench_to_begin. */
void bench_to_row(struct bench_to *b, struct report_row *row);

/* Returns whether argv has an option --to. */
bool bench_to_wanted(int argc, char **argv);
/* Runs `dxp bench NAME --to NODE ...`; argv[0] is the name. Returns an exit status. */
int bench_to_run(int argc, char **argv);

#endif
