/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on memory that this process cannot address (S-01; docs/bridge.md): what the files
 * about them share. Whoever reaches the memory, its owner, is asked through struct nic_staged_ops;
 * here it is kept which operation waits for what. Invariant: every staged_put is in the NIC's list
 * and has had write_begin, and not write_end; every nic_staged_read is in the NIC's list, holds its
 * region, and goes when its owner has said the last of it and no piece of it is under way. */
#ifndef NIC_STAGED_H
#define NIC_STAGED_H

#include "nic/internal.h"
#include "rltp/rx_map.h"

/* A PUT into staged memory, or the part of it that goes to one piece of that: of a peer's message,
 * which `record` is for, or of a request of a function of this NIC. */
struct staged_put {
	struct staged_put *previous, *next; /* in the order in which they began */
	struct nic_staged_write *write;
	struct nic_region *region; /* held by `uses` */
	uint64_t offset;           /* of its first byte in the region */
	uint32_t bytes;
	struct nic_request *request; /* NULL: of a peer */
	/* of a peer's */
	struct rx_stream *stream;
	struct rx_record *record;
	uint32_t unit;      /* payload of each packet but the last; 0: none has come yet */
	struct rx_map subs; /* packets placed: the owner must get each byte once */
	bool alone;         /* it waits for nobody: see first() */
	bool waits;         /* its sender sends what it is called for, and nothing else */
	uint32_t called;    /* packets that may come, once it waits */
	uint32_t block;     /* packets that get their room at once; 0: not known */
	/* the packet that completed it, while it is held for the device */
	bool held;
	uint32_t psn, payload_bytes;
	uint32_t retry_us; /* the next time that it is named one */
};

enum staged_read_state {
	READ_WAITS, /* the owner had no room for it: asked again */
	READ_OPEN,  /* the owner answers it */
	READ_OVER   /* and has said the last of it, or is not asked any more */
};

/* A GET of staged memory, or the part of it that comes from one piece of that. */
struct nic_staged_read {
	struct nic_staged_read *previous, *next; /* in the order in which they came */
	struct nic_region *region;               /* held by `uses` */
	uint64_t offset;
	uint32_t bytes, left; /* in all; not handed over yet */
	uint32_t out;         /* messages of it in RLTP's hands, or pieces not copied yet */
	uint8_t state;        /* enum staged_read_state */
	/* who asks: a peer */
	struct nic_peer *peer; /* or NULL */
	struct wire_get get;
	uint32_t stream;
	struct nic_message *spare; /* for a refusal, which must not fail */
	/* or a request of a function of this NIC */
	struct nic_request *request;
	uint32_t at;                  /* of its bytes */
	struct nic_message *answered; /* pieces to copy, in order */
	struct nic_message **answered_end;
};

/* staged.c */
/* Begins a write; NULL: no room for it now. Of whom is for the caller to say. */
struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span);
void staged_put_end(struct nic *n, struct staged_put *put); /* and forgets it */
int staged_put_settled(const struct staged_put *put);       /* as write_settled */

/* staged_read.c */
void staged_read_enter(struct nic *n, struct nic_staged_read *r);
void staged_read_leave(struct nic *n, struct nic_staged_read *r); /* and frees it */
void staged_read_cancel(struct nic_staged_read *r); /* the owner is not to answer any more */
int staged_read_ask(struct nic_staged_read *r);     /* as read_begin */
void staged_look_again(struct nic *n);              /* when whoever found no room tries again */

/* staged_local.c */
void staged_local_settled(struct nic *n, struct staged_put *put);
int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece);
void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status);

#endif
