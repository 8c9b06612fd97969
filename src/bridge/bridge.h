/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge between a network and memory that only a DMA engine reaches (S-01 .. S-06): two rings of
 * buffers, one towards the device and one from it, and the transfers that share them. Each buffer
 * is a small state machine:
 *
 *   to the device    EMPTY -> FILL -> FULL -> DEVICE -> EMPTY
 *   from the device  EMPTY -> DEVICE -> DONE -> DRAIN -> EMPTY
 *   through it       a buffer of each ring: EMPTY -> FILL -> FULL -> DEVICE (both) -> DONE -> DRAIN
 *
 * No I/O: the owner asks bridge_next() what is to be done, does it (a read from the network, a DMA,
 * a write to the network), and says how it ended with bridge_done(). What fills and drains buffers
 * is the owner's affair: a network, a copy from user memory, or zeros. Nothing is copied between
 * network and DMA. One thread; time goes in.
 *
 * Invariant: a buffer belongs to one transfer from the first step on it until the last has ended,
 * also when the transfer has failed meanwhile, so a late DMA cannot write into another's data. A
 * transfer that fails gives all its buffers back; the rings go on. */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

struct bridge;
struct bridge_transfer;

struct bridge_options {
	uint32_t buffers;      /* of each ring, 1 .. BRIDGE_BUFFERS_MAX; 0: 8 (S-02) */
	uint32_t buffer_bytes; /* BRIDGE_BUFFER_MIN .. BRIDGE_BUFFER_MAX, a multiple of 4096 */
	uint8_t *to_device; /* memory of the rings, buffers x buffer_bytes each; the owner's, who */
	uint8_t *from_device; /* registers all of it once, with NIC and device (S-05, step 0) */
	uint32_t fills; /* steps FILL under way at once, 1 .. buffers; 0: as many as buffers (S-06)
			 */
	uint32_t dmas;  /* steps DMA under way at once in each direction (THROUGH counts in both)
			   and as many DIRECT ones, 1 .. BRIDGE_BUFFERS_MAX; 0: BRIDGE_DMAS */
	uint64_t stall_ns; /* a DMA that takes longer fails its transfer, and a FILL or DRAIN that
			      takes twice as long; 0: BRIDGE_STALL_NS */
	/* Returns whether the network may still deliver to this transfer, because its peer is
	 * silent and kept. A FILL, DRAIN or fed block then waits on. Argument: the order's context.
	 * NULL: never. */
	bool (*patient)(void *context);
};

enum bridge_path {
	BRIDGE_IN,      /* FILL, DMA_IN: network to device */
	BRIDGE_OUT,     /* DMA_OUT, DRAIN: device to network */
	BRIDGE_THROUGH, /* FILL, DMA_THROUGH, DRAIN: network, the device's stream core, network */
	BRIDGE_DIRECT,  /* DMA_DIRECT: no buffers: device to device, or user memory in place */
	BRIDGE_PATHS
};

enum bridge_mode {
	BRIDGE_PIPELINED,
	/* One piece at a time, each step of it waits for the one before: what pipelining gains is
	 * measured against this (S-04). */
	BRIDGE_SEQUENTIAL,
};

enum bridge_step {
	BRIDGE_FILL,
	BRIDGE_DMA_IN,
	BRIDGE_DMA_OUT,
	BRIDGE_DMA_THROUGH,
	BRIDGE_DMA_DIRECT,
	BRIDGE_DRAIN,
	BRIDGE_STEPS
};

struct bridge_order {
	uint8_t path; /* enum bridge_path */
	uint8_t mode; /* enum bridge_mode */
	/* IN, pipelined only: bytes come by themselves through bridge_feed(), there is no step
	 * FILL. */
	bool fed;
	/* DIRECT only: it passes the stream core, from and to user memory in place. */
	bool core;
	uint64_t bytes; /* 0 is allowed: ends at once */
	/* Of each piece but the last, 4096 .. buffer_bytes (DIRECT: BRIDGE_BUFFER_MAX), rounded
	 * down to a multiple of 64; 0: chosen: long enough for a good rate, short enough that
	 * filling and emptying the pipeline costs little of the whole (cut.h); sequential:
	 * buffer_bytes. */
	uint32_t piece_bytes;
	/* Fed only: all packets but the last bring so many bytes of it, from its beginning on; 0:
	 * any number. Where a packet fits into a buffer, blocks hold whole ones, and the transfer
	 * is called when it has found no buffer. */
	uint32_t unit;
	uint32_t source; /* fed only: who sends it; sources take turns at what is free */
	void *context;   /* comes back in every action */
};

/* What is to be done now. The bytes are the transfer's [at, at + bytes). */
struct bridge_action {
	struct bridge_transfer *transfer;
	void *context; /* the order's */
	uint8_t step;  /* enum bridge_step */
	uint32_t id;   /* for bridge_done */
	uint32_t bytes;
	uint64_t at;
	uint8_t *in;  /* buffer towards the device: FILL, DMA_IN, DMA_THROUGH; else NULL */
	uint8_t *out; /* buffer from the device: DMA_OUT, DMA_THROUGH, DRAIN; else NULL */
};

/* How a transfer ended. */
struct bridge_end {
	struct bridge_transfer *transfer; /* gone: only for comparison */
	void *context;
	int status;     /* DXP_OK, or that of the first step that failed */
	uint8_t step;   /* which step that was; BRIDGE_STEPS: none, it was cancelled */
	uint64_t at;    /* of the piece that failed */
	uint64_t bytes; /* from the start on, all of whose last steps ended well */
};

