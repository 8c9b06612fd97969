/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakeups between threads and processes, by eventfd. */
#ifndef HOST_BELL_H
#define HOST_BELL_H

/* Creates an eventfd. DXP_EIO, with the error text set. */
int bell_create(int *out);

/* Makes it readable. Any thread. */
void bell_ring(int fd);

/* Makes it unreadable. */
void bell_clear(int fd);

#endif
