/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares contexts, events and the enqueuing of commands. Callers hold the plugin's lock. */
#ifndef OPENCL_EVENT_H
#define OPENCL_EVENT_H

#include "plugins/opencl/object/object.h"

/* ---- contexts (context.c) ---- */

bool context_has(cl_context c, cl_device_id d);
/* Calls the program's notification function of the context, if set. Caller holds the lock. */
void context_notify(cl_context c, const char *text);

/* ---- enqueuing (enqueue.c) ---- */

/* A command being enqueued: enqueue_begin, then waits, holds and dxp calls, then enqueue_end. The
 * lock is held from begin to end. */
struct enqueue {
	cl_command_queue queue;
	cl_device_id device; /* the queue's, connected */
	cl_event event;
	/* waits for the dxp calls: the wait list, and events that the queue's order requires. A
	 * blocking call clears `lazy` before it posts. */
	struct dxp_waits waits;
	dxp_event *list; /* waits.events */
	uint32_t space;
	dxp_event inline_list[32];
	uint32_t given; /* entries of `waits` from the program's wait list */
	bool carried;   /* a transfer for this command already waits for all given entries */
	/* all events in the wait list have completed, so host and node may proceed */
	bool settled;
};

/* Begins a command: checks queue and wait list, locks, connects the device, creates the event,
 * collects the waits. CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT,
 * CL_DEVICE_NOT_AVAILABLE. On error the lock is not held. */
cl_int enqueue_begin(struct enqueue *e, cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list);
/* Adds a dxp event to the wait list, unless it has completed (event_open). */
cl_int enqueue_wait(struct enqueue *e, dxp_event event);
/* Adds an event of the program to the wait list. If the event has failed, the command fails. */
cl_int enqueue_wait_event(struct enqueue *e, cl_event event);
/* Holds `object` until the command has completed. */
cl_int enqueue_hold(struct enqueue *e, void *object);
/* Sets host work to run at completion, before waiters are woken. */
void enqueue_finish_with(struct enqueue *e, cl_int (*finish)(cl_event, cl_int, void *),
			 void *context);
/* Ends an enqueue and unlocks. `source`: the posted dxp event; 0: nothing was posted, the command
 * completes with its waits (a mark is posted). `error`: the enqueue failed. On success *out is the
 * event, if requested. With `blocking` the command has completed; its failure is returned as the
 * event's error status. */
cl_int enqueue_end(struct enqueue *e, cl_int error, dxp_event source, bool blocking, cl_event *out);

/* Returns whether a command's or tracked event has not completed, as far as this host has been
 * notified. Other dxp events must not be used; they may be forgotten. */
bool event_open(dxp_event event);
/* Tracks an event that is no command of the program (a transfer between nodes). On completion calls
 * `ended` (NULL allowed) with the lock and forgets the event. */
cl_int event_track(dxp_event event, void (*ended)(void *context, int status), void *context);

/* Dequeues completions until done(context). Caller holds the lock, which is released while waiting.
 * False: timeout_ns (0: none) elapsed. */
bool opencl_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns);
/* Starts the progress thread, or wakes it. It dequeues completions that callbacks or host work
 * need, while no program thread waits. */
void opencl_watch(void);
/* Completes an event (or sets a user event): runs `finish`, wakes waiters, queues callbacks to run
 * without the lock. Caller holds the lock. */
void event_ended(cl_event e, cl_int status);

#endif
