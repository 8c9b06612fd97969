/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines of stages. Units of messages pass a route of steps. A stage serves `servers` units at a
 * time, first in, first out. If the bounded queue in front of a stage is full, it stops the
 * previous stage (back-pressure). Pools of tokens limit the units between two steps, as tags limit
 * reads. */
#ifndef MODEL_STAGE_H
#define MODEL_STAGE_H

#include "model/queue.h"

#define MODEL_STAGES 12
#define MODEL_STEPS  12
#define MODEL_POOLS  2

struct model_step {
	uint32_t stage;
	uint64_t hold_ps; /* time of a unit in the server */
	/* time from the start of this step until the next one may start; at most hold_ps */
	uint64_t fill_ps;
	/* From the end of hold_ps until the unit arrives at the next step: a pipelined latency. */
	uint64_t delay_ps;
	/* bit i: the step acquires a token of pool i before its start, or releases one after the
	 * hold */
	uint8_t acquire, release;
	bool barrier; /* waits until all units of the message have done this step */
};

/* Steps of one kind of unit. */
struct model_route {
	struct model_step steps[MODEL_STEPS];
	uint32_t count;
};

struct model_stage {
	const char *name;
	uint32_t servers; /* 0: unlimited */
	uint32_t depth;   /* units before it; 0: unlimited */
	/* Private to the pipeline. */
	uint32_t busy, queued, head, tail;
	uint64_t busy_ps; /* sum of holds: load */
};

struct model_unit {
	const struct model_route *route;
	uint32_t message, step, next;
	uint32_t early;   /* bit i: the unit left step i before its last byte */
	uint64_t tail_ps; /* time at which the unit's last byte left the previous step */
};

/* Units first .. first + count - 1 belong to a message. */
struct model_message {
	uint32_t first, count;
	uint32_t done[MODEL_STEPS]; /* units that have done each step */
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
	/* Called when a message's last unit has done its last step. May send messages. */
	void (*done)(void *context, uint32_t message, uint64_t at_ps);
	/* Called for each started step. May be NULL. */
	void (*trace)(void *context, uint32_t stage, uint32_t unit, uint64_t start_ps,
		      uint64_t end_ps);
	void *context;
};

/* Prepares an empty pipeline; the caller then sets stages, pools and callbacks. DXP_ENOMEM. */
int model_pipeline_create(struct model_pipeline *p, uint32_t unit_most, uint32_t message_most);
void model_pipeline_destroy(struct model_pipeline *p);

/* Sends a message of `count` units at `at_ps`; routes[i] is the route of unit i, and must stay
 * valid. Returns the message's number; UINT32_MAX: more than create allowed. */
uint32_t model_pipeline_send(struct model_pipeline *p, uint64_t at_ps,
			     const struct model_route *const *routes, uint32_t count);

/* Runs until nothing moves. DXP_EBUSY: units wait for each other; DXP_ENOMEM. */
int model_pipeline_run(struct model_pipeline *p);

#endif
