/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp bench inc`. */
#ifndef BENCH_INC_H
#define BENCH_INC_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/options.h"

#define INC_SIZES_MAX      16
#define INC_ALGORITHMS     6 /* of Open MPI's tuned allreduce: 1 .. 6 */
#define INC_WHY_BYTES      256
#define INC_LAB_NAME_BYTES 32

/* ---- labs (inc_lab.c) ---- */

struct inc_lab {
	char name[INC_LAB_NAME_BYTES]; /* in tools/lab */
	unsigned hosts;
	bool up;
	char why[INC_WHY_BYTES]; /* last output of tools/lab, if not up */
};

/* Returns what this machine lacks for labs and MPI programs, with the next step; NULL: nothing. */
const char *inc_lab_obstacle(void);

const char *inc_lab_tool(void);

/* Makes lab PREFIX-`suffix`, with PREFIX from lab_prefix() and `options` for `tools/lab up`.
 * Returns lab->up. */
bool inc_lab_up(struct inc_lab *lab, const char *suffix, unsigned hosts, const char *options);

/* ---- one program under mpirun (inc_mpi.c) ---- */

struct inc_run {
	const struct inc_lab *lab;
	unsigned ranks_per_host;
	const char *environment; /* for the ranks: "NAME=VALUE ..." */
	const char *mpirun;      /* further options of mpirun */
	const size_t *sizes;
	size_t size_count; /* 1 .. INC_SIZES_MAX */
	bool quick;
};

/* Results that rank 0 of bench/mpi/allreduce.c prints. mean_us 0: not measured. */
struct inc_figures {
	double mean_us, p50_us;
	double cpu_us;  /* CPU time of all ranks */
	double busy_us; /* CPU time of the machine */
	double sent;    /* packets that hosts sent */
	double crossed; /* packets that crossed a link */
	unsigned wrong; /* number of wrong results */
};

/* Fills `out` per size. If some are missing, returns false with the last output in `why`. */
bool inc_mpi_run(const struct inc_run *run, struct inc_figures *out, char why[INC_WHY_BYTES]);

/* ---- tables ---- */

/* A case for labs of `hosts` hosts; prints a row per contender and size (inc_table.c). Exit status
 * 1: the switches gave a wrong result, or no lab could run them. */
struct inc_case {
	unsigned hosts, ranks_per_host;
	unsigned gbps; /* per link; 0: as fast as the machine */
	const size_t *sizes;
	size_t size_count;
	const struct bench_options *options;
};
int inc_table_run(const struct inc_case *c);

#endif
