/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts, events and the enqueuing of commands. Callers hold the plugin's lock. */
#ifndef OPENCL_EVENT_H
#define OPENCL_EVENT_H

#include "plugins/opencl/object/object.h"

/* ---- contexts (context.c) ---- */

bool context_has(cl_context c, cl_device_id d);
/* Calls the notification function that the program set for the context, if any. */
void context_notify(cl_context c, const char *text);

/* ---- enqueuing (enqueue.c) ---- */

/* A command that is being enqueued: enqueue_begin, then waits, holds and dxp calls, then
 * enqueue_end. The lock is held from begin to end. */
struct enqueue {
	cl_command_queue queue;
	cl_device_id device; /* device of the queue; it is connected */
	cl_event event;
	/* Waits to pass to dxp calls: the wait list, and what the queue's order requires. A
	 * blocking call clears `lazy` before it posts. */
	struct dxp_waits waits;
	dxp_event *list; /* array that waits.events points to */
	uint32_t space;
	dxp_event inline_list[32];
	uint32_t given; /* entries in `waits` that enqueue_begin collected */
	/* true: a transfer for this command already waits for the first `given` entries */
	bool carried;
	/* true: all events in `waits` have completed */
	bool settled;
};

/* Checks queue and wait list, locks, connects the device, creates the event, and collects the
 * waits. CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT,
 * CL_DEVICE_NOT_AVAILABLE. After an error, the lock is not held. */
cl_int enqueue_begin(struct enqueue *e, cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list);
/* Adds a dxp event to the waits, unless it has completed (event_open). */
cl_int enqueue_wait(struct enqueue *e, dxp_event event);
/* Adds an event of the program to the waits. If it has failed, the command fails. */
cl_int enqueue_wait_event(struct enqueue *e, cl_event event);
/* Holds `object` until the command has completed. */
cl_int enqueue_hold(struct enqueue *e, void *object);
/* Sets host work that runs when the command completes, before waiting threads are woken. */
void enqueue_finish_with(struct enqueue *e, cl_int (*finish)(cl_event, cl_int, void *),
			 void *context);
/* Completes an enqueue and unlocks. `error`: CL_SUCCESS, or why the enqueue failed.
 *
 *  `source` is the dxp event of the posted command. 0: nothing was posted, and the command
 *  completes after its waits (a mark may be posted).
 *
 *  With `blocking`, waits until the command has completed; if it failed, returns its error status.
 *  On success *out is the event, if `out` is not NULL. */
cl_int enqueue_end(struct enqueue *e, cl_int error, dxp_event source, bool blocking, cl_event *out);

/* The event has not completed, as far as this host knows. `event` must belong to a command or to
 * event_track; other dxp events may be forgotten already. */
bool event_open(dxp_event event);
/* Tracks a dxp event that is no command of the program, such as a transfer between nodes. When it
 * completes, calls `ended` (if not NULL) with the lock held, then forgets the event. */
cl_int event_track(dxp_event event, void (*ended)(void *context, int status), void *context);

/* Dequeues completions until done(context) returns true. Releases the lock during waits. Returns
 * false after `timeout_ns` (0: no time limit). */
bool opencl_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns);
/* Starts or wakes the progress thread. While no program thread waits, it dequeues the completions
 * that callbacks or host work need. */
void opencl_watch(void);
/* Completes an event, or sets a user event. Runs `finish`, wakes waiting threads, and queues
 * callbacks, which run without the lock. */
void event_ended(cl_event e, cl_int status);

#endif
