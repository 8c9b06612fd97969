/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder ask of each other; what they share is in state.h. */
#ifndef NIC_INTERNAL_H
#define NIC_INTERNAL_H

#include "nic/state.h"

/* key.c: the next key at this index. */
uint32_t key_next(const struct nic *n, uint32_t index, uint32_t *generation);

/* region.c */
/* The region of a key of this function, or NULL. */
struct nic_region *region_find(const struct nic *n, uint32_t function, uint32_t key);

uint8_t region_ask(struct nic_region *r, uint64_t offset, uint64_t bytes); /* its guard */
/* May these bytes of it, which are in it, be reached now? 0, or an enum wire_nack code. A stream
 * asks once: what it goes on with lies around its beginning. */
static inline uint8_t region_reach(struct nic_region *r, uint64_t offset, uint64_t bytes)
{
	const struct nic_reach *reach = &r->reach;

	if (!r->guarded ||
	    (!r->revoked && r->reach_epoch == *r->guard.epoch && offset >= reach->first &&
	     offset < reach->end && bytes <= reach->end - offset))
		return 0;
	return region_ask(r, offset, bytes);
}
/* Bytes that an own descriptor names: they stay until the drop. DXP_EACCESS. */
int region_hold(struct nic_region *r, uint64_t offset, uint64_t bytes);
void region_drop(struct nic_region *r, uint64_t offset);

/* All of one function. */
void regions_revoke(struct nic *n, uint32_t function);
bool regions_busy(const struct nic *n, uint32_t function);

/* nic.c */
struct nic_peer *peer_of(struct rltp_session *s);
struct nic_peer *peer_find(struct nic *n, uint16_t node); /* NULL: no such peer */
uint32_t stream_index(uint8_t function,
		      uint16_t qp); /* NIC_STREAMS when there is no such queue pair */
struct nic_function *stream_function(struct nic *n, uint32_t index);
void memory_short(struct nic *n); /* what could not go on is tried again before long */

/* function.c */
static inline bool function_serves(const struct nic_function *f)
{
	return f->window && !f->stopped;
}
/* Its user broke the rules: the function serves nobody any more, and reads why. What it has under
 * way is ended by functions_settle, not here: this is called from the midst of it. */
void function_stop(struct nic_function *f, int status);
void functions_settle(struct nic *n);

/* pool.c: what is used again and again */
struct nic_message *message_get(struct nic *n);         /* fresh; NULL when out of memory */
void message_put(struct nic *n, struct nic_message *m); /* frees its body too */
struct nic_request *request_get(struct nic *n); /* fresh but for `function`, `head`, `immediate` */
void request_put(struct nic *n, struct nic_request *r);
uint8_t *buffer_get(struct nic *n, uint32_t bytes); /* a NAP's, this much of it zeroed */
void buffer_put(struct nic *n, uint8_t *buffer);    /* or NULL */
void pools_free(struct nic *n);

/* event.c: completion and receive events */
uint32_t received_slots(const struct nic_function *f); /* there are */
uint32_t received_used(struct nic_function *f);        /* unread or reserved */
uint32_t received_unread(struct nic_function *f);
bool received_room(struct nic_function *f,
		   bool next); /* next: for the message whose turn it is in its stream */
bool received_room_beside(struct nic_function *f, uint32_t kept); /* one, and `kept` others */
void received_reserve(struct nic_function *f);
void received_unreserve(struct nic_function *f);
void received_write(struct nic_function *f, struct dxp_nic_event *event, const uint8_t *payload);
/* The same in two steps: where the payload goes, which may be in *event; NULL: the function was
 * stopped. */
uint8_t *received_place(struct nic_function *f, struct dxp_nic_event *event);
void received_publish(struct nic_function *f, const struct dxp_nic_event *event);
/* Of descriptors in a row from f to t: the lines of events to come are on their way meanwhile. */
void events_ahead(const struct nic_function *f, const struct nic_function *t);
void sent_write(struct nic_function *f, const struct dxp_nic_event *event);
uint32_t sent_unread(struct nic_function *f);

/* buffer.c: NAP buffers */
void buffers_open(struct nic_function *f);
void buffers_fetch(struct nic_function *f);
uint32_t buffers_available(const struct nic_function *f); /* with the engine, or given back to it */
bool buffer_take(struct nic_function *f, uint16_t *out);  /* false: the function was stopped */

/* doorbell.c */
uint32_t doorbells_take(struct nic_function *f);
/* Before a copy of some length: lines that the function's next descriptors need come meanwhile. */
void doorbells_ahead(const struct nic_function *f);

/* access.c: may who asks do that? Enum wire_nack codes, 0: yes. The same for packets and for
 * functions of this NIC. */
