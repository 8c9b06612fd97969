/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory objects from within: roots, transfers between copies, and commands that are posted in
 * parts. Everything with the door's lock. A root object is one that owns its bytes: no sub-buffer,
 * no image made from another object. */
#ifndef DOOR_MEMORY_H
#define DOOR_MEMORY_H

#include "doors/opencl/api.h"
#include "doors/opencl/box.h"
#include "doors/opencl/copies.h"

/* ---- objects (memory.c) ---- */

/* The owner of m's bytes; adds to *offset where m begins there. */
cl_mem memory_root(cl_mem m, uint64_t *offset);
/* One with nothing in it, or NULL. A root gets its struct copies. It holds context and parent. */
cl_mem memory_new(cl_context context, cl_mem parent, cl_mem_object_type type, cl_mem_flags flags);
/* Device and host memory for one command, held once and without references; NULL: no memory. */
cl_mem memory_temporary(cl_context context, uint64_t bytes);
/* Gives up a new object that the program has not seen. */
void memory_abandon(cl_mem m);
/* Host memory of all of a root's bytes: the program's or the shadow, made if there is none. NULL:
 * no memory. */
uint8_t *memory_host(cl_mem root);
/* At most one of each group of flags, and none that is not known. */
bool memory_flags_valid(cl_mem_flags flags);
/* Flags of an object made from another: what it does not say is the other's; it may not say more
 * than that. CL_INVALID_VALUE. */
cl_int memory_inherit(cl_mem_flags whole, cl_mem_flags *flags);
/* Host pointer and flags fit: CL_INVALID_HOST_PTR. */
cl_int memory_pointer_check(cl_mem_flags flags, const void *host);
/* Takes what `host` holds as flags say: it is kept, or copied. */
cl_int memory_fill_from(cl_mem root, void *host);
/* Keeps a list of properties, which must be empty: CL_INVALID_PROPERTY. */
cl_int memory_properties_set(cl_mem m, const cl_mem_properties *properties);
/* Its handle and context fit the queue's: CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT. */
cl_int memory_check(cl_mem m, cl_command_queue queue);
cl_int memory_check_buffer(cl_mem m, cl_command_queue queue);
cl_int memory_check_image(cl_mem m, cl_command_queue queue);
/* The largest answer of the context's devices. Without the lock. */
uint64_t memory_device_most(cl_context c, cl_device_info param);

/* ---- images (image.c, format.c) ---- */

/* Bytes of a pixel; 0: there is no such format. */
size_t format_bytes(const cl_image_format *f);
/* Do all of the context's devices take it? */
bool format_supported(cl_context c, cl_mem_flags flags, cl_mem_object_type type,
		      const cl_image_format *f);

/* ---- between copies (migrate.c) ---- */

#define TRANSFER_PART_BYTES (1ull << 30) /* of one command on the wire */

/* Forgets what ended, and copies on nodes that were lost. First of all in every command. */
void memory_settle(cl_mem root);
/* The copy on e's device, made where there is none. May leave the lock. */
cl_int memory_here(struct enqueue *e, cl_mem root, struct copy **out);
/* e waits for transfers of ours that touch the range so that `access` needs them ended. */
cl_int memory_order(struct enqueue *e, const struct copy *copy, uint64_t start, uint64_t end,
		    enum memory_access access);
/* Will something of the range change there by commands that were posted before? */
bool memory_filling(const struct copy *copy, uint64_t start, uint64_t end);
/* Both at once. */
cl_int memory_both_here(struct enqueue *e, cl_mem a, struct copy **a_copy, cl_mem b,
			struct copy **b_copy);
/* Brings what `to` lacks of the range; e waits for it. */
cl_int memory_bring(struct enqueue *e, cl_mem root, struct copy *to, uint64_t start, uint64_t end);

/* The command `event` on e's device writes the range. */
void memory_writer(struct enqueue *e, cl_mem root, uint64_t start, uint64_t end, dxp_event event);

/* ---- commands in parts (command.c) ---- */

struct unpack; /* host copies to be done at the end */

struct command {
	struct enqueue e;
	dxp_event *parts; /* that its end waits for */
	uint32_t count, room;
	dxp_event few[8];
	struct unpack *unpack, *unpack_last;
	cl_mem wrote; /* root object that it writes; NULL: none */
	uint64_t wrote_start, wrote_end;
	const void *to; /* host memory that it writes, for later commands that read there */
	uint64_t to_bytes;
};

/* As enqueue_begin. The ends of what a blocking call waits for are told at once. */
cl_int command_begin(struct command *c, cl_command_queue queue, cl_command_type type, bool blocking,
		     cl_uint count, const cl_event *list);
/* A fabric call on d has ended with `status` and posted `part`, of `bytes`. */
cl_int command_part(struct command *c, cl_device_id d, int status, dxp_event part);
/* The same for a step that the parts after it wait for; `hold` is held until it has ended. */
cl_int command_step(struct command *c, cl_device_id d, int status, dxp_event step, void *hold);
/* Host memory to be copied when all parts have ended. */
cl_int command_unpack(struct command *c, void *to, const void *from, const struct dxp_box *box);
/* It writes, at most, this of one root object. */
void command_writes(struct command *c, cl_mem root, uint64_t start, uint64_t end);
/* As enqueue_end. */
cl_int command_end(struct command *c, cl_int error, bool blocking, cl_event *out);
/* May a command that has not ended still write there? */
bool host_is_pending(const void *at, uint64_t bytes);

/* ---- what commands do (transfer.c, transfer_box.c) ---- */

/* A range or box of a root object; `at` is where it begins. */
cl_int transfer_read(struct command *c, cl_mem root, uint64_t at, void *to, uint64_t bytes);
cl_int transfer_write(struct command *c, cl_mem root, uint64_t at, const void *from,
		      uint64_t bytes);
cl_int transfer_copy(struct command *c, cl_mem from, uint64_t from_at, cl_mem to, uint64_t to_at,
		     uint64_t bytes);
cl_int transfer_fill(struct command *c, cl_mem root, uint64_t at, const struct dxp_box *box,
		     const void *pattern, uint32_t pattern_bytes);
cl_int transfer_read_box(struct command *c, cl_mem root, uint64_t at, void *to,
			 const struct dxp_box *box);
cl_int transfer_write_box(struct command *c, cl_mem root, uint64_t at, const void *from,
			  const struct dxp_box *box);
cl_int transfer_copy_box(struct command *c, cl_mem from, uint64_t from_at, cl_mem to,
			 uint64_t to_at, const struct dxp_box *box);
/* The to_ side of a folded box, at `at`, is the latest on `copy`; with `whole` so is what lies
 * between its rows. */
void transfer_wrote_box(cl_mem root, struct copy *copy, uint64_t at, const struct dxp_box *box,
			bool whole);

#endif
