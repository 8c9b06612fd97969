/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of memory objects: roots, transfers between copies, and commands posted in parts.
 * Callers hold the plugin's lock.
 *
 *  A root object owns its bytes: it is neither a sub-buffer nor an image made from another
 *  object. */
#ifndef OPENCL_MEMORY_H
#define OPENCL_MEMORY_H

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/memory/rect.h"
#include "plugins/opencl/memory/copies.h"
#include "plugins/opencl/object/api.h"

/* ---- memory that a command uses (migrate.c) ---- */

enum memory_access { MEMORY_READ = 1, MEMORY_WRITE = 2, MEMORY_READ_WRITE = 3 };

/* Prepares bytes [offset, offset + bytes) of `m` for command `e` on its device, and returns the
 * address. Makes `e` wait for the transfers of bytes that the device does not have. A command with
 * MEMORY_WRITE writes all of the bytes, so it needs no transfer. Holds `m`. After posting the
 * command, the caller calls memory_used. */
cl_int memory_ready(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		    enum memory_access access, uint64_t *address);
/* No byte of `m` was ever written. */
bool memory_blank(cl_mem m);
/* Records that the command `event` on the device of `e` uses the range. If it writes, the bytes on
 * this device become the latest. */
void memory_used(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		 enum memory_access access, dxp_event event);

/* ---- objects (memory.c, root.c) ---- */

/* Returns the root object of `m`. Adds the offset of `m` in the root to *offset. */
cl_mem memory_root(cl_mem m, uint64_t *offset);
/* Creates an object without bytes. It holds `context` and `parent`; without a parent, it is a root
 * object with a `struct copies`. NULL: memory is short. */
cl_mem memory_new(cl_context context, cl_mem parent, cl_mem_object_type type, cl_mem_flags flags);
/* Creates device and host memory for one command, with one hold and no references. NULL: memory is
 * short. */
cl_mem memory_temporary(cl_context context, uint64_t bytes);
/* Releases a new object that was not passed to the program. */
void memory_abandon(cl_mem m);
/* Returns host memory for all bytes of a root: the program's, or the shadow, allocated on first
 * use. NULL: memory is short. */
uint8_t *memory_host(cl_mem root);
bool memory_flags_valid(cl_mem_flags flags);
/* Computes the flags of an object made from another: groups without a flag are inherited.
 * CL_INVALID_VALUE: the flags permit more access than the parent's. */
cl_int memory_inherit(cl_mem_flags whole, cl_mem_flags *flags);
/* CL_INVALID_HOST_PTR: the flags require a host pointer and there is none, or permit none. */
cl_int memory_pointer_check(cl_mem_flags flags, const void *host);
/* Initializes the object from `host`: uses or copies this memory, depending on the flags. */
cl_int memory_fill_from(cl_mem root, void *host);
/* CL_INVALID_PROPERTY: the list is not empty. */
cl_int memory_properties_set(cl_mem m, const cl_mem_properties *properties);
/* Check handle, context (of object and queue) and kind. CL_INVALID_MEM_OBJECT,
 * CL_INVALID_CONTEXT. */
cl_int memory_check(cl_mem m, cl_command_queue queue);
cl_int memory_check_buffer(cl_mem m, cl_command_queue queue);
/* For a command of `queue` that uses the buffer on device `d`. */
cl_int memory_check_buffer_of(cl_mem m, cl_command_queue queue, cl_device_id d);
cl_int memory_check_image(cl_mem m, cl_command_queue queue);
/* Returns the largest value of `param` among the context's devices. Caller does not hold the
 * lock. */
uint64_t memory_device_most(cl_context c, cl_device_info param);

/* ---- images (image.c, format.c) ---- */

/* Returns the bytes of a pixel; 0: the format is not valid. */
size_t format_bytes(const cl_image_format *f);
/* Converts a color (four floats, ints or uints, as for clEnqueueFillImage) to a pixel. Returns its
 * bytes, at most 16. */
size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel);
/* All devices of the context that have images support the format. */
bool format_supported(cl_context c, cl_mem_flags flags, cl_mem_object_type type,
		      const cl_image_format *f);

/* Bytes between neighbours in the second or third dimension of the image. */
uint64_t image_second_pitch(cl_mem m);
uint64_t image_third_pitch(cl_mem m);
/* Returns true if the region is not empty and inside the image. *at: offset of the region in `m`.
 * *rect: its bytes; both sides have the pitches of the image. */
bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_rect *rect);

/* ---- copies on devices, and transfers between copies (migrate.c) ---- */

