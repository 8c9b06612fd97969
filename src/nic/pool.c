/* SPDX-License-Identifier: BSD-3-Clause */
/* Reused memory: requests and messages, kept until nic_destroy, and up to NIC_BUFFERS_KEPT buffers
 * for NAPs out of order. */
#include <stdlib.h>
#include <string.h>

#include "nic/internal.h"

struct nic_buffer {
	struct nic_buffer *next;
};

struct nic_message *pool_message_get(struct nic *n)
{
	struct nic_message *m = n->free_messages;

	if (!m)
		return calloc(1, sizeof(*m));
	n->free_messages = m->next_free;
	/* Field by field, because a memset of this length compiles to a slower string instruction.
	 * RLTP sets the other fields, or fields here define their validity. */
	m->rltp.flags = 0;
	m->rltp.bytes = 0;
	m->request = NULL;
	m->fields = (struct nic_fields){0};
	m->pieces = NULL;
	m->piece_offset = 0;
	m->read_id = 0;
	m->unsent = 0;
	m->data = NULL;
	m->region = NULL;
	m->stream = NULL;
	m->read = NULL;
	m->handed = false;
	return m;
}

void pool_message_put(struct nic *n, struct nic_message *m)
{
	if (m->body)
		free(m->body);
	m->body = NULL;
	m->next_free = n->free_messages;
	n->free_messages = m;
}

struct nic_request *pool_request_get(struct nic *n)
{
	struct nic_request *r = n->free_requests;

	if (r)
		n->free_requests = r->next;
	else
		r = malloc(sizeof(*r));
	if (!r)
		return NULL;
	/* See pool_message_get(). The caller copies `head`. */
	r->total = r->cut = r->pending = 0;
	r->cut_done = r->registers = false;
	r->status = 0;
	r->old = 0;
	r->local_count = r->remote_count = 0;
	r->local_index = r->local_used = r->remote_index = r->remote_used = 0;
	r->chain = NULL;
	r->bounce = NULL;
	r->first = r->last = 0;
	r->waits = NULL;
	r->admitted = false;
	r->space_of = NULL;
	r->put = NULL;
	r->staged_waits = false;
	r->local = r->remote = r->pieces;
	return r;
}

void pool_request_put(struct nic *n, struct nic_request *r)
{
	r->next = n->free_requests;
	n->free_requests = r;
}

uint8_t *pool_buffer_get(struct nic *n, uint32_t bytes)
{
	struct nic_buffer *b = n->free_buffers;

	if (b) {
		n->free_buffers = b->next;
		n->free_buffer_count--;
	} else {
		b = malloc(NIC_NAP_BYTES_MAX);
	}
	/* Bytes that the sender omits must not reveal earlier contents. */
	if (b)
		memset(b, 0, bytes);
	return (uint8_t *)b;
}

void pool_buffer_put(struct nic *n, uint8_t *buffer)
{
	struct nic_buffer *b = (void *)buffer;

	if (n->free_buffer_count == NIC_BUFFERS_KEPT || !b) {
		free(b);
		return;
	}
	b->next = n->free_buffers;
	n->free_buffers = b;
	n->free_buffer_count++;
}

void pools_free(struct nic *n)
{
	for (struct nic_request *r = n->free_requests, *next; r; r = next) {
		next = r->next;
		free(r);
	}
	for (struct nic_message *m = n->free_messages, *next; m; m = next) {
		next = m->next_free;
		free(m);
	}
	for (struct nic_buffer *b = n->free_buffers, *next; b; b = next) {
		next = b->next;
		free(b);
	}
}
