/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the files of this folder share; their data is in state.h. */
#ifndef NIC_INTERNAL_H
#define NIC_INTERNAL_H

#include "nic/state.h"

/* key.c */
/* Returns the next key for the region with this index, and increments *generation. */
uint32_t key_next(const struct nic *n, uint32_t index, uint32_t *generation);

/* region.c */
/* Returns the region of a key of this user, or NULL. */
struct nic_region *region_find(const struct nic_user *u, uint32_t key);

uint8_t region_guard_query(struct nic_region *r, uint64_t offset,
			   uint64_t bytes); /* calls the region's guard */
/* Checks access to bytes that lie in the region. Returns 0 or an enum wire_nack code. Calls the
 * guard only if its last answer does not cover these bytes or is no longer valid. */
static inline uint8_t region_reach(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	const struct nic_reach *reach = &r->reach;

	if (!r->guarded ||
	    (!r->revoked && r->reach_epoch == *r->guard.epoch && offset >= reach->first &&
	     offset < reach->end && bytes <= reach->end - offset))
		return 0;
	return region_guard_query(r, offset, bytes);
}
/* Returns the memory at `offset`, which the last call of region_reach must have permitted. */
static inline uint8_t *region_at(const struct nic_region *r, uint64_t offset)
{
	return (r->guarded && r->reach.base ? r->reach.base : r->base) + offset;
}
/* Holds bytes of the region until region_drop, for a descriptor of the region's user. DXP_EACCESS:
 * access is not permitted. */
int region_hold(struct nic_region *r, uint64_t offset, uint64_t bytes);
void region_drop(struct nic_region *r, uint64_t offset);

/* regions_revoke: revokes the keys of all regions of a user. regions_busy: returns true while
 * operations use a region of the user. */
void regions_revoke(struct nic *n, uint32_t user);
bool regions_busy(const struct nic *n, uint32_t user);

/* nic.c */
struct nic_peer *nic_peer_of(struct rltp_session *s);
struct nic_peer *nic_peer_find(struct nic *n, uint16_t node); /* NULL: no such peer */
/* Returns the index of a stream; NIC_STREAMS: no such queue pair. */
uint32_t nic_stream_index(uint8_t function, uint16_t qp);
struct nic_function *nic_stream_function(struct nic *n, uint32_t index);
/* Returns the user of a stream's queue pair, open or not. */
static inline struct nic_user *nic_stream_user(struct nic *n, uint32_t index)
{
	return n->functions[index / NIC_QPS_PER_FUNCTION].user_of[index % NIC_QPS_PER_FUNCTION];
}
/* Sets a deadline at which the NIC retries what failed for lack of memory. */
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
/* Returns a queue pair's number in its user's window. */
static inline uint8_t user_qp(const struct nic_user *u, uint32_t qp)
{
	return (uint8_t)(qp - u->first_qp);
}
void nic_function_init(struct nic *n, uint32_t function);
bool function_serves(const struct nic_function *f); /* true if at least one user serves */
/* Stops a user that broke the rules. The user's window shows `status`. users_settle() ends the
 * user's operations later, so the caller may be in the middle of one of them. */
void user_stop(struct nic_user *u, int status);
void users_settle(struct nic *n);

/* pool.c: reused memory */
struct nic_message *pool_message_get(struct nic *n);         /* cleared; NULL: out of memory */
void pool_message_put(struct nic *n, struct nic_message *m); /* also frees m->body */
struct nic_request *
pool_request_get(struct nic *n); /* cleared except `function`, `head`, `immediate` */
void pool_request_put(struct nic *n, struct nic_request *r);
uint8_t *pool_buffer_get(struct nic *n,
			 uint32_t bytes); /* buffer for a NAP; the first `bytes` are zero */
void pool_buffer_put(struct nic *n, uint8_t *buffer); /* NULL is allowed */
void pools_free(struct nic *n);

/* event.c: completion and receive events */
uint32_t event_received_entries(const struct nic_user *u); /* usable entries of the receive ring */
uint32_t event_received_used(struct nic_user *u);          /* entries unread or reserved */
uint32_t event_received_unread(struct nic_user *u);
/* Returns true if a receive entry is free. `next`: the message is the next one to execute in its
 * stream. */
