/* SPDX-License-Identifier: BSD-3-Clause */
/* The structs behind the handles of the OpenCL plugin: remote xPUs as devices of a platform, for
 * programs that load it through the ICD loader.
 *
 * Commands: every enqueue posts at once. A command waits for a list of dxp events, of any node or
 * of this host; the nodes resolve it among themselves. The host delays no command, so memory
 * objects change state in the order of enqueue calls.
 *
 * Lock: `opencl_lock` guards everything here. It is released in opencl_wait and around callbacks;
 * lookups made before are stale after them. Long fabric calls (builds, blocking transfers) run
 * without it where a comment states so. Lock order: opencl_lock, then the fabric's.
 *
 * Lifetime: the program has references to an object (clRetain, clRelease), and the plugin has holds
 * on it. The object ends when it has neither. For example, a queue holds its context. Object memory
 * is reused for the same kind only, never freed: a stale handle is detected by its kind instead of
 * a crash. */
#ifndef OPENCL_TYPES_H
#define OPENCL_TYPES_H

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

/* ---- platform and devices ---- */

struct _cl_platform_id {
	struct object object;
};

struct heap; /* device memory in large parts, suballocated without messages */

struct _cl_device_id {
	struct object object;
	char node[DXP_NAME_BYTES];
	struct dxp_xpu *xpu;  /* NULL: lost, or not connected yet */
	struct dxp_xpu *lost; /* previous connection, until the next one opens */
	/* number of connections so far; allocations and programs of earlier connections do not
	 * exist any more */
	uint32_t generation;
	struct dxp_xpu_caps caps;
	void *about; /* records (dxp/about.h) */
	size_t about_bytes;
	int64_t clock_ns; /* ns: host time minus the node's */
	struct heap *heap;
	cl_uint index;     /* index in the platform's device list */
	uint64_t retry_ns; /* ns: no reconnection before this time */
	bool connecting;   /* a thread is connecting, without the lock */
	/* threads in a call on `xpu` without the lock; nonzero prevents its closing */
	uint32_t calls;
	char name[160]; /* "<device> on <node>" */
};

#define OPENCL_DEVICES_MAX 256

/* ---- contexts and queues ---- */

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

struct _cl_command_queue {
	struct object object;
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties properties;
	/* property list as the program gave it, with the final zero; or NULL */
	cl_queue_properties *list;
	size_t list_bytes;
	/* commands that have not completed, in enqueue order, linked by queue_next; the queue holds
	 * each */
	cl_event first, last;
	/* out-of-order queue: last barrier, for which all later commands wait; held */
	cl_event barrier;
	/* ns: in-order queue: END of the last completed command, on the host's clock */
	uint64_t ended_ns;
};

/* ---- events ---- */

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
	cl_device_id device;    /* device that executes it; NULL: none */
	cl_command_type type;
	cl_int status; /* CL_QUEUED .. CL_COMPLETE, or negative */
	bool watched;  /* the event's completion must be dequeued even without a waiter */
	/* dxp event for wait lists of other commands; 0: completed, or `finish` is set and no
	 * command waits yet */
	dxp_event name;
	/* dxp event whose completion is notified; equals `name` unless `finish` is set */
	dxp_event source;
	uint64_t queued_ns, submitted_ns, started_ns, ended_ns; /* ns, host clock */
	/* increases with each event created */
	uint64_t serial;
	struct past past[EVENT_PAST];
	uint32_t generation; /* generation of the device at the time of posting */
	cl_event queue_next, queue_previous;
	struct event_callback *callbacks;
	/* Host work of the command (such as unpacking what was read). Called with the lock when
	 * `source` has completed, before waiters are woken. Returns the final status. */
	cl_int (*finish)(cl_event e, cl_int status, void *context);
	void *finish_context;
	/* Commands of other devices in its wait list that had not completed at enqueue; held. Nodes
	 * notify independently, so the completion of this event may arrive before those of its
	 * predecessors. It is then kept (`early`) until they have arrived. */
	cl_event *predecessors;
	uint32_t predecessor_count;
	bool early;
	cl_int early_status;
	cl_event early_next;
	struct object **held; /* dropped on completion */
	uint32_t held_count, held_space;
	struct object *held_inline[EVENT_HOLDS_INLINE];
	uint64_t bytes; /* for traces: bytes moved */
	char label[64]; /* for traces: kernel name; may be "" */
	char *failure;  /* the node's sentence about a failure of the command; NULL: none */
};

/* ---- memory objects ---- */

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
	cl_mem parent; /* object from which a sub-buffer or image was made; held */
	uint64_t origin;
	cl_image_format format;
	struct dxp_image image; /* layout of an image, equal on all devices */
	cl_image_desc desc;
	struct copies *copies; /* root object only */
	void *shadow;          /* host memory of maps, if `host` is not set */
	struct map *maps;
	cl_uint map_count;
	struct memory_callback *callbacks;
};

struct _cl_sampler {
	struct object object;
	cl_context context;
	struct dxp_sampler sampler;
	cl_sampler_properties *properties;
	size_t property_bytes;
};

#endif
