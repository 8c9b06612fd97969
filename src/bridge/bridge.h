/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge between a network and memory that only a DMA engine reaches (S-01 .. S-06): two rings of
 * buffers, one towards the device and one from it, shared by transfers. Each buffer is a small
 * state machine:
 * - to the device: EMPTY -> FILL -> FULL -> DEVICE -> EMPTY
 * - from the device: EMPTY -> DEVICE -> DONE -> DRAIN -> EMPTY
 * - through it, a buffer of each ring: EMPTY -> FILL -> FULL -> DEVICE (both) -> DONE -> DRAIN
 *
 * No I/O: bridge_next() returns the next step; the owner executes it, by any means, and reports its
 * status with bridge_done(). Nothing is copied between network and DMA. Single-threaded; time is an
 * argument.
 *
 * Invariant: a buffer belongs to one transfer until its last step is complete, even if the transfer
 * fails earlier. So a late DMA cannot write into another transfer's data. */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bridge;
struct bridge_transfer;

struct bridge_options {
	uint32_t buffers;      /* of each ring, 1 .. BRIDGE_BUFFERS_MAX; 0: 8 (S-02) */
	uint32_t buffer_bytes; /* BRIDGE_BUFFER_MIN .. BRIDGE_BUFFER_MAX; a multiple of 4096 */
	/* the caller's rings, each of buffers x buffer_bytes, registered once with NIC and device
	 * (S-05) */
	uint8_t *to_device;
	uint8_t *from_device;
	/* outstanding FILL steps, 1 .. buffers; 0: buffers (S-06) */
	uint32_t fills;
	/* Outstanding DMA steps per direction, 1 .. BRIDGE_BUFFERS_MAX; 0: BRIDGE_DMAS. THROUGH
	 * counts in both; DIRECT steps have the same limit of their own. */
	uint32_t dmas;
	/* ns after which a DMA fails its transfer; a FILL or DRAIN, after twice that. 0:
	 * BRIDGE_STALL_NS */
	uint64_t stall_ns;
	/* True: the peer of a transfer is silent but its session is kept, so a FILL, DRAIN or fed
	 * block may take longer. `context`: that of the order. NULL: false. */
	bool (*patient)(void *context);
};

enum bridge_path {
	BRIDGE_IN,  /* network to device: FILL, DMA_IN */
	BRIDGE_OUT, /* device to network: DMA_OUT, DRAIN */
	/* network through the stream core and back: FILL, DMA_THROUGH, DRAIN */
	BRIDGE_THROUGH,
	/* without buffers: DMA_DIRECT, between two devices or device and user memory */
	BRIDGE_DIRECT,
	BRIDGE_PATHS
};

enum bridge_mode {
	BRIDGE_PIPELINED,
	/* one piece at a time, one step after another: the baseline for pipelining (S-04) */
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
	/* pipelined IN whose bytes arrive by bridge_feed(), without FILL */
	bool fed;
	/* DIRECT, through the stream core, between user memories */
	bool core;
	uint64_t bytes; /* 0: completes at once */
	/* Bytes of all pieces but the last, 4096 .. buffer_bytes (DIRECT: BRIDGE_BUFFER_MAX),
	 * rounded down to a multiple of 64. 0: buffer_bytes in mode SEQUENTIAL, BRIDGE_DIRECT_BYTES
	 * on path DIRECT; else cut.h chooses. */
	uint32_t piece_bytes;
	/* Fed: payload of all packets but the last; 0: any. If a packet fits into a buffer, blocks
	 * hold whole packets, and a transfer without a buffer gets a grant later. */
	uint32_t unit;
	/* Fed: the sender, for fair shares of free buffers. */
	uint32_t source;
	void *context; /* returned in every action */
};

/* A step for the owner, on bytes [at, at + bytes) of the transfer. */
struct bridge_action {
	struct bridge_transfer *transfer;
	void *context;
	uint8_t step; /* enum bridge_step */
	uint32_t id;
	uint32_t bytes;
	uint64_t at;
	/* FILL, DMA_IN, DMA_THROUGH; else NULL */
	uint8_t *in;
	/* DMA_OUT, DMA_THROUGH, DRAIN; else NULL */
	uint8_t *out;
};

struct bridge_end {
	/* freed: only for comparison */
	struct bridge_transfer *transfer;
	void *context;
	int status; /* DXP_OK, or that of the first failed step */
	/* the failed step; BRIDGE_STEPS: cancelled */
	uint8_t step;
	uint64_t at;    /* offset of the failed piece */
	uint64_t bytes; /* number of bytes, from the start on, that completed all steps */
};

struct bridge_counters {
	/* ended; failed among them */
	uint64_t transfers, failed;
	uint64_t pieces[BRIDGE_STEPS], bytes[BRIDGE_STEPS]; /* of successful steps */
	uint64_t stalls;
	uint64_t no_buffer; /* times that fed bytes found no buffer */
	uint64_t withdrawn;
	uint32_t fills_most; /* most at once */
	/* ns with an outstanding DMA in that direction, by the times given to bridge_next and
	 * bridge_done; a stream through the core counts in both */
	uint64_t to_device_ns, from_device_ns;
	/* completions of steps that were not outstanding: the device's errors */
	uint64_t stale;
};

