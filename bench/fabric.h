/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fabric for one benchmark on this machine: starts it before the benchmark, stops it
 * afterwards. */
#ifndef BENCH_FABRIC_H
#define BENCH_FABRIC_H

/* Body of a benchmark. Runs in its own process, in which DXP_DIR and DXP_RUN name the fabric.
 * Returns an exit status. */
typedef int (*fabric_body)(void *context);

/* Starts a manager and `xpus` xPUs with `memory` each (a size such as `dxp up --memory` accepts),
 * in a temporary folder, on any free port; then runs `body`. Stops them and removes the folder
 * afterwards, even on SIGINT, SIGTERM or SIGHUP. Returns the status of `body`. If the fabric does
 * not start, logs the reason and returns 1. */
int fabric_run(unsigned xpus, const char *memory, fabric_body body, void *context);

/* Does what fabric_run does, on xPUs with the engine `engine`, named as for `dxp up --engine`. */
int fabric_engine_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
		      void *context);

/* Does what fabric_engine_run does, with a switch (dxp-switch) on this machine that sums for the
 * xPUs. If it does not start, the fabric runs without. */
int fabric_switched_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
			void *context);

/* Returns the folder of this program and the other programs. */
const char *fabric_programs_folder(void);

#endif
