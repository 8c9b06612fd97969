/* SPDX-License-Identifier: BSD-3-Clause */
/* Records which ranges of a memory object have their latest value on each device and on the host.
 * This is pure state, which changes in the order of enqueue calls; other files post the commands
 * that move bytes.
 *
 *  Each byte is in one of three states: one or several copies have its latest value; it is lost,
 *  because the only node that had it is gone; or it was never written. No byte is both lost and in
 *  a copy. */
#ifndef OPENCL_COPIES_H
#define OPENCL_COPIES_H

#include "base/ranges.h"

struct _cl_device_id;
struct transfer; /* one posted transfer; several uses may refer to it */

/* An access to a copy that had not completed when last checked. The plugin makes transfers and
 * unmaps, which the program does not order. A writing command of the program has `queue` set; the
 * program orders it. */
struct use {
	uint64_t start, end;
	uint64_t event; /* dxp event that other commands can wait for */
	/* transfer of the plugin; NULL: none, and a failure has no effect here */
	struct transfer *transfer;
	/* queue of the program's writing command; NULL: the plugin made this access */
	const void *queue;
	bool into; /* true: the access writes the copy; false: it reads the copy */
	/* true: if the access fails, the copy does not have the latest bytes of this range */
	bool makes;
	/* true: part of a split use; another part has the reference to the transfer */
	bool part;
	bool ended;
};

struct copy {
	struct copy *next;
	struct _cl_device_id *device; /* NULL: the host */
	/* number of the device's connection to which this copy belongs */
	uint32_t generation;
	/* of the object's first byte in the device's memory */
	uint64_t address;
	struct ranges latest;
	struct use *uses;
	uint32_t use_count, use_space;
};

struct copies {
	struct copy host; /* the first in the list */
	struct ranges lost;
};

struct piece {
	struct copy *from;
	uint64_t start, end;
};

enum copies_found { COPIES_NONE, COPIES_PIECE, COPIES_LOST };

void copies_free(struct copies *c, void (*drop)(struct transfer *));
struct copy *copies_of(struct copies *c, const struct _cl_device_id *device);
/* Adds a copy without latest bytes. NULL: memory is short. */
struct copy *copies_add(struct copies *c, struct _cl_device_id *device, uint32_t generation,
			uint64_t address);
/* Reserves memory for the next `changes` calls of the three functions below. False: memory is
 * short. */
bool copies_reserve(struct copies *c, uint32_t changes);

/* Only `copy` has these new bytes. */
void copies_wrote(struct copies *c, struct copy *copy, uint64_t start, uint64_t end);
/* `copy` now also has the latest bytes of the range. */
void copies_shared(struct copy *copy, uint64_t start, uint64_t end);
/* The bytes of the range count as never written. */
void copies_undefine(struct copies *c, uint64_t start, uint64_t end);

/* Finds the first part of [start, end) that `to` (may be NULL) does not have and another copy has.
 * The source is `near` if it has the bytes, otherwise the device copy with the most bytes in
 * sequence, otherwise the host. COPIES_LOST: that part is lost. COPIES_NONE: the rest needs no
 * transfer. */
enum copies_found copies_next(const struct copies *c, const struct copy *to,
			      const struct copy *near, uint64_t start, uint64_t end,
			      struct piece *out);

/* Frees the copy of a lost device. A byte becomes lost if no other copy has it. Calls `drop` for
 * each transfer of the copy. */
void copies_forget(struct copies *c, struct copy *copy, void (*drop)(struct transfer *));

/* False: memory is short. */
bool copies_use(struct copy *copy, const struct use *use);
/* Removes uses before `by` is recorded: `by` waits for the events in `waited`, so other commands
 * need to wait only for `by`. A use is removed, in the range of `by`, if its event is in `waited`
 * and `by` has the same or stronger access. */
void copies_follow(struct copy *copy, const struct use *by, const uint64_t *waited, uint32_t count,
		   void (*drop)(struct transfer *));
/* Records a writing command of the program. In an in-order queue, it replaces an earlier writer
 * whose range it covers; if there are too many writers, the oldest. False: memory is short. */
bool copies_writer(struct copy *copy, const struct use *use, bool in_order);
/* Removes completed uses. ended(): 0: not completed, 1: completed, negative: failed. */
void copies_settle(struct copies *c, int (*ended)(const struct use *),
		   void (*drop)(struct transfer *));

#endif
