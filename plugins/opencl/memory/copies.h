/* SPDX-License-Identifier: BSD-3-Clause */
/* Records where the bytes of a memory object are: which ranges have their latest value on each
 * device and on the host. This is pure state. It changes in the order of enqueue calls. Other files
 * post the commands that move bytes.
 *
 * Each byte is in one of three states. Either one or several copies have its latest value. Or it is
 * lost, because the only node that had it is gone. Or it was never written. Invariant: no byte is
 * both lost and in a copy. */
#ifndef OPENCL_COPIES_H
#define OPENCL_COPIES_H

#include "base/ranges.h"

struct _cl_device_id;
struct transfer; /* one posted transfer; several uses may refer to it */

/* An access to a copy that had not completed when it was last checked. There are two kinds. A
 * transfer or unmap is made by the plugin; the program does not order it. A command of the program
 * that writes has `queue` set; the program orders it. */
struct use {
	uint64_t start, end;
	uint64_t event; /* dxp event that other commands can wait for */
	/* transfer of the plugin; NULL: no such transfer, and a failure has no effect here */
	struct transfer *transfer;
	/* queue of a command of the program that writes; NULL: the plugin made this access */
	const void *queue;
	bool into; /* true: the access writes the copy; false: it reads the copy */
	/* true: if the access fails, the copy does not have the latest bytes of this range */
	bool makes;
	/* true: a part of a use that was split; another part has the reference to the transfer */
	bool part;
	bool ended;
};

struct copy {
	struct copy *next;
	struct _cl_device_id *device; /* device of this copy; NULL: the host */
	/* number of the device's connection to which this copy belongs */
	uint32_t generation;
	/* address of the object's first byte in the memory of the device */
	uint64_t address;
	struct ranges latest;
	struct use *uses;
	uint32_t use_count, use_space;
};

struct copies {
	struct copy host; /* the host's copy, which is the first in the list */
	struct ranges lost;
};

struct piece {
	struct copy *from;
	uint64_t start, end;
};

enum copies_found { COPIES_NONE, COPIES_PIECE, COPIES_LOST };

void copies_free(struct copies *c, void (*drop)(struct transfer *));
struct copy *copies_of(struct copies *c, const struct _cl_device_id *device);
/* Adds a copy without latest bytes. Returns NULL if memory is short. */
struct copy *copies_add(struct copies *c, struct _cl_device_id *device, uint32_t generation,
			uint64_t address);
/* Reserves memory for the next `changes` calls of the three functions below. Returns false if
 * memory is short. */
bool copies_reserve(struct copies *c, uint32_t changes);

/* Records that new bytes were written to `copy`, so only this copy has them. */
void copies_wrote(struct copies *c, struct copy *copy, uint64_t start, uint64_t end);
/* Records that `copy` now also has the latest bytes of the range. */
void copies_shared(struct copy *copy, uint64_t start, uint64_t end);
/* Records that the bytes of the range count as never written. */
void copies_undefine(struct copies *c, uint64_t start, uint64_t end);

/* Finds the first part of [start, end) that `to` does not have and another copy has; `to` NULL: no
 * copy has to be considered. The source is `near` if it has the bytes, otherwise the device copy
 * that has the most bytes in sequence, otherwise the host. COPIES_LOST: that part is lost.
 * COPIES_NONE: the rest needs no transfer. */
enum copies_found copies_next(const struct copies *c, const struct copy *to,
			      const struct copy *near, uint64_t start, uint64_t end,
			      struct piece *out);

/* Frees the copy of a device that was lost. A byte becomes lost if no other copy has it. Calls
 * `drop` for each transfer of the copy. */
void copies_forget(struct copies *c, struct copy *copy, void (*drop)(struct transfer *));

/* Records a use. Returns false if memory is short. */
bool copies_use(struct copy *copy, const struct use *use);
/* Removes uses that need no longer be recorded, because `by` will be recorded. `by` waits for the
 * events in `waited`, so other commands need to wait only for `by`. A use is removed if its event
 * is in `waited` and `by` has the same or stronger access. Only the range of `by` is removed from
 * it. */
void copies_follow(struct copy *copy, const struct use *by, const uint64_t *waited, uint32_t count,
		   void (*drop)(struct transfer *));
/* Records a command of the program that writes. In an in-order queue, it replaces an earlier writer
 * whose range it covers. If there are too many writers, it replaces the oldest. Returns false if
 * memory is short. */
bool copies_writer(struct copy *copy, const struct use *use, bool in_order);
/* Removes completed uses. ended() returns 0 if the use has not completed, 1 if it has completed,
 * and a negative value if it has failed. */
void copies_settle(struct copies *c, int (*ended)(const struct use *),
		   void (*drop)(struct transfer *));

#endif
