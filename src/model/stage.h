/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines: units of messages pass routes of steps, each in a stage. A stage serves `servers`
 * units at a time, in order; a full queue stops the stage before it (back-pressure). Pools of
 * tokens limit units between two steps, as tags limit reads. */
#ifndef MODEL_STAGE_H
#define MODEL_STAGE_H

#include "model/queue.h"

#define MODEL_STAGES 12
#define MODEL_STEPS  12
#define MODEL_POOLS  2

struct model_step {
	uint32_t stage;
	uint64_t hold_ps; /* of the server by a unit */
	/* Time from the start of this step until the unit's first byte leaves the server; at most
	 * hold_ps. Without `barrier`, the unit then moves on to the next step. */
	uint64_t fill_ps;
	/* Time from leaving the server until the unit arrives at the next step. Several units can
	 * be in this time at once. */
	uint64_t delay_ps;
	/* bit i: acquires a token of pool i before the start; releases one after hold_ps */
	uint8_t acquire, release;
	bool barrier; /* waits until all units of the message are through */
};

/* The steps of one kind of unit. */
struct model_route {
	struct model_step steps[MODEL_STEPS];
	uint32_t count;
};

struct model_stage {
	const char *name;
	uint32_t servers; /* 0: unlimited */
	uint32_t depth;   /* waiting units; 0: unlimited */
	/* The pipeline's own. */
	uint32_t busy, queued, head, tail;
	uint64_t busy_ps; /* sum over units */
};

struct model_unit {
	const struct model_route *route;
	uint32_t message, step, next;
	uint32_t early;   /* bit i: left step i before its last byte */
	uint64_t tail_ps; /* last byte left the previous step */
};

/* Units first .. first + count - 1. */
struct model_message {
	uint32_t first, count;
	uint32_t done[MODEL_STEPS]; /* by step: units through it */
	uint32_t left;
};

struct model_pipeline {
	struct model_stage stages[MODEL_STAGES];
	uint32_t stage_count;
	uint32_t pools[MODEL_POOLS];
	struct model_queue queue;
	struct model_unit *units;
	struct model_message *messages;
	uint32_t unit_count, unit_most, message_count, message_most;
	uint64_t moves;
	bool no_memory;
	/* A message's last unit has done its last step. May send messages. */
	void (*done)(void *context, uint32_t message, uint64_t at_ps);
	/* Called for each step when it starts. May be NULL. */
	void (*trace)(void *context, uint32_t stage, uint32_t unit, uint64_t start_ps,
		      uint64_t end_ps);
	void *context;
};

/* Prepares an empty pipeline; the caller sets stages, pools and callbacks. DXP_ENOMEM. */
int model_pipeline_create(struct model_pipeline *p, uint32_t unit_most, uint32_t message_most);
void model_pipeline_destroy(struct model_pipeline *p);

/* Sends a message; routes[i], of unit i, must stay valid until it is done. Returns its number;
 * UINT32_MAX: more than create permitted. */
uint32_t model_pipeline_send(struct model_pipeline *p, uint64_t at_ps,
			     const struct model_route *const *routes, uint32_t count);

/* Runs until no unit moves. DXP_EBUSY: units wait for each other; DXP_ENOMEM. */
int model_pipeline_run(struct model_pipeline *p);

#endif
