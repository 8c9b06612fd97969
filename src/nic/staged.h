/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files for memory that this process cannot address (S-01; docs/guide/bridge.md).
 * Every staged_put is in the NIC's list between write_begin and write_end. Every nic_staged_read is
 * in its list and uses its region until the owner has finished it and no piece is outstanding. */
#ifndef NIC_STAGED_H
#define NIC_STAGED_H

#include "nic/internal.h"
#include "rltp/rx_map.h"

/* A PUT into staged memory, or its part for one staged piece. The initiator is a peer, with its
 * message `record`, or `request` of this NIC. */
struct staged_put {
	struct staged_put *previous, *next; /* oldest first */
	struct nic_staged_write *write;
	struct nic_region *region; /* counts in its `uses` */
	uint64_t offset;           /* in the region */
	uint32_t bytes;
	struct nic_request *request; /* NULL: the initiator is a peer */
	bool own;                    /* into local memory of `request` */
	/* only for a peer: */
	struct rx_stream *stream;
	struct rx_record *record;
	uint32_t unit;      /* payload of each packet but the last; 0: unknown */
	struct rx_map subs; /* placed packets: the owner gets each byte once */
	bool alone;         /* waits for no other message; see first() */
	bool waits;         /* the sender sends only granted packets */
	uint32_t granted;   /* packets; valid if `waits` */
	uint32_t block;     /* packets that get space together; 0: unknown */
	/* the last packet, of `psn` and `payload_bytes`, is held until the device has all bytes */
	bool held;
	uint32_t psn, payload_bytes;
	uint32_t retry_us; /* for the sender's next answer */
};

enum staged_read_state {
	READ_WAITS, /* no space at the owner; retried */
	READ_OPEN,
	READ_OVER /* finished, or cancelled by the NIC */
};

/* A GET of staged memory, or its part from one staged piece. */
struct nic_staged_read {
	struct nic_staged_read *previous, *next; /* in the order of arrival */
	struct nic_region *region;               /* counts in its `uses` */
	uint64_t offset;
	uint32_t bytes, left; /* `left`: not answered */
	uint32_t out;         /* messages in RLTP, or answered pieces not copied */
	uint8_t state;
	/* only for a peer: */
	struct nic_peer *peer; /* NULL: a function of this NIC */
	struct wire_get get;
	uint32_t stream;
	struct nic_message *spare; /* message kept for a rejection, which must not fail */
	/* only for a function of this NIC: */
	struct nic_request *request;
	uint32_t at;                  /* byte of the request at which the piece begins */
	struct nic_message *answered; /* pieces to copy, in order */
	struct nic_message **answered_end;
};

/* staged.c */
/* NULL: no space now. The caller sets the fields for its initiator. */
struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span);
void staged_put_end(struct nic *n, struct staged_put *put);
/* Status of write_settled (struct nic_staged_ops). */
int staged_put_settled(const struct staged_put *put);

/* staged_read.c */
void staged_read_enter(struct nic *n, struct nic_staged_read *r);
void staged_read_leave(struct nic *n, struct nic_staged_read *r);
void staged_read_cancel(struct nic_staged_read *r);
/* Status of read_begin (struct nic_staged_ops). */
int staged_read_request(struct nic_staged_read *r);
/* Schedules a retry. */
void staged_look_again(struct nic *n);

/* staged_local.c */
void staged_local_settled(struct nic *n, struct staged_put *put);
int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece);
void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status);

#endif
