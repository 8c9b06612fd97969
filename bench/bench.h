/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the benchmarks behind `dxp bench NAME`. Each prints one table, or with --json one object
 * a line. Every object has the keys bench, lab, case, contender, metric, value and unit. Rows that
 * are compared with a peer or a limit also have peer, peer_value and ratio. Other keys appear only
 * if measured: mean_us, p50_us, p99_us, near_cpu and far_cpu in cpu_unit, cores ("near" or "far"),
 * samples, note (report.h). */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

/* Each function parses its own arguments (argv[0] is its name) and returns an exit status. */
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
int bench_rv32(int argc, char **argv);

struct bench_entry {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

/* Lists all benchmarks; a NULL name is the last. */
extern const struct bench_entry bench_list[];

#endif
