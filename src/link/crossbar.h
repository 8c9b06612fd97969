/* SPDX-License-Identifier: BSD-3-Clause */
/* Software switch between the endpoints of one thread. It copies a datagram to the address
 * of another port into that port's queue, without the kernel. Datagrams to other addresses leave by
 * the socket. Datagrams from one port to another stay in order. If the queue of a port is full, it
 * drops the datagram, as a full socket buffer would.
 *
 * All ports belong to the same thread. A queue does not wake a thread that sleeps. So the thread
 * must not sleep while link_pending() is true for any port. */
#ifndef LINK_CROSSBAR_H
#define LINK_CROSSBAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

struct crossbar;
struct crossbar_port;
struct link;

/* Creates a crossbar without ports. DXP_ENOMEM. */
int crossbar_create(struct crossbar **out);

/* Frees the crossbar. All its ports must be removed before. Accepts NULL. */
void crossbar_destroy(struct crossbar *c);

/* Adds endpoint `l` as a port with a queue of `bytes` bytes. DXP_EBUSY: all ports are in use;
 * DXP_ENOMEM. */
int crossbar_port_add(struct crossbar *c, const struct link *l, size_t bytes,
		      struct crossbar_port **out);
void crossbar_port_remove(struct crossbar_port *p);

/* Returns the port with this address, or NULL. */
struct crossbar_port *crossbar_find(struct crossbar *c, const struct udp_address *to);

/* Copies a datagram into the queue. If the queue is full, counts a drop and returns false. */
bool crossbar_port_put(struct crossbar_port *p, const struct udp_address *from,
		       const struct datagram *d, uint64_t now_ns);

/* Returns up to `count` datagrams in `arrivals`, and their number. They stay valid until the next
 * call. */
size_t crossbar_port_dequeue(struct crossbar_port *p, struct datagram_arrival *arrivals,
			     size_t count);

bool crossbar_port_pending(const struct crossbar_port *p);

/* Returns the bytes that wait in the queue; *bytes is the size of the queue. */
size_t crossbar_port_waiting(const struct crossbar_port *p, size_t *bytes);

/* Returns how many datagrams were dropped. */
uint64_t crossbar_port_drops(const struct crossbar_port *p);

#endif
