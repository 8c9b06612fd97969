/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the OpenCL door: remote xPUs as devices of a platform, for programs that load it
 * through the ICD loader and know nothing of us.
 *
 * How it works. Every enqueue posts at once: what a command waits for is a list of dxp events, of
 * any node or of this host, and the nodes resolve it among themselves. Nothing is held back here,
 * so the order of enqueue calls is the order in which the state of memory objects changes.
 *
 * Lock: one, `door_lock`, guards everything here. It is released in door_wait and around callbacks,
 * nowhere else; so what was looked up before those may have changed. Fabric calls that may take
 * long (builds, blocking transfers) are made without it where it says so. Lock order: the door's,
 * then the fabric's.
 *
 * Who keeps what alive: an object has references of the program (clRetain, clRelease) and holds of
 * ours (a queue holds its context, an event what its command uses). It ends when it has neither.
 * Memory of objects is never given back to the system, only used again for the same kind: a handle
 * that is stale is told by its kind, and not by a crash. */
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
	OBJECT_FREE, /* a stale handle */
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
	const cl_icd_dispatch *dispatch; /* first: the loader's */
	uint32_t kind;
	uint32_t references, holds;
	struct object *next; /* of its pool while FREE */
};

void door_enter(void);
void door_leave(void);
/* Around a call of the fabric that is made without the lock. */
void door_out(void);
void door_in(void);
/* With the lock: has call(data) called without it, in the order asked, when this thread or another
 * one leaves. For callbacks of the program from end functions. False: no memory. */
bool door_call(void (*call)(void *data), void *data);
/* The clock of all times here: this machine's monotonic one. */
uint64_t door_now_ns(void);

/* A zeroed object of this kind with one reference, or NULL. `bytes`: of its struct, the same for
 * each kind. */
void *object_new(enum object_kind kind, size_t bytes);
/* Is it a live handle of this kind? NULL is none. Where a program finds the handle again in what
 * holds it (the context of a queue), it lives without references, too, and may be retained. */
bool object_is(const void *handle, enum object_kind kind);
/* The same, with references: may the program release it? */
bool object_is_owned(const void *handle, enum object_kind kind);
/* By the program. object_release and object_drop end the object when nothing is left: the kind's
 * own end function is called, which drops what it holds. */
void object_retain(void *handle);
void object_release(void *handle);
/* By us. NULL is allowed in both. */
void object_hold(void *handle);
void object_drop(void *handle);
/* Each kind's file gives its end function at start; NULL is allowed. Called with the lock. */
void object_end_with(enum object_kind kind, void (*end)(void *handle));

/* ---- answers to clGet...Info (info.c) ---- */

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

/* The OpenCL error of a dxp status, where the call has no better one. */
cl_int error_of(int status);
/* Of a command that ended so: what the node's own driver said, where it did and it is OpenCL's. */
cl_int error_of_end(int status, int32_t native);

/* ---- platform and devices (platform.c, device.c, connect.c, heap.c) ---- */

struct _cl_platform_id {
	struct object object;
};
cl_platform_id platform_get(void);

struct heap; /* device memory in large parts, given out in small ones without asking the node */

struct _cl_device_id {
	struct object object;
	char node[DXP_NAME_BYTES];
	struct dxp_xpu *xpu;  /* NULL: lost, or not connected yet */
	struct dxp_xpu *lost; /* the one before, until the next connection */
	uint32_t life;        /* counts connections: what was there in an earlier one is gone */
	struct dxp_xpu_caps caps;
	void *about; /* records */
	size_t about_bytes;
	int64_t clock_ns; /* host time minus the node's */
	struct heap *heap;
	cl_uint index;     /* in the platform's list */
	uint64_t retry_ns; /* not connected again before */
	bool connecting;   /* somebody does it, without the lock */
	uint32_t calls;    /* threads in a call on `xpu` without the lock: it is not closed */
	char name[160];    /* "<device> on <node>" */
};

#define DOOR_DEVICES_MAX 256

struct dxp_fabric *door_fabric(void); /* NULL: not joined */
/* Is this a child of the process that joined? Its parent's threads do not run here. */
bool door_forked(void);
/* Joins where that has not been done, and finds the devices. CL_DEVICE_NOT_FOUND where there is no
 * fabric or no device. *devices stays. */
cl_int devices_find(cl_device_id **devices, cl_uint *count);
/* A connection that can be used now: connects, or connects again. CL_DEVICE_NOT_AVAILABLE. The lock
 * is released meanwhile where it takes a message. */