#define TRANSFER_PART_BYTES (1ull << 30) /* bytes of one transfer command at most */

/* Removes completed uses, and copies on lost nodes. Each command calls it first. */
void memory_settle(cl_mem root);
/* Returns the copy on the device of `e`, after creating it if necessary. May release the lock. */
cl_int memory_here(struct enqueue *e, cl_mem root, struct copy **out);
/* Makes `e` wait for the plugin's transfers that conflict with `access` to the range. */
cl_int memory_order(struct enqueue *e, const struct copy *copy, uint64_t start, uint64_t end,
		    enum memory_access access);
/* Earlier posted commands will still write part of the range. */
bool memory_filling(const struct copy *copy, uint64_t start, uint64_t end);
cl_int memory_both_here(struct enqueue *e, cl_mem a, struct copy **a_copy, cl_mem b,
			struct copy **b_copy);
/* Posts transfers for the parts of the range that `to` does not have. Makes `e` wait for them. */
cl_int memory_bring(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start, uint64_t end);

/* The command `event` on the device of `e` writes the range. */
void memory_writer(struct enqueue *e, cl_mem root, uint64_t start, uint64_t end, dxp_event event);

/* ---- commands in parts (command.c) ---- */

struct unpack;

struct command {
	struct enqueue e;
	/* events of the posted parts; the command completes when all of them have completed */
	dxp_event *parts;
	uint32_t count, space;
	dxp_event few[8];
	struct unpack *unpack, *unpack_last;
	cl_mem wrote; /* root object that the command writes; NULL: none */
	uint64_t wrote_start, wrote_end;
	/* Host memory that the command writes. Later commands that read it must wait. */
	const void *to;
	uint64_t to_bytes;
};

/* Returns the statuses of enqueue_begin(). With `blocking`, posts commands without `lazy`, so that
 * nodes report their completions at once. */
cl_int command_begin(struct command *c, cl_command_queue queue, cl_command_type type, bool blocking,
		     cl_uint count, const cl_event *list);
/* Adds a part: the result and the event of a fabric call on device `d`. */
cl_int command_part(struct command *c, cl_device_id d, int status, dxp_event part);
/* Adds a step, which later parts wait for. Holds `hold` until the step has completed. */
cl_int command_step(struct command *c, cl_device_id d, int status, dxp_event step, void *hold);
/* Adds a copy in host memory, which runs when all parts have completed. */
cl_int command_unpack(struct command *c, void *to, const void *from, const struct dxp_rect *rect);
/* The command writes this range of a root object, the only one that it can write. */
void command_writes(struct command *c, cl_mem root, uint64_t start, uint64_t end);
/* Completes the enqueue; see enqueue_end. */
cl_int command_end(struct command *c, cl_int error, bool blocking, cl_event *out);
/* A command that has not completed may still write this host memory. */
bool command_host_is_pending(const void *at, uint64_t bytes);

/* ---- transfers of commands (transfer.c, transfer_rect.c) ---- */

/* Transfer a range or a rectangle at offset `at` of a root object. */
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
/* Records that `copy` has the latest bytes of the `to_` side of a rectangle at offset `at`; with
 * `whole`, also of the gaps between rows. Requires rect_fold before. */
void transfer_wrote_rect(cl_mem root, struct copy *copy, uint64_t at, const struct dxp_rect *rect,
			 bool whole);

/* ---- records of transfers, and maps (root.c, map.c) ---- */

/* A transfer between two copies of a root object. Its uses and its completion handler each have a
 * reference to it. */
struct transfer {
	cl_mem root; /* object that the transfer holds until it has completed */
	int status;  /* result, for copies_settle */
	uint32_t holds;
};

void memory_transfer_drop(struct transfer *t);

/* A mapped range. The list of an object begins with the newest map. */
struct map {
	struct map *next;
	void *at; /* address that the program got */
	cl_map_flags flags;
	uint64_t start; /* offset of the range in the root object, in bytes */
	struct dxp_rect rect;
};

void memory_map_free(cl_mem m, struct map *map);

/* All flags are known, and CL_MAP_WRITE_INVALIDATE_REGION is not combined with others. */
bool map_flags_valid(cl_map_flags flags);
bool map_flags_allowed(cl_mem m, cl_map_flags flags);
/* Maps a rectangle of `m` at `offset`; both of its sides have equal pitches. Sets *out at once; the
 * bytes there are valid when the command has completed. */
cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_rect *rect,
		cl_map_flags flags, void **out);
/* Removes a map because its command failed. Caller does not hold the lock. */
void map_cancel(cl_mem m, const void *at);

#endif
