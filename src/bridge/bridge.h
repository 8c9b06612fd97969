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
	uint32_t buffers;      /* per ring, 1 .. BRIDGE_BUFFERS_MAX; 0: 8 (S-02) */
	uint32_t buffer_bytes; /* BRIDGE_BUFFER_MIN .. BRIDGE_BUFFER_MAX; multiple of 4096 */
	/* Memory of the rings, buffers x buffer_bytes each, owned by the caller. The caller
	 * registers both rings once with NIC and device (S-05). */
	uint8_t *to_device;
	uint8_t *from_device;
	/* concurrent FILL steps, 1 .. buffers; 0: buffers (S-06) */
	uint32_t fills;
	/* Concurrent DMA steps per direction (THROUGH counts in both), and concurrent DIRECT steps,
	 * 1 .. BRIDGE_BUFFERS_MAX; 0: BRIDGE_DMAS */
	uint32_t dmas;
	/* A DMA that takes longer fails its transfer. So does a FILL or DRAIN that takes twice this
	 * time. 0: BRIDGE_STALL_NS */
	uint64_t stall_ns;
	/* Returns whether the peer of a transfer (`context` of the order) is silent but its session
	 * is kept, so that the network may still deliver. Then a FILL, DRAIN or fed block may take
	 * longer. NULL: never. */
	bool (*patient)(void *context);
};

enum bridge_path {
	BRIDGE_IN,      /* network to device: FILL, DMA_IN */
	BRIDGE_OUT,     /* device to network: DMA_OUT, DRAIN */
	BRIDGE_THROUGH, /* network, stream core, network: FILL, DMA_THROUGH, DRAIN */
	BRIDGE_DIRECT,  /* no buffers: DMA_DIRECT between devices, or with user memory */
	BRIDGE_PATHS
};

enum bridge_mode {
	BRIDGE_PIPELINED,
	/* One piece at a time, one step after another: the baseline that shows the gain of
	 * pipelining (S-04). */
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
	/* IN, pipelined only: bytes come by bridge_feed(), without FILL steps. */
	bool fed;
	/* DIRECT only: the bytes pass through the stream core, from and to user memory. */
	bool core;
	uint64_t bytes; /* 0: completes at once */
	/* Length of all pieces but the last, 4096 .. buffer_bytes (DIRECT: BRIDGE_BUFFER_MAX),
	 * rounded down to a multiple of 64. 0: cut.h chooses a length with a good rate that fills
	 * the pipeline quickly; in mode SEQUENTIAL: buffer_bytes. */
	uint32_t piece_bytes;
	/* Fed only: payload bytes of all packets but the last, counted from the transfer's start;
	 * 0: any. If a packet fits into a buffer, blocks hold whole packets, and a transfer that
	 * found no buffer gets a grant later. */
	uint32_t unit;
	uint32_t source; /* fed only: number of the sender; senders share free buffers fairly */
	void *context;   /* returned in every action */
};

/* The step to execute on bytes [at, at + bytes) of the transfer. */
struct bridge_action {
	struct bridge_transfer *transfer;
	void *context;
	uint8_t step; /* enum bridge_step */
	uint32_t id;
	uint32_t bytes;
	uint64_t at;
	uint8_t *in;  /* buffer towards the device (FILL, DMA_IN, DMA_THROUGH) or NULL */
	uint8_t *out; /* buffer from the device (DMA_OUT, DMA_THROUGH, DRAIN) or NULL */
};

struct bridge_end {
	/* the transfer is already freed, so use the pointer only for comparison */
	struct bridge_transfer *transfer;
	void *context;
	int status;     /* DXP_OK, or status of the first failed step */
	uint8_t step;   /* the failed step; BRIDGE_STEPS: none, cancelled */
	uint64_t at;    /* where the failed piece starts */
	uint64_t bytes; /* bytes, from the start of the transfer on, that completed all steps */
};

struct bridge_counters {
	/* transfers that ended; those among them that a failed step ended */
	uint64_t transfers, failed;
	uint64_t pieces[BRIDGE_STEPS], bytes[BRIDGE_STEPS]; /* successful steps only */
	uint64_t stalls;
	uint64_t no_buffer; /* times that fed bytes found no buffer */
	uint64_t withdrawn;
	uint32_t fills_most; /* largest number of FILL steps that were outstanding at once */
	/* Time with a DMA in that direction, by the times given to bridge_next and bridge_done. A
	 * stream through the core counts in both. */
	uint64_t to_device_ns, from_device_ns;
	uint64_t stale; /* completions of steps that were not outstanding: an error of the device */
};

/* Creates a bridge. DXP_EINVAL: an option is out of range; DXP_ENOMEM. */
int bridge_create(const struct bridge_options *options, struct bridge **out);
/* Destroys the bridge; NULL is allowed. No step may be outstanding: reset the device or close the
 * network first. */
void bridge_destroy(struct bridge *b);