struct bridge_counters {
	uint64_t transfers, failed; /* ended; of them because a step failed, not by bridge_cancel */
	uint64_t pieces[BRIDGE_STEPS], bytes[BRIDGE_STEPS]; /* steps that ended well */
	uint64_t stalls;
	uint64_t no_buffer; /* times that fed bytes found none */
	uint64_t uncalled;  /* times that a buffer was promised in vain */
	/* With a DMA of that direction under way, by the times that bridge_next and bridge_done
	 * were told; a stream through the core counts for both. */
	uint64_t to_device_ns, from_device_ns;
	uint64_t stale; /* ends told of steps that are not under way: a device's mistake */
};

/* DXP_EINVAL: an option out of its range; DXP_ENOMEM. */
int bridge_create(const struct bridge_options *options, struct bridge **out);
/* No step may be under way: reset the device, or end the network, first. NULL is allowed. */
void bridge_destroy(struct bridge *b);

/* Queues a transfer; transfers take turns, piece by piece. Those through the stream core have it
 * one after another, and each passes it in order of `at`; all else may overtake. DXP_EAGAIN:
 * BRIDGE_TRANSFERS_MAX are there; DXP_EINVAL: the order contradicts itself, or is `fed` in
 * pieces below 16 KiB (buffers are shorter: below those) or to a ring of fewer than the 2 buffers
 * (3 of 8 KiB, 4 of 4 KiB) that bytes across a border need; DXP_ENOMEM. */
int bridge_begin(struct bridge *b, const struct bridge_order *order, uint64_t now_ns,
		 struct bridge_transfer **out);
/* No step of it begins any more; it ends, with `status` if nothing failed before, when those under
 * way have. No effect on one that has ended. */
void bridge_cancel(struct bridge *b, struct bridge_transfer *t, int status);
void bridge_cancel_all(struct bridge *b, int status);

/* The next thing to do; false: nothing now. An action that the owner cannot begin (a queue is full)
 * is given back with bridge_later(), before the next call of bridge_next(), and comes again when
 * something has ended, or BRIDGE_AGAIN_NS later. */
bool bridge_next(struct bridge *b, uint64_t now_ns, struct bridge_action *out);
void bridge_later(struct bridge *b, uint32_t id);
/* The step `id` has ended: any status but DXP_OK fails its transfer. An id that is not under way
 * (an interrupt told twice) is counted and otherwise ignored. */
void bridge_done(struct bridge *b, uint32_t id, int status, uint64_t now_ns);

/* Transfers that have ended, each told once; false: none. Fed ones are told too, once
 * bridge_settled would say so. */
bool bridge_ended(struct bridge *b, struct bridge_end *out);

/* Bytes [at, at + bytes) of a fed transfer have come, each byte once, in any order; they are copied
 * into buffers. DXP_EAGAIN: no buffer for them now, nothing was copied. `first` is set for bytes
 * before which none of their stream are missing: they may take the last buffers, which are kept for
 * such, since bytes that wait for others could else hold all (they would wait for each other for
 * ever). DXP_EBUSY: likewise no buffer now, but bridge_called() will say when there is one.
 * DXP_ERANGE: outside the transfer, which goes on; DXP_EMALFORMED: they have come before, which
 * fails the transfer; else the status with which it failed. A block of which bytes are missing,
 * and less than its share (BRIDGE_FED_STEPS) comes within stall_ns, fails the transfer, unless
 * its peer is silent and kept (bridge_options.patient). */
int bridge_feed(struct bridge *b, struct bridge_transfer *t, uint64_t at, const uint8_t *data,
		uint32_t bytes, bool first, uint64_t now_ns);
/* Is all of a transfer in place? DXP_OK; DXP_EAGAIN: not yet; else how it failed, at once, though
 * steps may still be under way. Valid until bridge_ended has told of it. */
int bridge_settled(const struct bridge_transfer *t);

/* Of a fed transfer that found no buffer these bytes can come now: buffers for them are kept, for
 * some time. */
struct bridge_call {
	struct bridge_transfer *transfer;
	void *context;  /* the order's */
	uint64_t bytes; /* from its beginning on, whole units or all */
};

/* Such bytes get their buffer together: what is called is whole blocks, or all. 0: it is never
 * called. */
uint32_t bridge_block_bytes(const struct bridge_transfer *t);
/* Who is called, in their turn; false: nobody now. To be asked as bridge_next. The same is said
 * again when nothing has come for it. */
bool bridge_called(struct bridge *b, uint64_t now_ns, struct bridge_call *out);

/* When bridge_expire and bridge_next must be called though nothing ended: a step stalls, one
 * that was given back comes again, or somebody is called. UINT64_MAX: never. */
uint64_t bridge_deadline(const struct bridge *b);
/* Fails the transfers whose steps have stalled, with DXP_ETIMEDOUT. True when a DMA was among them:
 * then the owner resets the device, which ends every DMA under way with an error: until then their
 * buffers stay taken. */
bool bridge_expire(struct bridge *b, uint64_t now_ns);
/* After bridge_expire: a step FILL or DRAIN has stalled and is still under way: whoever is at the
 * other end of the network lives, and keeps a buffer. The owner ends what it has under way with it.
 * *context: its transfer's; each such step, again after each stall_ns. False: no more. */
bool bridge_stuck(struct bridge *b, void **context);

/* Buffers of each ring that fed transfers need at least; with fewer bridge_begin refuses them. */
uint32_t bridge_feed_buffers(const struct bridge *b);
uint32_t bridge_buffer_bytes(const struct bridge *b);
uint32_t bridge_buffers(const struct bridge *b);
/* Buffers of each ring that are not EMPTY now: 0 when nothing is under way. */
void bridge_taken(const struct bridge *b, uint32_t *to_device, uint32_t *from_device);
uint32_t bridge_transfers(const struct bridge *b);
const struct bridge_counters *bridge_counters(const struct bridge *b);

#endif
