/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the stages on xPUs, or on one local device: the part of <dxp/mmd.h> that the classifier
 * needs, with stage numbers instead of xPUs.
 *
 * Memory is aligned to 256 bytes; transfers may start at any byte. Dependent commands of a stage
 * run in order. An event is valid until wait() reports it. Functions return enum dxp_status, with a
 * message in `fault` on failure. Only one thread may call them. */
#ifndef CLASSIFY_BACKEND_H
#define CLASSIFY_BACKEND_H

#include <dxp/mmd.h>

#include "fault.h"
#include "bounds.h"

struct backend_launch {
	const char *kernel;
	uint64_t global[2]; /* work-items, one per work-group */
	const struct dxp_argument *arguments;
	uint32_t argument_count;
	const dxp_event *wait; /* events of any stage */
	uint32_t wait_count;   /* at most DXP_WAIT_MAX */
	bool lazy;             /* no wait() for this event follows soon */
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
	int (*build)(struct backend *b, uint32_t stage, const char *source, struct fault *fault);
	/* DXP_EAGAIN: too many commands are outstanding; wait for one and retry. */
	int (*launch)(struct backend *b, uint32_t stage, const struct backend_launch *launch,
		      dxp_event *event, struct fault *fault);
	int (*send)(struct backend *b, const struct backend_transfer *t, dxp_event *event,
		    struct fault *fault);
	/* Returns a failed command's status, or DXP_ETIMEDOUT if it is not complete. */
	int (*wait)(struct backend *b, dxp_event event, uint64_t timeout_ns,
		    struct dxp_event_times *times, struct fault *fault);
	/* Payload bytes between this program's NIC and the stage's node since the xPU was
	 * opened. */
	void (*traffic)(struct backend *b, uint32_t stage, struct dxp_link_bytes *out);
	/* Frees everything, including the memory on the xPUs. */
	void (*close)(struct backend *b);
};

/* First member of every backend. */
struct backend {
	const struct backend_ops *ops;
	uint32_t stage_count;
	char names[STAGES_MAX][DXP_NAME_BYTES]; /* names of the stages' xPUs */
	char devices[STAGES_MAX][96];           /* devices of these xPUs */
};

/* Opens the first CPU device here, or else the first device, in place of `stages` xPUs. Returns
 * DXP_ENOENT without OpenCL. Unless set, sets POCL_DEVICES=basic: PoCL then uses one core in this
 * thread, as an xPU does. */
int backend_local_open(uint32_t stages, struct backend **out, struct fault *fault);

/* Joins a fabric, for backend_mmd_acquire(). Returns DXP_ENOENT if there is none. */
int backend_mmd_open(struct backend **out, struct fault *fault);

/* Makes later transfers between stages pass through this program's memory. */
void backend_mmd_through_host(struct backend *b);

/* Lists usable xPUs in node table order. Returns how many, at most STAGES_MAX, or a status. */
int backend_mmd_granted(struct backend *b, char names[][DXP_NAME_BYTES], struct fault *fault);

/* Opens the stages' xPUs in order. Returns DXP_ENOENT for an unknown xPU, DXP_EACCESS for one not
 * granted to this host. */
int backend_mmd_acquire(struct backend *b, const char *const *names, uint32_t count,
			struct fault *fault);

#endif
