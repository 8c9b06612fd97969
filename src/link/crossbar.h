/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch between endpoints of one thread: a datagram to the address of another port is
 * copied into that port's queue, without the kernel. Datagrams to other addresses leave by the
 * socket. Order is kept between two ports. A full queue drops, as a socket does.
 *
 * All ports belong to the same thread. A queue does not wake a sleeper, so no port may sleep while
 * link_pending() is true for another one. */
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

/* All ports must be removed. Accepts NULL. */
void crossbar_destroy(struct crossbar *c);

/* Adds `l` as a port with a queue of `bytes` bytes. DXP_EBUSY: all ports are in use; DXP_ENOMEM. */
int crossbar_port_add(struct crossbar *c, const struct link *l, size_t bytes,
		      struct crossbar_port **out);
void crossbar_port_remove(struct crossbar_port *p);

/* Returns the port with this address, or NULL. */
struct crossbar_port *crossbar_find(struct crossbar *c, const struct udp_address *to);

/* Copies a datagram into the queue. Returns false and counts a drop if it is full. */
bool crossbar_port_put(struct crossbar_port *p, const struct udp_address *from,
		       const struct datagram *d, uint64_t now_ns);

/* Hands out up to `count` datagrams, valid until the next call; returns their number. */
size_t crossbar_port_dequeue(struct crossbar_port *p, struct datagram_arrival *arrivals,
			     size_t count);

bool crossbar_port_pending(const struct crossbar_port *p);

/* Returns the bytes that wait, and the bytes of the queue. */
size_t crossbar_port_waiting(const struct crossbar_port *p, size_t *bytes);

/* Returns how many datagrams were dropped. */
uint64_t crossbar_port_drops(const struct crossbar_port *p);

#endif