cl_int device_connect(cl_device_id d);
/* A call on it ended with this status: notes that it is lost. Returns error_of(status). */
cl_int device_judge(cl_device_id d, int status);
/* What the node's device says of `param` in `*bytes` bytes; NULL: nothing. */
const void *device_about(cl_device_id d, cl_uint param, size_t *bytes);
cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
size_t device_size(cl_device_id d, cl_uint param, size_t otherwise);

/* program.c: the node's programs of this life are gone; releases them. Before `xpu` is closed. */
void program_lost(cl_device_id d);

/* Device memory, 128-byte aligned at least; 256 for large ones. Waits for a message only where a
 * new part is needed. CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_DEVICE_NOT_AVAILABLE. */
cl_int heap_take(cl_device_id d, uint64_t bytes, uint64_t *address);
/* Of this life of the device; nothing on it uses the range any more. */
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
/* Tells the program, where it asked for that, what befell its context. With the lock. */
void context_notify(cl_context c, const char *text);

struct _cl_command_queue {
	struct object object;
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties properties;
	cl_queue_properties *list; /* as given, zero-terminated, or NULL */
	size_t list_bytes;
	cl_event first, last; /* commands that have not ended, in the order of enqueue, by their
				 queue_next; the queue holds each */
	cl_event barrier;     /* out of order: what all later commands wait for; held */
	uint64_t ended_ns;    /* in order: END of the command that ended last; host clock */
};

/* ---- events and enqueuing (event.c, event_callback.c, complete.c, enqueue.c) ---- */

struct event_callback {
	struct event_callback *next;
	cl_int when;
	void(CL_CALLBACK *call)(cl_event, cl_int, void *);
	void *data;
};

#define EVENT_HOLDS_INLINE 4

/* Commands of a queue in order, up to one with this serial, that an event comes after. */
#define EVENT_PAST 4
struct past {
	cl_command_queue queue; /* to compare only; serials tell it from a later one */
	uint64_t serial;
};

struct _cl_event {
	struct object object;
	cl_context context;
	cl_command_queue queue; /* NULL: a user event */
	cl_device_id device;    /* that ran it; NULL: none */
	cl_command_type type;
	cl_int status;    /* CL_QUEUED .. CL_COMPLETE, or negative */
	bool watched;     /* somebody must take its end though nobody waits */
	dxp_event name;   /* for wait lists of other commands; 0: it has ended, or it has `finish`
			     and nobody waits for it yet */
	dxp_event source; /* whose end we are told; the same as name unless there is `finish` */
	uint64_t queued_ns, submitted_ns, started_ns, ended_ns; /* host clock */
	uint64_t serial;                                        /* grows with each event made */
	struct past past[EVENT_PAST];
	uint32_t life; /* of the device when it was posted */
	cl_event queue_next, queue_previous;
	struct event_callback *callbacks;
	/* With the lock, when `source` has ended, before anybody hears of it: host work that
	 * belongs to the command (unpacking what was read). Returns the status that counts. */
	cl_int (*finish)(cl_event e, cl_int status, void *context);
	void *finish_context;
	/* Commands of other devices in its wait list whose end was not known when it was enqueued;
	 * held. Nodes tell of their ends apart, so that the news of this one may come first: then
	 * it is kept
	 * (`early`) until theirs is there. */
	cl_event *elders;
	uint32_t elder_count;
	bool early;
	cl_int early_status;
	cl_event early_next;
	struct object **held; /* dropped when it ends */
	uint32_t held_count, held_room;
	struct object *held_inline[EVENT_HOLDS_INLINE];
	uint64_t bytes; /* for traces: what it moved */
	char label[64]; /* for traces: kernel name; may be "" */
};

/* A command being enqueued. Life: enqueue_begin -> waits and holds are added, the dxp calls made ->
 * enqueue_end. The door is locked from begin to end. */
struct enqueue {
	cl_command_queue queue;
	cl_device_id device; /* the queue's, connected */
	cl_event event;
	struct dxp_waits waits; /* for the dxp calls: the list, and what the queue's order asks;
				   lazy: a blocking call sets it false before it posts */
	dxp_event *list;        /* waits.events */
	uint32_t room;
	dxp_event inline_list[32];
	uint32_t given; /* of the waits, those that the program asked for */
	bool carried;   /* a transfer that it waits for waits for all those */
	bool settled;   /* nothing in the wait list is open: host and node may go ahead */
};

