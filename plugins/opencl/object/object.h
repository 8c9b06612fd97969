/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions that all files of the OpenCL plugin use: lock, handles, results of calls,
 * settings, traces. */
#ifndef OPENCL_OBJECT_H
#define OPENCL_OBJECT_H

#include <pthread.h>

#include "plugins/opencl/object/types.h"

/* ---- lock (lock.c) ---- */

extern pthread_mutex_t opencl_lock;

void opencl_enter(void);
void opencl_leave(void);
/* Release and reacquire the lock around a call of the fabric. */
void opencl_out(void);
void opencl_in(void);
/* Defers call(data) until a thread releases the lock; calls run without it, in order. End functions
 * use it to run callbacks of the program. Caller holds the lock. False: no memory. */
bool opencl_call(void (*call)(void *data), void *data);
/* Returns whether no thread is in a call of the fabric without the lock. */
bool opencl_is_quiet(void);

/* detached.c: runs call(context) in a detached thread. */
cl_int detached_spawn(void (*call)(void *context), void *context);

/* ---- handles (object.c) ---- */

/* Creates a zeroed object with one reference, or NULL. `bytes`: size of its struct, the same for
 * every object of a kind. */
void *object_new(enum object_kind kind, size_t bytes);
/* Returns whether `handle` is a live handle of this kind; false for NULL. A handle that a program
 * can query from another object (such as a queue's context) is live even without references. */
bool object_is(const void *handle, enum object_kind kind);
/* Returns whether `handle` is a live handle with references, so that the program may release it. */
bool object_is_owned(const void *handle, enum object_kind kind);
/* References of the program. When the last reference and hold are gone, object_release and
 * object_drop call the kind's end function, which drops what the object holds. */
void object_retain(void *handle);
void object_release(void *handle);
/* Holds of the plugin. NULL is allowed. */
void object_hold(void *handle);
void object_drop(void *handle);
/* Sets the end function of a kind; NULL is allowed. It is called with the lock. */
void object_end_with(enum object_kind kind, void (*end)(void *handle));
/* Dispatch table that every object begins with (icd.c). */
extern const cl_icd_dispatch opencl_dispatch;

/* ---- results (result.c) ---- */

/* The output arguments of a clGet...Info call. */
struct info {
	size_t size;      /* bytes at `value` */
	void *value;      /* NULL: not requested */
	size_t *size_ret; /* NULL: not requested */
};
/* Write an answer and its size in bytes. CL_INVALID_VALUE: `value` is too small; nothing is
 * written. */
cl_int result_bytes(const struct info *i, const void *data, size_t bytes);
cl_int result_text(const struct info *i, const char *text);
cl_int result_uint(const struct info *i, cl_uint v);
cl_int result_ulong(const struct info *i, cl_ulong v);
cl_int result_size(const struct info *i, size_t v);
cl_int result_handle(const struct info *i, const void *handle);

/* Translates a dxp status to an OpenCL error, if the call has no more specific one. */
cl_int result_of(int status);
/* Translates the status of a failed command. `native`: error of the node's driver; returned if it
 * is an OpenCL error. */
cl_int result_of_command(int status, int32_t native);

/* ---- settings of `dxp run` and its reports (settings.c, trace.c, summary.c) ---- */

struct settings {
	const char *nodes;   /* DXP_CL_NODES: names, comma-separated; NULL: all granted nodes */
	uint32_t node_count; /* DXP_CL_NODE_COUNT: maximum number; 0: all */
	const char *engine;  /* DXP_CL_ENGINE: only nodes of this engine; NULL: all */
	uint64_t memory;     /* DXP_CL_MEM: only nodes with this many bytes free */
	cl_device_type type; /* DXP_CL_TYPE: cpu, gpu, accelerator; 0: the device's own */
	const char *trace;   /* DXP_CL_TRACE: file for Perfetto or Chrome */
	const char *summary; /* DXP_CL_SUMMARY: file for the summary of `dxp run` */
	const char *profile; /* DXP_CL_PROFILE: file for profiles of programs */
	bool verbose;        /* DXP_CL_VERBOSE: prints on standard error why there is no device */
};
const struct settings *settings_get(void);
/* Parses "1048576", "512M", "2GiB". False: not a size; *out is unchanged. */
bool settings_bytes(const char *text, uint64_t *out);
/* Parses "cpu", "gpu", "accelerator". */
bool settings_type(const char *text, cl_device_type *out);
/* Returns the position of `name` in a comma-separated list, counted from 1; 0: absent. */
uint32_t settings_names(const char *list, const char *name);

/* Record in trace and summary that device search begins, that a command is in its queue, and that
 * an event has completed. Caller holds the lock. */
void trace_open(void);
void trace_queued(cl_event e);
void trace_event(cl_event e);
/* Counts bytes moved between host and node or between two nodes; NULL: the host. */
void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void trace_close(void);

#endif
