/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the files of this folder share. The structs are in state.h. */
#ifndef NIC_INTERNAL_H
#define NIC_INTERNAL_H

#include "nic/state.h"

/* key.c
 * Returns the next key for a region at `index` and increments *generation. */
uint32_t key_next(const struct nic *n, uint32_t index, uint32_t *generation);

/* region.c */
/* Returns the region of this user that has the key, or NULL. */
struct nic_region *region_find(const struct nic_user *u, uint32_t key);

/* Calls the region's guard and keeps its answer. Returns what region_reach() returns. */
uint8_t region_guard_query(struct nic_region *r, uint64_t offset, uint64_t bytes);
/* Checks access to bytes that lie in the region. Returns 0 or an enum wire_nack code. Calls the
 * guard only for bytes outside the range that the guard permitted last. */
static inline uint8_t region_reach(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	const struct nic_reach *reach = &r->reach;

	if (!r->guarded ||
	    (!r->revoked && r->reach_epoch == *r->guard.epoch && offset >= reach->first &&
	     offset < reach->end && bytes <= reach->end - offset))
		return 0;
	return region_guard_query(r, offset, bytes);
}
/* Returns the memory at an offset; the last call of region_reach for this region must have
 * permitted it. */
static inline uint8_t *region_at(const struct nic_region *r, uint64_t offset)
{
	return (r->guarded && r->reach.base ? r->reach.base : r->base) + offset;
}
/* Holds bytes that a descriptor of the region's user names, until region_drop with the same offset.
 * DXP_EACCESS: not permitted. */
int region_hold(struct nic_region *r, uint64_t offset, uint64_t bytes);
void region_drop(struct nic_region *r, uint64_t offset);

/* regions_revoke() revokes all regions of a user. regions_busy() returns true while operations use
 * any of them. */
void regions_revoke(struct nic *n, uint32_t user);
bool regions_busy(const struct nic *n, uint32_t user);

/* nic.c */
struct nic_peer *nic_peer_of(struct rltp_session *s);
/* Returns the peer with this node id; NULL: there is none. */
struct nic_peer *nic_peer_find(struct nic *n, uint16_t node);
/* Returns the index of the stream to a queue pair; NIC_STREAMS: no such queue pair. */
uint32_t nic_stream_index(uint8_t function, uint16_t qp);
struct nic_function *nic_stream_function(struct nic *n, uint32_t index);
/* Returns the owner of a stream's queue pair; this user may be closed. */
static inline struct nic_user *nic_stream_user(struct nic *n, uint32_t index)
{
	return n->functions[index / NIC_QPS_PER_FUNCTION].user_of[index % NIC_QPS_PER_FUNCTION];
}
/* Sets a deadline to retry operations that failed for lack of memory. */
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
/* Returns the number of a queue pair of the function, as counted in its user's window. */
static inline uint8_t user_qp(const struct nic_user *u, uint32_t qp)
{
	return (uint8_t)(qp - u->first_qp);
}
void nic_function_init(struct nic *n, uint32_t function);
/* Returns true if a user of the function is open and not stopped. */
bool function_serves(const struct nic_function *f);
/* Stops a user that broke the rules and stores `status` in its window. users_settle drops the
 * user's operations later, so the caller may be in the middle of one of them. */
void user_stop(struct nic_user *u, int status);
void users_settle(struct nic *n);

/* pool.c: reused memory */
/* Returns a cleared message; NULL: out of memory. */
struct nic_message *pool_message_get(struct nic *n);
/* Frees a message and its body. */
void pool_message_put(struct nic *n, struct nic_message *m);
/* Returns a request, cleared except `function`, `head` and `immediate`; NULL: out of memory. */
struct nic_request *pool_request_get(struct nic *n);
void pool_request_put(struct nic *n, struct nic_request *r);
/* Returns a buffer for a NAP, or NULL; clears its first `bytes` bytes. */
uint8_t *pool_buffer_get(struct nic *n, uint32_t bytes);
/* `buffer` may be NULL. */
void pool_buffer_put(struct nic *n, uint8_t *buffer);
void pools_free(struct nic *n);

/* event.c: completion and receive events */
/* Returns how many entries of the user's receive ring may be used. */
uint32_t event_received_entries(const struct nic_user *u);
/* Returns how many entries of the user's receive ring are unread or reserved. */
uint32_t event_received_used(struct nic_user *u);
uint32_t event_received_unread(struct nic_user *u);
/* Returns true if a receive entry is free. `next`: the message is the next one to execute in its
 * stream. */
