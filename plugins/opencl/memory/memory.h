/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the internals of memory objects: roots, transfers between copies, and commands that are
 * posted in parts. Callers hold the plugin's lock.
 *
 * A root object owns its bytes: it is neither a sub-buffer nor an image made from another
 * object. */
#ifndef OPENCL_MEMORY_H
#define OPENCL_MEMORY_H

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/memory/rect.h"
#include "plugins/opencl/memory/copies.h"
#include "plugins/opencl/object/api.h"

/* ---- memory that a command uses (migrate.c) ---- */

enum memory_access { MEMORY_READ = 1, MEMORY_WRITE = 2, MEMORY_READ_WRITE = 3 };

/* Prepares bytes [offset, offset + bytes) of `m` for use by command `e` on its device. Returns the
 * address. Posts transfers for bytes that the device does not have, and makes `e` wait for them.
 * Holds `m`. After posting the command, the caller calls memory_used. */
cl_int memory_ready(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		    enum memory_access access, uint64_t *address);
/* Returns true if no byte of `m` was ever written. */
bool memory_blank(cl_mem m);
/* Records that the command `event` on the device of `e` uses the range. If it writes, the bytes on
 * this device become the latest. */
void memory_used(struct enqueue *e, cl_mem m, uint64_t offset, uint64_t bytes,
		 enum memory_access access, dxp_event event);

/* ---- objects (memory.c, root.c) ---- */

/* Returns the root object of `m`. Adds the offset of `m` in the root to *offset. */
cl_mem memory_root(cl_mem m, uint64_t *offset);
/* Creates an object without bytes. It holds `context` and `parent`. Without a parent, it is a root
 * object and gets a `struct copies`. Returns NULL if memory is short. */
cl_mem memory_new(cl_context context, cl_mem parent, cl_mem_object_type type, cl_mem_flags flags);
/* Creates device and host memory for one command. It has one hold and no references. Returns NULL
 * if memory is short. */
cl_mem memory_temporary(cl_context context, uint64_t bytes);
/* Releases a new object that was not passed to the program. */
void memory_abandon(cl_mem m);
/* Returns host memory for all bytes of a root object. This is the program's memory, or the shadow,
 * which is allocated on first use. Returns NULL if memory is short. */
uint8_t *memory_host(cl_mem root);
/* Returns true if all flags are known, and at most one flag of each group is set. */
bool memory_flags_valid(cl_mem_flags flags);
/* Computes the flags of an object that is made from another object. Groups without a flag are
 * inherited. CL_INVALID_VALUE: the flags permit more access than the flags of the parent. */
cl_int memory_inherit(cl_mem_flags whole, cl_mem_flags *flags);
/* Checks that the flags permit a host pointer, or require none. CL_INVALID_HOST_PTR: they do not
 * match `host`. */
cl_int memory_pointer_check(cl_mem_flags flags, const void *host);
/* Initializes the object from `host`. Depending on the flags, uses this memory or copies it. */
cl_int memory_fill_from(cl_mem root, void *host);
/* Stores a list of properties. CL_INVALID_PROPERTY: the list is not empty. */
cl_int memory_properties_set(cl_mem m, const cl_mem_properties *properties);
/* Check that the handle is valid, that object and queue have the same context, and the kind of
 * object. CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT. */
cl_int memory_check(cl_mem m, cl_command_queue queue);
cl_int memory_check_buffer(cl_mem m, cl_command_queue queue);
cl_int memory_check_image(cl_mem m, cl_command_queue queue);
/* Returns the largest value that the devices of the context report for `param`. Caller does not
 * hold the lock. */
uint64_t memory_device_most(cl_context c, cl_device_info param);

/* ---- images (image.c, format.c) ---- */

/* Returns the bytes of a pixel; 0: the format is not valid. */
size_t format_bytes(const cl_image_format *f);
/* Converts a color to a pixel. The color has four floats, ints or uints, as clEnqueueFillImage gets
 * it. Returns the bytes of the pixel, at most 16. */
size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel);
/* Returns true if all devices of the context that have images support the format. */
bool format_supported(cl_context c, cl_mem_flags flags, cl_mem_object_type type,
		      const cl_image_format *f);

/* Return the distance in bytes between neighbours in the second or third dimension of the image. */
uint64_t image_second_pitch(cl_mem m);
uint64_t image_third_pitch(cl_mem m);
/* Returns true if the region is not empty and is inside the image. Then *at is the offset of the
 * region in `m`. *rect describes the bytes of the region; both of its sides have the pitches of the
 * image. */
bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_rect *rect);

/* ---- copies on devices, and transfers between copies (migrate.c) ---- */

#define TRANSFER_PART_BYTES (1ull << 30) /* bytes that one transfer command moves at most */

/* Removes completed uses, and copies on lost nodes. Each command calls it first. */
void memory_settle(cl_mem root);
/* Returns the copy on the device of `e`; creates it if there is none. May release the lock. */
cl_int memory_here(struct enqueue *e, cl_mem root, struct copy **out);
/* Makes `e` wait for those transfers of the plugin that conflict with `access` to the range. */
cl_int memory_order(struct enqueue *e, const struct copy *copy, uint64_t start, uint64_t end,
		    enum memory_access access);
/* Returns true if commands that were posted earlier will still write part of the range. */
bool memory_filling(const struct copy *copy, uint64_t start, uint64_t end);
/* Returns the copies of both objects on the device of `e`. */
cl_int memory_both_here(struct enqueue *e, cl_mem a, struct copy **a_copy, cl_mem b,
			struct copy **b_copy);
/* Posts transfers for the parts of the range that copy `to` does not have. Makes `e` wait for
 * them. */
cl_int memory_bring(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start, uint64_t end);

/* Records that the command `event` on the device of `e` writes the range. */
void memory_writer(struct enqueue *e, cl_mem root, uint64_t start, uint64_t end, dxp_event event);

/* ---- commands in parts (command.c) ---- */

struct unpack; /* a copy in host memory that runs when the command completes */

struct command {
	struct enqueue e;
	/* events of the posted parts; the command completes when all of them have completed */
	dxp_event *parts;
	uint32_t count, space;
	dxp_event few[8];
	struct unpack *unpack, *unpack_last;
	cl_mem wrote; /* root object that the command writes; NULL: none */
	uint64_t wrote_start, wrote_end;
	/* Host memory that the command writes. Later commands that read this memory must wait. */
	const void *to;
	uint64_t to_bytes;
};

/* Begins a command in parts. Returns the statuses of enqueue_begin(). With `blocking`, commands are
 * posted without `lazy`, so that nodes report their completions at once. */
cl_int command_begin(struct command *c, cl_command_queue queue, cl_command_type type, bool blocking,
		     cl_uint count, const cl_event *list);
/* Adds a part. `status` and `part` are the result and the event of a fabric call on device `d`. */
cl_int command_part(struct command *c, cl_device_id d, int status, dxp_event part);
/* Adds a step, which later parts wait for. Holds `hold` until the step has completed. */
cl_int command_step(struct command *c, cl_device_id d, int status, dxp_event step, void *hold);
/* Adds a copy in host memory, which runs when all parts have completed. */
cl_int command_unpack(struct command *c, void *to, const void *from, const struct dxp_rect *rect);
/* Records that the command writes this range of a root object. A command can write only one
 * object. */
void command_writes(struct command *c, cl_mem root, uint64_t start, uint64_t end);
/* Completes the enqueue; see enqueue_end. */
cl_int command_end(struct command *c, cl_int error, bool blocking, cl_event *out);
/* Returns true if a command that has not completed may still write this host memory. */
bool command_host_is_pending(const void *at, uint64_t bytes);

/* ---- transfers of commands (transfer.c, transfer_rect.c) ---- */

/* Transfer a range or a rectangle of a root object. `at` is its offset in the object. */
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
/* Records that `copy` has the latest bytes of the `to_` side of a rectangle at offset `at`. With
 * `whole`, this includes the gaps between rows. The rectangle must be folded (rect_fold). */
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

/* Removes a map from the list of `m` and frees it. */
void memory_map_free(cl_mem m, struct map *map);

/* Returns true if all flags are known. CL_MAP_WRITE_INVALIDATE_REGION must not be combined with
 * other flags. */
bool map_flags_valid(cl_map_flags flags);
/* Returns true if the flags of the object permit the host this access. */
bool map_flags_allowed(cl_mem m, cl_map_flags flags);
/* Maps a rectangle of `m` at `offset`; both sides of the rectangle have equal pitches. Sets *out at
 * once. The bytes at *out are valid when the command has completed. */
cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_rect *rect,
		cl_map_flags flags, void **out);
/* Removes a map because its command failed. Caller does not hold the lock. */
void map_cancel(cl_mem m, const void *at);

#endif
