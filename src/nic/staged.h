/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files for memory that this process cannot address (S-01; docs/guide/bridge.md).
 * These files call the memory's owner through struct nic_staged_ops, and hold the operations that
 * wait for it. Invariant: every staged_put is in the NIC's list, between write_begin and write_end.
 * Every nic_staged_read is in the NIC's list and uses its region, until the owner has finished it
 * and no piece of it is outstanding. */
#ifndef NIC_STAGED_H
#define NIC_STAGED_H

#include "nic/internal.h"
#include "rltp/rx_map.h"

/* A PUT into staged memory, or the part of a PUT that goes to one staged piece. The initiator is a
 * peer, and `record` is its message; or the initiator is `request` of a function of this NIC. */
struct staged_put {
	struct staged_put *previous, *next; /* in the order in which the PUTs started */
	struct nic_staged_write *write;
	struct nic_region *region; /* staged region; the PUT counts in its `uses` */
	uint64_t offset;           /* offset of the first byte in the region */
	uint32_t bytes;
	struct nic_request *request; /* initiator on this NIC; NULL: a peer */
	bool own;                    /* true: stores into local memory of `request` */
	/* only if a peer is the initiator: */
	struct rx_stream *stream;
	struct rx_record *record;
	uint32_t unit;      /* payload bytes of each packet but the last; 0: unknown */
	struct rx_map subs; /* packets placed, so that the owner gets each byte once */
	bool alone;         /* true: this message waits for no other message; see first() */
	bool waits;         /* the sender sends only granted packets */
	uint32_t granted;   /* packets granted; valid if `waits` */
	uint32_t block;     /* packets that the owner gives space together; 0: unknown */
	/* true: all packets arrived, and the last one is held until the device has all bytes; then
	 * `psn` and `payload_bytes` describe this last packet */
	bool held;
	uint32_t psn, payload_bytes;
	uint32_t retry_us; /* retry interval for the sender's next answer */
};

enum staged_read_state {
	READ_WAITS, /* the owner had no space; the NIC retries */
	READ_OPEN,  /* the owner can answer the GET */
	READ_OVER   /* the owner has finished the GET, or the NIC has cancelled it */
};

/* A GET of staged memory, or the part of a GET that comes from one staged piece. */
struct nic_staged_read {
	struct nic_staged_read *previous, *next; /* in the order in which the GETs arrived */
	struct nic_region *region;               /* staged region; the GET counts in its `uses` */
	uint64_t offset;
	uint32_t bytes, left; /* bytes in total; bytes that the owner has not answered */
	uint32_t out;         /* messages in RLTP, or answered pieces that were not copied */
	uint8_t state;        /* enum staged_read_state */
	/* only if a peer is the initiator: */
	struct nic_peer *peer; /* NULL: a function of this NIC is the initiator */
	struct wire_get get;
	uint32_t stream;
	struct nic_message *spare; /* reserved for a rejection, which must not fail */
	/* only if a function of this NIC is the initiator: */
	struct nic_request *request;
	uint32_t at;                  /* byte offset of the piece in the request */
	struct nic_message *answered; /* answered pieces to copy, in order */
	struct nic_message **answered_end;
};

/* staged.c */
/* Begins a write into staged memory. NULL: no space for it now. The caller sets the fields for its
 * initiator. */
struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span);
void staged_put_end(struct nic *n, struct staged_put *put); /* also frees `put` */
/* Returns the status of write_settled (struct nic_staged_ops). */
int staged_put_settled(const struct staged_put *put);

/* staged_read.c */
void staged_read_enter(struct nic *n, struct nic_staged_read *r);
void staged_read_leave(struct nic *n, struct nic_staged_read *r); /* also frees `r` */
void staged_read_cancel(struct nic_staged_read *r);               /* cancels the GET at its owner */
/* Returns the status of read_begin (struct nic_staged_ops). */
int staged_read_request(struct nic_staged_read *r);
/* Sets a deadline to retry GETs and PUTs that found no space. */
void staged_look_again(struct nic *n);

/* staged_local.c */
void staged_local_settled(struct nic *n, struct staged_put *put);
int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece);
void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status);

#endif
