/* SPDX-License-Identifier: BSD-3-Clause */
/* The command graph of one host on one xPU. A command enters with the events that it waits for. It
 * leaves, in posting order within its queue, when these events have completed. If one of these
 * events failed, the command leaves as failed and does not run. Dependencies between nodes are
 * resolved here, without the host.
 *
 * There are two queues, so that transfers do not wait for kernels. The engine runs the commands of
 * its queue in order. So a command may leave this queue early: each command that it waits for must
 * have completed, or have left the same queue before. graph_unfinished() lists the events that must
 * still succeed before the command runs. So a chain of kernels never waits for the network thread.
 *
 * Lifetime of a command: graph_add -> graph_next -> graph_done, or graph_add -> graph_failed. After
 * that, its memory belongs to the caller again. No I/O, no clock. Not thread-safe. */
#ifndef XPU_GRAPH_H
#define XPU_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/command.h"

enum graph_queue { GRAPH_ENGINE, GRAPH_NETWORK, GRAPH_QUEUES };

/* A command's wait for an event that has not completed; it is an element of the event's list. */
struct graph_wait {
	struct graph_wait *next;
	struct graph_wait **link; /* the pointer to this wait; NULL: the command waits no more */
	/* name of the event without its host, which is always the host of the graph */
	uint64_t event : 48;
	uint64_t index : 8;   /* index of this wait in the command's `waits` */
	uint64_t counted : 1; /* waits_left includes this wait */
};

/* The graph's part of a command. The owner of the command embeds it, and must not change it until
 * graph_next or graph_failed returns the command. */
struct graph_command {
	/* list of commands that graph_next has not returned, or of failed commands */
	struct graph_command *next, **link;
	uint64_t event;      /* event of the command; 0: none */
	uint64_t order;      /* number in the order of posting */
	uint32_t heap_index; /* index in the heap of the command's queue */
	uint8_t queue, state;
	uint8_t waits_left;
	uint32_t bytes; /* see graph_posting */
	/* status of a failed command: DXP_ECANCELED, DXP_EPEERLOST, or the status that
	 * graph_cancel() got */
	int status;
	struct graph_wait waits[COMMAND_WAITS_MAX];
};

struct graph;

/* Creates a graph. On success *out must be destroyed, when it has no commands. DXP_ENOMEM: out of
 * memory. */
int graph_create(uint16_t host, uint16_t xpu, struct graph **out);
void graph_destroy(struct graph *g);

struct graph_posting {
	enum graph_queue queue;
	uint64_t event; /* event of the command; 0: none */
	/* if the command has an event: no later command waits for an event of this xPU whose
	 * EVENT_COUNT() is lower than this, so the graph may forget those events */
	uint32_t oldest;
	const uint64_t *waits;
	uint8_t wait_count;
	uint32_t bytes; /* bytes of memory that the command uses until it completes */
};

/* Adds a command. If that fails although the event is valid, only the event remains, as failed.
 * DXP_EINVAL: its event is not of this host and xPU, or not newer than all earlier ones. Or it
 * waits for its own event, for a later one, or for an event of another host. DXP_ENOENT: it waits
 * for a forgotten event. DXP_EAGAIN: the commands would use more than WIRE_COMMANDS_BYTES, or wait
 * for more than XPU_SOURCES_MAX xPUs. DXP_ENOMEM: out of memory. */
int graph_add(struct graph *g, struct graph_command *c, const struct graph_posting *p);

/* Removes and returns the next command to run from this queue, or NULL. */
struct graph_command *graph_next(struct graph *g, enum graph_queue queue);
/* Returns true if graph_next would return a command of this queue. */
bool graph_ready(const struct graph *g, enum graph_queue queue);
/* Lists events of earlier engine commands for a command that graph_next has returned. These events
 * must succeed before the command runs. Returns their number. */
uint8_t graph_unfinished(const struct graph *g, const struct graph_command *c,
			 uint64_t events[COMMAND_WAITS_MAX]);
/* Completes a command that graph_next has returned. */
void graph_done(struct graph *g, struct graph_command *c, int status);

/* Removes and returns the next command that failed without running, or NULL. */
struct graph_command *graph_failed(struct graph *g);

/* Records the completion of another xPU's event. DXP_EINVAL: the event is not of this host, or is
 * of this xPU. DXP_EAGAIN, DXP_ENOMEM: no space, so later waits for the event are rejected. */
int graph_event(struct graph *g, uint64_t event, int status);

/* Fails, with DXP_EPEERLOST, commands that wait for events of a lost xPU. */
void graph_lost(struct graph *g, uint16_t xpu);

/* Fails, with `status`, all commands that graph_next has not returned. */
void graph_cancel(struct graph *g, int status);

/* Returns the number of commands that have not completed, including those that graph_next has
 * returned. */
uint32_t graph_count(const struct graph *g);
/* Returns the bytes of memory that the commands of graph_count use. */
uint64_t graph_bytes(const struct graph *g);

#endif