bool event_received_space(struct nic_user *u, bool next);
/* Returns true if more than `kept` receive entries are free. */
bool event_received_space_beside(struct nic_user *u, uint32_t kept);
void event_received_reserve(struct nic_user *u);
void event_received_unreserve(struct nic_user *u);
void event_received_write(struct nic_user *u, struct dxp_nic_event *event, const uint8_t *payload);
/* The two steps of event_received_write. The first returns the payload's destination, which may be
 * in *event, or NULL if the user was stopped. The second publishes the event. */
uint8_t *event_received_buffer(struct nic_user *u, struct dxp_nic_event *event);
void event_received_publish(struct nic_user *u, const struct dxp_nic_event *event);
/* Prefetches the ring entries of later events, during a burst of descriptors from user `u` to user
 * `t`. */
void events_ahead(const struct nic_user *u, const struct nic_user *t);
void event_sent_write(struct nic_user *u, const struct dxp_nic_event *event);
uint32_t event_sent_unread(struct nic_user *u);

/* buffer.c: NAP buffers */
void buffers_open(struct nic_user *u);
void buffers_fetch(struct nic_user *u);
/* Returns the number of buffers that the engine holds or the user has returned. */
uint32_t buffers_available(const struct nic_user *u);
bool buffer_dequeue(struct nic_user *u, uint16_t *out); /* false: the user was stopped */

/* doorbell.c */
/* Reads new descriptors of a user; returns how many. */
uint32_t doorbells_accept(struct nic_user *u);
/* Stops each user whose producer index is invalid. Returns true if it stopped one. Reads a cache
 * line that the users write, so not every poll calls it. doorbells_accept() detects the other
 * overrun: a doorbell in an entry that the engine has not read. */
bool doorbells_overrun(struct nic *n);
/* Prefetches the user's next descriptors and events before a long copy. */
void doorbells_ahead(const struct nic_user *u);

/* access.c: check access by packets and by users of this NIC. access_user() returns the target
 * user, or NULL if there is none or the magic is wrong. access_region() returns 0 or an enum
 * wire_nack code. `by`: earlier attempts of the requester. */
struct nic_user *access_user(struct nic *n, struct guesses *by, uint32_t function, uint32_t qp,
			     uint32_t magic);
uint8_t access_region(struct nic_user *u, struct guesses *by, uint32_t key, uint32_t right,
		      uint64_t offset, uint64_t bytes, struct nic_region **out);
/* Call these before access_region() and access_user(). They return the time in ns until a key, or
 * the magic of a queue pair, may be compared for the requester `by`; 0: now. They count requests
 * that wait. */
