/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines of stages. A message consists of units. Each unit passes through a route of steps; each
 * step uses a stage. A stage serves `servers` units at a time, in the order of arrival. If the
 * queue in front of a stage is full, it stops the stage before it (back-pressure). Pools of tokens
 * limit the number of units between two steps, as tags limit reads. */
#ifndef MODEL_STAGE_H
#define MODEL_STAGE_H

#include "model/queue.h"

#define MODEL_STAGES 12
#define MODEL_STEPS  12
#define MODEL_POOLS  2

struct model_step {
	uint32_t stage;
	uint64_t hold_ps; /* time for which a unit occupies the server */
	/* Time from the start of this step until the unit's first byte leaves the server; at most
	 * hold_ps. Without `barrier`, the unit then moves on to the next step. */
	uint64_t fill_ps;
	/* Time from leaving the server until the unit arrives at the next step. Several units can
	 * be in this time at once. */
	uint64_t delay_ps;
	/* bit i: the step acquires a token of pool i before its start, or releases a token of pool
	 * i after hold_ps */
	uint8_t acquire, release;
	bool barrier; /* true: waits until all units of the message have done this step */
};

/* The steps of one kind of unit. */
struct model_route {
	struct model_step steps[MODEL_STEPS];
	uint32_t count;
};

struct model_stage {
	const char *name;
	uint32_t servers; /* units served at a time; 0: unlimited */
	uint32_t depth;   /* units that may wait in front of the stage; 0: unlimited */
	/* The pipeline alone uses the fields below. */
	uint32_t busy, queued, head, tail;
	uint64_t busy_ps; /* sum of the times that units occupied the stage */
};

struct model_unit {
	const struct model_route *route;
	uint32_t message, step, next;
	uint32_t early;   /* bit i: the unit has left step i before its last byte did */
	uint64_t tail_ps; /* time at which the unit's last byte left the previous step */
};

/* A message has the units first .. first + count - 1. */
struct model_message {
	uint32_t first, count;
	uint32_t done[MODEL_STEPS]; /* for each step, number of units that have done it */
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
	/* Called when the last unit of a message has done its last step. It may send messages. */
	void (*done)(void *context, uint32_t message, uint64_t at_ps);
	/* Called for each step when it starts. May be NULL. */
	void (*trace)(void *context, uint32_t stage, uint32_t unit, uint64_t start_ps,
		      uint64_t end_ps);
	void *context;
};

/* Prepares an empty pipeline; the caller then sets stages, pools and callbacks. DXP_ENOMEM. */
int model_pipeline_create(struct model_pipeline *p, uint32_t unit_most, uint32_t message_most);
void model_pipeline_destroy(struct model_pipeline *p);

/* Sends a message of `count` units at `at_ps`. routes[i] is the route of unit i; it must stay valid
 * until the message is done. Returns the number of the message; UINT32_MAX: more units or messages
 * than create permitted. */
uint32_t model_pipeline_send(struct model_pipeline *p, uint64_t at_ps,
			     const struct model_route *const *routes, uint32_t count);

/* Runs until no unit moves any more. DXP_EBUSY: units wait for each other; DXP_ENOMEM. */
int model_pipeline_run(struct model_pipeline *p);

#endif
