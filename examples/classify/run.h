/* SPDX-License-Identifier: BSD-3-Clause */
/* Photos through the stages of a plan. run_submit() hands a photo to the first stage and posts
 * every command that it takes to the answer, each waiting for the one before, sends between the
 * stages among them; nothing comes back to this program before the answer. Up to `depth` photos are
 * under way, so that all stages are busy.
 *
 *   run_open -> { run_submit ... run_collect } -> run_close
 *
 * Order: answers are collected in the order of submission. A stage computes one photo at a time,
 * because its arena is one: the first command of a photo there waits for the last command of the
 * photo before. After an error nothing but run_close may be called; the backend is closed by its
 * owner afterwards, which frees the memory on the xPUs. */
#ifndef CLASSIFY_RUN_H
#define CLASSIFY_RUN_H

#include "backend.h"
#include "model.h"
#include "plan.h"
#include "steps.h"

struct run;

/* What one photo took. Times of stages and links are from the clocks of their nodes, the total is
 * from ours. */
struct run_result {
	uint64_t tag;                  /* of run_submit */
	uint64_t total_ns;             /* from the photo's upload to the answer here */
	uint64_t stage_ns[STAGES_MAX]; /* first command's start to last one's end */
	uint64_t link_ns[STAGES_MAX];  /* [i]: transfer from stage i to i + 1, longest tensor */
	float *answer;                 /* probabilities; valid until the next run_submit */
	int32_t answer_count;
};

/* Counted here, where the calls are made; repeats on the network are not in it. */
struct run_bytes {
	uint64_t model;             /* constants, uploaded once */
	uint64_t photos;            /* host to first stage */
	uint64_t answers;           /* last stage to host */
	uint64_t links[STAGES_MAX]; /* [i]: stage i to stage i + 1, not through the host */
};

struct run_options {
	uint32_t depth; /* photos under way, 1 .. DEPTH_MAX; 0: two for each stage */
	bool floats;    /* run_submit takes the input tensor as floats, and `line` does not count */
	struct photo_line line; /* from a photo's bytes to the input tensor */
};

/* Builds the kernels and uploads the constants of each stage. The model, plan and backend must
 * outlive the run. Any status of the backend; DXP_ENOMEM. */
int run_open(const struct model *m, const struct plan *plan, struct backend *b,
	     const struct run_options *options, struct run **out, struct fault *fault);
void run_close(struct run *r);

/* Photos under way, and how many there may be. */
uint32_t run_pending(const struct run *r);
uint32_t run_depth(const struct run *r);

/* Takes a photo of the network's size, three bytes for each pixel (or floats, if so opened). Less
 * than run_depth() must be under way. */
int run_submit(struct run *r, const void *photo, uint64_t tag, struct fault *fault);

/* Waits for the oldest photo under way; there must be one. */
int run_collect(struct run *r, struct run_result *out, struct fault *fault);

/* Reads a tensor that crosses a cut, of the photo last collected. For tests: it is the only way in
 * which an activation comes to the host. `to` holds tensor elements floats. DXP_ENOENT when no cut
 * holds it. */
int run_peek(struct run *r, int32_t tensor, float *to, struct fault *fault);

const struct run_bytes *run_bytes(const struct run *r);

#endif
