/* SPDX-License-Identifier: BSD-3-Clause */
/* The command graph of one host on one xPU. A command enters with the events that it waits for. It
 * comes out when these events have completed, in posting order within its queue. If an event
 * failed, the command comes out as failed, without having run. Dependencies between nodes resolve
 * here, without the host.
 *
 * Two queues keep transfers from waiting for kernels. The engine's queue is in order. From it, a
 * command comes out at once if each command that it waits for has completed, or came out of that
 * queue before. graph_unfinished() lists the events that must still succeed before the command
 * runs. So a chain of kernels never waits for the network thread. Lifetime of a command: graph_add
 * -> graph_next -> graph_done, or graph_add -> graph_failed; then its memory is the caller's again.
 * Pure: no I/O, no clock. Not thread-safe. */
#ifndef XPU_GRAPH_H
#define XPU_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/command.h"

enum graph_queue { GRAPH_ENGINE, GRAPH_NETWORK, GRAPH_QUEUES };

/* A command's wait for an event that has not completed; an element of the event's list. */
struct graph_wait {
	struct graph_wait *next;
	struct graph_wait **link; /* the pointer to this wait; NULL: not waiting */
	/* name of the event without its host, which is the host of the graph */
	uint64_t event : 48;
	uint64_t index : 8;   /* index of this wait in the command's `waits` */
	uint64_t counted : 1; /* in waits_left */
};

/* The graph's part of a command. Its owner embeds it, and must not change it until the command
 * comes out. */
struct graph_command {
	/* list of commands not handed out yet, or of failed commands */
	struct graph_command *next, **link;
	uint64_t event;      /* 0: none */
	uint64_t order;      /* posting order */
	uint32_t heap_index; /* index in its queue's heap */
	uint8_t queue, state;
	uint8_t waits_left;
	uint32_t bytes; /* see graph_posting */
	/* status of a failed command: DXP_ECANCELED, DXP_EPEERLOST, or the one of graph_cancel() */
	int status;
	struct graph_wait waits[COMMAND_WAITS_MAX];
};

struct graph;

/* Creates a graph. On success *out must be destroyed, without commands in it. DXP_ENOMEM. */
int graph_create(uint16_t host, uint16_t xpu, struct graph **out);
void graph_destroy(struct graph *g);

struct graph_posting {
	enum graph_queue queue;
	uint64_t event; /* 0: none */
	/* if the command has an event: events of this xPU before this count may be forgotten */
	uint32_t oldest;
	const uint64_t *waits;
	uint8_t wait_count;
	uint32_t bytes; /* bytes of memory in use until it completes */
};

/* Adds a command. On failure only its event remains, as failed.
 * DXP_EINVAL: its event is not of this host and xPU, or not newer than all before; or it waits for
 * its own event, a later one, or another host's.
 * DXP_ENOENT: it waits for a forgotten event.
 * DXP_EAGAIN: commands would exceed WIRE_COMMANDS_BYTES, or wait for more than XPU_SOURCES_MAX
 * xPUs. DXP_ENOMEM. */
int graph_add(struct graph *g, struct graph_command *c, const struct graph_posting *p);

/* Removes and returns the next command to run from this queue, or NULL. */
struct graph_command *graph_next(struct graph *g, enum graph_queue queue);
/* Returns whether graph_next would return a command of this queue. */
bool graph_ready(const struct graph *g, enum graph_queue queue);
/* Lists the events of earlier engine commands that must succeed before this command, which
 * graph_next returned, runs. Returns their number. */
uint8_t graph_unfinished(const struct graph *g, const struct graph_command *c,
			 uint64_t events[COMMAND_WAITS_MAX]);
/* Completes a command that has run. */
void graph_done(struct graph *g, struct graph_command *c, int status);

/* Removes and returns the next command that failed without running, or NULL. */
struct graph_command *graph_failed(struct graph *g);

/* Records another xPU's event. DXP_EINVAL: not of this host, or of this xPU; DXP_EAGAIN,
 * DXP_ENOMEM: no space, so later waits for it are rejected. */
int graph_event(struct graph *g, uint64_t event, int status);

/* Fails waits for a lost xPU with DXP_EPEERLOST. */
void graph_lost(struct graph *g, uint16_t xpu);

/* Fails all commands not handed out with `status`. */
void graph_cancel(struct graph *g, int status);

/* Counts commands that have not completed, including those handed out. */
uint32_t graph_count(const struct graph *g);
/* Returns the memory of these. */
uint64_t graph_bytes(const struct graph *g);

#endif