/* Checks queue and wait list (CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST,
 * CL_INVALID_CONTEXT, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST only where the standard has it),
 * locks, connects the device, makes the event, gathers the waits. On an error nothing is locked. */
cl_int enqueue_begin(struct enqueue *e, cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list);
/* One more event that the command waits for. One that has ended (event_open) is passed over. */
cl_int enqueue_wait(struct enqueue *e, dxp_event event);
/* The same for an event of the program; one that has failed makes the command fail. */
cl_int enqueue_wait_event(struct enqueue *e, cl_event event);
/* The command uses this object until it has ended. */
cl_int enqueue_hold(struct enqueue *e, void *object);
/* Host work at its end, before others go on. */
void enqueue_finish_with(struct enqueue *e, cl_int (*finish)(cl_event, cl_int, void *),
			 void *context);
/* It was posted as `source`, or nothing had to be (0: it ends with its waits; a mark is posted), or
 * it failed with `error`. Unlocks. On success *out is the event where the program asked; with
 * `blocking` it has ended, and its failure is returned as
 * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST or the error itself. */
cl_int enqueue_end(struct enqueue *e, cl_int error, dxp_event source, bool blocking, cl_event *out);

/* Is it an event of a command, or one that is tracked, that has not ended as far as this host
 * knows? The names of others may be used no more: they were given up. */
bool event_open(dxp_event event);
/* For an event that is no command of the program's (a transfer between nodes): its end is taken
 * with all others; `ended` (NULL allowed) is called with the lock, and the name is given up. */
cl_int event_track(dxp_event event, void (*ended)(void *context, int status), void *context);

/* With the lock, which it releases while it waits: until done(context), turning completions. Ends
 * early with false when timeout_ns (0: none) is over. */
bool door_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns);
/* Somebody must take completions though nobody waits (callbacks, host work): starts the thread. */
void door_watch(void);
/* With the lock: the event has ended (or a user event was set). Runs `finish`, tells waiters, has
 * callbacks called without the lock. */
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
	void *host;    /* CL_MEM_USE_HOST_PTR's */
	cl_mem parent; /* of a sub-buffer, or an image made from a buffer; held */
	uint64_t origin;
	cl_image_format format;
	struct dxp_image image; /* of an image: its layout on every device */
	cl_image_desc desc;
	struct copies *copies; /* of the root object only */
	void *shadow;          /* host memory of maps, where there is no `host` */
	struct map *maps;
	cl_uint map_count;
	struct memory_callback *callbacks;
};

enum memory_access { MEMORY_READ = 1, MEMORY_WRITE = 2, MEMORY_READ_WRITE = 3 };

/* Has bytes [offset, offset + bytes) of m where the queue's device works: gives the address there,
 * brings what is stale by transfers between the nodes (adding to e's waits), holds m. What the
 * command writes is the latest from enqueue_end on: `memory_wrote` is called by the enqueuer after
 * it has posted, with the event's name. */
cl_int memory_ready(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		    enum memory_access access, uint64_t *address);
/* Nobody has written any byte of it yet. */
bool memory_blank(cl_mem m);
/* The command `event` on e's device uses the range (access) from now on. */
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
 * their structs are in program.h */

/* ---- what `dxp run` sets and reads (settings.c, trace.c, summary.c) ---- */

struct settings {
	const char *nodes;   /* DXP_CL_NODES: names, comma-separated; NULL: all that are granted */
	uint32_t node_count; /* DXP_CL_NODE_COUNT: at most so many; 0: all */
	const char *engine;  /* DXP_CL_ENGINE: only those of this engine; NULL: all */
	uint64_t memory;     /* DXP_CL_MEM: only nodes with so many bytes free */
	cl_device_type type; /* DXP_CL_TYPE: cpu, gpu, accelerator; 0: the device's own */
	const char *trace;   /* DXP_CL_TRACE: file for Perfetto or Chrome */
	const char *summary; /* DXP_CL_SUMMARY: file for the summary of `dxp run` */
	bool verbose;        /* DXP_CL_VERBOSE: says on standard error why there is no device */
};
const struct settings *settings_get(void);
/* For trace and summary, with the lock: devices are looked for; a command is in its queue; an event
 * has ended. */
void trace_open(void);
void trace_queued(cl_event e);
void trace_event(cl_event e);
/* Bytes between host and node, node and node. */
void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void trace_close(void);

/* The table that every object begins with (icd.c). */
extern const cl_icd_dispatch door_dispatch;

#endif
