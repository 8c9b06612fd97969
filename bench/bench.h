/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the benchmarks behind `dxp bench NAME`. Each prints one table, or with --json one object
 * a line: bench, lab, case, contender, metric, value, unit. Rows with a reference also have peer,
 * peer_value and ratio. Other keys appear only if measured (report.h). */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

/* Each parses its own arguments (argv[0] is its name) and returns an exit status. */
int bench_latency(int argc, char **argv);
int bench_stream(int argc, char **argv);
int bench_loss(int argc, char **argv);
int bench_rate(int argc, char **argv);
int bench_peers(int argc, char **argv);
int bench_secure(int argc, char **argv);
int bench_slots(int argc, char **argv);
int bench_incast(int argc, char **argv);
int bench_sim(int argc, char **argv);
int bench_nic(int argc, char **argv);
int bench_inc(int argc, char **argv);
int bench_classify(int argc, char **argv);
int bench_inc_hop(int argc, char **argv);
int bench_inc_simulated(int argc, char **argv);
int bench_bridge(int argc, char **argv);
int bench_bridge_sim(int argc, char **argv);
int bench_opencl(int argc, char **argv);
int bench_registers(int argc, char **argv);
int bench_direct(int argc, char **argv);
int bench_collective(int argc, char **argv);
int bench_join(int argc, char **argv);
int bench_rv32(int argc, char **argv);

struct bench_entry {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

/* Ends with a NULL name. */
extern const struct bench_entry bench_list[];

#endif
