/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines the internals of the OpenCL plugin: remote xPUs as devices of a platform, for programs
 * that load it through the ICD loader.
 *
 * Commands: every enqueue posts at once. A command waits for a list of dxp events, of any node or
 * of this host; the nodes resolve it among themselves. The host holds nothing back, so memory
 * objects change state in the order of enqueue calls.
 *
 * Lock: `door_lock` guards everything here. It is released in door_wait and around callbacks;
 * lookups made before are stale after them. Long fabric calls (builds, blocking transfers) run
 * without it where a comment states so. Lock order: door_lock, then the fabric's.
 *
 * Lifetime: an object has references of the program (clRetain, clRelease) and holds of the plugin;
 * it ends when it has neither. For example, a queue holds its context. Object memory is reused for
 * the same kind only, never freed: a stale handle is detected by its kind instead of a crash. */
#ifndef DOOR_H
#define DOOR_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/about.h>
#include <dxp/async.h>

/* ---- objects (object.c) ---- */

enum object_kind {
	OBJECT_FREE, /* released; only stale handles point to it */
	OBJECT_PLATFORM,
	OBJECT_DEVICE,
	OBJECT_CONTEXT,
	OBJECT_QUEUE,
	OBJECT_MEMORY,
	OBJECT_SAMPLER,
	OBJECT_PROGRAM,
	OBJECT_KERNEL,
	OBJECT_EVENT,
	OBJECT_KINDS,
};

struct object {
	const cl_icd_dispatch *dispatch; /* first, as the loader requires */
	uint32_t kind;
	uint32_t references, holds;
	struct object *next; /* in its pool while FREE */
};

void door_enter(void);
void door_leave(void);
/* Release and reacquire the lock around a call of the fabric. */
void door_out(void);
void door_in(void);
/* Defers call(data) until a thread releases the lock; calls run without it, in order. For callbacks
 * of the program from end functions. Caller holds the lock. False: no memory. */
bool door_call(void (*call)(void *data), void *data);
/* Creates a zeroed object with one reference, or NULL. `bytes`: size of its struct, the same for
 * every object of a kind. */
void *object_new(enum object_kind kind, size_t bytes);
/* Returns whether `handle` is a live handle of this kind; false for NULL. If a program can query
 * the handle from another object (a queue's context), it is live without references too. */
bool object_is(const void *handle, enum object_kind kind);
/* Returns whether it is a live handle with references, so that the program may release it. */
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

/* ---- results of clGet...Info (info.c) ---- */

struct info {
	size_t size;
	void *value;
	size_t *size_ret;
};
cl_int info_bytes(const struct info *i, const void *data, size_t bytes);
cl_int info_text(const struct info *i, const char *text);
cl_int info_uint(const struct info *i, cl_uint v);
cl_int info_ulong(const struct info *i, cl_ulong v);
cl_int info_size(const struct info *i, size_t v);
cl_int info_handle(const struct info *i, const void *handle);

/* Translates a dxp status to an OpenCL error, if the call has no more specific one. */
cl_int error_of(int status);
/* Translates the status of a failed command. `native`: error of the node's driver; returned if it
 * is an OpenCL error. */
cl_int error_of_end(int status, int32_t native);

/* ---- platform and devices (platform.c, device.c, connect.c, heap.c) ---- */

struct _cl_platform_id {
	struct object object;
};
cl_platform_id platform_get(void);

struct heap; /* device memory in large parts, suballocated without messages */

struct _cl_device_id {
	struct object object;
	char node[DXP_NAME_BYTES];
	struct dxp_xpu *xpu;  /* NULL: lost, or not connected yet */
	struct dxp_xpu *lost; /* previous connection, until the next one opens */
	/* generation: counts connections; allocations and programs of earlier ones are gone */
	uint32_t life;
	struct dxp_xpu_caps caps;
	void *about; /* records (dxp/about.h) */
	size_t about_bytes;
	int64_t clock_ns; /* ns: host time minus the node's */
	struct heap *heap;
	cl_uint index;     /* in the platform's device list */
	uint64_t retry_ns; /* ns: no reconnection before this time */
	bool connecting;   /* a thread is connecting, without the lock */
	/* threads in a call on `xpu` without the lock; nonzero prevents its closing */
	uint32_t calls;
	char name[160]; /* "<device> on <node>" */
};

#define DOOR_DEVICES_MAX 256

struct dxp_fabric *door_fabric(void); /* NULL: not joined */
/* Returns whether this is a forked child of the process that joined. The parent's threads do not
 * run in it. */
bool door_forked(void);
/* Joins the fabric if not yet joined, and finds the devices. *devices stays valid.
 * CL_DEVICE_NOT_FOUND: no fabric or no device. */
