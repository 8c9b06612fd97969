/* SPDX-License-Identifier: BSD-3-Clause */
/* The two event rings of a window. The user writes only the consumer indices, and the engine reads
 * only these. An index that moves back, or beyond the written events, stops the user. */
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"

#define EVENTS_AHEAD 2 /* events by which the prefetch leads */

static uint32_t unread(struct nic_user *u, const uint32_t *consumer, uint32_t written,
		       uint32_t *consumed)
{
	/* Pairs with the user's release: all events before this index are read. */
	uint32_t count = written - dxp_load_acquire(consumer);

	if (count > written - *consumed) {
		user_stop(u, DXP_EINVAL);
		return NIC_EVENTS;
	}
	*consumed = written - count;
	return count;
}

static void entry_write(struct dxp_nic_event *ring, uint32_t index,
			const struct dxp_nic_event *event)
{
	struct dxp_nic_event *entry = &ring[index % NIC_EVENTS];

	memcpy(entry, event, offsetof(struct dxp_nic_event, lap));
	/* Pairs with the user's acquire. */
	dxp_store_release(&entry->lap, dxp_lap(index, NIC_EVENTS));
}

uint32_t event_sent_unread(struct nic_user *u)
{
	return unread(u, &u->window->sent_consumer, u->sent_index, &u->sent_consumed);
}

void event_sent_write(struct nic_user *u, const struct dxp_nic_event *event)
{
	entry_write(u->window->sent, u->sent_index++, event);
	u->nic->events_new |= 1u << u->index;
}

void events_ahead(const struct nic_user *u, const struct nic_user *t)
{
	window_ahead(&u->window->sent[(u->sent_index + EVENTS_AHEAD) % NIC_EVENTS]);
	window_ahead(&t->window->received[(t->received_index + EVENTS_AHEAD) % NIC_EVENTS]);
}

uint32_t event_received_entries(const struct nic_user *u)
{
	return u->nic->options.receive_entries;
}

/* A user may keep a NAP's buffer after reading its event, so the larger count applies. */
uint32_t event_received_unread(struct nic_user *u)
{
	uint32_t count =
		unread(u, &u->window->received_consumer, u->received_index, &u->received_consumed);
	uint32_t away = NIC_EVENTS - buffers_available(u);

	return count > away ? count : away;
}

uint32_t event_received_used(struct nic_user *u)
{
	return event_received_unread(u) + u->received_reserved;
}

/* Reads the user's indices only if the cached values show too little space. */
bool event_received_space_beside(struct nic_user *u, uint32_t kept)
{
	uint32_t entries = event_received_entries(u);

	if (u->received_index - u->received_consumed + u->received_reserved + kept < entries &&
	    u->buffer_count > u->received_reserved)
		return true;
	buffers_fetch(u);
	return event_received_used(u) + kept < entries && !u->stopped;
}

/* A message reserves an entry before it is accepted (C-28). Those that wait for earlier ones of
 * their stream get at most half of the ring, so that they cannot block these. */
bool event_received_space(struct nic_user *u, bool next)
{
	if (!next && u->received_reserved >= event_received_entries(u) / 2)
		return false;
	return event_received_space_beside(u, 0);
}

void event_received_reserve(struct nic_user *u)
{
	u->received_reserved++;
}

void event_received_unreserve(struct nic_user *u)
{
	u->received_reserved--;
}

uint8_t *event_received_buffer(struct nic_user *u, struct dxp_nic_event *event)
{
	event->buffer = DXP_NO_BUFFER;
	if (u->stopped)
		return NULL;
	if (event->type != DXP_EVENT_NAP || event->bytes <= DXP_EVENT_BYTES)
		return event->data;
	return buffer_dequeue(u, &event->buffer) ? u->window->nap[event->buffer] : NULL;
}

void event_received_publish(struct nic_user *u, const struct dxp_nic_event *event)
{
	entry_write(u->window->received, u->received_index++, event);
	u->nic->events_new |= 1u << u->index;
}

void event_received_write(struct nic_user *u, struct dxp_nic_event *event, const uint8_t *payload)
{
	uint8_t *to = event_received_buffer(u, event);

	if (!to)
		return;
	if (event->type == DXP_EVENT_NAP && event->bytes > 0)
		memcpy(to, payload, event->bytes);
	event_received_publish(u, event);
}