bool event_received_space(struct nic_user *u, bool next);
/* Returns true if one receive entry is free besides `kept` others. */
bool event_received_space_beside(struct nic_user *u, uint32_t kept);
void event_received_reserve(struct nic_user *u);
void event_received_unreserve(struct nic_user *u);
void event_received_write(struct nic_user *u, struct dxp_nic_event *event, const uint8_t *payload);
/* The two steps of event_received_write. The first returns the destination of the payload, or NULL
 * if the user was stopped; a short payload goes into *event. The second step publishes the
 * event. */
uint8_t *event_received_buffer(struct nic_user *u, struct dxp_nic_event *event);
void event_received_publish(struct nic_user *u, const struct dxp_nic_event *event);
/* Prefetches the entries of later events, during a burst of descriptors from user `u` to user
 * `t`. */
void events_ahead(const struct nic_user *u, const struct nic_user *t);
void event_sent_write(struct nic_user *u, const struct dxp_nic_event *event);
uint32_t event_sent_unread(struct nic_user *u);

/* buffer.c: NAP buffers */
void buffers_open(struct nic_user *u);
void buffers_fetch(struct nic_user *u);
/* Returns the number of free buffers: those fetched in advance and those in the user's ring. */
uint32_t buffers_available(const struct nic_user *u);
/* Removes a free buffer from those fetched in advance; returns false if the user was stopped. */
bool buffer_dequeue(struct nic_user *u, uint16_t *out);

/* doorbell.c
 * Reads new descriptors; returns how many. */
uint32_t doorbells_accept(struct nic_user *u);
/* Stops the users that have claimed an impossible number of descriptors. Returns true if it stopped
 * one. Reads a cache line that the users write, so the NIC does not call it in every poll.
 * doorbells_accept detects another overrun: a doorbell in an entry that the engine has not read
 * yet. */
bool doorbells_overrun(struct nic *n);
/* Prefetches the user's next descriptors and events before a long copy. */
void doorbells_ahead(const struct nic_user *u);

/* access.c: check access by packets and by users of this NIC. Both functions report an enum
 * wire_nack code: access_region() returns it, access_user() returns NULL for WIRE_NACK_MAGIC. */
struct nic_user *access_user(struct nic *n, struct guesses *by, uint32_t function, uint32_t qp,
			     uint32_t magic);
uint8_t access_region(struct nic_user *u, struct guesses *by, uint32_t key, uint32_t right,
		      uint64_t offset, uint64_t bytes, struct nic_region **out);
/* Return the time in ns until a value that requester `by` sent may be compared; 0: now. The value
 * is a key, or the magic of a queue pair. Call them before the two functions above. Both count
 * requests that must wait. */
