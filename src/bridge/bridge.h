/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge between a network and memory that only a DMA engine reaches (S-01 .. S-06): two rings of
 * buffers, one towards the device and one from it, shared by transfers. Each buffer is a small
 * state machine:
 *
 *   to the device    EMPTY -> FILL -> FULL -> DEVICE -> EMPTY
 *   from the device  EMPTY -> DEVICE -> DONE -> DRAIN -> EMPTY
 *   through it       a buffer of each ring: EMPTY -> FILL -> FULL -> DEVICE (both) -> DONE -> DRAIN
 *
 * No I/O: bridge_next() returns the next step (read from the network, DMA, write to the network).
 * The owner executes it and reports its status with bridge_done(). It may fill and drain buffers by
 * any means: a network, a copy of user memory, zeros. Nothing is copied between network and DMA.
 * Single-threaded; time is an argument.
 *
 * Invariant: a buffer belongs to one transfer until its last step is complete, even if the transfer
 * fails earlier. So a late DMA cannot write into another transfer's data. A failed transfer returns
 * all its buffers, and the rings continue. */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bridge;
struct bridge_transfer;

struct bridge_options {
	uint32_t buffers;      /* buffers of each ring, 1 .. BRIDGE_BUFFERS_MAX; 0: 8 (S-02) */
	uint32_t buffer_bytes; /* BRIDGE_BUFFER_MIN .. BRIDGE_BUFFER_MAX; a multiple of 4096 */
	/* Memory of the two rings, owned by the caller. Each ring has buffers x buffer_bytes bytes.
	 * The caller registers both rings once with NIC and device (S-05). */
	uint8_t *to_device;
	uint8_t *from_device;
	/* FILL steps that may be outstanding at the same time, 1 .. buffers; 0: buffers (S-06) */
	uint32_t fills;
	/* DMA steps that may be outstanding at the same time in each direction, 1 ..
	 * BRIDGE_BUFFERS_MAX; 0: BRIDGE_DMAS. A THROUGH step counts in both directions. DIRECT
	 * steps have the same limit of their own. */
	uint32_t dmas;
	/* ns; a DMA that takes longer fails its transfer. So does a FILL or DRAIN that takes twice
	 * this time. 0: BRIDGE_STALL_NS */
	uint64_t stall_ns;
	/* Returns true if the peer of a transfer is silent but its session is kept, so that the
	 * network may still deliver. Then a FILL, DRAIN or fed block may take longer. `context`:
	 * the context of the transfer's order. NULL: always false. */
	bool (*patient)(void *context);
};

enum bridge_path {
	BRIDGE_IN,  /* from the network to the device: FILL, DMA_IN */
	BRIDGE_OUT, /* from the device to the network: DMA_OUT, DRAIN */
	/* from the network through the stream core and back: FILL, DMA_THROUGH, DRAIN */
	BRIDGE_THROUGH,
	/* without buffers: DMA_DIRECT, between two devices or between device and user memory */
	BRIDGE_DIRECT,
	BRIDGE_PATHS
};

enum bridge_mode {
	BRIDGE_PIPELINED,
	/* Moves one piece at a time, one step after another. This mode is the baseline that shows
	 * the gain of pipelining (S-04). */
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
	/* Only for a pipelined IN transfer: bytes arrive by bridge_feed(), without FILL steps. */
	bool fed;
	/* Only for DIRECT: the bytes come from user memory, pass through the stream core, and go to
	 * user memory. */
	bool core;
	uint64_t bytes; /* length of the transfer; 0: it completes at once */
	/* Length in bytes of all pieces except the last, 4096 .. buffer_bytes (DIRECT:
	 * BRIDGE_BUFFER_MAX), rounded down to a multiple of 64. 0: buffer_bytes in mode SEQUENTIAL,
	 * else BRIDGE_DIRECT_BYTES on path DIRECT. Otherwise cut.h chooses a length with a good
	 * rate that fills the pipeline quickly. */
	uint32_t piece_bytes;
	/* Only for fed transfers: payload bytes of all packets except the last, counted from the
	 * transfer's start; 0: packets of any length. If a packet fits into a buffer, blocks hold
	 * whole packets. A transfer that finds no buffer then gets a grant later. */
	uint32_t unit;
	/* Only for fed transfers: number of the sender. Senders share free buffers fairly. */
	uint32_t source;
	void *context; /* the caller's pointer, returned in every action */
};

