/* SPDX-License-Identifier: BSD-3-Clause */
/* An eventfd by which threads and processes wake each other. */
#ifndef HOST_BELL_H
#define HOST_BELL_H

/* DXP_EIO, with the sentence set. */
int bell_create(int *out);

/* Makes it readable; any thread. */
void bell_ring(int fd);

/* Makes it unreadable. */
void bell_clear(int fd);

#endif