cl_int devices_find(cl_device_id **devices, cl_uint *count);
/* Provides a usable connection; connects or reconnects if necessary. May release the lock.
 * CL_DEVICE_NOT_AVAILABLE. */
cl_int device_connect(cl_device_id d);
/* Handles the status of a call on d: marks d lost if its connection is. Returns
 * error_of(status). */
cl_int device_judge(cl_device_id d, int status);
/* Returns the value of `param` as the node's device reports it, in `*bytes` bytes; NULL: not
 * reported. */
const void *device_about(cl_device_id d, cl_uint param, size_t *bytes);
cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
size_t device_size(cl_device_id d, cl_uint param, size_t otherwise);

/* program.c: releases the node's programs of the lost connection, before `xpu` is closed. */
void program_lost(cl_device_id d);

/* Allocates device memory, aligned to 128 bytes, large ranges to 256. Exchanges messages only if a
 * new part is needed. CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_DEVICE_NOT_AVAILABLE. */
cl_int heap_take(cl_device_id d, uint64_t bytes, uint64_t *address);
/* Frees a range that no command uses; ignored if generation `life` is over. */
void heap_give(cl_device_id d, uint32_t life, uint64_t address);

/* ---- contexts and queues (context.c, queue.c) ---- */

struct context_destructor {
	struct context_destructor *next;
	void(CL_CALLBACK *call)(cl_context, void *);
	void *data;
};

struct _cl_context {
	struct object object;
	cl_device_id *devices;
	cl_uint device_count;
	cl_context_properties *properties; /* zero-terminated, or NULL */
	size_t property_bytes;
	void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
	void *notify_data;
	struct context_destructor *destructors;
};
bool context_has(cl_context c, cl_device_id d);
/* Calls the program's notification function of the context, if set. Caller holds the lock. */
void context_notify(cl_context c, const char *text);

struct _cl_command_queue {
	struct object object;
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties properties;
	cl_queue_properties *list; /* as given, zero-terminated, or NULL */
	size_t list_bytes;
	/* commands that have not completed, in enqueue order, linked by queue_next; the queue holds
	 * each */
	cl_event first, last;
	cl_event barrier;  /* out of order: all later commands wait for it; held */
	uint64_t ended_ns; /* ns: in order: END of the last completed command; host clock */
};

/* ---- events and enqueuing (event.c, event_callback.c, complete.c, enqueue.c) ---- */

struct event_callback {
	struct event_callback *next;
	cl_int when;
	void(CL_CALLBACK *call)(cl_event, cl_int, void *);
	void *data;
};

#define EVENT_HOLDS_INLINE 4

/* A position in an in-order queue: an event completes after all commands up to this serial. */
#define EVENT_PAST 4
struct past {
	/* for comparison only; serials distinguish it from a later queue at the same address */
	cl_command_queue queue;
	uint64_t serial;
};

struct _cl_event {
	struct object object;
	cl_context context;
	cl_command_queue queue; /* NULL: a user event */
	cl_device_id device;    /* that executes it; NULL: none */
	cl_command_type type;
	cl_int status; /* CL_QUEUED .. CL_COMPLETE, or negative */
	bool watched;  /* its completion must be dequeued without a waiter */
	/* for wait lists of other commands; 0: completed, or `finish` is set and no command waits
	 * yet */
	dxp_event name;
	/* dxp event whose completion is notified; equals `name` unless `finish` is set */
	dxp_event source;
	uint64_t queued_ns, submitted_ns, started_ns, ended_ns; /* ns, host clock */
	/* increases with each event created */
	uint64_t serial;
	struct past past[EVENT_PAST];
	uint32_t life; /* generation of the device at the time of posting */
	cl_event queue_next, queue_previous;
	struct event_callback *callbacks;
	/* Host work of the command (such as unpacking what was read). Called with the lock when
	 * `source` has completed, before waiters are woken. Returns the final status. */
	cl_int (*finish)(cl_event e, cl_int status, void *context);
	void *finish_context;
	/* Commands of other devices in its wait list that had not completed at enqueue; held. Nodes
	 * notify independently, so this completion may arrive first. It is then kept (`early`)
	 * until theirs have arrived. */
	cl_event *elders;
	uint32_t elder_count;
	bool early;
	cl_int early_status;
	cl_event early_next;
	struct object **held; /* dropped on completion */
	uint32_t held_count, held_room;
	struct object *held_inline[EVENT_HOLDS_INLINE];
	uint64_t bytes; /* for traces: bytes moved */
	char label[64]; /* for traces: kernel name; may be "" */
};

/* A command being enqueued: enqueue_begin, then waits, holds and dxp calls, then enqueue_end. The
 * lock is held from begin to end. */
