/* SPDX-License-Identifier: BSD-3-Clause */
/* Records where a memory object's bytes are: which ranges each device and the host hold in their
 * latest value. Pure: the record changes in the order of enqueue calls; the commands that move
 * bytes are posted elsewhere.
 *
 * Each byte is of one of three kinds: one or several copies hold its latest value; it is lost (the
 * only node that held it is gone); or it was never written. Invariant: no byte is both lost and in
 * a copy. */
#ifndef OPENCL_COPIES_H
#define OPENCL_COPIES_H

#include "base/ranges.h"

struct _cl_device_id;
struct transfer; /* one posted transfer; several uses may share it */

/* An access to a copy that had not completed at the last check: a transfer or unmap of the plugin,
 * which the program does not order, or a command of the program that writes, which the program
 * orders itself (`queue`). */
struct use {
	uint64_t start, end;
	uint64_t event; /* dxp event for wait lists */
	/* NULL: not a transfer of the plugin; its failure has no effect here */
	struct transfer *transfer;
	const void *queue; /* queue of a command that the program orders itself; NULL: any other */
	bool into;         /* writes the copy; else reads it */
	bool makes;        /* if it fails, the copy does not hold the range */
	bool part; /* one part of a split use; another part holds the transfer's reference */
	bool ended;
};

struct copy {
	struct copy *next;
	struct _cl_device_id *device; /* NULL: the host */
	uint32_t generation;          /* generation of the device's connection */
	uint64_t address;             /* address of the object's first byte on the device */
	struct ranges latest;
	struct use *uses;
	uint32_t use_count, use_space;
};

struct copies {
	struct copy host; /* first of the list */
	struct ranges lost;
};

struct piece {
	struct copy *from;
	uint64_t start, end;
};

enum copies_found { COPIES_NONE, COPIES_PIECE, COPIES_LOST };

void copies_free(struct copies *c, void (*drop)(struct transfer *));
struct copy *copies_of(struct copies *c, const struct _cl_device_id *device);
/* Adds an empty copy. NULL: no memory. */
struct copy *copies_add(struct copies *c, struct _cl_device_id *device, uint32_t generation,
			uint64_t address);
/* Reserves memory for the next `changes` calls of the three functions below. False: no memory. */
bool copies_reserve(struct copies *c, uint32_t changes);

/* Records that `copy` alone holds new bytes. */
void copies_wrote(struct copies *c, struct copy *copy, uint64_t start, uint64_t end);
/* Records that `copy` also holds the latest bytes. */
void copies_shared(struct copy *copy, uint64_t start, uint64_t end);
/* Records that the bytes count as never written. */
void copies_undefine(struct copies *c, uint64_t start, uint64_t end);

/* Finds the first part of [start, end) that `to` (NULL: no copy) lacks and another copy holds.
 * Prefers `near`, then the device copy with the longest run, then the host. COPIES_LOST: that part
 * is lost; COPIES_NONE: the rest needs no transfer. */
enum copies_found copies_next(const struct copies *c, const struct copy *to,
			      const struct copy *near, uint64_t start, uint64_t end,
			      struct piece *out);

/* Frees the copy of a lost device; bytes that no other copy holds become lost. Passes its transfers
 * to `drop`. */
void copies_forget(struct copies *c, struct copy *copy, void (*drop)(struct transfer *));

/* Records a use. False: no memory. */
bool copies_use(struct copy *copy, const struct use *use);
/* Shortens the list of uses before `by` is recorded. `by` waits for the events `waited`, so waiting
 * for `by` covers them. Removes uses with these events, as far as `by` covers their range and does
 * at least what they do. */
void copies_follow(struct copy *copy, const struct use *by, const uint64_t *waited, uint32_t count,
		   void (*drop)(struct transfer *));
/* Records a writer of the program. In an in-order queue it replaces an earlier writer that it
 * covers; beyond a bound it replaces the oldest. False: no memory. */
bool copies_writer(struct copy *copy, const struct use *use, bool in_order);
/* Drops completed uses. ended() returns 0 for a use that has not completed, 1 for one that has,
 * negative for one that failed. */
void copies_settle(struct copies *c, int (*ended)(const struct use *),
		   void (*drop)(struct transfer *));

#endif