uint64_t access_key_wait(struct nic *n, struct guesses *by, uint32_t key);
uint64_t access_magic_wait(struct nic *n, const struct guesses *by, uint32_t function, uint32_t qp);
/* Reserves space with registers_reserve(), and converts its status to a NACK code. */
uint8_t access_registers(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Counts a rejection at user `u`, and at the NIC; `u` may be NULL. */
void access_refused(struct nic *n, struct nic_user *u, uint8_t code);

/* count.c */
void nic_counters_publish(struct nic_user *u);
/* Counts bytes that a PUT placed at the user. */
void nic_placed_count(struct nic_user *u, uint32_t bytes);

/* share.c: order of service, and fair shares of bytes copied inside this NIC */
void share_order_next(struct nic_order *o, uint32_t count);
void share_poll_begin(struct nic *n);
/* Updates the sum of weights after a function was opened or closed, or its weight changed. */
void share_weights_sum(struct nic *n);
bool share_left(struct nic_function *f);
void share_spend(struct nic_function *f, uint32_t bytes);
/* Cost in bytes of an operation besides its payload, so that short messages are not free. */
#define LOCAL_COST_BYTES ((uint32_t)sizeof(struct dxp_descriptor))
void share_function_copy(struct nic_function *f);

/* space.c: receive entries for users of this NIC */
/* Returns true if a receive entry is free and no request waits for one. */
bool space_now(struct nic_user *t);
/* Reserves a receive entry of user `t` for a request. Returns false if none is free; the request
 * then waits. */
bool space_acquire(struct nic_request *r, struct nic_user *t);
/* Ends the wait of a request for a receive entry; does nothing if the request does not wait. */
void space_unwait(struct nic_request *r);

/* local.c: operations between users of this NIC */
bool local_node(const struct nic *n, uint16_t node);
/* Return true if the request must wait before the NIC compares its key, or its magic (guess.h). */
bool local_key_waits(struct nic_request *r, uint32_t key);
bool local_magic_waits(struct nic_request *r);
/* Delivers a NAP directly from its descriptor. Returns false if that is not possible now; nothing
 * has changed then. */
bool local_nap(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Copies a PUT of one piece into one piece, directly from its descriptor. Returns false if that is
 * not possible now; nothing has changed then. */
bool local_put(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Advances a request and subtracts the copied bytes from *left, until *left is used up. Sets
 * `cut_done` of the request when all bytes are copied. Otherwise the request needs a larger *left,
 * or waits. */
void local_advance(struct nic_request *r, int64_t *left);
/* Releases the target's memory that the request uses. */
void local_release(struct nic_request *r);
/* Ends all requests of other users of this NIC to a closing user. */
void local_forget(struct nic *n, const struct nic_user *t);

/* chain.c: descriptors by reference */
/* Parses the descriptor that the entry `at` names into r->head, and its counts into the head. A
 * short list goes to `entries`. A long one becomes r->chain, and the counts are 0. DXP_EAGAIN: no
 * space for the chain now. */
int chain_begin(struct nic_request *r, const struct dxp_entry *at,
		struct dxp_entry entries[NIC_LIST_ENTRIES_MAX]);
/* Copies, checks and resolves entries of r->chain as far as *left permits. Returns true if the
 * request has pieces to continue with; false if the request waits or has failed. */
bool chain_advance(struct nic_request *r, int64_t *left);
/* Makes a chain of a descriptor whose own memory is staged. DXP_EUNSUPPORTED: the operation is
 * neither PUT nor GET; DXP_EAGAIN: no space for the chain now. */
int chain_staged(struct nic_request *r, const struct dxp_entry *entries);
/* Frees the request's chain; r->chain may be NULL. */
void chain_free(struct nic_request *r);
/* Returns the value that `cut` has after the last byte of the present pieces. */
static inline uint32_t chain_end(const struct nic_request *r)
{
	return r->chain ? r->last : r->total;
}

/* bounce.c: requests whose own memory is staged */
/* Opens a bounce for a request. DXP_EAGAIN: out of memory, or the user has NIC_BOUNCES_MAX requests
 * with a bounce. */
int bounce_open(struct nic_request *r);
/* Frees the request's bounce; r->bounce may be NULL. */
void bounce_close(struct nic_request *r);
/* Makes a piece of the bounce buffer, from byte `at` of the window on. Returns the statuses of
 * doorbell_piece(). */
int bounce_piece(struct nic_request *r, const struct dxp_entry *e, uint32_t at,
		 struct nic_piece *piece);
/* Starts a new window, after r->local was set. */
void bounce_begin(struct nic_request *r);
/* Fetches or stores a window. Returns true if messages may be made, or if the next window may
 * begin. Sets `cut_done` of the request after the last window. */
bool bounce_advance(struct nic_request *r, int64_t *left);
/* Returns true if the request completes only after its last bytes were stored in staged memory. */
bool bounce_stores(const struct nic_request *r);

/* area.c
 * Maps [vaddr, vaddr + bytes) of the user's device to a region's key and an offset in that region.
 * The user must have a lookup table. DXP_ENOENT: the bytes do not lie in one area. */
int area_find(const struct nic_user *u, uint64_t vaddr, uint64_t bytes, uint32_t *key,
	      uint64_t *offset);

/* outside.c
 * The endpoint calls the next two functions with the NIC as `nic`. */
bool outside_admits(void *nic, const struct udp_address *from);
struct rltp_session *outside_add(void *nic, const struct udp_address *from);
/* Returns the number of the peer at this address. Adds the peer if it is new and the policy admits
 * it. WIRE_NODE_NONE: not admitted, or no space. */
uint16_t outside_node(struct nic *n, const struct udp_address *at);
/* Returns true if a peer may send this request. A peer outside of the node table may only send to
 * receive registers. */
bool outside_permits(const struct nic_peer *p, const struct wire_header *h);

/* registers.c
 * In these functions the user must be open, except in registers_sent(). */
/* In the next two functions, the user must also have a lookup table. */
void registers_poll(struct nic_user *u);
bool registers_ready(const struct nic_user *u);
/* Called when the request that a GO started has completed. */
void registers_sent(struct nic_user *u, int status);
/* Reserves space in the user's receive area for a PUT with key 0. DXP_EACCESS: the user has no
 * register mode; DXP_EBUSY: the area is missing or has too little space left; DXP_ERANGE: `bytes`
 * exceed the whole area. */
int registers_reserve(struct nic_user *u, uint32_t bytes, struct nic_register_range *out);
/* Returns space to the receive area if it is the space reserved last; else does nothing. */
void registers_unreserve(struct nic_user *u, const struct nic_register_range *range,
			 uint32_t bytes);
/* Finds where the message's first byte goes. Returns false if the device has replaced the area, or
 * its region is gone. Call it again for each piece, because the device may replace the area at any
 * time. */
bool registers_place(struct nic_user *u, const struct nic_register_range *range,
		     struct nic_place *out);

/* doorbell.c
 * Resolves an entry of the user's local list and holds its memory. */
int doorbell_piece(const struct nic_user *u, const struct dxp_entry *e, struct nic_piece *piece);

/* request.c
 * Drops the request's uses of memory. No message of the request may use the memory any more. */
void request_pieces_drop(struct nic_request *r);
void request_queue(struct nic_request *r);
/* Called when one message or read of the request has ended. */
void request_finished(struct nic_request *r, int status);
/* Completes the request with `status`; bytes without a message are not sent. */
void request_give_up(struct nic_request *r, int status);
void request_queues_advance(struct nic_function *f);
void request_queue_advance(struct nic_function *f, struct nic_queue *q, int64_t *left);
/* Fails the requests to `node` that still have bytes without a message. */
void requests_fail(struct nic *n, uint16_t node, int status);
/* Drops all requests without completions. No message may refer to them any more. */
void requests_drop(struct nic_user *u);

/* send.c: callbacks of RLTP about messages */
void send_message_fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		       struct rltp_packet *out);
void send_message_done(void *user, struct rltp_session *s, struct rltp_message *m, int status);
void send_message_post(struct nic_message *m);
/* Sets how many bytes of the message are not sent yet. The function's rate limit treats these bytes
 * as already sent. */
void send_message_unsent(struct nic_message *m, uint32_t bytes);
/* Withdraws a message: RLTP reports no completion for it and reads its memory no more. */
void send_message_withdraw(struct nic_message *m, int status);
/* Returns the status of an answer that the peer gave up; `key` comes from the peer's RESYNC. */
int send_answer_status(uint32_t key);

/* receive.c, stream.c: received messages */
struct rltp_verdict receive_packet_deliver(void *user, struct rltp_session *s,
					   const struct wire_header *h, const uint8_t *payload);
bool stream_packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h);
/* Returns the stream from the peer to queue pair `index`, created if necessary; NULL: out of
 * memory. */
struct rx_stream *stream_rx_get(struct nic_peer *p, uint32_t index);
/* Returns the stream to queue pair `index` of the peer; creates it if necessary. NULL: out of
 * memory. */
struct tx_stream *stream_tx_get(struct nic_peer *p, uint32_t index);
bool stream_known(const struct nic_peer *p, uint32_t index, bool receives);
/* Returns the peer's state for active sessions, allocated if necessary; NULL: out of memory. */
struct nic_work *stream_work_get(struct nic_peer *p);
void stream_rx_run(struct rx_stream *stream);
/* Marks a record as used. From here on the stream's session must not become idle. */
void stream_record_enter(struct rx_stream *stream, struct rx_record *r, enum record_state state);
/* Frees the resources of a record. `executed`: the message was executed; otherwise it was not and
 * will not be. */
void stream_record_clear(struct rx_stream *stream, struct rx_record *r, bool executed);
/* Ends a message without effect. `counted`: the message used a credit that was not charged yet. */
void stream_record_abort(struct rx_stream *stream, struct rx_record *r, bool counted);
/* Handles the acknowledgement of message `id`. `arrived`: a request that completes when all earlier
 * ids are acknowledged, too; or NULL. */
void stream_tx_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived);
/* Frees the streams of a closed session; undelivered requests complete with `status`. */
void stream_peer_fail(struct nic_peer *p, int status);
/* Frees the streams of an idle session; keeps the marks. */
void stream_peer_rest(struct nic_peer *p);

