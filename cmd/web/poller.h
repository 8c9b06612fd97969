/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that calls a function at an interval. If a call takes longer than the interval, the next
 * call follows at once. */
#ifndef CMD_WEB_POLLER_H
#define CMD_WEB_POLLER_H

#include <stdint.h>

struct web_poller;

/* Starts the thread. Returns DXP_ENOMEM if there is no memory or no thread. */
int web_poller_start(void (*poll)(void *context), void *context, uint64_t interval_ms,
		     struct web_poller **out);

/* Stops the thread, after a call in progress has returned. Accepts NULL. */
void web_poller_stop(struct web_poller *p);

/* Returns the time since 1970. */
uint64_t web_poller_time_ms(void);

#endif
