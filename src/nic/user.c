/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and polling through a window. The barriers are described in window.h. */
#include "nic/user.h"

#include <string.h>

#include <dxp/status.h>

int nic_user_post(struct nic_window *w, const void *descriptor, uint32_t bytes)
{
	if (bytes < sizeof(struct nic_descriptor) || bytes > NIC_DESCRIPTOR_BYTES)
		return DXP_EINVAL;
	uint32_t index = atomic_load_explicit(&w->producer, memory_order_relaxed);
	do {
		/* Pairs with the engine's release of `consumer`: the slot was copied out. */
		if (index - atomic_load_explicit(&w->consumer, memory_order_acquire) >= NIC_DOORBELLS)
			return DXP_EAGAIN;
	} while (!atomic_compare_exchange_weak_explicit(&w->producer, &index, index + 1, memory_order_relaxed,
							memory_order_relaxed));
	struct nic_doorbell *bell = &w->doorbells[index % NIC_DOORBELLS];
	memcpy(w->descriptors[index % NIC_DOORBELLS], descriptor, bytes);
	bell->bytes = bytes;
	/* Publishes descriptor and length; pairs with the engine's acquire. */
	atomic_store_explicit(&bell->lap, nic_lap(index, NIC_DOORBELLS), memory_order_release);
	return DXP_OK;
}

static struct nic_event *ring_peek(struct nic_event_ring *r)
{
	uint32_t index = atomic_load_explicit(&r->consumer, memory_order_relaxed);
	struct nic_event *slot = &r->slots[index % NIC_EVENTS];

	/* Pairs with the engine's release of the event. */
	if (atomic_load_explicit(&slot->lap, memory_order_acquire) != nic_lap(index, NIC_EVENTS))
		return NULL;
	return slot;
}

static void ring_release(struct nic_event_ring *r)
{
	/* The slot was read out; pairs with the engine's acquire before it writes there again. */
	atomic_fetch_add_explicit(&r->consumer, 1, memory_order_release);
}

bool nic_user_sent(struct nic_window *w, struct nic_event *event)
{
	const struct nic_event *slot = ring_peek(&w->sent);

	if (!slot)
		return false;
	memcpy(event, slot, sizeof(*event));
	ring_release(&w->sent);
	return true;
}

const struct nic_event *nic_user_received_peek(struct nic_window *w, const uint8_t **data)
{
	const struct nic_event *slot = ring_peek(&w->received);

	if (slot)
		*data = w->nap[slot - w->received.slots];
	return slot;
}

void nic_user_received_release(struct nic_window *w)
{
	ring_release(&w->received);
}