struct nic_function *access_function(struct nic *n, uint32_t function, uint32_t qp, uint32_t magic);
uint8_t access_region(struct nic_function *f, uint32_t key, uint32_t right, uint64_t offset,
		      uint64_t bytes, struct nic_region **out);
/* As registers_reserve. */
uint8_t access_registers(struct nic_function *f, uint32_t bytes, struct nic_place *out);
void access_refused(struct nic *n, struct nic_function *f, uint8_t code); /* counts; f or NULL */

/* count.c */
void counters_publish(struct nic_function *f);
void placed_count(struct nic_function *f, uint32_t bytes); /* for the function, by a PUT */

/* turn.c: who is next; and what is copied inside this NIC, fairly in bytes */
void order_next(struct nic_order *o, uint32_t count);
void turn_begin(struct nic *n);
void turn_weights(struct nic *n); /* a function was opened or closed, or has another weight */
bool share_left(struct nic_function *f);
void share_spend(struct nic_function *f, uint32_t bytes);
/* What an operation costs besides its bytes: else those of short messages were free. */
#define LOCAL_COST_BYTES ((uint32_t)sizeof(struct dxp_descriptor))
void function_turn(struct nic_function *f);

/* room.c: receive slots for functions of this NIC */
bool room_now(struct nic_function *t); /* one is free, and nobody waits for it */
/* One for this request; false: it waits for one from now on. */
bool room_take(struct nic_request *r, struct nic_function *t);
void room_unwait(struct nic_request *r); /* it does not wait, or no more */

/* local.c: operations between functions of this NIC */
bool local_node(const struct nic *n, uint16_t node);
/* A NAP that can be delivered at once, straight from its slot; false: nothing has happened. */
bool local_nap(struct nic_function *f, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Likewise a PUT of one piece into one. */
bool local_put(struct nic_function *f, const struct dxp_descriptor *d, const struct dxp_slot *slot);
/* Works on a request while *left, which what it copies is taken from, is positive. When `cut_done`
 * says so it has ended; else it wants more, or waits. */
void local_advance(struct nic_request *r, int64_t *left);
void local_release(struct nic_request *r);                      /* the target's memory */
void local_forget(struct nic *n, const struct nic_function *t); /* it is going, and its memory */

/* area.c: bytes [vaddr, vaddr + bytes) of the function's device are those of its region `key` from
 * `offset` on. All must lie in one area, else DXP_ENOENT. The function has a table. */
int area_find(const struct nic_function *f, uint64_t vaddr, uint64_t bytes, uint32_t *key,
	      uint64_t *offset);

/* registers.c; but for registers_sent, of a function that is open */
void registers_turn(struct nic_function *f); /* these two: it has a table */
bool registers_ready(const struct nic_function *f);
void registers_sent(struct nic_function *f, int status); /* the request of the send ended */
/* Room for a PUT with key 0, kept for good. DXP_EACCESS: the function has no register mode;
 * DXP_EBUSY: no area, or none left of it; DXP_ERANGE: more than the whole area. */
int registers_reserve(struct nic_function *f, uint32_t bytes, struct nic_place *out);
/* Where the message's first byte goes; NULL: its device has taken that area back, or its memory is
 * gone. Asked anew for each piece. */
uint8_t *registers_place(struct nic_function *f, const struct nic_place *place);

/* request.c */
void request_queue(struct nic_request *r);
void request_finished(struct nic_request *r, int status); /* one message or read of it ended */
void request_give_up(struct nic_request *r, int status);  /* what was not done yet is not done */
void queues_advance(struct nic_function *f);
void queue_advance(struct nic_function *f, struct nic_queue *q, int64_t *left);
void requests_fail(struct nic *n, uint16_t node, int status); /* what was not sent yet */
void requests_drop(struct nic_function *f); /* all, and without a word; no message is of them */

/* send.c: RLTP's questions about our messages */
void message_fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		  struct rltp_packet *out);
void message_done(void *user, struct rltp_session *s, struct rltp_message *m, int status);
void message_post(struct nic_message *m);
void message_unsent(struct nic_message *m, uint32_t bytes); /* so many of it still are */
/* Takes it back: nobody is told of its end, and no memory of its is looked at again. */
void message_withdraw(struct nic_message *m, int status);
/* Why the peer gave up an answer, from the key of its RESYNC. */
int answer_status(uint32_t key);

/* receive.c, stream.c: what arrives */
struct rltp_verdict packet_deliver(void *user, struct rltp_session *s, const struct wire_header *h,
				   const uint8_t *payload);
