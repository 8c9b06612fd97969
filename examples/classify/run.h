/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends photos through a plan's stages. run_submit() uploads a photo and posts all its commands,
 * each waiting for its predecessor; nothing returns before the answer. Up to `depth` photos keep
 * all stages busy.
 *
 *   run_open -> { run_submit ... run_collect } -> run_close
 *
 * Answers come in order of submission. A stage has one arena, so a photo's first command waits for
 * the previous photo's last command in that stage. After an error only run_close may be called.
 * Closing the backend afterwards frees memory on the xPUs. */
#ifndef CLASSIFY_RUN_H
#define CLASSIFY_RUN_H

#include "backend.h"
#include "model.h"
#include "plan.h"
#include "steps.h"

struct run;

/* Stages and links are timed by their nodes' clocks, the total by this host's. */
struct run_result {
	uint64_t tag;                  /* tag passed to run_submit */
	uint64_t total_ns;             /* from upload to the answer's arrival */
	uint64_t stage_ns[STAGES_MAX]; /* from first launch's start to last completion */
	/* from stage i to i + 1, for the slowest tensor */
	uint64_t link_ns[STAGES_MAX];
	float *answer; /* valid until the next run_submit */
	int32_t answer_count;
};

/* Payload, counted when requested, without retransmissions. */
struct run_bytes {
	uint64_t model;   /* constants, uploaded once */
	uint64_t photos;  /* host to first stage */
	uint64_t answers; /* last stage to host */
	/* stage i to i + 1, not through the host */
	uint64_t links[STAGES_MAX];
};

struct run_options {
	uint32_t depth;         /* photos in progress, 1 .. DEPTH_MAX; 0: two per stage */
	bool floats;            /* run_submit accepts floats and ignores `line` */
	struct photo_line line; /* converts a photo's bytes to the input tensor */
};

/* Builds kernels and uploads constants. Model, plan and backend must outlive the run. Returns the
 * backend's statuses, or DXP_ENOMEM. */
int run_open(const struct model *m, const struct plan *plan, struct backend *b,
	     const struct run_options *options, struct run **out, struct fault *fault);
void run_close(struct run *r);

uint32_t run_pending(const struct run *r);
uint32_t run_depth(const struct run *r);

/* Starts a photo of the network's size: three bytes a pixel, or floats with run_options.floats.
 * Fewer than run_depth() photos must be in progress. */
int run_submit(struct run *r, const void *photo, uint64_t tag, struct fault *fault);

/* Waits for the oldest photo; there must be one. */
int run_collect(struct run *r, struct run_result *out, struct fault *fault);

/* Reads a tensor that crosses a cut into `to`, one float for each element. The tensor belongs to
 * the photo that was collected last. For tests: there is no other way to get activations to the
 * host. Returns DXP_ENOENT if the tensor crosses no cut. */
int run_peek(struct run *r, int32_t tensor, float *to, struct fault *fault);

const struct run_bytes *run_bytes(const struct run *r);

#endif