uint64_t access_key_wait(struct nic *n, struct guesses *by, uint32_t key);
uint64_t access_magic_wait(struct nic *n, const struct guesses *by, uint32_t function, uint32_t qp);
/* Reserves space with registers_reserve(), and converts its status to a NACK code. */
uint8_t access_registers(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Counts a rejection. `u`: the target user, or NULL if there is none. */
void access_refused(struct nic *n, struct nic_user *u, uint8_t code);

/* count.c */
void nic_counters_publish(struct nic_user *u);
/* Counts bytes that a PUT placed at the user. */
void nic_placed_count(struct nic_user *u, uint32_t bytes);

/* share.c: order of service, and fair shares of bytes copied inside this NIC */
void share_order_next(struct nic_order *o, uint32_t count);
void share_poll_begin(struct nic *n);
/* Updates the sum of weights after a function was opened, closed or weighted. */
void share_weights_sum(struct nic *n);
bool share_left(struct nic_function *f);
void share_spend(struct nic_function *f, uint32_t bytes);
/* Cost of an operation besides its bytes, so that short messages are not free. */
#define LOCAL_COST_BYTES ((uint32_t)sizeof(struct dxp_descriptor))
void share_function_copy(struct nic_function *f);

/* space.c: receive entries for users of this NIC */
bool space_now(struct nic_user *t); /* true: an entry is free, and no request waits */
/* Reserves a receive entry of user `t` for a request. False: there is none, and the request
 * waits. */
bool space_acquire(struct nic_request *r, struct nic_user *t);
void space_unwait(struct nic_request *r); /* no effect if the request does not wait */

/* local.c: operations between users of this NIC */
bool local_node(const struct nic *n, uint16_t node);
/* Return true if the request must wait before its key, or its magic, is compared (guess.h). */
bool local_key_waits(struct nic_request *r, uint32_t key);
bool local_magic_waits(struct nic_request *r);
/* Delivers a NAP directly from its descriptor. Returns false if this is not possible now; then
 * nothing has changed. */
bool local_nap(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Executes a PUT from one local piece to one remote piece, directly from its descriptor. Returns
 * false as local_nap does. */
bool local_put(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Advances a request while *left is positive, and subtracts copied bytes from *left. The request is
 * complete when `cut_done` is set. Otherwise it waits, or needs a larger *left. */
void local_advance(struct nic_request *r, int64_t *left);
void local_release(struct nic_request *r); /* drops the request's uses of target memory */
/* Fails all requests to a closing user. */
void local_forget(struct nic *n, const struct nic_user *t);

/* chain.c: descriptors by reference */
/* Parses a descriptor by reference. If the lists have at most NIC_LIST_ENTRIES_MAX entries, copies
 * them to `entries`, and the head with its counts to r->head. Longer lists become r->chain, and the
 * counts in r->head are 0. DXP_EAGAIN: no space for the chain now. DXP_EINVAL: malformed. Other
 * statuses: the chain cannot be read. */
int chain_begin(struct nic_request *r, const struct dxp_entry *at,
		struct dxp_entry entries[NIC_LIST_ENTRIES_MAX]);
/* Copies, checks and resolves entries of r->chain as far as *left permits. Returns true if the
 * request has pieces to continue with; false: it waits, or has failed. */
bool chain_advance(struct nic_request *r, int64_t *left);
/* Makes r->chain from a descriptor whose local entries are staged. DXP_EUNSUPPORTED: not a PUT or
 * GET. DXP_EAGAIN: no space for the chain now. */
int chain_staged(struct nic_request *r, const struct dxp_entry *entries);
void chain_free(struct nic_request *r); /* r->chain may be NULL */
/* Returns the value that r->cut will have when the last resolved piece is used up. */
static inline uint32_t chain_end(const struct nic_request *r)
{
	return r->chain ? r->last : r->total;
}

/* bounce.c: staged local memory of a request */
int bounce_open(struct nic_request *r);   /* DXP_EAGAIN: no memory or bounce now */
void bounce_close(struct nic_request *r); /* r->bounce may be NULL */
/* Makes *piece from the staged entry `e`, with its bytes at offset `at` of the bounce. Statuses of
 * doorbell_piece(). */
int bounce_piece(struct nic_request *r, const struct dxp_entry *e, uint32_t at,
		 struct nic_piece *piece);
void bounce_begin(struct nic_request *r); /* call it when r->local has a new window of the chain */
/* PUT: fetches the chain's present window from staged memory into the bounce. GET: stores it from
 * the bounce into staged memory. Returns true if messages may be made, or the next window may
 * begin. Sets r->cut_done after the last window was stored. */
bool bounce_advance(struct nic_request *r, int64_t *left);
/* Returns true if a request completes only after the bounce has stored its last bytes (GET). */
bool bounce_stores(const struct nic_request *r);

/* area.c: finds the area that contains [vaddr, vaddr + bytes) of the user's device, and returns the
 * region's key and the offset in it. DXP_ENOENT: no area contains all these bytes. The user must
 * have a table. */
int area_find(const struct nic_user *u, uint64_t vaddr, uint64_t bytes, uint32_t *key,
	      uint64_t *offset);

/* outside.c: RLTP's endpoint calls the first two, with the NIC as `nic` */
bool outside_admits(void *nic, const struct udp_address *from);
struct rltp_session *outside_add(void *nic, const struct udp_address *from);
/* Returns the number of the peer at this address; adds the peer if the policy admits it.
 * WIRE_NODE_NONE: not admitted, or no space. */
uint16_t outside_node(struct nic *n, const struct udp_address *at);
/* Returns true if the peer may send this request. Peers outside of the node table may only send to
 * receive registers. */
bool outside_permits(const struct nic_peer *p, const struct wire_header *h);

/* registers.c: the user must be open, except for registers_sent. */
/* the user must have a lookup table; registers_ready() requires this too */
void registers_poll(struct nic_user *u);
bool registers_ready(const struct nic_user *u);
void registers_sent(struct nic_user *u, int status); /* reports the end of a send */
/* Reserves space in the receive area for a PUT with key 0. DXP_EACCESS: no register mode.
 * DXP_EBUSY: no area, or it is full. DXP_ERANGE: the PUT is longer than the whole area. */
int registers_reserve(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Returns space to the area if nothing was reserved after it. Otherwise the space stays used. */
void registers_unreserve(struct nic_user *u, const struct nic_register_range *range,
			 uint32_t bytes);
/* Finds the memory for the message's first byte. False: the device withdrew the area, or its memory
 * is gone. Call it anew for each piece of the message, because both may change. */
bool registers_place(struct nic_user *u, const struct nic_register_range *range,
		     struct nic_place *out);

/* doorbell.c: resolves an entry of the user's local list to a piece, and holds the region's
 * memory */
int doorbell_piece(const struct nic_user *u, const struct dxp_entry *e, struct nic_piece *piece);

/* request.c */
void request_pieces_drop(
	/* drops the request's uses of memory; its messages must not need them any more */
	struct nic_request *r);
void request_queue(struct nic_request *r);
void request_finished(struct nic_request *r, int status); /* a message or read has completed */
void request_give_up(struct nic_request *r, int status);  /* the request makes no more messages */
void request_queues_advance(struct nic_function *f);
void request_queue_advance(struct nic_function *f, struct nic_queue *q, int64_t *left);
/* fails requests whose messages are not all made */
void requests_fail(struct nic *n, uint16_t node, int status);
/* Drops all requests of a user without completions. No message may refer to them any more. */
void requests_drop(struct nic_user *u);

/* send.c: callbacks of RLTP about messages */
void send_message_fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		       struct rltp_packet *out);
void send_message_done(void *user, struct rltp_session *s, struct rltp_message *m, int status);
void send_message_post(struct nic_message *m);
/* Sets how many bytes of the message are not sent yet. The rate limit of the function counts these
 * bytes as if they were sent. */
void send_message_unsent(struct nic_message *m, uint32_t bytes);
/* Withdraws a message: its completion is not reported, its memory is not read again. */
void send_message_withdraw(struct nic_message *m, int status);
/* Returns the status for a withdrawn answer, which its RESYNC carries as the key. */
int send_answer_status(uint32_t key);

/* receive.c, stream.c: received messages */
struct rltp_verdict receive_packet_deliver(void *user, struct rltp_session *s,
					   const struct wire_header *h, const uint8_t *payload);
bool stream_packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h);
struct rx_stream *stream_rx_get(struct nic_peer *p, uint32_t index); /* NULL: out of memory */
/* Returns the stream to this queue pair of the peer, and creates it if necessary. NULL: out of
 * memory. */
struct tx_stream *stream_tx_get(struct nic_peer *p, uint32_t index);
bool stream_known(const struct nic_peer *p, uint32_t index, bool receives);
struct nic_work *stream_work_get(struct nic_peer *p); /* NULL: out of memory */
void stream_rx_run(struct rx_stream *stream);
/* Changes the state of a record that is used. The session cannot become idle until the record is
 * cleared. */
void stream_record_enter(struct rx_stream *stream, struct rx_record *r, enum record_state state);
/* Frees the resources of a record, and empties it. `executed`: false if the message was dropped. */
void stream_record_clear(struct rx_stream *stream, struct rx_record *r, bool executed);
/* Drops a message and marks it as given up. `counted`: the message uses a credit that was not
 * charged yet. */
void stream_record_abort(struct rx_stream *stream, struct rx_record *r, bool counted);
/* Notes that message `id` was acknowledged. `arrived`: a request that completes when all earlier
 * ids were acknowledged too; or NULL. */
void stream_tx_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived);
/* Frees the streams of a closed session. Requests that are not delivered complete with `status`. */
void stream_peer_fail(struct nic_peer *p, int status);
/* Frees the streams of an idle session; keeps its marks (struct stream_mark). */
void stream_peer_rest(struct nic_peer *p);

/* Processes a message whose last packet was placed. */
void receive_record_whole(struct rx_stream *stream, struct rx_record *r);

/* staged.c, staged_read.c, staged_local.c: memory that this process cannot address (staged.h) */
/* Places `payload`, which begins at byte `at` of a message, in staged memory. `to` is the
 * destination of the message's first byte. */
struct rltp_verdict staged_place(struct rx_stream *stream, struct rx_record *r,
				 const struct wire_header *h, uint64_t at, const uint8_t *payload,
				 const struct nic_place *to);
/* Gives up peers' incomplete messages to the receive area of the register mode, if they are stored
 * in staged memory within *area. */
void staged_registers_end(struct nic *n, const struct nic_area *area);
/* Returns true if the message is held because of packet `psn`. If this packet arrives again, it
 * gets the answer of staged_held_again(). */
bool staged_holds(const struct rx_record *r, uint32_t psn);
struct rltp_verdict staged_held_again(struct rx_record *r);
void staged_record_clear(struct nic *n, struct rx_record *r); /* frees the record's PUT or GET */
/* Allocates a GET when it is accepted; the record holds it until execution. NULL: out of memory. */
struct nic_staged_read *staged_read_create(void);
void staged_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Returns a piece to its owner when its message has completed. */
void staged_answer_done(struct nic *n, struct nic_message *m, int status);
void staged_poll(struct nic *n); /* retries GETs that found no space */
/* End the GETs of a lost session, and of a closing user. */
void staged_reads_fail(struct nic_peer *p);
void staged_reads_end(struct nic *n, const struct nic_user *u);
/* Returns true if the message answers with bytes of this user's staged memory. */
bool staged_answers(const struct nic_message *m, const struct nic_user *u);
/* Operations of users of this NIC. They set r->staged_waits if the request cannot advance now. */
/* Passes up to *bytes bytes at `from` to the owner of the staged piece, and sets *bytes to the
 * number passed. DXP_EAGAIN: no space now. DXP_EACCESS, DXP_EDEVICE: failed. */
int staged_local_put(struct nic_request *r, const struct nic_piece *to, const uint8_t *from,
		     uint32_t *bytes);
/* Starts the GET of a whole piece; statuses of staged_local_put(). */
int staged_local_get(struct nic_request *r, const struct nic_piece *from);
/* Move bytes between a staged local piece of the request and its bounce, as the functions above do
 * for remote pieces. staged_local_fetch() reads the piece into the bounce, at byte `at` of the
 * chain's window. staged_local_store() writes *bytes of the piece, from byte `at` of the piece
 * on. */
int staged_local_fetch(struct nic_request *r, const struct nic_piece *own, uint32_t at);
int staged_local_store(struct nic_request *r, const struct nic_piece *own, uint32_t at,
		       uint32_t *bytes);
/* If an earlier PUT of its queue pair is not in the device yet, makes the request wait. Returns
 * true if the request waits. */
bool staged_local_waits(struct nic_request *r);
void staged_local_drop(struct nic_request *r);  /* drops the incomplete PUT of the request */
void staged_local_poll(struct nic_function *f); /* copies bytes that owners have answered */
void staged_local_end(struct nic *n, const struct nic_user *u);

/* credit.c, receiver */
/* Returns true if the sender has credit for one more message. */
bool credit_left(const struct rx_stream *s);
/* Consumes one credit, because a message of the stream has arrived, or its sender gave it up. */
void credit_use(struct rx_stream *s);
void credit_forget(struct rx_stream *s); /* the stream becomes idle or is closed */
void credits_poll(struct nic_user *u);   /* grants credit for entries that the user freed */
uint32_t credit_grants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		       uint32_t count);
void credit_requested(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
/* credit.c, sender */
bool credit_consume(struct nic_request *r, struct nic_peer *p, struct tx_stream *t);
void credit_unwait(struct nic_request *r); /* no effect if the request does not wait */
void credit_granted(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
uint32_t credit_wants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		      uint32_t count);

/* read.c: GET, ATOMIC and CFG, at the initiator and at the target */
uint32_t reads_max(const struct nic *n);
uint8_t read_flow(uint32_t stream); /* RLTP flow of this queue pair's requests and answers */
struct nic_read *read_begin(struct nic_peer *p);
void read_cancel(struct nic_peer *p, uint32_t id, int status);
void reads_fail(struct nic_peer *p, int status);
void reads_forget(struct nic_peer *p, const struct nic_user *u); /* drops answers for this user */
void read_answer_receive(struct nic_peer *p, const struct wire_header *h, const uint8_t *payload);
void read_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
void read_cfg_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Fails the recorded request at its initiator. */
void read_answer_refuse(struct nic_peer *p, struct rx_record *record, int status);
/* Executes the atomic, and sends its answer. */
void atomic_answer(struct nic_peer *p, uint32_t index, struct rx_record *record);

#endif
