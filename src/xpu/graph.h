/* SPDX-License-Identifier: BSD-3-Clause */
/* The event graph of one host on one xPU: commands enter with the events they wait for, and come
 * out when those are done, in the order of posting within their lane; or come out failed, without
 * having run. The dependencies between commands on different nodes resolve here, between the nodes
 * (X-02, X-09).
 *
 * Two lanes, so that transfers do not wait for kernels. The engine's lane runs in order: a command
 * whose waits are all done or already given out on this lane comes out at once, and
 * `graph_unfinished` tells the runner which events it must still see succeed. So a chain of kernels
 * never waits for the network thread. Life of a command: graph_add -> graph_next -> graph_done, or
 * graph_add -> graph_failed. The memory is the caller's again after graph_done and graph_failed.
 * Pure: no I/O, no clock. Not thread-safe. */
#ifndef XPU_GRAPH_H
#define XPU_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/command.h"

enum graph_lane { GRAPH_ENGINE, GRAPH_NETWORK, GRAPH_LANES };

/* A wait of a command for an event that is not done: linked to the event's entry. */
struct graph_wait {
	struct graph_wait *next;
	struct graph_wait **link; /* what points at us; NULL: not waiting */
	struct graph_command *command;
	uint64_t event;
	bool counted; /* in waits_left */
};

/* The graph's part of a command; its owner embeds it and leaves it alone until it comes out. */
struct graph_command {
	struct graph_command *next,
		**link; /* of all that have not come out, or of the failed ones */
	uint64_t event; /* 0: none */
	uint64_t order; /* of posting */
	uint32_t place; /* in its lane's heap */
	uint8_t lane, state;
	uint8_t waits_left;
	uint32_t bytes; /* as graph_posting's */
	int status;     /* of a failed one: DXP_ECANCELED, DXP_EPEERLOST, or as graph_cancel said */
	struct graph_wait waits[COMMAND_WAITS_MAX];
};

struct graph;

/* On success *out must be destroyed, when no command is in it. DXP_ENOMEM. */
int graph_create(uint16_t host, uint16_t xpu, struct graph **out);
void graph_destroy(struct graph *g);

struct graph_posting {
	enum graph_lane lane;
	uint64_t event;  /* 0: none */
	uint32_t oldest; /* with an event: own events before this count may be forgotten */
	const uint64_t *waits;
	uint8_t wait_count;
	uint32_t bytes; /* of memory that the command takes until it has ended */
};

/* Takes a command. Where it is refused, the graph keeps nothing of it but that its event has
 * failed: DXP_EINVAL   its event is not of this host and xPU or not newer than all before, or it
 * waits for itself, for a later event, or for another host's; DXP_ENOENT   it waits for an event
 * that was forgotten; DXP_EAGAIN   the commands in the graph would take more than
 * XPU_COMMANDS_BYTES, or it waits for more than XPU_SOURCES_MAX xPUs; DXP_ENOMEM. */
int graph_add(struct graph *g, struct graph_command *c, const struct graph_posting *p);

/* The next one to run on this lane, or NULL. */
struct graph_command *graph_next(struct graph *g, enum graph_lane lane);
/* Is there one? */
bool graph_ready(const struct graph *g, enum graph_lane lane);
/* Of a command from graph_next on the engine's lane: the events of earlier ones of that lane that
 * it needs to succeed. */
uint8_t graph_unfinished(const struct graph_command *c, uint64_t events[COMMAND_WAITS_MAX]);
/* It has run. */
void graph_done(struct graph *g, struct graph_command *c, int status);

/* The next one that ended without running, with its status, or NULL. */
struct graph_command *graph_failed(struct graph *g);

/* An event of another xPU has come. DXP_EINVAL: not of this host, or of this xPU;
 * DXP_EAGAIN, DXP_ENOMEM: no room, so what waits for it later will be refused. */
int graph_event(struct graph *g, uint64_t event, int status);

/* Another xPU is lost: what waits for its events fails with DXP_EPEERLOST. */
void graph_lost(struct graph *g, uint16_t xpu);

/* Everything that has not come out fails with `status`. */
void graph_cancel(struct graph *g, int status);

/* How many are in the graph, given out or not. */
uint32_t graph_count(const struct graph *g);
/* The memory that these take. */
uint64_t graph_bytes(const struct graph *g);

#endif
