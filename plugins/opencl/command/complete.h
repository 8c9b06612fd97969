/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that post commands and those that process completions. Callers hold the
 * plugin's lock. */
#ifndef OPENCL_COMPLETE_H
#define OPENCL_COMPLETE_H

#include "plugins/opencl/command/event.h"

/* complete.c: `event` processes a completion; `callback` runs the next ready callback. */
void complete_handle_with(void (*event)(const struct dxp_completion *c), bool (*callback)(void));
/* Does not wait. */
void complete_poll(void);
bool complete_is_dequeuing(void);
/* Makes threads in opencl_wait check again, because something completed without a completion from
 * the fabric. */
void complete_changed(void);
/* Counts one event more (false: one less) that must be completed even if no thread waits. */
void complete_watch(bool more);
/* Wakes the progress thread to run a ready callback. */
void complete_callbacks(void);
/* Stops the progress thread. Returns false if it is still in a callback. */
bool complete_stop(void);

/* event_callback.c: runs the next ready callback, without the lock. False: there is none. */
bool event_callbacks_run(void);
/* Makes all callbacks of `e` ready. */
void event_callbacks_end(cl_event e);
/* Makes the callbacks of `e` for CL_RUNNING or an earlier status ready. */
void event_callbacks_begin(cl_event e);
/* Does not call them. */
void event_callbacks_free(cl_event e);

/* event.c: the event holds its context and queue. NULL: memory is short. */
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* Returns the dxp event of `e` for wait lists. 0: `e` has completed without error, or memory is
 * short. For a failed `e`, returns a dxp event that has failed. */
dxp_event event_name(cl_event e);
/* Appends `e` to its queue as submitted. `source`, the dxp event of its command (0: none), will
 * report its completion. CL_OUT_OF_HOST_MEMORY: there will be no completion. */
cl_int event_posted(cl_event e, dxp_event source);
/* Returns the number of commands that have not completed. */
uint32_t events_pending(void);
/* Returns true if the command runs on several devices (cl_dxp_collective). */
bool event_is_collective(const struct _cl_event *e);
bool event_has_ended(void *event);
/* Forgets the failed event that all failed commands share; for the exit. */
void events_close(void);

/* names.c: the set of dxp events that have not completed. */
bool names_add(dxp_event event);
bool names_has(dxp_event event);
void names_remove(dxp_event event);

#endif