/* Processes a message whose last packet was placed. */
void receive_record_whole(struct rx_stream *stream, struct rx_record *r);

/* staged.c, staged_read.c, staged_local.c: memory that this process cannot address (staged.h) */
/* Places payload at byte `at` of a message to a staged region; the message's first byte goes to
 * `to`. */
struct rltp_verdict staged_place(struct rx_stream *stream, struct rx_record *r,
				 const struct wire_header *h, uint64_t at, const uint8_t *payload,
				 const struct nic_place *to);
/* Ends the incomplete PUTs of peers to receive registers in these bytes of a region. */
void staged_registers_end(struct nic *n, const struct nic_area *area);
/* Returns true if packet `psn` completed the message, and the message is held for the device. The
 * packet was sent again, so it gets the same answer again. */
bool staged_holds(const struct rx_record *r, uint32_t psn);
struct rltp_verdict staged_held_again(struct rx_record *r);
/* Frees the record's staged PUT or GET. */
void staged_record_clear(struct nic *n, struct rx_record *r);
/* Allocates the state of a GET when the GET is accepted; its record holds the state until
 * execution. NULL: out of memory. */
struct nic_staged_read *staged_read_create(void);
void staged_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Returns a piece to its owner when the message that carried the piece has completed. */
void staged_answer_done(struct nic *n, struct nic_message *m, int status);
/* Retries GETs for which the memory's owner had no space. */
void staged_poll(struct nic *n);
/* staged_reads_fail ends the staged GETs of a lost session. staged_reads_end ends the staged GETs
 * of a closing user. */
