/* SPDX-License-Identifier: BSD-3-Clause */
/* The two event rings of a window, engine's side. The consumer index is the user's word and is
 * believed only as far as it makes sense: a nonsensical one reads as a full ring. */
#include <string.h>

#include "nic/internal.h"

static uint32_t unread(struct nic_event_ring *ring, uint32_t written)
{
	/* Pairs with the user's release: the slots before it were read out. */
	uint32_t count = written - atomic_load_explicit(&ring->consumer, memory_order_acquire);

	return count > NIC_EVENTS ? NIC_EVENTS : count;
}

static void slot_write(struct nic_event_ring *ring, uint32_t index, const struct nic_event *event)
{
	struct nic_event *slot = &ring->slots[index % NIC_EVENTS];

	memcpy(slot, event, offsetof(struct nic_event, lap));
	/* Publishes the event; pairs with the user's acquire. */
	atomic_store_explicit(&slot->lap, nic_lap(index, NIC_EVENTS), memory_order_release);
}

uint32_t sent_unread(const struct nic_function *f)
{
	return unread(&f->window->sent, f->sent_index);
}

void sent_write(struct nic_function *f, const struct nic_event *event)
{
	slot_write(&f->window->sent, f->sent_index++, event);
}

uint32_t received_slots(const struct nic_function *f)
{
	return f->nic->options.receive_slots;
}

uint32_t received_unread(struct nic_function *f)
{
	uint32_t count = unread(&f->window->received, f->received_index);

	f->received_consumed = f->received_index - count;
	return count;
}

uint32_t received_used(struct nic_function *f)
{
	return received_unread(f) + f->received_reserved;
}

/* C-28: a slot is kept before anything is accepted that will need it. Those that must wait for
 * others of their stream get at most half of the ring: if they held it all, none of those that they
 * wait for could be accepted. The user's index is looked at only when what was seen of it last does
 * not suffice. */
bool received_room(struct nic_function *f, bool next)
{
	uint32_t slots = received_slots(f);

	if (!next && f->received_reserved >= slots / 2)
		return false;
	return f->received_index - f->received_consumed + f->received_reserved < slots ||
	       received_used(f) < slots;
}

void received_reserve(struct nic_function *f)
{
	f->received_reserved++;
}

void received_unreserve(struct nic_function *f)
{
	f->received_reserved--;
}

void received_write(struct nic_function *f, const struct nic_event *event, const uint8_t *payload)
{
	if (event->type == NIC_EVENT_NAP && event->bytes > 0)
		memcpy(f->window->nap[f->received_index % NIC_EVENTS], payload, event->bytes);
	slot_write(&f->window->received, f->received_index++, event);
}
