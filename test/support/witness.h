/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the wire independently. It observes each datagram as sent and as received, and derives the
 * state of every session from these alone. It detects
 * - a packet number used for two contents, or a skipped one;
 * - a packet retransmitted after its sender received the acknowledgement;
 * - an acknowledgement of a packet that never arrived, or one that revokes an earlier one;
 * - more packets in flight than any window allows;
 * - a NAP beyond the credit of its queue pair;
 * - of sealed frames, of which it sees only the common header: a counter that repeats or skips.
 * With DXP_TRACE in the environment it prints every frame at sending and at arrival. */
#ifndef TEST_SUPPORT_WITNESS_H
#define TEST_SUPPORT_WITNESS_H

#include "sim/net.h"

#define WITNESS_HOSTS 8

struct witness;

/* Taps the network, which has at most WITNESS_HOSTS hosts and must not outlive the witness. Returns
 * NULL if out of memory. */
struct witness *witness_create(struct net *n);
void witness_destroy(struct witness *w);

/* Drops the state of the old process of a host that restarted. */
void witness_forget(struct witness *w, uint32_t host);

/* Returns NULL, or the first violation. */
const char *witness_verdict(const struct witness *w);

struct witness_counts {
	uint64_t packets, repeats; /* reliable packets sent: first transmissions; retransmissions */
	uint64_t packet_bytes, repeat_bytes; /* bytes of their datagrams */
};
const struct witness_counts *witness_counts(const struct witness *w);

#endif