/* DXP_EINVAL: an option is out of range; DXP_ENOMEM. */
int bridge_create(const struct bridge_options *options, struct bridge **out);
/* NULL is allowed. First reset the device and close the network: no step may be outstanding. */
void bridge_destroy(struct bridge *b);

/* Queues a transfer. Pieces of transfers are served round-robin. Transfers through the stream core
 * use it one after another, in the order of bytes; others may overtake each other.
 *
 * DXP_EAGAIN: BRIDGE_TRANSFERS_MAX are queued. DXP_ENOMEM. DXP_EINVAL: the order is inconsistent,
 * or its pieces or the ring are too small for `fed`. Fed pieces need 16 KiB, or buffer_bytes if
 * less. A ring for fed transfers needs 2 buffers (3 of 8 KiB, 4 of 4 KiB), because a packet may
 * cross a border. */
int bridge_begin(struct bridge *b, const struct bridge_order *order, uint64_t now_ns,
		 struct bridge_transfer **out);
/* Starts no more steps. The transfer ends after its outstanding ones, with `status` unless it
 * failed before. No effect on an ended one. */
void bridge_cancel(struct bridge *b, struct bridge_transfer *t, int status);
void bridge_cancel_all(struct bridge *b, int status);

/* False: no step now. A step that cannot start (a queue is full) goes back by bridge_later() before
 * the next bridge_next(); it is offered again after a completion, or after BRIDGE_AGAIN_NS. */
bool bridge_next(struct bridge *b, uint64_t now_ns, struct bridge_action *out);
void bridge_later(struct bridge *b, uint32_t id);
/* A status other than DXP_OK fails the transfer. An id that is not outstanding, as after a repeated
 * interrupt, is only counted. */
void bridge_done(struct bridge *b, uint32_t id, int status, uint64_t now_ns);

/* Returns each ended transfer once, also fed ones that bridge_settled() has reported. False:
 * none. */
bool bridge_ended(struct bridge *b, struct bridge_end *out);

/* Copies bytes of a fed transfer into buffers, each once, in any order. `first`: all earlier bytes
 * of the stream have arrived. Only such bytes may use the last buffers: otherwise bytes that wait
 * for earlier ones could hold all, a deadlock.
 *
 * DXP_EAGAIN: no buffer is free; nothing was copied. DXP_EBUSY: the same, and bridge_granted() will
 * return a grant. DXP_ERANGE: outside the transfer, which continues. DXP_EMALFORMED: some bytes had
 * arrived before; the transfer fails. Others: it has failed with this status.
 *
 * Within each stall_ns, 1/BRIDGE_FED_STEPS of an incomplete block must arrive, or the transfer
 * fails, unless bridge_options.patient. */
int bridge_feed(struct bridge *b, struct bridge_transfer *t, uint64_t at, const uint8_t *data,
		uint32_t bytes, bool first, uint64_t now_ns);
/* DXP_OK: all is in the device's memory; DXP_EAGAIN: not yet; else a failure, even while steps are
 * outstanding. Valid until bridge_ended has returned the transfer. */
int bridge_settled(const struct bridge_transfer *t);

/* The sender of a fed transfer that found no buffer may send these bytes; their buffers are
 * reserved for a limited time. */
struct bridge_grant {
	struct bridge_transfer *transfer;
	void *context;
	/* bytes granted, counted from the transfer's start: whole units, or all */
	uint64_t bytes;
};

/* Grants cover whole blocks, or the rest. 0: never granted. */
uint32_t bridge_block_bytes(const struct bridge_transfer *t);
/* Returns the next grant, in fair order. Call it after each bridge_next. An unused grant is
 * returned again. */
bool bridge_granted(struct bridge *b, uint64_t now_ns, struct bridge_grant *out);

/* Returns when to call bridge_expire, bridge_next and bridge_granted. UINT64_MAX: never. */
uint64_t bridge_deadline(const struct bridge *b);
/* Fails stalled transfers with DXP_ETIMEDOUT. True: a DMA stalled, so reset the device, which
 * completes all DMAs with an error. Their buffers stay in use until then. */
bool bridge_expire(struct bridge *b, uint64_t now_ns);
/* Call it after bridge_expire. A stalled FILL or DRAIN blocks a buffer although its peer is alive:
 * close the operations with that peer. *context is that of the order. A step is reported again
 * after stall_ns; false: no more. */
bool bridge_stuck(struct bridge *b, void **context);

/* Buffers per ring that fed transfers need; with fewer, bridge_begin rejects them. */
uint32_t bridge_feed_buffers(const struct bridge *b);
uint32_t bridge_buffer_bytes(const struct bridge *b);
uint32_t bridge_buffers(const struct bridge *b);
/* Buffers of each ring that are not EMPTY: 0 if no step is outstanding. */
void bridge_buffers_used(const struct bridge *b, uint32_t *to_device, uint32_t *from_device);
uint32_t bridge_transfers(const struct bridge *b);
const struct bridge_counters *bridge_counters(const struct bridge *b);

#endif