/* A step for the owner to execute on bytes [at, at + bytes) of the transfer. */
struct bridge_action {
	struct bridge_transfer *transfer;
	void *context;
	uint8_t step; /* enum bridge_step */
	uint32_t id;
	uint32_t bytes;
	uint64_t at;
	/* buffer towards the device, for FILL, DMA_IN, DMA_THROUGH; else NULL */
	uint8_t *in;
	/* buffer from the device, for DMA_OUT, DMA_THROUGH, DRAIN; else NULL */
	uint8_t *out;
};

struct bridge_end {
	/* The transfer is already freed, so use the pointer only for comparison. */
	struct bridge_transfer *transfer;
	void *context;
	int status; /* DXP_OK, or the status of the first step that failed */
	/* the step that failed; BRIDGE_STEPS: no step failed, the transfer was cancelled */
	uint8_t step;
	uint64_t at;    /* offset in the transfer at which the failed piece starts */
	uint64_t bytes; /* bytes from the start of the transfer on that have completed all steps */
};

struct bridge_counters {
	/* transfers that ended; transfers among them that failed */
	uint64_t transfers, failed;
	uint64_t pieces[BRIDGE_STEPS], bytes[BRIDGE_STEPS]; /* only of steps that succeeded */
	uint64_t stalls;
	uint64_t no_buffer; /* times that fed bytes found no free buffer */
	uint64_t withdrawn;
	uint32_t fills_most; /* largest number of FILL steps that were outstanding at once */
	/* Time in ns with an outstanding DMA in that direction, measured by the times that
	 * bridge_next and bridge_done were given. A stream through the core counts in both
	 * directions. */
	uint64_t to_device_ns, from_device_ns;
	/* completions of steps that were not outstanding, which are errors of the device */
	uint64_t stale;
};

/* Creates a bridge. DXP_EINVAL: an option is out of range; DXP_ENOMEM. */
int bridge_create(const struct bridge_options *options, struct bridge **out);
/* Destroys the bridge; `b` may be NULL. No step may be outstanding: first reset the device and
 * close the network. */
void bridge_destroy(struct bridge *b);

/* Queues a transfer. Pieces of different transfers are served round-robin. Transfers through the
 * stream core use it one after another, each in the order of its bytes; other transfers may
 * overtake each other.
 *
 * DXP_EAGAIN: BRIDGE_TRANSFERS_MAX transfers are queued. DXP_ENOMEM. DXP_EINVAL: the order is
 * inconsistent, or its pieces or the ring are too small for `fed`. Fed pieces need at least 16 KiB,
 * or buffer_bytes if that is less. A ring for fed transfers needs 2 buffers (3 of 8 KiB, 4 of 4
 * KiB), because a packet may cross the border between two buffers. */
int bridge_begin(struct bridge *b, const struct bridge_order *order, uint64_t now_ns,
		 struct bridge_transfer **out);
/* Starts no more steps of the transfer. The transfer ends when its outstanding steps are complete.
 * It ends with `status`, unless it failed before. Has no effect on a transfer that has ended. */
void bridge_cancel(struct bridge *b, struct bridge_transfer *t, int status);
void bridge_cancel_all(struct bridge *b, int status);

/* Writes the next step to *out; returns false if there is none now. If the owner cannot start the
 * step (a queue is full), it returns the step with bridge_later() before it calls bridge_next()
 * again. The bridge offers the step again after a completion, or after BRIDGE_AGAIN_NS. */
bool bridge_next(struct bridge *b, uint64_t now_ns, struct bridge_action *out);
void bridge_later(struct bridge *b, uint32_t id);
/* Completes step `id`. A status other than DXP_OK fails the step's transfer. An id that is not
 * outstanding (for example after a repeated interrupt) is only counted. */
