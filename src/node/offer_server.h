/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets behind node/offer.h: who connects, what arrives, what is sent back. Belongs to a node
 * and is turned by its thread. */
#ifndef NODE_OFFER_SERVER_H
#define NODE_OFFER_SERVER_H

#include <stdint.h>

struct node;
struct offers;

/* As node_offer. */
int offers_open(struct node *n, uint32_t functions, const char *path, struct offers **out);
void offers_close(struct offers *s);

/* Takes what has arrived; returns how much there was. */
uint32_t offers_turn(struct offers *s, uint64_t now_ns);

/* When it must be turned though nothing arrives. */
uint64_t offers_deadline(const struct offers *s);

#endif
