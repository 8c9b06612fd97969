/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the internals of memory objects: roots, transfers between copies, commands posted in
 * parts. Callers hold the plugin's lock. A root object owns its bytes: it is neither a sub-buffer
 * nor an image made from another object. */
#ifndef OPENCL_MEMORY_H
#define OPENCL_MEMORY_H

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/memory/rect.h"
#include "plugins/opencl/memory/copies.h"
#include "plugins/opencl/object/api.h"

/* ---- use by commands (migrate.c) ---- */

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

/* ---- objects (memory.c, root.c) ---- */

/* Returns the owner of m's bytes; adds m's offset in it to *offset. */
cl_mem memory_root(cl_mem m, uint64_t *offset);
/* Creates an object without bytes, which holds `context` and `parent`. Without a parent it is a
 * root and gets a `struct copies`. NULL: no memory. */
cl_mem memory_new(cl_context context, cl_mem parent, cl_mem_object_type type, cl_mem_flags flags);
/* Creates device and host memory for one command, with one hold and no references; NULL: no
 * memory. */
cl_mem memory_temporary(cl_context context, uint64_t bytes);
/* Releases a new object that the program has not seen. */
void memory_abandon(cl_mem m);
/* Returns host memory for all of a root's bytes: the program's or the shadow, allocated on first
 * use. NULL: no memory. */
uint8_t *memory_host(cl_mem root);
/* Returns whether all flags are known, with at most one of each group. */
bool memory_flags_valid(cl_mem_flags flags);
/* Derives flags of an object made from another. Missing groups are inherited; more access than the
 * parent's is CL_INVALID_VALUE. */
cl_int memory_inherit(cl_mem_flags whole, cl_mem_flags *flags);
/* Checks that host pointer and flags match: CL_INVALID_HOST_PTR. */
cl_int memory_pointer_check(cl_mem_flags flags, const void *host);
/* Initialises the object from `host`: uses the memory or copies it, depending on the flags. */
cl_int memory_fill_from(cl_mem root, void *host);
/* Stores a list of properties, which must be empty: CL_INVALID_PROPERTY. */
cl_int memory_properties_set(cl_mem m, const cl_mem_properties *properties);
/* Check handle, context and kind of object against the queue: CL_INVALID_MEM_OBJECT,
 * CL_INVALID_CONTEXT. */
cl_int memory_check(cl_mem m, cl_command_queue queue);
cl_int memory_check_buffer(cl_mem m, cl_command_queue queue);
cl_int memory_check_image(cl_mem m, cl_command_queue queue);
/* Returns the largest value that the context's devices report. Caller does not hold the lock. */
uint64_t memory_device_most(cl_context c, cl_device_info param);

/* ---- images (image.c, format.c) ---- */

/* Returns the bytes of a pixel; 0: not a valid format. */
size_t format_bytes(const cl_image_format *f);
/* Converts four floats, ints or uints, as clEnqueueFillImage gets them, to a pixel. Returns its
 * size in bytes, at most 16. */
size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel);
/* Returns whether all devices of the context that have images support the format. */
bool format_supported(cl_context c, cl_mem_flags flags, cl_mem_object_type type,
		      const cl_image_format *f);

/* Return the distance in bytes between elements adjacent in the image's second or third
 * dimension. */
uint64_t image_second_pitch(cl_mem m);
uint64_t image_third_pitch(cl_mem m);
/* Checks that the region is not empty and inside the image. If so, *at is the region's offset in m.
 * *rect has the region's bytes, with the image's pitches on both sides. */
bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_rect *rect);

/* ---- between copies (migrate.c) ---- */

#define TRANSFER_PART_BYTES (1ull << 30) /* bytes: maximum of one transfer command */

/* Forgets completed uses, and copies on lost nodes. Every command calls it first. */
void memory_settle(cl_mem root);
/* Returns the copy on e's device; creates it if necessary. May release the lock. */
cl_int memory_here(struct enqueue *e, cl_mem root, struct copy **out);
/* Makes e wait for the plugin's transfers that conflict with `access` to the range. */
cl_int memory_order(struct enqueue *e, const struct copy *copy, uint64_t start, uint64_t end,
		    enum memory_access access);
/* Returns whether commands posted earlier will still write part of the range. */
bool memory_filling(const struct copy *copy, uint64_t start, uint64_t end);
/* Returns the copies of both objects on e's device. */
cl_int memory_both_here(struct enqueue *e, cl_mem a, struct copy **a_copy, cl_mem b,
			struct copy **b_copy);
/* Transfers the parts of the range that `to` lacks; e waits for them. */
cl_int memory_bring(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start, uint64_t end);

