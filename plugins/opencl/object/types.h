/* SPDX-License-Identifier: BSD-3-Clause */
/* The structs behind the handles of the OpenCL plugin, which shows remote xPUs as devices of one
 * platform, to programs that load it through the ICD loader.
 *
 *  Commands: every enqueue call posts its command at once. A command waits for dxp events of any
 *  node or this host. The nodes notify each other. The host delays no command, so memory objects
 *  change state in the order of enqueue calls.
 *
 *  Lock: `opencl_lock` guards everything here. It is released in opencl_wait and around callbacks,
 *  after which results of earlier lookups may be invalid. Long calls of the fabric (builds,
 *  blocking transfers) run without it where a comment states so. Lock order: opencl_lock, then the
 *  lock of the fabric.
 *
 *  Lifetime: the program has references to an object (clRetain, clRelease), and the plugin has
 *  holds on it, such as a queue on its context. Without both, the object ends. Its memory is never
 *  freed, but reused for an object of the same kind, so a released handle is detected by its kind
 *  and does not cause a crash. */
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
#include <dxp/collective.h>

enum object_kind {
	OBJECT_FREE, /* a released object; only invalid handles point to it */
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
	const cl_icd_dispatch *dispatch; /* must be the first field, as the loader requires */
	uint32_t kind;
	uint32_t references, holds;
	struct object *next; /* next object in the pool, while the kind is OBJECT_FREE */
};

/* ---- platform and devices ---- */

struct _cl_platform_id {
	struct object object;
};

struct heap; /* large parts of device memory, from which ranges are allocated without messages */

struct _cl_device_id {
	struct object object;
	char node[DXP_NAME_BYTES];
	struct dxp_xpu *xpu;  /* current connection; NULL: lost, or not connected yet */
	struct dxp_xpu *lost; /* lost connection, kept until the next one is opened */
	/* Number of connections so far. Allocations and programs of earlier ones do not exist any
	 * more. */
	uint32_t generation;
	struct dxp_xpu_caps caps;
	void *about; /* records that describe the device (dxp/about.h) */
	size_t about_bytes;
	int64_t clock_ns; /* ns to add to a time of the node to get a time of the host */
	struct heap *heap;
	cl_uint index;     /* index in the platform's device list */
	uint64_t retry_ns; /* ns; there is no attempt to connect before this time */
	bool connecting;   /* true: a thread is connecting, without the lock */
	/* threads in a call on `xpu`, without the lock; while > 0, the connection must not be
	 * closed */
	uint32_t calls;
	char name[160]; /* "<device> on <node>", as programs see it */
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
	cl_context_properties *properties; /* list that ends with 0; or NULL */
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
	/* Property list as the program gave it, including the 0 that ends it; or NULL. */
	cl_queue_properties *list;
	size_t list_bytes;
	/* Commands that have not completed, in the order of enqueue calls, linked by queue_next;
	 * held. */
	cl_event first, last;
	/* Out-of-order queue: the last barrier, which all later commands wait for; held. */
	cl_event barrier;
	/* In-order queue: END of the command that completed last, in ns on the host's clock. */
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

/* `struct past` in an event. Each is a position in an in-order queue: the event completes after all
 * commands of that queue up to this serial. */
#define EVENT_PAST 4
struct past {
	/* Only for comparisons. If a later queue has the same address, the serials differ. */
	cl_command_queue queue;
	uint64_t serial;
};

struct _cl_event {
	struct object object;
	cl_context context;
	cl_command_queue queue; /* NULL: a user event */
	cl_device_id device;    /* device that executes the command; NULL: none */
	cl_command_type type;
	cl_int status; /* CL_QUEUED .. CL_COMPLETE, or negative */
	bool watched;  /* true: the completion must be dequeued even if no thread waits */
	/* dxp event that other commands can wait for. 0: the event has completed, or `finish` is
	 * set and no command waits for it yet. */
	dxp_event name;
	/* dxp event that reports the completion to this host; equal to `name`, unless `finish` is
	 * set */
	dxp_event source;
	/* ns on the host's clock */
	uint64_t queued_ns, submitted_ns, started_ns, ended_ns;
	/* larger for each new event */
	uint64_t serial;
	struct past past[EVENT_PAST];
	uint32_t generation; /* number of the device's connection when the command was posted */
	cl_event queue_next, queue_previous;
	struct event_callback *callbacks;
	/* Host work, such as copying rows that were read. Called with the lock held when `source`
	 * has completed, before waiting threads are woken. Returns the final status. */
	cl_int (*finish)(cl_event e, cl_int status, void *context);
	void *finish_context;
	/* Commands of other devices in the wait list that had not completed at the enqueue; held.
	 * Nodes report independently, so this event's completion may arrive before a predecessor's.
	 * Then it is kept (`early`) until all predecessors have completed. */
	cl_event *predecessors;
	uint32_t predecessor_count;
	bool early;
	cl_int early_status;
	cl_event early_next;
	struct object **held; /* objects that the event holds until it completes */
	uint32_t held_count, held_space;
	struct object *held_inline[EVENT_HOLDS_INLINE];
	uint64_t bytes;   /* for traces: bytes that the command moved */
	enum dxp_way way; /* way of a collective; AUTO: another command */
	char label[64];   /* for traces: name of the kernel, or "" */
	char *failure;    /* the node's sentence about the failure of the command; NULL: none */
};

/* ---- memory objects ---- */

struct copies; /* where the bytes of a memory object are (copies.h) */
struct map;

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
	void *host;    /* memory that the program gave with CL_MEM_USE_HOST_PTR */
	cl_mem parent; /* object that a sub-buffer or image was made from; held */
	uint64_t origin;
	cl_image_format format;
	struct dxp_image image; /* layout of an image; the same on all devices */
	cl_image_desc desc;
	struct copies *copies; /* only in a root object */
	void *shadow;          /* host memory for maps, if `host` is NULL */
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
