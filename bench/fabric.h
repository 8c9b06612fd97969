/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fabric on this machine for one benchmark. */
#ifndef BENCH_FABRIC_H
#define BENCH_FABRIC_H

/* Runs in its own process, whose DXP_DIR and DXP_RUN name the fabric. Returns an exit status. */
typedef int (*fabric_body)(void *context);

/* Starts a manager and `xpus` xPUs (`memory` as for `dxp up --memory`) in a temporary folder, on
 * any free port, and runs `body`. Then removes all, even on SIGINT, SIGTERM or SIGHUP. Returns the
 * status of `body`; 1, logged, if the fabric does not start. */
int fabric_run(unsigned xpus, const char *memory, fabric_body body, void *context);

/* The same, with `engine` as for `dxp up --engine`. */
int fabric_engine_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
		      void *context);

/* The same, with a local dxp-switch that sums for the xPUs, or without one if it does not start. */
int fabric_switched_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
			void *context);

const char *fabric_programs_folder(void);

#endif