void staged_reads_fail(struct nic_peer *p);
void staged_reads_end(struct nic *n, const struct nic_user *u);
/* Returns true if the message is an answer from staged memory of this user. */
bool staged_answers(const struct nic_message *m, const struct nic_user *u);
/* staged_local.c: requests of users of this NIC. `staged_waits` of a request is set while the
 * request cannot advance. */
/* Hands over up to *bytes of a PUT's source, and sets *bytes to the number handed over. DXP_EAGAIN:
 * no space now. DXP_EACCESS, DXP_EDEVICE: the PUT has failed. */
int staged_local_put(struct nic_request *r, const struct nic_piece *to, const uint8_t *from,
		     uint32_t *bytes);
/* Starts the GET of a whole piece. Returns the statuses of staged_local_put(). */
int staged_local_get(struct nic_request *r, const struct nic_piece *from);
/* Move a staged piece of the request's own memory, named in r->local[]. They return the statuses of
 * staged_local_put(). staged_local_fetch() reads the piece into the request's bounce, at byte `at`
 * of the window. staged_local_store() writes *bytes of the window to the piece, from byte `at` of
 * the piece on. */
int staged_local_fetch(struct nic_request *r, const struct nic_piece *own, uint32_t at);
int staged_local_store(struct nic_request *r, const struct nic_piece *own, uint32_t at,
		       uint32_t *bytes);
/* Returns true while the device lacks bytes of PUTs that were posted before this request. */
bool staged_local_waits(struct nic_request *r);
/* Drops the request's incomplete PUT. */
void staged_local_drop(struct nic_request *r);
/* Copies pieces of GETs that the owner has returned. */
void staged_local_poll(struct nic_function *f);
void staged_local_end(struct nic *n, const struct nic_user *u);

/* credit.c, receiver */
/* Returns true if the sender has credit for one more message. */
bool credit_left(const struct rx_stream *s);
/* Charges one credit. Call it when a message of the stream has arrived, or its sender has given the
 * message up. */
void credit_use(struct rx_stream *s);
/* Ends the credit of a stream that becomes idle or ends. */
void credit_forget(struct rx_stream *s);
/* Grants credit for entries that the user has freed. */
void credits_poll(struct nic_user *u);
uint32_t credit_grants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		       uint32_t count);
void credit_requested(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
/* credit.c, sender */
bool credit_consume(struct nic_request *r, struct nic_peer *p, struct tx_stream *t);
/* Ends the wait of a request for credit; does nothing if the request does not wait. */
void credit_unwait(struct nic_request *r);
void credit_granted(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
uint32_t credit_wants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		      uint32_t count);

/* read.c: GET, ATOMIC and CFG, at the initiator and at the target */
uint32_t reads_max(const struct nic *n);
/* Returns the flow of requests and answers of this queue pair. */
uint8_t read_flow(uint32_t stream);
struct nic_read *read_begin(struct nic_peer *p);
void read_cancel(struct nic_peer *p, uint32_t id, int status);
void reads_fail(struct nic_peer *p, int status);
/* Drops answers to reads of this user. */
void reads_forget(struct nic_peer *p, const struct nic_user *u);
void read_answer_receive(struct nic_peer *p, const struct wire_header *h, const uint8_t *payload);
void read_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
void read_cfg_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Answers a request with a failure `status`. */
void read_answer_refuse(struct nic_peer *p, struct rx_record *record, int status);
/* Executes the atomic and answers it. */
void atomic_answer(struct nic_peer *p, uint32_t index, struct rx_record *record);

#endif