void bridge_done(struct bridge *b, uint32_t id, int status, uint64_t now_ns);

/* Returns each ended transfer once; false: there is none. This includes fed transfers, whose status
 * bridge_settled() reports earlier. */
bool bridge_ended(struct bridge *b, struct bridge_end *out);

/* Copies bytes [at, at + bytes) of a fed transfer into buffers. Each byte comes once, in any order.
 * `first`: all earlier bytes of the stream have arrived. Only such bytes may use the last buffers.
 * Otherwise bytes that wait for earlier ones could hold all buffers, which is a deadlock.
 *
 * DXP_EAGAIN: no buffer is free; nothing was copied. DXP_EBUSY: the same, and bridge_granted() will
 * return a grant. DXP_ERANGE: the bytes are outside the transfer, which continues. DXP_EMALFORMED:
 * some bytes had arrived before, and the transfer fails. Other statuses: the transfer has failed
 * with this status.
 *
 * An incomplete block must receive 1/BRIDGE_FED_STEPS of its bytes within each stall_ns, or the
 * transfer fails. Exception: its peer is silent and its session is kept
 * (bridge_options.patient). */
int bridge_feed(struct bridge *b, struct bridge_transfer *t, uint64_t at, const uint8_t *data,
		uint32_t bytes, bool first, uint64_t now_ns);
/* Returns DXP_OK if the whole transfer is in the device's memory; DXP_EAGAIN: not yet; else the
 * reason of its failure, even while steps are outstanding. Valid until bridge_ended has returned
 * the transfer. */
int bridge_settled(const struct bridge_transfer *t);

/* A grant: the sender of a fed transfer that found no buffer may send these bytes now. Buffers for
 * them are reserved for a limited time. */
struct bridge_grant {
	struct bridge_transfer *transfer;
	void *context;
	/* bytes from the transfer's start on that the sender may send: whole units, or all bytes */
	uint64_t bytes;
};

/* Returns the number of bytes in a block. A grant covers whole blocks, or the rest of the transfer.
 * 0: the transfer never gets a grant. */
uint32_t bridge_block_bytes(const struct bridge_transfer *t);
/* Returns the next grant, in fair order; false: there is none now. Call it after each bridge_next.
 * A grant that was not used is returned again. */
bool bridge_granted(struct bridge *b, uint64_t now_ns, struct bridge_grant *out);

/* Returns the time in ns at which to call bridge_expire, bridge_next and bridge_granted even if no
 * step completes: a step stalls then, a returned step is due again, or a grant is due. UINT64_MAX:
 * never. */
uint64_t bridge_deadline(const struct bridge *b);
/* Fails transfers whose steps stalled, with DXP_ETIMEDOUT. Returns true if a DMA stalled. The owner
 * must then reset the device, which completes all DMAs with an error. The buffers of these DMAs
 * stay in use until then. */
bool bridge_expire(struct bridge *b, uint64_t now_ns);
/* Returns a FILL or DRAIN that is stalled and still outstanding; call it after bridge_expire. The
 * peer is alive, and a buffer is blocked. The owner then closes its operations with that peer.
 * *context is the context of the transfer's order. Returns each such step again after stall_ns;
 * false: there is no more. */
bool bridge_stuck(struct bridge *b, void **context);

/* Returns the number of buffers per ring that fed transfers need. If a ring has fewer, bridge_begin
 * rejects fed transfers. */
uint32_t bridge_feed_buffers(const struct bridge *b);
uint32_t bridge_buffer_bytes(const struct bridge *b);
uint32_t bridge_buffers(const struct bridge *b);
/* Counts the buffers of each ring that are not EMPTY. Both counts are 0 if no step is
 * outstanding. */
void bridge_buffers_used(const struct bridge *b, uint32_t *to_device, uint32_t *from_device);
uint32_t bridge_transfers(const struct bridge *b);
const struct bridge_counters *bridge_counters(const struct bridge *b);

#endif
