/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files for memory that this process cannot address (S-01; docs/guide/bridge.md). Its
 * owner is called through struct nic_staged_ops; these files hold the waiting operations.
 * Invariant: every staged_put is in the NIC's list, between write_begin and write_end. Every
 * nic_staged_read is in the NIC's list and uses its region, until its owner has finished it and no
 * piece of it is outstanding. */
#ifndef NIC_STAGED_H
#define NIC_STAGED_H

#include "nic/internal.h"
#include "rltp/rx_map.h"

/* A PUT into staged memory, or the part of a PUT that goes to one staged piece. It comes from a
 * peer's message, with `record`, or from a request of a function of this NIC. */
struct staged_put {
	struct staged_put *previous, *next; /* in the order of their start */
	struct nic_staged_write *write;
	struct nic_region *region; /* held by `uses` */
	uint64_t offset;           /* offset of the first byte in the region */
	uint32_t bytes;
	struct nic_request *request; /* NULL: of a peer */
	bool own;                    /* of a request into its own memory: no PUT has arrived */
	/* of a peer: */
	struct rx_stream *stream;
	struct rx_record *record;
	uint32_t unit;      /* payload of each packet but the last; 0: none has arrived */
	struct rx_map subs; /* packets placed: the owner gets each byte once */
	bool alone;         /* true: the message waits for no other one; see first() */
	bool waits;         /* the sender sends only what is granted */
	uint32_t granted;   /* packets granted, once it waits */
	uint32_t block;     /* packets that get space together; 0: unknown */
	/* the packet that completed the message, while it is held for the device */
	bool held;
	uint32_t psn, payload_bytes;
	uint32_t retry_us; /* the next interval that the sender gets */
};

enum staged_read_state {
	READ_WAITS, /* the owner had no space: retried */
	READ_OPEN,  /* the owner answers it */
	READ_OVER   /* the owner has finished the read, or the read was cancelled */
};

/* A GET of staged memory, or the part of a GET that comes from one staged piece. */
struct nic_staged_read {
	struct nic_staged_read *previous, *next; /* in the order of arrival */
	struct nic_region *region;               /* held by `uses` */
	uint64_t offset;
	uint32_t bytes, left; /* in total; not handed over yet */
	uint32_t out;         /* messages in RLTP, or pieces not copied yet */
	uint8_t state;        /* enum staged_read_state */
	/* from a peer: */
	struct nic_peer *peer; /* NULL: from a function of this NIC */
	struct wire_get get;
	uint32_t stream;
	struct nic_message *spare; /* reserved for a rejection, which must not fail */
	/* of a GET that a function of this NIC requested: */
	struct nic_request *request;
	uint32_t at;                  /* position of the piece in the request */
	struct nic_message *answered; /* pieces to copy, in order */
	struct nic_message **answered_end;
};

/* staged.c */
/* Begins a write. NULL: no space for it now. The caller sets its initiator. */
struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span);
void staged_put_end(struct nic *n, struct staged_put *put); /* and frees it */
/* see write_settled of struct nic_staged_ops */
int staged_put_settled(const struct staged_put *put);

/* staged_read.c */
void staged_read_enter(struct nic *n, struct nic_staged_read *r);
void staged_read_leave(struct nic *n, struct nic_staged_read *r); /* and frees it */
void staged_read_cancel(struct nic_staged_read *r);               /* cancels it at the owner */
/* see read_begin of struct nic_staged_ops */
int staged_read_request(struct nic_staged_read *r);
/* sets a deadline to retry reads and PUTs that found no space */
void staged_look_again(struct nic *n);

/* staged_local.c */
void staged_local_settled(struct nic *n, struct staged_put *put);
int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece);
void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status);

#endif
