/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakes sleepers without lost events. The sleeper announces its sleep, executes a full fence,
 * checks for work, then sleeps. The other side publishes work, executes a full fence, then checks
 * for a sleeper. The side with the later fence sees the other side's store: the sleeper finds the
 * work, or is woken.
 *
 *   engine sleeps   nic_sleep_announce: need_wakeup, fence, doorbells
 *                   dxp_function_kick, node_wake: doorbell, fence, need_wakeup
 *   user sleeps     dxp_function_wait: user_waits, fence, events
 *                   nic_wakes: events, fence, user_waits
 *
 * A fence per event would cost the engine a tenth of its speed. So a busy engine checks without a
 * fence, and remembers the users with events. Its first poll without new events executes the fence,
 * and checks these users again. */
#include "nic/internal.h"

/* Returns users of the mask that sleep and were not woken yet. `all`: marks them as woken. */
static uint32_t sleepers(struct nic *n, uint32_t users, bool all)
{
	uint32_t found = 0;

	for (users &= n->open; users; users &= users - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(users);
		struct nic_user *u = &n->users[i];
		uint32_t waits = dxp_load_acquire(&u->window->user_waits);
		if (waits == 0 || waits == u->waits_answered)
			continue;
		found |= 1u << i;
		if (all)
			u->waits_answered = waits;
	}
	return found;
}

uint32_t nic_wakes(struct nic *n)
{
	uint32_t requested = n->events_new | n->events_earlier;

	if (requested == 0)
		return 0;
	if (n->events_new == 0)
		dxp_fence();
	n->events_earlier = n->events_new ? requested : 0;
	n->events_new = 0;
	return sleepers(n, requested, true);
}

bool nic_sleep_announce(struct nic *n)
{
	for (uint32_t open = n->open; open; open &= open - 1)
		dxp_store_release(&n->users[__builtin_ctz(open)].window->need_wakeup, 1);
	dxp_fence();
	return !doorbells_overrun(n) && !nic_doorbell_ready(n) &&
	       sleepers(n, n->events_new | n->events_earlier, false) == 0;
}

void nic_sleep_end(struct nic *n)
{
	for (uint32_t open = n->open; open; open &= open - 1)
		dxp_store_release(&n->users[__builtin_ctz(open)].window->need_wakeup, 0);
}
