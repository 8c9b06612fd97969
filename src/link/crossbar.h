/* SPDX-License-Identifier: BSD-3-Clause */
/* Software switch between endpoints of one thread: it copies datagrams into the destination
 * port's queue, in order, without the kernel. Other addresses leave by the socket. A full queue
 * drops, as a full socket buffer would.
 *
 * A queue wakes no thread, so the thread must not sleep while link_pending() is true for any
 * port. */
#ifndef LINK_CROSSBAR_H
#define LINK_CROSSBAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

struct crossbar;
struct crossbar_port;
struct link;

/* DXP_ENOMEM. */
int crossbar_create(struct crossbar **out);

/* Accepts NULL. All ports must be removed before. */
void crossbar_destroy(struct crossbar *c);

/* Adds `l` with a queue of `bytes`. DXP_EBUSY: all ports are in use; DXP_ENOMEM. */
int crossbar_port_add(struct crossbar *c, const struct link *l, size_t bytes,
		      struct crossbar_port **out);
void crossbar_port_remove(struct crossbar_port *p);

struct crossbar_port *crossbar_find(struct crossbar *c, const struct udp_address *to);

/* False: the queue is full, and a drop is counted. */
bool crossbar_port_put(struct crossbar_port *p, const struct udp_address *from,
		       const struct datagram *d, uint64_t now_ns);

/* Returns up to `count` datagrams, valid until the next call. */
size_t crossbar_port_dequeue(struct crossbar_port *p, struct datagram_arrival *arrivals,
			     size_t count);

bool crossbar_port_pending(const struct crossbar_port *p);

/* *bytes: size of the queue. */
size_t crossbar_port_waiting(const struct crossbar_port *p, size_t *bytes);

uint64_t crossbar_port_drops(const struct crossbar_port *p);

#endif
