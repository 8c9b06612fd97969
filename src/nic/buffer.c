/* SPDX-License-Identifier: BSD-3-Clause */
/* NAP buffers of a user (C-29, C-30), which returns them through a ring in any order. Entries are
 * read ahead, so an arriving NAP finds a buffer. A user that returns a buffer it does not hold is
 * stopped. */
#include <dxp/status.h>

#include "nic/internal.h"

#define HELD_BIT(buffer) (1ull << ((buffer) % 64))

void buffers_open(struct nic_user *u)
{
	struct dxp_window *w = u->window;

	for (uint16_t i = 0; i < NIC_EVENTS; i++) {
		w->buffers[i] = i;
		u->buffer_held[i / 64] |= HELD_BIT(i);
	}
	u->buffer_count = u->buffers_fetched = 0;
	dxp_store_release(&w->buffers_returned, NIC_EVENTS);
}

/* An impossible number counts as 0; buffers_fetch() then stops the user. */
static uint32_t returned(const struct nic_user *u)
{
	/* Pairs with the user's release of ring entries. */
	uint32_t count = dxp_load_acquire(&u->window->buffers_returned) - u->buffers_fetched;

	return count > NIC_EVENTS ? 0 : count;
}

uint32_t buffers_available(const struct nic_user *u)
{
	uint32_t count = u->buffer_count + returned(u);

	return count > NIC_EVENTS ? NIC_EVENTS : count;
}

void buffers_fetch(struct nic_user *u)
{
	uint32_t count = dxp_load_acquire(&u->window->buffers_returned) - u->buffers_fetched;

	if (count > NIC_EVENTS - u->buffer_count) {
		user_stop(u, DXP_EINVAL);
		return;
	}
	for (; count > 0 && u->buffer_count < NIC_BUFFERS_AHEAD; count--) {
		/* Read once: the user may change the entry after the check. */
		uint16_t buffer = *(volatile uint16_t *)&u->window
					   ->buffers[u->buffers_fetched++ % NIC_EVENTS];
		if (buffer >= NIC_EVENTS || !(u->buffer_held[buffer / 64] & HELD_BIT(buffer))) {
			user_stop(u, DXP_EINVAL);
			return;
		}
		u->buffer_held[buffer / 64] &= ~HELD_BIT(buffer);
		u->buffer_ahead[u->buffer_count++] = buffer;
	}
}

bool buffer_dequeue(struct nic_user *u, uint16_t *out)
{
	if (u->buffer_count == 0)
		buffers_fetch(u);
	if (u->buffer_count == 0) {
		user_stop(u, DXP_EINVAL);
		return false;
	}
	uint16_t buffer = u->buffer_ahead[--u->buffer_count];
	u->buffer_held[buffer / 64] |= HELD_BIT(buffer);
	*out = buffer;
	return true;
}