/* Records that the command `event` on e's device writes the range. */
void memory_writer(struct enqueue *e, cl_mem root, uint64_t start, uint64_t end, dxp_event event);

/* ---- commands in parts (command.c) ---- */

struct unpack; /* a copy within host memory, made when the command completes */

struct command {
	struct enqueue e;
	dxp_event *parts; /* posted parts; the command completes after all of them */
	uint32_t count, space;
	dxp_event few[8];
	struct unpack *unpack, *unpack_last;
	cl_mem wrote; /* root object that it writes; NULL: none */
	uint64_t wrote_start, wrote_end;
	/* host memory that the command writes; later commands that read it must wait */
	const void *to;
	uint64_t to_bytes;
};

/* Begins a command in parts. Statuses of enqueue_begin(). `blocking` posts without `lazy`, so that
 * nodes report the awaited completions at once. */
cl_int command_begin(struct command *c, cl_command_queue queue, cl_command_type type, bool blocking,
		     cl_uint count, const cl_event *list);
/* Adds a part: a fabric call on d returned `status` and posted `part`. */
cl_int command_part(struct command *c, cl_device_id d, int status, dxp_event part);
/* Adds a step that later parts wait for; holds `hold` until it has completed. */
cl_int command_step(struct command *c, cl_device_id d, int status, dxp_event step, void *hold);
/* Adds a host copy, to run when all parts have completed. */
cl_int command_unpack(struct command *c, void *to, const void *from, const struct dxp_rect *rect);
/* Records that the command writes this range of a root object. At most one object per command. */
void command_writes(struct command *c, cl_mem root, uint64_t start, uint64_t end);
/* Ends the command, as enqueue_end. */
cl_int command_end(struct command *c, cl_int error, bool blocking, cl_event *out);
/* Returns whether a command that has not completed may still write this host memory. */
bool command_host_is_pending(const void *at, uint64_t bytes);

/* ---- operations of commands (transfer.c, transfer_rect.c) ---- */

/* Transfer a range or rectangle of a root object; `at` is its offset. */
cl_int transfer_read(struct command *c, cl_mem root, uint64_t at, void *to, uint64_t bytes);
cl_int transfer_write(struct command *c, cl_mem root, uint64_t at, const void *from,
		      uint64_t bytes);
cl_int transfer_copy(struct command *c, cl_mem from, uint64_t from_at, cl_mem to, uint64_t to_at,
		     uint64_t bytes);
cl_int transfer_fill(struct command *c, cl_mem root, uint64_t at, const struct dxp_rect *rect,
		     const void *pattern, uint32_t pattern_bytes);
cl_int transfer_read_rect(struct command *c, cl_mem root, uint64_t at, void *to,
			  const struct dxp_rect *rect);
cl_int transfer_write_rect(struct command *c, cl_mem root, uint64_t at, const void *from,
			   const struct dxp_rect *rect);
cl_int transfer_copy_rect(struct command *c, cl_mem from, uint64_t from_at, cl_mem to,
			  uint64_t to_at, const struct dxp_rect *rect);
/* Records the to_ side of a folded rectangle at `at` as the latest on `copy`; with `whole` also the
 * gaps between rows. */
void transfer_wrote_rect(cl_mem root, struct copy *copy, uint64_t at, const struct dxp_rect *rect,
			 bool whole);

/* ---- transfers between copies, and maps (root.c, map.c) ---- */

/* A transfer between two copies of a root. Its uses and its completion handler hold a reference to
 * it. */
struct transfer {
	cl_mem root; /* held until it has completed */
	int status;  /* result for copies_settle */
	uint32_t holds;
};

void memory_transfer_drop(struct transfer *t);

/* A mapped range. An object's list has the newest map first. */
struct map {
	struct map *next;
	void *at; /* address returned to the program */
	cl_map_flags flags;
	uint64_t start; /* offset in the root */
	struct dxp_rect rect;
};

/* Removes a map from m's list and frees it. */
void memory_map_free(cl_mem m, struct map *map);

/* Returns whether all flags are known and CL_MAP_WRITE_INVALIDATE_REGION, if set, is alone. */
bool map_flags_valid(cl_map_flags flags);
/* Returns whether the object's flags permit this access by the host. */
bool map_flags_allowed(cl_mem m, cl_map_flags flags);
/* Maps a rectangle of m (equal pitches on both sides) at `offset`. Sets *out at once; the bytes are
 * valid when the command has completed. */
cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_rect *rect,
		cl_map_flags flags, void **out);
/* Removes a map whose command failed. Caller does not hold the lock. */
void map_cancel(cl_mem m, const void *at);

#endif
