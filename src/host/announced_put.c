/* SPDX-License-Identifier: BSD-3-Clause */
/* The announced PUT (C-20). The sender requests an address by NAP, the receiver answers by NAP,
 * the sender writes by PUT, and the receiver confirms by NAP. Each NAP carries its kind and the
 * transfer's tag as immediate value; other messages stay in the ring. */
#include <sched.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/util.h"
#include "host/function.h"
#include "host/internal.h"

/* "DXPP": upper half of the contexts of this file's requests, to recognize their completions */
#define CONTEXT 0x44585050u

enum kind { REQUEST = 1, ADDRESS, DATA, DONE };

/* Bytes of a NAP; its integers are big-endian. It begins with a number of bytes (4). In a REQUEST,
 * the magic of the sender's queue pair follows (4). In an ADDRESS, the memory key (4) and the
 * offset (8) follow; if the number of bytes is 0, the receiver rejects the request. */
#define MESSAGE_BYTES 16

/* One call of send or receive: its function, its transfer and its deadline. */
struct call {
	struct dxp_function *f;
	struct dxp_announced_put *put;
	uint64_t deadline_ns;
};

static uint64_t imm_of(const struct dxp_announced_put *p, enum kind kind)
{
	return (uint64_t)(CONTEXT + kind) << 32 | p->tag;
}

/* Dequeues the completions of this transfer. DXP_OK: the ring is empty. DXP_EBUSY: the first
 * completion in the ring belongs to another request. Otherwise returns the status of a failed
 * request. */
static int completions_dequeue(struct call *c)
{
	struct dxp_window *w = c->f->window;
	struct dxp_nic_event event;

	for (;;) {
		uint32_t index = w->sent_consumer;
		const struct dxp_nic_event *first = &w->sent[index % DXP_EVENTS];
		if (dxp_load_acquire(&first->lap) != dxp_lap(index, DXP_EVENTS))
			return DXP_OK;
		if (first->context >> 32 != CONTEXT || (uint32_t)first->context != c->put->tag)
			return DXP_EBUSY;
		dxp_sent_dequeue(w, &event);
		c->put->outstanding -= c->put->outstanding > 0;
		if (event.status != DXP_OK)
			return event.status;
	}
}

/* Waits until the rings may have changed. Sleeps if `sleeps` is true, otherwise only yields the
 * CPU. Returns DXP_OK, DXP_ETIMEDOUT, or a status of dxp_error(). */
static int step_wait(struct call *c, bool sleeps)
{
	int error = dxp_error(c->f->window);
	uint64_t now_ns = clock_now_ns();

	if (error != DXP_OK)
		return error;
	if (now_ns >= c->deadline_ns)
		return DXP_ETIMEDOUT;
	if (c->f->ops->poll)
		c->f->ops->poll(c->f);
	if (!sleeps) {
		sched_yield();
		return DXP_OK;
	}
	int status = dxp_function_wait(c->f, min_u64(c->deadline_ns - now_ns, S_NS));
	return status == DXP_ETIMEDOUT ? DXP_OK : status;
}

static int completions_wait(struct call *c)
{
	int status = completions_dequeue(c);

	while (status == DXP_OK && c->put->outstanding > 0) {
		/* If the receive ring has an event, a sleep would end at once, so this only
		 * yields. */
		status = step_wait(c, !dxp_received_peek(c->f->window));
		if (status == DXP_OK)
			status = completions_dequeue(c);
	}
	return status;
}

/* Waits for a receive event, and copies the oldest one to *event. Returns DXP_EBUSY if it is no
 * message of this kind. The caller releases the event. */
static int message_wait(struct call *c, enum kind kind, struct dxp_nic_event *event)
{
	const struct dxp_nic_event *first;
	int status = completions_dequeue(c);

	while (status == DXP_OK && !(first = dxp_received_peek(c->f->window))) {
		status = step_wait(c, true);
		if (status == DXP_OK)
			status = completions_dequeue(c);
	}
	if (status != DXP_OK)
		return status;
	*event = *first;
	if (event->imm != imm_of(c->put, kind) ||
	    event->type != (kind == DATA ? DXP_EVENT_PUT : DXP_EVENT_NAP) ||
	    (kind != DATA && event->bytes != MESSAGE_BYTES))
		return DXP_EBUSY;
	return DXP_OK;
}

static int post(struct call *c, struct dxp_descriptor *head, const struct dxp_entry *entries,
		const void *data)
{
	int status = dxp_post(c->f->window, head, entries, data);

	while (status == DXP_EAGAIN) {
		status = step_wait(c, false);
		if (status == DXP_OK)
			status = dxp_post(c->f->window, head, entries, data);
	}
	if (status != DXP_OK)
		return status;
	c->put->outstanding++;
	dxp_function_kick(c->f);
	return DXP_OK;
}

static uint64_t context_of(const struct dxp_announced_put *p)
{
	return (uint64_t)CONTEXT << 32 | p->tag;
}

static int message_post(struct call *c, enum kind kind, const uint8_t message[MESSAGE_BYTES])
{
	const struct dxp_announced_put *p = c->put;
	struct dxp_descriptor head = dxp_head(DXP_OP_NAP, p->qp, &p->peer, context_of(p));

	head.flags = DXP_FLAG_INLINE;
	head.inline_bytes = MESSAGE_BYTES;
	head.imm = imm_of(p, kind);
	return post(c, &head, NULL, message);
}

