/* SPDX-License-Identifier: BSD-3-Clause */
/* PUTs into and GETs of staged memory between functions of one NIC. Answered pieces of a GET are
 * copied by polls of the initiator's function. When the owner has all bytes of a PUT, later PUTs of
 * its queue pair continue; other operations wait until the device has them. */
#include "nic/staged.h"

#include <string.h>

#include <dxp/status.h>

static struct nic_queue *queue_of(const struct nic_request *r)
{
	return &r->function->queues[r->head.qp];
}

static void put_leave(struct nic *n, struct staged_put *put)
{
	struct nic_request *r = put->request;

	queue_of(r)->puts--;
	if (r->put == put)
		r->put = NULL;
	staged_put_end(n, put);
}

static int put_begin(struct nic_request *r, const struct nic_piece *to)
{
	struct nic_staged_span span = {.offset = to->offset, .bytes = to->bytes};
	struct nic *n = r->function->nic;
	struct staged_put *put = staged_put_begin(n, to->region, &span);

	if (!put)
		return DXP_EAGAIN;
	put->request = r;
	put->own = to->base != NULL; /* the bytes come from a bounce (bounce.c) */
	r->put = put;
	r->pending++;
	queue_of(r)->puts++;
	return DXP_OK;
}

/* The status that a peer would get. */
static int device_status(int status)
{
	return status == DXP_OK || status == DXP_EACCESS ? status : DXP_EDEVICE;
}

static void put_over(struct nic *n, struct staged_put *put, int status)
{
	if (status == DXP_OK && !put->own)
		nic_placed_count(&n->users[put->region->user], put->bytes);
	put_leave(n, put);
}

/* The owner got the whole piece. Completes now, or when the owner settles it; the caller advances
 * the request. */
static int put_handed(struct nic_request *r)
{
	struct staged_put *put = r->put;
	int status = staged_put_settled(put);

	r->put = NULL;
	if (status == DXP_EAGAIN)
		return DXP_OK;
	put_over(r->function->nic, put, status);
	r->pending--;
	return status;
}

static int put_some(struct nic_request *r, const struct nic_piece *to, uint32_t at,
		    const uint8_t *from, uint32_t *bytes)
{
	const struct nic_staged_ops *ops = to->region->staged;
	int status = r->put ? DXP_OK : put_begin(r, to);
	if (status == DXP_OK) {
		uint32_t most = NIC_STAGED_COPY_BYTES - at % NIC_STAGED_COPY_BYTES;
		*bytes = *bytes < most ? *bytes : most;
		/* `first`: this PUT waits for no other bytes. */
		status = ops->write_place(to->region->staged_context, r->put->write, at, from,
					  *bytes, true);
	}
	if (status == DXP_EAGAIN) {
		r->staged_waits = true;
		staged_look_again(r->function->nic);
		return DXP_EAGAIN;
	}
	if (status == DXP_OK && at + *bytes == to->bytes)
		status = put_handed(r);
	return device_status(status);
}

int staged_local_put(struct nic_request *r, const struct nic_piece *to, const uint8_t *from,
		     uint32_t *bytes)
{
	return put_some(r, to, r->remote_used, from, bytes);
}

int staged_local_store(struct nic_request *r, const struct nic_piece *own, uint32_t at,
		       uint32_t *bytes)
{
	return put_some(r, own, at, own->base + at, bytes);
}

void staged_local_drop(struct nic_request *r)
{
	if (!r->put)
		return;
	put_leave(r->function->nic, r->put);
	r->pending--;
}

void staged_local_settled(struct nic *n, struct staged_put *put)
{
	struct nic_request *r = put->request;

	if (r->put == put)
		return; /* the owner has not got all bytes */
	int status = staged_put_settled(put);
	if (status == DXP_EAGAIN)
		return;
	put_over(n, put, status);
	request_finished(r, device_status(status));
}

bool staged_local_waits(struct nic_request *r)
{
	if (queue_of(r)->puts > 0)
		r->staged_waits = true;
	return r->staged_waits;
}

/* The bytes go to r->local, from byte `at` of the chain's window on. */
static int get_begin(struct nic_request *r, const struct nic_piece *from, uint32_t at)
{
	struct nic *n = r->function->nic;
	struct nic_staged_read *read = staged_read_create();

	if (!read) {
		r->staged_waits = true;
		nic_memory_short(n);
		return DXP_EAGAIN;
	}
	read->region = from->region;
	read->offset = from->offset;
	read->bytes = from->bytes;
	read->request = r;
	read->at = at;
	staged_read_enter(n, read);
	int status = staged_read_request(read);
	if (status == DXP_OK) {
		r->pending++;
		return DXP_OK;
	}
	staged_read_leave(n, read);
	if (status != DXP_EAGAIN)
		return device_status(status);
	r->staged_waits = true;
	staged_look_again(n);
	return DXP_EAGAIN;
}

