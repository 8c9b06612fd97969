/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a memory object's bytes are: which ranges each device and the host have as they are now.
 * Pure: what it says happens in the order of enqueue calls; the commands that make it true are
 * posted by others.
 *
 * Each byte is of one of three kinds: somebody has its latest value (one or several copies); it is
 * lost (the only node that had it is gone); or nobody ever wrote it. Invariant: no byte is both
 * lost and in a copy. */
#ifndef DOOR_COPIES_H
#define DOOR_COPIES_H

#include "base/ranges.h"

struct _cl_device_id;
struct transfer; /* one that was posted; several uses may share it */

/* A command that works on a copy besides those that the program orders itself: a transfer of ours,
 * or an unmap. It had not ended when last looked at. */
struct use {
	uint64_t start, end;
	uint64_t event;            /* for wait lists */
	struct transfer *transfer; /* NULL: none of ours, whose failing means nothing here */
	const void *queue; /* of a command that the program orders itself; NULL: any other */
	bool into;         /* it writes the copy; else it reads it */
	bool makes;        /* if it fails, the copy has not got the range after all */
	bool part;         /* of a use beside it, which keeps the transfer */
	bool ended;
};

struct copy {
	struct copy *next;
	struct _cl_device_id *device; /* NULL: the host */
	uint32_t life;                /* of the device */
	uint64_t address;             /* of the object's first byte there */
	struct ranges latest;
	struct use *uses;
	uint32_t use_count, use_room;
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
/* A copy with nothing in it. NULL: no memory. */
struct copy *copies_add(struct copies *c, struct _cl_device_id *device, uint32_t life,
			uint64_t address);
/* Room for the next `changes` calls of the three below. False: no memory. */
bool copies_reserve(struct copies *c, uint32_t changes);

/* `copy` has new bytes, which nobody else has. */
void copies_wrote(struct copies *c, struct copy *copy, uint64_t start, uint64_t end);
/* `copy` has what others have. */
void copies_shared(struct copy *copy, uint64_t start, uint64_t end);
/* What is there means nothing any more. */
void copies_undefine(struct copies *c, uint64_t start, uint64_t end);

/* The first part of [start, end) that `to` (NULL: nobody) has not got and another has: from `near`
 * if that has it, else from who has most in a row, from the host last. COPIES_LOST: that part is
 * gone; COPIES_NONE: what is left needs no transfer. */
enum copies_found copies_next(const struct copies *c, const struct copy *to,
			      const struct copy *near, uint64_t start, uint64_t end,
			      struct piece *out);

/* Its device is gone: what nobody else has is lost. Frees it; its transfers are given to `drop`. */
void copies_forget(struct copies *c, struct copy *copy, void (*drop)(struct transfer *));

/* Notes a use. False: no memory. */
bool copies_use(struct copy *copy, const struct use *use);
/* `by`, which is about to be noted, waits for these events: whoever waits for it needs not wait for
 * uses of theirs that do no more than it does. They are forgotten as far as it covers them. */
void copies_follow(struct copy *copy, const struct use *by, const uint64_t *waited, uint32_t count,
		   void (*drop)(struct transfer *));
/* Notes that a command of the program's writes there. Of each queue in order the last that covers
 * those before is enough; beyond a bound the oldest are forgotten. False: no memory. */
bool copies_writer(struct copy *copy, const struct use *use, bool in_order);
/* Drops uses that have ended: ended() gives 0 for one that has not, 1, or negative: it failed. */
void copies_settle(struct copies *c, int (*ended)(const struct use *),
		   void (*drop)(struct transfer *));

#endif
