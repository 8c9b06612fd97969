/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets of node/offer.h: accepts, receives requests, sends answers. Belongs to a node and
 * runs in its polling thread. */
#ifndef NODE_OFFER_SERVER_H
#define NODE_OFFER_SERVER_H

#include <stdint.h>

struct node;
struct offers;

/* As node_offer. */
int offers_open(struct node *n, uint32_t functions, const char *path, struct offers **out);
void offers_close(struct offers *s);

/* Handles arrivals; returns how many. */
uint32_t offers_poll(struct offers *s, uint64_t now_ns);

/* Returns when offers_poll must be called even if nothing arrives. */
uint64_t offers_deadline(const struct offers *s);

#endif
