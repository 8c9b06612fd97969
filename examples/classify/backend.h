/* SPDX-License-Identifier: BSD-3-Clause */
/* What the stages run on, so that the same run can use xPUs of a fabric or a device of this
 * machine: the calls of <dxp/mmd.h> that the classifier needs, with a stage's number in place of an
 * xPU.
 *
 * Addresses are as there: 256-byte aligned where memory begins, any place inside it is good for a
 * transfer. Commands of one stage that wait for each other run in that order; an event is good
 * until wait() has reported it. Every function returns enum dxp_status and writes a sentence into
 * `fault` when it fails. One thread. */
#ifndef CLASSIFY_BACKEND_H
#define CLASSIFY_BACKEND_H

#include <dxp/mmd.h>

#include "fault.h"
#include "bounds.h"

struct backend_launch {
	const char *kernel;
	uint64_t global[2]; /* work-items; each is a work-group */
	const struct dxp_argument *arguments;
	uint32_t argument_count;
	const dxp_event *wait; /* events of any stage */
	uint32_t wait_count;   /* at most DXP_WAIT_MAX */
	bool lazy;             /* nobody waits for its end soon */
};

struct backend_transfer {
	uint32_t from, to; /* stages */
	uint64_t from_address, to_address, bytes;
	const dxp_event *wait;
	uint32_t wait_count;
};

struct backend;

struct backend_ops {
	int (*alloc)(struct backend *b, uint32_t stage, uint64_t bytes, uint64_t *address,
		     struct fault *fault);
	int (*write)(struct backend *b, uint32_t stage, uint64_t address, const void *from,
		     uint64_t bytes, struct fault *fault);
	int (*read)(struct backend *b, uint32_t stage, void *to, uint64_t address, uint64_t bytes,
		    struct fault *fault);
	/* Builds the program that all later launches of this stage are of. */
	int (*build)(struct backend *b, uint32_t stage, const char *source, struct fault *fault);
	/* DXP_EAGAIN: no room for more commands; wait for one, then try again. */
	int (*launch)(struct backend *b, uint32_t stage, const struct backend_launch *launch,
		      dxp_event *event, struct fault *fault);
	int (*send)(struct backend *b, const struct backend_transfer *t, dxp_event *event,
		    struct fault *fault);
	/* The command's own status when it failed; DXP_ETIMEDOUT while it is not done. */
	int (*wait)(struct backend *b, dxp_event event, uint64_t timeout_ns,
		    struct dxp_event_times *times, struct fault *fault);
	/* Payload that this program's NIC moved to and from the stage's node since opening. */
	void (*traffic)(struct backend *b, uint32_t stage, struct dxp_link_bytes *out);
	/* Frees everything, also on the xPUs. */
	void (*close)(struct backend *b);
};

/* What every backend begins with. */
struct backend {
	const struct backend_ops *ops;
	uint32_t stage_count;
	char names[STAGES_MAX][DXP_NAME_BYTES]; /* of the xPU of each stage */
	char devices[STAGES_MAX][96];           /* what computes there */
};

/* The first OpenCL CPU device of this machine, or its first device, standing in for `stages` xPUs.
 * No network. DXP_ENOENT without OpenCL. Sets POCL_DEVICES=basic unless it is set: like the xPUs,
 * one core in this thread. */
int backend_local_open(uint32_t stages, struct backend **out, struct fault *fault);

/* A fabric, joined. Which xPUs is said by backend_mmd_take. DXP_ENOENT: no fabric here. */
int backend_mmd_open(struct backend **out, struct fault *fault);

/* Names of the xPUs that this host may use, in the order of the node table. Returns how many; at
 * most STAGES_MAX are written, or a status. */
int backend_mmd_granted(struct backend *b, char names[][DXP_NAME_BYTES], struct fault *fault);

/* Opens the xPUs that the stages run on, in order. DXP_ENOENT no such xPU, DXP_EACCESS not granted
 * to this host. */
int backend_mmd_take(struct backend *b, const char *const *names, uint32_t count,
		     struct fault *fault);

#endif
