/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the files of this folder share; their data is in state.h. */
#ifndef NIC_INTERNAL_H
#define NIC_INTERNAL_H

#include "nic/state.h"

/* key.c */
/* Returns the next key for a region index, and increments *generation. */
uint32_t key_next(const struct nic *n, uint32_t index, uint32_t *generation);

/* region.c */
struct nic_region *region_find(const struct nic_user *u, uint32_t key);

uint8_t region_guard_query(struct nic_region *r, uint64_t offset, uint64_t bytes);
/* Checks access to bytes in the region; returns 0 or an enum wire_nack code. Calls the guard only
 * if its last answer is outdated or does not cover the bytes. */
static inline uint8_t region_reach(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	const struct nic_reach *reach = &r->reach;

	if (!r->guarded ||
	    (!r->revoked && r->reach_epoch == *r->guard.epoch && offset >= reach->first &&
	     offset < reach->end && bytes <= reach->end - offset))
		return 0;
	return region_guard_query(r, offset, bytes);
}
/* Requires an earlier region_reach that permitted it. */
static inline uint8_t *region_at(const struct nic_region *r, uint64_t offset)
{
	return (r->guarded && r->reach.base ? r->reach.base : r->base) + offset;
}
/* Holds bytes until region_drop, for a descriptor of the region's user. DXP_EACCESS: not
 * permitted. */
int region_hold(struct nic_region *r, uint64_t offset, uint64_t bytes);
void region_drop(struct nic_region *r, uint64_t offset);

void regions_revoke(struct nic *n, uint32_t user);
bool regions_busy(const struct nic *n, uint32_t user);

/* nic.c */
struct nic_peer *nic_peer_of(struct rltp_session *s);
struct nic_peer *nic_peer_find(struct nic *n, uint16_t node); /* NULL: none */
/* NIC_STREAMS: no such queue pair */
uint32_t nic_stream_index(uint8_t function, uint16_t qp);
struct nic_function *nic_stream_function(struct nic *n, uint32_t index);
/* Returns the user of the queue pair, open or not. */
static inline struct nic_user *nic_stream_user(struct nic *n, uint32_t index)
{
	return n->functions[index / NIC_QPS_PER_FUNCTION].user_of[index % NIC_QPS_PER_FUNCTION];
}
/* Schedules a retry after a lack of memory. */
void nic_memory_short(struct nic *n);

/* function.c */
static inline bool user_serves(const struct nic_user *u)
{
	return u->window && !u->stopped;
}
static inline bool user_has_qp(const struct nic_user *u, uint32_t qp)
{
	return qp - u->first_qp < u->qp_count;
}
/* Returns the number in its user's window. */
static inline uint8_t user_qp(const struct nic_user *u, uint32_t qp)
{
	return (uint8_t)(qp - u->first_qp);
}
void nic_function_init(struct nic *n, uint32_t function);
bool function_serves(const struct nic_function *f); /* at least one user serves */
/* Stops a user that broke the rules; its window shows `status`. users_settle() ends its operations
 * later, because the caller may be inside one. */
void user_stop(struct nic_user *u, int status);
void users_settle(struct nic *n);

/* pool.c: reused memory */
struct nic_message *pool_message_get(struct nic *n);         /* cleared; NULL: out of memory */
void pool_message_put(struct nic *n, struct nic_message *m); /* also frees m->body */
struct nic_request *
pool_request_get(struct nic *n); /* not cleared: `function`, `head`, `immediate` */
void pool_request_put(struct nic *n, struct nic_request *r);
uint8_t *pool_buffer_get(struct nic *n, uint32_t bytes); /* for a NAP; the first `bytes` are zero */
void pool_buffer_put(struct nic *n, uint8_t *buffer);    /* NULL is allowed */
void pools_free(struct nic *n);

