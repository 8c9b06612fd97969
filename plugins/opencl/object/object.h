/* SPDX-License-Identifier: BSD-3-Clause */
/* Used by all files of the OpenCL plugin: lock, handles, results of calls, settings and traces. */
#ifndef OPENCL_OBJECT_H
#define OPENCL_OBJECT_H

#include <pthread.h>

#include "plugins/opencl/object/types.h"

/* ---- lock (lock.c) ---- */

extern pthread_mutex_t opencl_lock;

void opencl_enter(void);
void opencl_leave(void);
/* opencl_out releases the lock before a call of the fabric; opencl_in acquires it again. */
void opencl_out(void);
void opencl_in(void);
/* Defers call(data) until a thread releases the lock. Deferred calls run in order, without the
 * lock. End functions use this to run callbacks of the program. Caller holds the lock. False:
 * memory is short. */
bool opencl_call(void (*call)(void *data), void *data);
/* No thread is between opencl_out and opencl_in. */
bool opencl_is_quiet(void);

/* detached.c: runs call(context) in a detached thread. */
cl_int detached_spawn(void (*call)(void *context), void *context);

/* ---- handles (object.c) ---- */

/* Creates an object with one reference; all other fields are zero. `bytes` is the size of its
 * struct, the same for all objects of a kind. NULL: memory is short. */
void *object_new(enum object_kind kind, size_t bytes);
/* `handle` (may be NULL) is a valid handle of this kind. If the program can query it from another
 * object (such as the context of a queue), it is valid even without references. */
bool object_is(const void *handle, enum object_kind kind);
/* `handle` is valid and has references, so the program may release it. */
bool object_is_owned(const void *handle, enum object_kind kind);
/* References of the program. If neither references nor holds are left, object_release and
 * object_drop call the end function of the kind, which drops everything that the object holds. */
void object_retain(void *handle);
void object_release(void *handle);
/* Holds of the plugin; see object_release. `handle` may be NULL. */
void object_hold(void *handle);
void object_drop(void *handle);
/* Sets the end function of a kind (may be NULL). It is called with the lock held. */
void object_end_with(enum object_kind kind, void (*end)(void *handle));
/* Dispatch table that the first field of every object points to (icd.c). */
extern const cl_icd_dispatch opencl_dispatch;

/* ---- results (result.c) ---- */

/* Output arguments of a clGet...Info call. */
struct info {
	size_t size;      /* bytes of space at `value` */
	void *value;      /* where to write the answer; NULL: not requested */
	size_t *size_ret; /* where to write the size of the answer; NULL: not requested */
};
/* Write an answer and its size in bytes. CL_INVALID_VALUE: the space at `value` is too small, and
 * nothing is written. */
cl_int result_bytes(const struct info *i, const void *data, size_t bytes);
cl_int result_text(const struct info *i, const char *text);
cl_int result_uint(const struct info *i, cl_uint v);
cl_int result_ulong(const struct info *i, cl_ulong v);
cl_int result_size(const struct info *i, size_t v);
cl_int result_handle(const struct info *i, const void *handle);

/* Translates a dxp status to an OpenCL error, for calls that have no more specific error. */
cl_int result_of(int status);
/* Translates the status of a failed command. `native`, the error code of the node's driver, is
 * returned if it is an OpenCL error. */
cl_int result_of_command(int status, int32_t native);

/* ---- settings and reports of `dxp run` (settings.c, trace.c, summary.c) ---- */

struct settings {
	/* DXP_CL_NODES: node names, separated by commas; NULL: all granted nodes */
	const char *nodes;
	uint32_t node_count; /* DXP_CL_NODE_COUNT: maximum number of nodes; 0: no limit */
	const char *engine;  /* DXP_CL_ENGINE: only nodes with this engine; NULL: any engine */
	uint64_t memory;     /* DXP_CL_MEM: only nodes with this many bytes of free memory */
	/* DXP_CL_TYPE: reports devices as cpu, gpu or accelerator; 0: the device's own type */
	cl_device_type type;
	const char *trace;   /* DXP_CL_TRACE: file for a trace that Perfetto and Chrome can show */
	const char *summary; /* DXP_CL_SUMMARY: file for the summary of `dxp run` */
	const char *profile; /* DXP_CL_PROFILE: file for profiles of programs */
	uint32_t join_ms;    /* DXP_CL_JOIN_MS: longest time to join the fabric, 1 to 600000 */
	/* DXP_CL_VERBOSE: prints on standard error why there is no device, and failures of
	 * commands */
	bool verbose;
};
const struct settings *settings_get(void);
/* Parses a size such as "1048576", "512M" or "2GiB". False: the text is no size, and *out is
 * unchanged. */
bool settings_bytes(const char *text, uint64_t *out);
/* Parses "cpu", "gpu" or "accelerator"; false for other text. */
bool settings_type(const char *text, cl_device_type *out);
/* Returns the position of `name` in a list separated by commas, from 1; 0: it is not in the
 * list. */
uint32_t settings_names(const char *list, const char *name);

/* Write to trace and summary: trace_open at the first search for devices, trace_queued for a
 * command in its queue, trace_event for a completed event. Caller holds the lock. */
void trace_open(void);
void trace_queued(cl_event e);
void trace_event(cl_event e);
/* Counts bytes moved between host (NULL) and node, or between two nodes. */
void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void trace_close(void);

#endif
