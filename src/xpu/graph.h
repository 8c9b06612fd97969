/* SPDX-License-Identifier: BSD-3-Clause */
/* The command graph of one host on one xPU. A command enters with the events that it waits for, and
 * leaves in posting order within its queue when these have completed; if one failed, it leaves as
 * failed and does not run. Dependencies between nodes are resolved here, without the host (X-02,
 *
 *
 * Queues keep transfers from waiting for kernels, and marks from waiting for either. The engine
 * runs its queue in order, so a command may leave it early, when each command that it waits for has
 * completed or left the same queue; graph_unfinished() lists the events that must still succeed. So
 * a chain of kernels never waits for the network thread.
 *
 * Lifetime of a command: graph_add -> graph_next -> graph_done, or graph_add -> graph_failed; then
 * the caller owns its memory again. No I/O, no clock. Not thread-safe. */
#ifndef XPU_GRAPH_H
#define XPU_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/command.h"

enum graph_queue { GRAPH_ENGINE, GRAPH_NETWORK, GRAPH_MARKS, GRAPH_QUEUES };

/* An element of the event's list. */
struct graph_wait {
	struct graph_wait *next;
	struct graph_wait **link; /* pointer to this wait; NULL: the command waits no more */
	/* event's name without its host, which is the host of the graph */
	uint64_t event : 48;
	uint64_t index : 8;   /* position in the command's `waits` */
	uint64_t counted : 1; /* it is counted in waits_left */
};

/* Must not be changed by its owner until graph_next or graph_failed returns it. */
struct graph_command {
	/* not returned by graph_next, or failed */
	struct graph_command *next, **link;
	uint64_t event;      /* 0: none */
	uint64_t order;      /* position in posting order */
	uint32_t heap_index; /* index in the heap of the queue */
	uint8_t queue, state;
	uint8_t waits_left;
	uint32_t bytes; /* see graph_posting */
	/* of a failure: DXP_ECANCELED, DXP_EPEERLOST, or that of graph_cancel() */
	int status;
	struct graph_wait waits[COMMAND_WAITS_MAX];
};

struct graph;

/* Destroy it without commands. DXP_ENOMEM. */
int graph_create(uint16_t host, uint16_t xpu, struct graph **out);
void graph_destroy(struct graph *g);

struct graph_posting {
	enum graph_queue queue;
	uint64_t event; /* 0: none */
	/* with an event: no later command waits for events of this xPU with a lower EVENT_COUNT(),
	 * so these may be forgotten */
	uint32_t oldest;
	const uint64_t *waits;
	uint8_t wait_count;
	uint32_t bytes; /* of memory until the command completes */
};

/* If this fails although the event is valid, the event remains, as failed. DXP_EINVAL: the event
 * is not of this host and xPU, or not newer than earlier ones; or it waits for its own event, a
 * later one, or one of another host. DXP_ENOENT: it waits for a forgotten event. DXP_EAGAIN: the
 * commands would use more than WIRE_COMMANDS_BYTES, or wait for more than XPU_SOURCES_MAX xPUs.
 * DXP_ENOMEM. */
int graph_add(struct graph *g, struct graph_command *c, const struct graph_posting *p);

/* NULL: none is ready. */
struct graph_command *graph_next(struct graph *g, enum graph_queue queue);
bool graph_ready(const struct graph *g, enum graph_queue queue);
/* Lists events of earlier engine commands that must succeed before the command runs; returns their
 * number. */
uint8_t graph_unfinished(const struct graph *g, const struct graph_command *c,
			 uint64_t events[COMMAND_WAITS_MAX]);
void graph_done(struct graph *g, struct graph_command *c, int status);

/* Failed without running; NULL: none. */
struct graph_command *graph_failed(struct graph *g);

/* Another xPU's event completed. DXP_EINVAL: not of this host, or of this xPU. DXP_EAGAIN,
 * DXP_ENOMEM: no space; later waits for it are rejected. */
int graph_event(struct graph *g, uint64_t event, int status);

/* Fails commands that wait for its events with DXP_EPEERLOST. */
void graph_lost(struct graph *g, uint16_t xpu);

/* Fails all commands that graph_next has not returned. */
void graph_cancel(struct graph *g, int status);

/* Includes commands that graph_next has returned. */
uint32_t graph_count(const struct graph *g);
/* Memory of the commands of graph_count. */
uint64_t graph_bytes(const struct graph *g);

#endif