/* event.c: completion and receive events */
uint32_t event_received_entries(const struct nic_user *u); /* usable entries */
uint32_t event_received_used(struct nic_user *u);          /* unread or reserved */
uint32_t event_received_unread(struct nic_user *u);
/* `next`: the message is the next one of its stream to execute. */
bool event_received_space(struct nic_user *u, bool next);
/* More than `kept` receive entries are free. */
bool event_received_space_beside(struct nic_user *u, uint32_t kept);
void event_received_reserve(struct nic_user *u);
void event_received_unreserve(struct nic_user *u);
void event_received_write(struct nic_user *u, struct dxp_nic_event *event, const uint8_t *payload);
/* The two steps of event_received_write. The first returns the payload's destination; NULL: the
 * user was stopped. */
uint8_t *event_received_buffer(struct nic_user *u, struct dxp_nic_event *event);
void event_received_publish(struct nic_user *u, const struct dxp_nic_event *event);
/* Prefetches entries for a burst from `u` to `t`. */
void events_ahead(const struct nic_user *u, const struct nic_user *t);
void event_sent_write(struct nic_user *u, const struct dxp_nic_event *event);
uint32_t event_sent_unread(struct nic_user *u);

/* buffer.c: NAP buffers */
void buffers_open(struct nic_user *u);
void buffers_fetch(struct nic_user *u);
/* Buffers that the engine holds or the user has returned. */
uint32_t buffers_available(const struct nic_user *u);
bool buffer_dequeue(struct nic_user *u, uint16_t *out); /* false: the user was stopped */

/* doorbell.c */
/* Returns the number of descriptors read. */
uint32_t doorbells_accept(struct nic_user *u);
/* Stops users with an invalid producer index; true: it stopped one. Not for every poll, because it
 * reads a cache line that users write. doorbells_accept() detects an overwritten descriptor. */
bool doorbells_overrun(struct nic *n);
/* Prefetches before a long copy. */
void doorbells_ahead(const struct nic_user *u);

/* access.c. access_user: NULL if there is none or the magic is wrong. access_region: 0 or an enum
 * wire_nack code. `by`: the requester's attempts. */
struct nic_user *access_user(struct nic *n, struct guesses *by, uint32_t function, uint32_t qp,
			     uint32_t magic);
uint8_t access_region(struct nic_user *u, struct guesses *by, uint32_t key, uint32_t right,
		      uint64_t offset, uint64_t bytes, struct nic_region **out);
/* Call these first: ns until the key or magic may be compared for `by`; 0: now. They count
 * waits. */
