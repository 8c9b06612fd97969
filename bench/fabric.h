/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric of a benchmark's own, on this machine: made before, ended after. */
#ifndef BENCH_FABRIC_H
#define BENCH_FABRIC_H

/* Runs in a process of its own, whose environment names the fabric (DXP_DIR, DXP_RUN). An exit
 * status. */
typedef int (*fabric_body)(void *context);

/* Starts a manager and so many xPUs, with so much memory each (as `dxp up --memory`), in a folder
 * of their own, on any free port, then runs `body`. They are ended and the folder is removed also
 * when we are ended by SIGINT, SIGTERM or SIGHUP. Returns what `body` does, or 1: there is no
 * fabric, told with the reason. */
int fabric_run(unsigned xpus, const char *memory, fabric_body body, void *context);

/* Where this program is, and the others with it. */
const char *programs_folder(void);

#endif
