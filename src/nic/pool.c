/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine uses again and again: requests, messages, and buffers for NAPs that came out of
 * order. Freed at the end, not in between; the buffers beyond a few at once. */
#include <stdlib.h>
#include <string.h>

#include "nic/internal.h"

struct nic_buffer {
	struct nic_buffer *next;
};

struct nic_message *message_get(struct nic *n)
{
	struct nic_message *m = n->free_messages;

	if (!m)
		return calloc(1, sizeof(*m));
	n->free_messages = m->next_free;
	memset(m, 0, sizeof(*m));
	return m;
}

void message_put(struct nic *n, struct nic_message *m)
{
	if (m->body)
		free(m->body);
	m->body = NULL;
	m->next_free = n->free_messages;
	n->free_messages = m;
}

struct nic_request *request_get(struct nic *n)
{
	struct nic_request *r = n->free_requests;

	if (r)
		n->free_requests = r->next;
	else
		r = malloc(sizeof(*r));
	if (r)
		memset(r, 0, offsetof(struct nic_request, immediate));
	return r;
}

void request_put(struct nic *n, struct nic_request *r)
{
	r->next = n->free_requests;
	n->free_requests = r;
}

uint8_t *buffer_get(struct nic *n, uint32_t bytes)
{
	struct nic_buffer *b = n->free_buffers;

	if (b) {
		n->free_buffers = b->next;
		n->free_buffer_count--;
	} else {
		b = malloc(NIC_NAP_BYTES_MAX);
	}
	/* What the sender leaves out must not be what lay here. */
	if (b)
		memset(b, 0, bytes);
	return (uint8_t *)b;
}

void buffer_put(struct nic *n, uint8_t *buffer)
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