uint64_t access_key_wait(struct nic *n, struct guesses *by, uint32_t key);
uint64_t access_magic_wait(struct nic *n, const struct guesses *by, uint32_t function, uint32_t qp);
/* Does what registers_reserve() does, but returns NACK codes. */
uint8_t access_registers(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Counts a rejection; `u` may be NULL. */
void access_refused(struct nic *n, struct nic_user *u, uint8_t code);

/* count.c */
void nic_counters_publish(struct nic_user *u);
void nic_placed_count(struct nic_user *u, uint32_t bytes);

/* share.c */
void share_order_next(struct nic_order *o, uint32_t count);
void share_poll_begin(struct nic *n);
/* Call it after a function was opened, closed or weighted. */
void share_weights_sum(struct nic *n);
bool share_left(struct nic_function *f);
void share_spend(struct nic_function *f, uint32_t bytes);
/* cost of an operation, besides its bytes: short messages are not free */
#define LOCAL_COST_BYTES ((uint32_t)sizeof(struct dxp_descriptor))
void share_function_copy(struct nic_function *f);

/* space.c: receive entries for users of this NIC */
bool space_now(struct nic_user *t); /* an entry is free, and no request waits */
/* False: no entry of `t`; the request waits. */
bool space_acquire(struct nic_request *r, struct nic_user *t);
void space_unwait(struct nic_request *r); /* the request may be not waiting */

/* local.c: operations between users of this NIC */
bool local_node(const struct nic *n, uint16_t node);
/* The key, or the magic, may not be compared yet (guess.h). */
bool local_key_waits(struct nic_request *r, uint32_t key);
bool local_magic_waits(struct nic_request *r);
/* Delivers a NAP without a request. False: not possible now; nothing has changed. */
bool local_nap(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* The same for a PUT from one local piece to one remote piece. */
bool local_put(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Advances a request while *left is positive, and subtracts copied bytes. When it is complete,
 * `cut_done` is set; else it waits, or needs a larger *left. */
void local_advance(struct nic_request *r, int64_t *left);
void local_release(struct nic_request *r); /* drops uses of target memory */
/* Fails all requests to a closing user. */
void local_forget(struct nic *n, const struct nic_user *t);

/* chain.c: descriptors by reference */
/* Copies up to NIC_LIST_ENTRIES_MAX entries to `entries`, and the head with its counts to r->head.
 * Longer lists become r->chain, with counts 0 in r->head. DXP_EAGAIN: no space now. DXP_EINVAL:
 * malformed. Others: the chain cannot be read. */
int chain_begin(struct nic_request *r, const struct dxp_entry *at,
		struct dxp_entry entries[NIC_LIST_ENTRIES_MAX]);
/* Copies, checks and resolves as far as *left permits. True: the request has pieces to continue
 * with; false: it waits, or has failed. */
bool chain_advance(struct nic_request *r, int64_t *left);
/* Makes r->chain of staged local entries. DXP_EUNSUPPORTED: not a PUT or GET. DXP_EAGAIN: no space
 * now. */
int chain_staged(struct nic_request *r, const struct dxp_entry *entries);
void chain_free(struct nic_request *r); /* r->chain may be NULL */
/* Returns r->cut at which the resolved pieces are used up. */
static inline uint32_t chain_end(const struct nic_request *r)
{
	return r->chain ? r->last : r->total;
}

/* bounce.c: staged local memory of a request */
int bounce_open(struct nic_request *r);   /* DXP_EAGAIN: no memory or bounce now */
void bounce_close(struct nic_request *r); /* r->bounce may be NULL */
/* Makes *piece of the staged entry `e`, at offset `at` of the bounce. Statuses of
 * doorbell_piece(). */
int bounce_piece(struct nic_request *r, const struct dxp_entry *e, uint32_t at,
		 struct nic_piece *piece);
void bounce_begin(struct nic_request *r); /* r->local has a new window of the chain */
/* PUT: fetches the present window. GET: stores it, and sets r->cut_done after the last one. True:
 * messages may be made, or the next window may begin. */
bool bounce_advance(struct nic_request *r, int64_t *left);
/* True: a GET that completes only after its last bytes are stored. */
bool bounce_stores(const struct nic_request *r);

/* area.c: finds the area of [vaddr, vaddr + bytes), and the offset in its region. DXP_ENOENT: no
 * area contains all bytes. The user must have a table. */
int area_find(const struct nic_user *u, uint64_t vaddr, uint64_t bytes, uint32_t *key,
	      uint64_t *offset);

/* outside.c: RLTP's endpoint calls the first two; `nic` is the NIC */
bool outside_admits(void *nic, const struct udp_address *from);
struct rltp_session *outside_add(void *nic, const struct udp_address *from);
/* Returns the number of the peer at this address, adding it if the policy admits it.
 * WIRE_NODE_NONE: not admitted, or no space. */
uint16_t outside_node(struct nic *n, const struct udp_address *at);
/* False: a peer outside of the node table sends anything but a PUT to receive registers. */
bool outside_permits(const struct nic_peer *p, const struct wire_header *h);

/* registers.c: the user must be open, except for registers_sent. */
/* registers_poll() and registers_ready() also need a lookup table */
void registers_poll(struct nic_user *u);
bool registers_ready(const struct nic_user *u);
void registers_sent(struct nic_user *u, int status); /* completes a send */
/* Reserves space in the receive area. DXP_EACCESS: no register mode. DXP_EBUSY: no area, or it is
 * full. DXP_ERANGE: longer than the whole area. */
int registers_reserve(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Returns space only if nothing was reserved after it. */
void registers_unreserve(struct nic_user *u, const struct nic_register_range *range,
			 uint32_t bytes);
/* Finds the memory of the message's first byte. False: the device withdrew the area, or its memory
 * is gone. Call for each piece, because both may change. */
bool registers_place(struct nic_user *u, const struct nic_register_range *range,
		     struct nic_place *out);

/* doorbell.c: resolves an entry of the local list, and holds its memory. */
int doorbell_piece(const struct nic_user *u, const struct dxp_entry *e, struct nic_piece *piece);

void request_pieces_drop(struct nic_request *r);
void request_queue(struct nic_request *r);
void request_finished(struct nic_request *r, int status); /* a message or read has completed */
void request_give_up(struct nic_request *r, int status);  /* no more messages are made */
void request_queues_advance(struct nic_function *f);
void request_queue_advance(struct nic_function *f, struct nic_queue *q, int64_t *left);
/* fails requests whose messages are not all made */
void requests_fail(struct nic *n, uint16_t node, int status);
/* Drops requests without completions; no message may refer to them. */
void requests_drop(struct nic_user *u);

/* send.c: callbacks of RLTP */
void send_message_fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		       struct rltp_packet *out);
void send_message_done(void *user, struct rltp_session *s, struct rltp_message *m, int status);
void send_message_post(struct nic_message *m);
/* Sets the unsent bytes of the message, which the rate limit counts as sent. */
void send_message_unsent(struct nic_message *m, uint32_t bytes);
/* The completion is not reported, and the memory not read again. */
void send_message_withdraw(struct nic_message *m, int status);
/* Decodes the status in the key of a RESYNC. */
int send_answer_status(uint32_t key);

/* receive.c, stream.c: received messages */
struct rltp_verdict receive_packet_deliver(void *user, struct rltp_session *s,
					   const struct wire_header *h, const uint8_t *payload);
bool stream_packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h);
struct rx_stream *stream_rx_get(struct nic_peer *p, uint32_t index); /* NULL: out of memory */
/* Creates the stream if necessary; NULL: out of memory. */
struct tx_stream *stream_tx_get(struct nic_peer *p, uint32_t index);
bool stream_known(const struct nic_peer *p, uint32_t index, bool receives);
struct nic_work *stream_work_get(struct nic_peer *p); /* NULL: out of memory */
void stream_rx_run(struct rx_stream *stream);
/* Enters a state other than empty. The session cannot become idle until the record is cleared. */
void stream_record_enter(struct rx_stream *stream, struct rx_record *r, enum record_state state);
/* `executed`: false for a dropped message. */
void stream_record_clear(struct rx_stream *stream, struct rx_record *r, bool executed);
/* Gives up a message. `counted`: its credit must still be charged. */
void stream_record_abort(struct rx_stream *stream, struct rx_record *r, bool counted);
/* Message `id` was acknowledged. `arrived`: request to complete when all earlier ids are, or
 * NULL. */
void stream_tx_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived);
/* Frees the streams of a closed session. Undelivered requests complete with `status`. */
void stream_peer_fail(struct nic_peer *p, int status);
/* Frees the streams of an idle session, but not its marks. */
void stream_peer_rest(struct nic_peer *p);

/* The last packet of the message was placed. */
void receive_record_whole(struct rx_stream *stream, struct rx_record *r);

/* staged.c, staged_read.c, staged_local.c (staged.h) */
/* Places payload from byte `at` of a message on; `to` is where its first byte goes. */
struct rltp_verdict staged_place(struct rx_stream *stream, struct rx_record *r,
				 const struct wire_header *h, uint64_t at, const uint8_t *payload,
				 const struct nic_place *to);
/* Gives up peers' incomplete messages to receive areas within *area. */
void staged_registers_end(struct nic *n, const struct nic_area *area);
/* True: held because of packet `psn`, whose repetition gets the answer of staged_held_again(). */
bool staged_holds(const struct rx_record *r, uint32_t psn);
struct rltp_verdict staged_held_again(struct rx_record *r);
void staged_record_clear(struct nic *n, struct rx_record *r); /* frees the PUT or GET */
/* Allocates an accepted GET; the record holds it until execution. NULL: out of memory. */
struct nic_staged_read *staged_read_create(void);
void staged_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Returns a piece to its owner after its message. */
void staged_answer_done(struct nic *n, struct nic_message *m, int status);
void staged_poll(struct nic *n); /* retries GETs that found no space */
/* End the GETs of a lost session, and those of a closing user. */
void staged_reads_fail(struct nic_peer *p);
void staged_reads_end(struct nic *n, const struct nic_user *u);
/* The message sends bytes of this user's staged memory. */
bool staged_answers(const struct nic_message *m, const struct nic_user *u);
/* Within this NIC. They set r->staged_waits if the request cannot advance now. */
/* Passes up to *bytes at `from` to the owner, and sets *bytes to the number passed. DXP_EAGAIN: no
 * space now. DXP_EACCESS, DXP_EDEVICE: failed. */
int staged_local_put(struct nic_request *r, const struct nic_piece *to, const uint8_t *from,
		     uint32_t *bytes);
/* Starts the GET of a whole piece; same statuses. */
int staged_local_get(struct nic_request *r, const struct nic_piece *from);
/* The same between a staged local piece and the bounce: staged_local_fetch() to byte `at` of the
 * window, staged_local_store() from byte `at` of the piece on. */
int staged_local_fetch(struct nic_request *r, const struct nic_piece *own, uint32_t at);
int staged_local_store(struct nic_request *r, const struct nic_piece *own, uint32_t at,
		       uint32_t *bytes);
/* True: an earlier PUT of the queue pair is not in the device. */
bool staged_local_waits(struct nic_request *r);
void staged_local_drop(struct nic_request *r);
void staged_local_poll(struct nic_function *f); /* copies bytes that owners have answered */
void staged_local_end(struct nic *n, const struct nic_user *u);

/* credit.c, receiver */
bool credit_left(const struct rx_stream *s);
/* A message arrived, or its sender gave it up. */
void credit_use(struct rx_stream *s);
void credit_forget(struct rx_stream *s); /* the stream becomes idle or is closed */
void credits_poll(struct nic_user *u);   /* grants entries that the user freed */
uint32_t credit_grants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		       uint32_t count);
void credit_requested(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
/* credit.c, sender */
bool credit_consume(struct nic_request *r, struct nic_peer *p, struct tx_stream *t);
void credit_unwait(struct nic_request *r); /* the request may be not waiting */
void credit_granted(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
uint32_t credit_wants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		      uint32_t count);

/* read.c */
uint32_t reads_max(const struct nic *n);
uint8_t read_flow(uint32_t stream); /* RLTP flow of GET, ATOMIC, CFG and their answers */
struct nic_read *read_begin(struct nic_peer *p);
void read_cancel(struct nic_peer *p, uint32_t id, int status);
void reads_fail(struct nic_peer *p, int status);
void reads_forget(struct nic_peer *p, const struct nic_user *u); /* drops answers for this user */
void read_answer_receive(struct nic_peer *p, const struct wire_header *h, const uint8_t *payload);
void read_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
void read_cfg_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Fails the request at its initiator. */
void read_answer_refuse(struct nic_peer *p, struct rx_record *record, int status);
void atomic_answer(struct nic_peer *p, uint32_t index, struct rx_record *record);

#endif
