/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakeups between threads or processes, by eventfd. */
#ifndef HOST_WAKEUP_H
#define HOST_WAKEUP_H

/* Creates an eventfd. DXP_EIO, with the error text set. */
int wakeup_create(int *out);

/* Makes the descriptor readable. Any thread may call. */
void wakeup_ring(int fd);

/* Resets the wakeup, so that the descriptor is not readable any more. */
void wakeup_clear(int fd);

#endif
