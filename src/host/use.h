/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what this program does on each xPU, for the summary of `dxp run`. Counting costs a few
 * additions per command. The numbers are written when an xPU is closed or the process exits, to the
 * folder that DXP_SUMMARY names; without it nothing is written. A killed process writes nothing.
 * Callers hold the fabric's lock. */
#ifndef HOST_USE_H
#define HOST_USE_H

#include <stdbool.h>
#include <stdint.h>

struct command;
struct dxp_event_times;
struct dxp_fabric;
struct dxp_xpu;
struct host_event;

struct host_use {
	uint64_t commands, kernels, failed;
	uint64_t in_bytes, out_bytes;  /* from and to the host */
	uint64_t from_bytes, to_bytes; /* from and to other xPUs */
	/* ns of kernels and of transfers; overlaps count once. *_until: end of the latest one. */
	uint64_t device_ns, network_ns;
	uint64_t device_until, network_until;
};

/* Counts a command that was posted, and marks its event for use_completed. */
void use_started(struct dxp_xpu *x, const struct command *c, struct host_event *event);

/* Counts the outcome of a command; `times` may be NULL. */
void use_completed(struct dxp_xpu *x, const struct host_event *event, int status,
		   const struct dxp_event_times *times);

/* Counts a transfer between host and xPU that this host performs. */
void use_moved(struct dxp_xpu *x, bool to_xpu, uint64_t bytes, uint64_t started_ns,
	       uint64_t ended_ns, int status);

/* Writes the numbers of an xPU as one line, unless all are 0, and clears them. */
void use_write(struct dxp_xpu *x);

/* Remembers an open fabric, whose xPUs are written at exit; use_forget before it is destroyed. */
void use_remember(struct dxp_fabric *f);
void use_forget(struct dxp_fabric *f);

/* Turns this off in a process's copy of the library: the OpenCL driver counts by itself. */
void use_disable(void);

#endif
