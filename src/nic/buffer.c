/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages NAP buffers of a function (C-29, C-30). The user returns them through a ring in the
 * window, in any order. The engine fetches some in advance, so that an arriving NAP does not wait
 * for it. A user that returns a buffer that it does not hold stops its function. */
#include <dxp/status.h>

#include "nic/internal.h"

#define HELD_BIT(buffer) (1ull << ((buffer) % 64))

void buffers_open(struct nic_function *f)
{
	struct dxp_window *w = f->window;

	for (uint16_t i = 0; i < NIC_EVENTS; i++) {
		w->buffers[i] = i;
		f->buffer_held[i / 64] |= HELD_BIT(i);
	}
	f->buffer_count = f->buffers_fetched = 0;
	dxp_store_release(&w->buffers_returned, NIC_EVENTS);
}

/* Returns the number of buffers returned and not fetched. An impossible number counts as 0 until
 * buffers_fetch stops the function. */
static uint32_t returned(const struct nic_function *f)
{
	/* Pairs with the user's release: the entries are written. */
	uint32_t count = dxp_load_acquire(&f->window->buffers_returned) - f->buffers_fetched;

	return count > NIC_EVENTS ? 0 : count;
}

uint32_t buffers_available(const struct nic_function *f)
{
	uint32_t count = f->buffer_count + returned(f);

	return count > NIC_EVENTS ? NIC_EVENTS : count;
}

void buffers_fetch(struct nic_function *f)
{
	uint32_t count = dxp_load_acquire(&f->window->buffers_returned) - f->buffers_fetched;

	if (count > NIC_EVENTS - f->buffer_count) {
		function_stop(f, DXP_EINVAL);
		return;
	}
	for (; count > 0 && f->buffer_count < NIC_BUFFERS_AHEAD; count--) {
		/* Read once: the user may change it. */
		uint16_t buffer = *(volatile uint16_t *)&f->window
					   ->buffers[f->buffers_fetched++ % NIC_EVENTS];
		if (buffer >= NIC_EVENTS || !(f->buffer_held[buffer / 64] & HELD_BIT(buffer))) {
			function_stop(f, DXP_EINVAL);
			return;
		}
		f->buffer_held[buffer / 64] &= ~HELD_BIT(buffer);
		f->buffer_ahead[f->buffer_count++] = buffer;
	}
}

bool buffer_dequeue(struct nic_function *f, uint16_t *out)
{
	if (f->buffer_count == 0)
		buffers_fetch(f);
	if (f->buffer_count == 0) {
		function_stop(f, DXP_EINVAL);
		return false;
	}
	uint16_t buffer = f->buffer_ahead[--f->buffer_count];
	f->buffer_held[buffer / 64] |= HELD_BIT(buffer);
	*out = buffer;
	return true;
}