/* Queues a transfer. Pieces of transfers are served round-robin. Transfers through the stream core
 * use it one after another, in order of `at`; other transfers may overtake each other.
 *
 * DXP_EAGAIN: BRIDGE_TRANSFERS_MAX are queued. DXP_ENOMEM. DXP_EINVAL: the order is inconsistent,
 * or its pieces or the ring are too small for `fed`. Fed pieces need 16 KiB, or buffer_bytes if
 * less. A ring for fed transfers needs 2 buffers (3 of 8 KiB, 4 of 4 KiB), because a packet may
 * cross the border of a buffer. */
int bridge_begin(struct bridge *b, const struct bridge_order *order, uint64_t now_ns,
		 struct bridge_transfer **out);
/* Starts no further step of the transfer. The transfer ends when its outstanding steps are
 * complete. Its status is `status`, unless it failed before. Has no effect on a transfer that has
 * ended. */
void bridge_cancel(struct bridge *b, struct bridge_transfer *t, int status);
void bridge_cancel_all(struct bridge *b, int status);

/* Writes the next step to *out; false: there is none now. If the owner cannot start the step (a
 * queue is full), it returns the step with bridge_later() before the next bridge_next(). The bridge
 * repeats the step after a completion, or after BRIDGE_AGAIN_NS. */
bool bridge_next(struct bridge *b, uint64_t now_ns, struct bridge_action *out);
void bridge_later(struct bridge *b, uint32_t id);
/* Completes step `id`. A status other than DXP_OK fails its transfer. An id that is not outstanding
 * (a repeated interrupt) is only counted. */
void bridge_done(struct bridge *b, uint32_t id, int status, uint64_t now_ns);

/* Returns each ended transfer once; false: none. Includes fed transfers, whose status
 * bridge_settled() returns earlier. */
bool bridge_ended(struct bridge *b, struct bridge_end *out);

/* Copies bytes [at, at + bytes) of a fed transfer into buffers: each byte once, in any order.
 * `first`: all earlier bytes of the stream have arrived. Only such bytes may use the last buffers.
 * Otherwise bytes that wait for earlier ones could hold all buffers, which is a deadlock.
 *
 * DXP_EAGAIN: no buffer now; nothing was copied. DXP_EBUSY: no buffer now, and bridge_granted()
 * will grant one. DXP_ERANGE: the bytes are outside the transfer, which continues. DXP_EMALFORMED:
 * the bytes had arrived before, and the transfer fails. Otherwise: the status of the failed
 * transfer.
 *
 * An incomplete block must receive its share (BRIDGE_FED_STEPS) within stall_ns, or the transfer
 * fails, unless its peer is silent and kept (bridge_options.patient). */
int bridge_feed(struct bridge *b, struct bridge_transfer *t, uint64_t at, const uint8_t *data,
		uint32_t bytes, bool first, uint64_t now_ns);
/* Returns DXP_OK if the whole transfer is in place; DXP_EAGAIN: not yet; else its failure, even
 * while steps are outstanding. Valid until bridge_ended has returned the transfer. */
int bridge_settled(const struct bridge_transfer *t);

/* A grant: the sender of a fed transfer that found no buffer may send these bytes now. Their
 * buffers are reserved for a time. */
struct bridge_grant {
	struct bridge_transfer *transfer;
	void *context;
	/* total number of bytes from the transfer's start on: whole units, or all bytes */
	uint64_t bytes;
};

/* Returns the bytes per block. A grant covers whole blocks, or the rest of the transfer. 0: the
 * transfer never gets a grant. */
uint32_t bridge_block_bytes(const struct bridge_transfer *t);
/* Returns the next grant, in fair order; false: none now. Call after each bridge_next. An unused
 * grant is returned again. */
bool bridge_granted(struct bridge *b, uint64_t now_ns, struct bridge_grant *out);

/* Returns when to call bridge_expire, bridge_next and bridge_granted if no step completes: when a
 * step stalls, a returned step comes again, or a grant is due. UINT64_MAX: never. */
uint64_t bridge_deadline(const struct bridge *b);
/* Fails transfers with stalled steps, with DXP_ETIMEDOUT. Returns true if a DMA stalled: the owner
 * must reset the device, which completes all DMAs with an error. Their buffers stay in use until
 * then. */
bool bridge_expire(struct bridge *b, uint64_t now_ns);
/* Call after bridge_expire. Returns a FILL or DRAIN that is stalled and still outstanding: the peer
 * is alive, and a buffer is blocked. The owner then closes its operations with that peer. *context:
 * that of the transfer's order. Returns each such step again after stall_ns; false: there is no
 * other one. */
bool bridge_stuck(struct bridge *b, void **context);

/* Returns how many buffers per ring fed transfers need. If a ring has fewer, bridge_begin rejects
 * them. */
uint32_t bridge_feed_buffers(const struct bridge *b);
uint32_t bridge_buffer_bytes(const struct bridge *b);
uint32_t bridge_buffers(const struct bridge *b);
/* Counts the buffers of each ring that are not EMPTY; 0 if no step is outstanding. */
void bridge_buffers_used(const struct bridge *b, uint32_t *to_device, uint32_t *from_device);
uint32_t bridge_transfers(const struct bridge *b);
const struct bridge_counters *bridge_counters(const struct bridge *b);

#endif