static int data_post(struct call *c, const struct dxp_entry *to)
{
	const struct dxp_announced_put *p = c->put;
	struct dxp_descriptor head = dxp_head(DXP_OP_PUT, p->qp, &p->peer, context_of(p));
	const struct dxp_entry entries[2] = {p->local, *to};

	head.flags = DXP_FLAG_NOTIFY;
	head.src_count = head.dst_count = 1;
	head.imm = imm_of(p, DATA);
	return post(c, &head, entries, NULL);
}

/* ---- the sender ---- */

static int request_send(struct call *c)
{
	uint8_t message[MESSAGE_BYTES] = {0};

	put_be32(message, c->put->local.bytes);
	put_be32(message + 4, c->f->window->qp_magic[c->put->qp]);
	return message_post(c, REQUEST, message);
}

/* Waits for the receiver's address, then sends the data to this address. */
static int data_send(struct call *c)
{
	struct dxp_nic_event event;
	int status = message_wait(c, ADDRESS, &event);

	if (status != DXP_OK)
		return status;
	const struct dxp_entry to = {.offset = get_be64(event.data + 8),
				     .bytes = get_be32(event.data),
				     .key = get_be32(event.data + 4)};
	const bool accepted = to.bytes > 0 && to.bytes == c->put->local.bytes;
	if (accepted)
		status = data_post(c, &to);
	if (status != DXP_OK)
		return status;
	dxp_received_release(c->f->window);
	return accepted ? DXP_OK : DXP_ERANGE;
}

static int done_await(struct call *c)
{
	struct dxp_nic_event event;
	int status = message_wait(c, DONE, &event);

	if (status == DXP_OK)
		dxp_received_release(c->f->window);
	return status;
}

static int send_step(struct call *c)
{
	switch (c->put->step) {
	case 0: return request_send(c);
	case 1: return data_send(c);
	case 2: return done_await(c);
	default: return completions_wait(c);
	}
}

/* ---- the receiver ---- */

static int request_await(struct call *c)
{
	struct dxp_announced_put *p = c->put;
	struct dxp_nic_event event;
	int status = message_wait(c, REQUEST, &event);

	if (status != DXP_OK)
		return status;
	p->peer = (struct dxp_target){.node = event.node,
				      .function = (uint8_t)(event.peer_qp >> 8),
				      .qp = (uint8_t)event.peer_qp,
				      .magic = get_be32(event.data + 4)};
	p->bytes = get_be32(event.data);
	dxp_received_release(c->f->window);
	return DXP_OK;
}

static bool fits(const struct dxp_announced_put *p)
{
	return p->bytes > 0 && p->bytes <= p->local.bytes;
}

static int address_send(struct call *c)
{
	const struct dxp_announced_put *p = c->put;
	uint8_t message[MESSAGE_BYTES] = {0};

	put_be32(message, fits(p) ? p->bytes : 0);
	put_be32(message + 4, p->local.key);
	put_be64(message + 8, p->local.offset);
	return message_post(c, ADDRESS, message);
}

/* Waits for the data. If the request was rejected, no data follow. */
static int data_await(struct call *c)
{
	struct dxp_nic_event event;

	if (!fits(c->put)) {
		int status = completions_wait(c);
		return status == DXP_OK ? DXP_ERANGE : status;
	}
	int status = message_wait(c, DATA, &event);
	if (status == DXP_OK)
		dxp_received_release(c->f->window);
	return status;
}

static int done_send(struct call *c)
{
	static const uint8_t message[MESSAGE_BYTES];

	return message_post(c, DONE, message);
}

static int receive_step(struct call *c)
{
	switch (c->put->step) {
	case 0: return request_await(c);
	case 1: return address_send(c);
	case 2: return data_await(c);
	case 3: return done_send(c);
	default: return completions_wait(c);
	}
}

/* ---- sender and receiver ---- */

/* Sets the error text. After a final error, the next call starts from the beginning. */
static int fail(struct dxp_announced_put *p, int status)
{
	if (status != DXP_ETIMEDOUT && status != DXP_EBUSY)
		p->step = 0, p->outstanding = 0;
	switch (status) {
	case DXP_ETIMEDOUT:
		return error_set(status, "the peer did not answer within the timeout; call again "
					 "to continue to wait");
	case DXP_EBUSY:
		return error_set(status, "an event of another purpose is first in a ring; dequeue "
					 "it, then call again to continue");
	case DXP_ERANGE:
		return error_set(status, "the receiver's range is shorter than the data, or the "
					 "data is empty; offer a longer range");
	default:
		return error_set(status, "the transfer failed (%s); see `dxp vf`",
				 dxp_status_text(status));
	}
}

/* Continues with the step that the last call did not complete. */
static int run(struct dxp_function *f, struct dxp_announced_put *p, uint64_t timeout_ns,
	       uint32_t steps, int (*step)(struct call *))
{
	const uint64_t now_ns = clock_now_ns();
	struct call c = {f, p, timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns};

	if (p->qp >= DXP_QPS)
		return error_set(DXP_EINVAL, "a function has queue pairs 0 to %d, not %u",
				 DXP_QPS - 1, p->qp);
	for (; p->step < steps; p->step++) {
		int status = step(&c);
		if (status != DXP_OK)
			return fail(p, status);
	}
	p->step = 0;
	return DXP_OK;
}

int dxp_announced_put_send(struct dxp_function *f, struct dxp_announced_put *put,
			   uint64_t timeout_ns)
{
	return run(f, put, timeout_ns, 4, send_step);
}

int dxp_announced_put_receive(struct dxp_function *f, struct dxp_announced_put *put,
			      uint64_t timeout_ns)
{
	return run(f, put, timeout_ns, 5, receive_step);
}
