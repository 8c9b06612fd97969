/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts this program's use of each xPU for the summary of `dxp run`: a few additions per command.
 * When an xPU is closed or the process exits, the numbers are written to the folder $DXP_SUMMARY,
 * if set. A killed process writes nothing. Caller holds the fabric's lock. */
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
	uint64_t in_bytes, out_bytes;  /* received from and sent to the host */
	uint64_t from_bytes, to_bytes; /* received from and sent to other xPUs */
	/* ns in kernels and in transfers; overlaps count once. *_until: latest end so far. */
	uint64_t device_ns, network_ns;
	uint64_t device_until, network_until;
};

/* Counts a posted command; marks its event for use_completed. */
void use_started(struct dxp_xpu *x, const struct command *c, struct host_event *event);

/* Counts a command's outcome; `times` may be NULL. */
void use_completed(struct dxp_xpu *x, const struct host_event *event, int status,
		   const struct dxp_event_times *times);

/* Counts a transfer that this host performed. */
void use_moved(struct dxp_xpu *x, bool to_xpu, uint64_t bytes, uint64_t started_ns,
	       uint64_t ended_ns, int status);

/* Writes an xPU's numbers as one line, unless all are 0; clears them. */
void use_write(struct dxp_xpu *x);

/* Adds an open fabric to those written at exit; use_forget removes it before it is destroyed. */
void use_remember(struct dxp_fabric *f);
void use_forget(struct dxp_fabric *f);

/* Disables counting, because the OpenCL driver has its own copy of the library, which counts for
 * itself. */
void use_disable(void);

#endif
