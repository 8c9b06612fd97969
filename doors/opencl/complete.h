/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files that post commands and learn of their ends. All with the door's lock. */
#ifndef DOOR_COMPLETE_H
#define DOOR_COMPLETE_H

#include <pthread.h>

#include "doors/opencl/door.h"

extern pthread_mutex_t door_lock;

/* lock.c: is nobody in a call of the fabric without the lock? */
bool door_is_quiet(void);

/* complete.c: takes what has ended and is known already, without waiting. */
void completions_poll(void);
/* Is somebody in dxp_completions? */
bool completions_taken(void);
/* Something ended that no completion told of: whoever waits looks again. */
void completions_changed(void);
/* One more event, or one less, whose end somebody must take though nobody waits. */
void completions_watch(bool more);
/* A callback is ready: the thread calls it. */
void completions_callbacks(void);
/* Ends the thread; false: it is still in a callback. */
bool completions_stop(void);

/* event_callback.c: the next callback that is ready, called without the lock; false: none is. */
bool callbacks_run(void);
bool callbacks_ready(void);
/* What waits for the end of e is ready. */
void callbacks_end(cl_event e);
/* It is running: what waits for that, or less, is ready. */
void callbacks_begin(cl_event e);
/* They will not be called. */
void callbacks_free(cl_event e);

/* event.c: a new one, of the context; NULL: no memory. It holds what it names. */
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* Its name for wait lists; 0: it has ended well, or there is no memory. One that has failed gives
 * the name of an event that has. */
dxp_event event_name(cl_event e);
/* It was posted as `source`: its end will be told. */
cl_int event_posted(cl_event e, dxp_event source);
/* How many commands have not ended. */
uint32_t events_pending(void);
bool event_has_ended(void *event);
void event_completed(const struct dxp_completion *c);
/* Named in no wait list any more, for exit. */
void events_close(void);

/* names.c: the names of events that have not ended. */
bool names_add(dxp_event event);
bool names_has(dxp_event event);
void names_remove(dxp_event event);

#endif
