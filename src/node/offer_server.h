/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets of offer.h. The node's polling thread calls this file: it accepts connections,
 * receives requests and sends answers. */
#ifndef NODE_OFFER_SERVER_H
#define NODE_OFFER_SERVER_H

#include <stdint.h>

struct node;
struct offers;

/* See node_offer. */
int offers_open(struct node *n, uint32_t functions, const char *path, struct offers **out);
void offers_close(struct offers *s);

uint32_t offers_poll(struct offers *s, uint64_t now_ns);

/* Returns the time in ns at which to call offers_poll even without an arrival. */
uint64_t offers_deadline(const struct offers *s);

#endif
