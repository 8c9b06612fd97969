/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions that the files for posting commands and for processing completions share.
 * Callers hold the plugin's lock. */
#ifndef OPENCL_COMPLETE_H
#define OPENCL_COMPLETE_H

#include "plugins/opencl/command/event.h"

/* complete.c: sets the function that handles a completion, and the function that runs the next
 * ready callback. */
void complete_handle_with(void (*event)(const struct dxp_completion *c), bool (*callback)(void));
/* Dequeues completions that have arrived, without waiting. */
void complete_poll(void);
/* Returns whether a thread is in dxp_completions. */
bool complete_is_dequeuing(void);
/* Wakes waiters to check again, because something completed without a completion from the
 * fabric. */
void complete_changed(void);
/* Adds (or removes) one event whose completion must be dequeued even if no thread waits. */
void complete_watch(bool more);
/* Wakes the progress thread to run a callback that is ready. */
void complete_callbacks(void);
/* Stops the progress thread; false: it is still in a callback. */
bool complete_stop(void);

/* event_callback.c: runs the next ready callback, without the lock; false: there is none. */
bool event_callbacks_run(void);
/* Makes callbacks for the completion of e ready. */
void event_callbacks_end(cl_event e);
/* Makes callbacks for CL_RUNNING or an earlier status of e ready. */
void event_callbacks_begin(cl_event e);
/* Frees callbacks of e without calling them. */
void event_callbacks_free(cl_event e);

/* event.c: creates an event of the context; NULL: no memory. It holds context and queue. */
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* Returns the dxp event for wait lists; 0: e has completed without error, or there is no memory.
 * For a failed event, returns a failed dxp event. */
dxp_event event_name(cl_event e);
/* Appends e to its queue as submitted. Requests notification of `source`, its dxp event, unless
 * that is 0. CL_OUT_OF_HOST_MEMORY: no notification will come. */
cl_int event_posted(cl_event e, dxp_event source);
/* Returns the number of commands that have not completed. */
uint32_t events_pending(void);
bool event_has_ended(void *event);
/* Forgets the shared failed event, at exit. */
void events_close(void);

/* names.c: maintains the set of dxp events that have not completed. */
bool names_add(dxp_event event);
bool names_has(dxp_event event);
void names_remove(dxp_event event);

#endif
