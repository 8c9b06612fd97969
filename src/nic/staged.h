/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files for memory that this process cannot address (S-01; docs/guide/bridge.md).
 * They call the memory's owner through struct nic_staged_ops, and hold the operations that wait.
 * Invariant: every staged_put is in the NIC's list, between write_begin and write_end. Every
 * nic_staged_read is in the NIC's list and uses its region, until its owner has finished the read
 * and no piece of it is outstanding. */
#ifndef NIC_STAGED_H
#define NIC_STAGED_H

#include "nic/internal.h"
#include "rltp/rx_map.h"

/* A PUT into staged memory, or the part of a PUT that goes to one staged piece. It comes either
 * from a peer's message, which has a `record`, or from a request of a function of this NIC. */
struct staged_put {
	/* neighbours in the NIC's list, which is in the order of start */
	struct staged_put *previous, *next;
	struct nic_staged_write *write;
	struct nic_region *region; /* `uses` of the region counts this put */
	uint64_t offset;           /* offset in the region of the put's first byte */
	uint32_t bytes;
	/* request that this put is a part of; NULL: the put comes from a peer */
	struct nic_request *request;
	/* the request stores into its own user's memory (a GET), so no arriving PUT is counted */
	bool own;
	/* The fields from here on are for puts of peers. */
	struct rx_stream *stream;
	struct rx_record *record;
	/* payload bytes of each packet except the last; 0: no packet has arrived */
	uint32_t unit;
	struct rx_map subs; /* packets placed; the map lets the owner get each byte only once */
	bool alone;         /* true: the message waits for no other message; see first() */
	bool waits;         /* true: the sender knows that it may send only granted packets */
	/* packets granted, counted from the message's first one; valid if `waits` */
	uint32_t granted;
	uint32_t block; /* packets that get space together; 0: unknown */
	/* The last packet is held for the device. The next two fields describe that packet. */
	bool held;
	uint32_t psn, payload_bytes;
	uint32_t retry_us; /* us until the next retry, which the next answer to the sender states */
};

enum staged_read_state {
	READ_WAITS, /* the owner had no space; the NIC tries again */
	READ_OPEN,  /* the owner has the read and answers it */
	READ_OVER   /* the owner has finished the read, or the read was cancelled */
};

/* A GET of staged memory, or the part of a GET that comes from one staged piece. */
struct nic_staged_read {
	/* neighbours in the NIC's list, which is in the order of arrival */
	struct nic_staged_read *previous, *next;
	struct nic_region *region; /* `uses` of the region counts this read */
	uint64_t offset;
	uint32_t bytes, left; /* bytes in total; bytes that the owner has not handed over yet */
	/* pieces outstanding: messages that RLTP holds, or pieces that wait to be copied */
	uint32_t out;
	uint8_t state; /* enum staged_read_state */
	/* The next fields are for reads of peers. */
	struct nic_peer *peer; /* NULL: the read comes from a function of this NIC */
	struct wire_get get;
	uint32_t stream;
	/* message reserved for a rejection, which must not fail for lack of memory */
	struct nic_message *spare;
	/* The fields from here on are for reads of functions of this NIC. */
	struct nic_request *request;
	/* offset in bytes, in the request, of the piece that the read fetches */
	uint32_t at;
	/* pieces that the owner handed over and that wait to be copied, in order */
	struct nic_message *answered;
	struct nic_message **answered_end;
};

/* staged.c */
/* Begins a write. NULL: the owner has no space for it now. The caller sets the fields that describe
 * the write's initiator. */
struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span);
void staged_put_end(struct nic *n, struct staged_put *put); /* frees the put, too */
/* Returns the status of write_settled() of struct nic_staged_ops. */
int staged_put_settled(const struct staged_put *put);

/* staged_read.c */
void staged_read_enter(struct nic *n, struct nic_staged_read *r);
void staged_read_leave(struct nic *n, struct nic_staged_read *r); /* frees the read, too */
/* Cancels the read at the memory's owner. */
void staged_read_cancel(struct nic_staged_read *r);
/* Returns the status of read_begin() of struct nic_staged_ops, or DXP_EACCESS if access has
 * changed. */
int staged_read_request(struct nic_staged_read *r);
/* Sets a deadline to retry reads and PUTs that found no space. */
void staged_look_again(struct nic *n);

/* staged_local.c */
void staged_local_settled(struct nic *n, struct staged_put *put);
int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece);
void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status);

#endif