struct enqueue {
	cl_command_queue queue;
	cl_device_id device; /* the queue's, connected */
	cl_event event;
	/* for the dxp calls: the wait list and what the queue's order requires; a blocking call
	 * clears `lazy` before it posts */
	struct dxp_waits waits;
	dxp_event *list; /* waits.events */
	uint32_t room;
	dxp_event inline_list[32];
	uint32_t given; /* entries of `waits` from the program's wait list */
	bool carried;   /* a transfer that it waits for waits for all of those */
	bool settled;   /* nothing in the wait list is open: host and node may proceed */
};

/* Begins a command: checks queue and wait list, locks, connects the device, creates the event,
 * collects the waits. CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT,
 * CL_DEVICE_NOT_AVAILABLE. On error the lock is not held. */
cl_int enqueue_begin(struct enqueue *e, cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list);
/* Adds a dxp event to the wait list, unless it has completed (event_open). */
cl_int enqueue_wait(struct enqueue *e, dxp_event event);
/* Adds an event of the program; a failed one makes the command fail. */
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
bool door_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns);
/* Starts the progress thread, or wakes it. It dequeues completions while no program thread waits
 * (for callbacks, host work). */
void door_watch(void);
/* Completes an event (or sets a user event): runs `finish`, wakes waiters, queues callbacks to run
 * without the lock. Caller holds the lock. */
void event_ended(cl_event e, cl_int status);

/* ---- memory objects (memory.c, buffer.c, image.c, sampler.c, copies.c, migrate.c, map.c) ---- */

struct copies; /* where a memory object's bytes are (copies.h) */
struct map;    /* a mapped range */

struct memory_callback {
	struct memory_callback *next;
	void(CL_CALLBACK *call)(cl_mem, void *);
	void *data;
};

struct _cl_mem {
	struct object object;
	cl_context context;
	cl_mem_object_type type;
	cl_mem_flags flags;
	cl_mem_properties *properties;
	size_t property_bytes;
	uint64_t bytes;
	void *host;    /* memory given with CL_MEM_USE_HOST_PTR */
	cl_mem parent; /* of a sub-buffer or an image made from another object; held */
	uint64_t origin;
	cl_image_format format;
	struct dxp_image image; /* of an image: its layout, equal on all devices */
	cl_image_desc desc;
	struct copies *copies; /* root object only */
	void *shadow;          /* host memory of maps, if `host` is not set */
	struct map *maps;
	cl_uint map_count;
	struct memory_callback *callbacks;
};

enum memory_access { MEMORY_READ = 1, MEMORY_WRITE = 2, MEMORY_READ_WRITE = 3 };

/* Prepares bytes [offset, offset + bytes) of m for use on e's device: returns the address, posts
 * transfers for stale bytes (added to e's waits), holds m. After posting, the caller calls
 * memory_used, which records the command's writes as latest. */
cl_int memory_ready(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		    enum memory_access access, uint64_t *address);
/* Returns whether no byte of m has been written. */
bool memory_blank(cl_mem m);
/* Records that the command `event` on e's device uses the range. */
void memory_used(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		 enum memory_access access, dxp_event event);

struct _cl_sampler {
	struct object object;
	cl_context context;
	struct dxp_sampler sampler;
	cl_sampler_properties *properties;
	size_t property_bytes;
};

/* ---- programs and kernels (program.c, build.c, package.c, kernel.c, argument.c, launch.c) ----
 * structs: program.h */

/* ---- settings of `dxp run` and its reports (settings.c, trace.c, summary.c) ---- */

struct settings {
	const char *nodes;   /* DXP_CL_NODES: names, comma-separated; NULL: all granted nodes */
	uint32_t node_count; /* DXP_CL_NODE_COUNT: maximum number; 0: all */
	const char *engine;  /* DXP_CL_ENGINE: nodes of this engine only; NULL: all */
	uint64_t memory;     /* DXP_CL_MEM: nodes with this many bytes free only */
	cl_device_type type; /* DXP_CL_TYPE: cpu, gpu, accelerator; 0: the device's own */
	const char *trace;   /* DXP_CL_TRACE: file for Perfetto or Chrome */
	const char *summary; /* DXP_CL_SUMMARY: file for the summary of `dxp run` */
	bool verbose;        /* DXP_CL_VERBOSE: prints on standard error why there is no device */
};
const struct settings *settings_get(void);
/* Trace and summary, with the lock: device search begins; a command is in its queue; an event has
 * completed. */
void trace_open(void);
void trace_queued(cl_event e);
void trace_event(cl_event e);
/* Counts bytes moved between host and node or between two nodes; NULL: the host. */
void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void trace_close(void);

/* Dispatch table that every object begins with (icd.c). */
extern const cl_icd_dispatch door_dispatch;

#endif
