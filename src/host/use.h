/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts how this program uses each xPU, for the summary of `dxp run`. This costs a few additions
 * per command. When an xPU is closed or the process exits, the numbers are written to the folder
 * $DXP_SUMMARY, if that is set. A process that is killed writes nothing. Caller holds the fabric's
 * lock. */
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
	/* bytes that the xPU received from this host, and sent to it */
	uint64_t in_bytes, out_bytes;
	/* bytes that the xPU received from other xPUs and switches, and sent to them */
	uint64_t from_bytes, to_bytes;
	/* ns in which a kernel ran, and in which a transfer ran; time in which several ran counts
	 * once. *_until: latest end so far. */
	uint64_t device_ns, network_ns;
	uint64_t device_until, network_until;
};

/* Counts a posted command. Marks its event, so that use_completed recognizes it. */
void use_started(struct dxp_xpu *x, const struct command *c, struct host_event *event);

/* Counts the result of a command; `times` may be NULL. */
void use_completed(struct dxp_xpu *x, const struct host_event *event, int status,
		   const struct dxp_event_times *times);

/* Counts a transfer that this host performed. */
void use_moved(struct dxp_xpu *x, bool to_xpu, uint64_t bytes, uint64_t started_ns,
	       uint64_t ended_ns, int status);

/* If the xPU had commands and DXP_SUMMARY names a folder, writes the numbers of the xPU there as
 * one line, then clears them. */
void use_write(struct dxp_xpu *x);

/* use_remember: adds an open fabric to the list of fabrics to write at exit. use_forget: removes
 * it; call it before the fabric is destroyed. */
void use_remember(struct dxp_fabric *f);
void use_forget(struct dxp_fabric *f);

/* Disables counting in this copy of the library. The OpenCL driver has a copy of its own, which
 * counts. */
void use_disable(void);

#endif