int staged_local_get(struct nic_request *r, const struct nic_piece *from)
{
	return get_begin(r, from, r->cut - r->first);
}

int staged_local_fetch(struct nic_request *r, const struct nic_piece *own, uint32_t at)
{
	return get_begin(r, own, at);
}

/* `at`: in the chain's window */
static void scatter(const struct nic_request *r, uint64_t at, const uint8_t *data, uint32_t bytes)
{
	const struct nic_piece *piece = r->local;

	for (; at >= piece->bytes; piece++)
		at -= piece->bytes;
	for (; bytes > 0; piece++, at = 0) {
		uint32_t part = (uint32_t)min_u64(bytes, piece->bytes - at);
		memcpy(piece->base + at, data, part);
		data += part;
		bytes -= part;
	}
}

int staged_local_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
			uint32_t bytes, void *piece)
{
	struct nic_message *m = pool_message_get(n);

	if (!m)
		return DXP_ENOMEM;
	m->fields.addr = at;
	m->data = data;
	m->rltp.bytes = bytes;
	m->piece = piece;
	m->next_free = NULL;
	*r->answered_end = m;
	r->answered_end = &m->next_free;
	r->out++;
	n->space = true;
	return DXP_OK;
}

static void answered_leave(struct nic *n, struct nic_staged_read *r, int status)
{
	struct nic_message *m = r->answered;

	r->answered = m->next_free;
	if (!r->answered)
		r->answered_end = &r->answered;
	r->out--;
	r->region->staged->read_sent(r->region->staged_context, m->piece, status);
	pool_message_put(n, m);
}

static void read_drop(struct nic *n, struct nic_staged_read *r)
{
	while (r->answered)
		answered_leave(n, r, DXP_ECANCELED);
	staged_read_leave(n, r);
}

void staged_local_refuse(struct nic *n, struct nic_staged_read *r, int status)
{
	struct nic_request *request = r->request;

	r->state = READ_OVER;
	read_drop(n, r);
	request_finished(request, device_status(status));
}

static void answered_copy(struct nic_function *f, struct nic_staged_read *r)
{
	struct nic_message *m = r->answered;
	uint32_t left = m->rltp.bytes - m->piece_offset;
	uint32_t part = left < NIC_SLICE_BYTES ? left : NIC_SLICE_BYTES;

	scatter(r->request, r->at + m->fields.addr + m->piece_offset, m->data + m->piece_offset,
		part);
	m->piece_offset += part;
	share_spend(f, part + LOCAL_COST_BYTES);
	if (m->piece_offset < m->rltp.bytes)
		return;
	answered_leave(f->nic, r, DXP_OK);
	if (r->state != READ_OVER || r->out > 0)
		return;
	struct nic_request *request = r->request;
	staged_read_leave(f->nic, r);
	request_finished(request, DXP_OK);
}

static struct nic_staged_read *answered_next(const struct nic_function *f)
{
	struct nic_staged_read *r = f->nic->staged_reads;

	while (r && !(r->request && r->request->function == f && r->answered))
		r = r->next;
	return r;
}

void staged_local_poll(struct nic_function *f)
{
	struct nic_staged_read *r;

	while ((r = answered_next(f)) != NULL) {
		if (share_left(f)) {
			answered_copy(f, r);
			continue;
		}
		if (limit_allows(f, f->nic->now_ns))
			f->nic->space = true;
		else
			f->nic->look_ns = min_u64(f->nic->look_ns, limit_deadline(f));
		return;
	}
}

/* Returns a PUT of `u`, or into its memory. */
static struct staged_put *put_next(const struct nic *n, const struct nic_user *u)
{
	struct staged_put *put = n->puts;

	while (put && !(put->request && (put->request->user == u || put->region->user == u->index)))
		put = put->next;
	return put;
}

static struct nic_staged_read *read_next(const struct nic *n, const struct nic_user *u)
{
	struct nic_staged_read *r = n->staged_reads;

	while (r && !(r->request && (r->request->user == u || r->region->user == u->index)))
		r = r->next;
	return r;
}

/* Ends what a closing user started, and what accesses its memory. Its requests are dropped by the
 * caller; those of others fail. */
void staged_local_end(struct nic *n, const struct nic_user *u)
{
	struct staged_put *put;
	struct nic_staged_read *read;

	while ((put = put_next(n, u)) != NULL) {
		struct nic_request *r = put->request;
		put_leave(n, put);
		if (r->user == u)
			r->pending--;
		else
			request_finished(r, DXP_EACCESS);
	}
	while ((read = read_next(n, u)) != NULL) {
		struct nic_request *r = read->request;
		staged_read_cancel(read);
		read_drop(n, read);
		if (r->user == u)
			r->pending--;
		else
			request_finished(r, DXP_EACCESS);
	}
}