bool packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h);
struct rx_stream *rx_stream_get(struct nic_peer *p, uint32_t index); /* NULL: out of memory */
struct tx_stream *tx_stream_get(struct nic_peer *p, uint32_t index); /* as well */
bool stream_known(const struct nic_peer *p, uint32_t index, bool receives);
struct nic_work *work_get(struct nic_peer *p); /* NULL: out of memory */
void rx_stream_run(struct rx_stream *stream);
/* A record is in use from here on, and its session may not rest. */
void record_enter(struct rx_stream *stream, struct rx_record *r, enum record_state state);
/* Gives back what a record holds; after it was executed, or in its place. */
void record_clear(struct rx_stream *stream, struct rx_record *r, bool executed);
/* The message is over and has no effect. Counted: it uses a credit, and none was used yet. */
void record_abort(struct rx_stream *stream, struct rx_record *r, bool counted);
/* Message `id` ended; `arrived` is the request that ends when it is its turn too, or NULL. */
void tx_stream_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived);
void peer_streams_fail(struct nic_peer *p,
		       int status); /* frees them; what was not delivered ends with `status` */
void peer_rest(struct nic_peer *p); /* keeps the marks alone */

/* The last packet of a message has come and been placed. */
void record_whole(struct rx_stream *stream, struct rx_record *r);

/* staged.c, staged_read.c, staged_local.c: memory that this process cannot address (staged.h) */
/* Payload for byte `at` of a message to a staged region. */
struct rltp_verdict staged_place(struct rx_stream *stream, struct rx_record *r,
				 const struct wire_header *h, uint64_t at, const uint8_t *payload,
				 struct nic_region *region);
/* Is it this packet that the message is held with? Then it is answered so again. */
bool staged_holds(const struct rx_record *r, uint32_t psn);
struct rltp_verdict staged_held_again(struct rx_record *r);
void staged_record_clear(struct nic *n, struct rx_record *r); /* what it has of that */
/* Room for a GET, taken when it is accepted, or NULL; it is in the record until it is executed. */
struct nic_staged_read *staged_read_create(void);
void staged_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* A message of a read has ended. */
void staged_answer_done(struct nic *n, struct nic_message *m, int status);
void staged_turn(struct nic *n); /* reads that found no room */
/* The session of this peer has ended; this function ends. */
void staged_reads_fail(struct nic_peer *p);
void staged_reads_end(struct nic *n, const struct nic_function *f);
/* Is it an answer out of staged memory of this function? */
bool staged_answers(const struct nic_message *m, const struct nic_function *f);
/* Of functions of this NIC; staged_waits of the request says that nothing can be done for it now.
 */
/* Hands over up to *bytes, and says how many, of a request's source: DXP_EAGAIN, or DXP_EDEVICE. */
int staged_local_put(struct nic_request *r, const struct nic_piece *to, const uint8_t *from,
		     uint32_t *bytes);
/* All of a piece, as it comes; likewise. */
int staged_local_get(struct nic_request *r, const struct nic_piece *from);
bool staged_local_waits(struct nic_request *r); /* until the PUTs before it are in the device */
void staged_local_drop(struct nic_request *r);  /* it hands over no more */
void staged_local_turn(struct nic_function *f); /* copies what has come */
void staged_local_end(struct nic *n, const struct nic_function *f);

/* credit.c, receiver: */
bool credit_left(const struct rx_stream *s); /* may one more come? */
void credit_use(struct rx_stream *s);        /* one has come, or was given up */
void credit_forget(struct rx_stream *s);     /* the stream rests or ends */
void credits_turn(struct nic_function *f);   /* the user may have freed slots */
uint32_t credit_grants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		       uint32_t count);
void credit_asked(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
/* and sender: */
bool credit_take(struct nic_request *r, struct nic_peer *p, struct tx_stream *t);
void credit_unwait(struct nic_request *r); /* it does not wait, or no more */
void credit_granted(void *user, struct rltp_session *s, const struct wire_credit_entry *e);
uint32_t credit_wants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		      uint32_t count);

/* read.c: GET, ATOMIC and CFG, both sides */
uint32_t reads_max(const struct nic *n);
uint8_t read_flow(uint32_t stream); /* for requests of this queue pair, and answers of it */
struct nic_read *read_begin(struct nic_peer *p);
void read_cancel(struct nic_peer *p, uint32_t id, int status);
void reads_fail(struct nic_peer *p, int status);
void reads_forget(struct nic_peer *p, const struct nic_function *f); /* their answers go nowhere */
void answer_receive(struct nic_peer *p, const struct wire_header *h, const uint8_t *payload);
void get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
void cfg_execute(struct nic_peer *p, uint32_t index, struct rx_record *record);
/* Whoever asked is told. */
void answer_refuse(struct nic_peer *p, struct rx_record *record, int status);
/* Executes it, too. */
void atomic_answer(struct nic_peer *p, uint32_t index, struct rx_record *record);

#endif
