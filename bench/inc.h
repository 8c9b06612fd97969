/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp bench inc`. */
#ifndef BENCH_INC_H
#define BENCH_INC_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/options.h"

#define INC_SIZES_MAX      16
#define INC_ALGORITHMS     6 /* algorithms of Open MPI's tuned allreduce: 1 .. 6 */
#define INC_WHY_BYTES      256
#define INC_LAB_NAME_BYTES 32

/* ---- labs (inc_lab.c) ---- */

/* Hosts below a tree of switches, made by tools/lab. */
struct inc_lab {
	char name[INC_LAB_NAME_BYTES]; /* name of the lab in tools/lab */
	unsigned hosts;
	bool up;
	char why[INC_WHY_BYTES]; /* if the lab is not up: last output of tools/lab */
};

/* Returns NULL if this machine can run labs and MPI programs. Otherwise returns what is missing,
 * with the next step. */
const char *inc_lab_obstacle(void);

/* Returns the path of tools/lab of this source tree or installation. */
const char *inc_lab_tool(void);

/* Makes a lab named PREFIX-`suffix`, where PREFIX is lab_prefix(). `options` are options of
 * `tools/lab up`. Returns lab->up. */
bool inc_lab_up(struct inc_lab *lab, const char *suffix, unsigned hosts, const char *options);

/* ---- one program under mpirun (inc_mpi.c) ---- */

struct inc_run {
	const struct inc_lab *lab;
	unsigned ranks_per_host;
	const char *environment; /* environment variables for the ranks: "NAME=VALUE ..." */
	const char *mpirun;      /* further options of mpirun */
	const size_t *sizes;
	size_t size_count; /* 1 .. INC_SIZES_MAX */
	bool quick;
};

/* Results of an operation, as rank 0 of bench/mpi/allreduce.c prints them. If mean_us is 0, the
 * operation was not measured. */
struct inc_figures {
	double mean_us, p50_us;
	double cpu_us;  /* CPU time of all ranks together */
	double busy_us; /* CPU time of the whole machine */
	double sent;    /* packets that hosts sent */
	double crossed; /* packets that crossed a link */
	unsigned wrong; /* number of wrong results */
};

/* Fills `out` for each size. If the results of some sizes are missing, returns false, and `why`
 * holds the last output. */
bool inc_mpi_run(const struct inc_run *run, struct inc_figures *out, char why[INC_WHY_BYTES]);

/* ---- tables ---- */

/* A case for labs of `hosts` hosts. inc_table.c prints a row for each contender and size. The exit
 * status is 1 if the switches gave a wrong result, or if no lab could run them. */
struct inc_case {
	unsigned hosts, ranks_per_host;
	unsigned gbps; /* rate of each link; 0: as fast as the machine */
	const size_t *sizes;
	size_t size_count;
	const struct bench_options *options;
};
int inc_table_run(const struct inc_case *c);

#endif
