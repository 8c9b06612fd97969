/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands at the wire and believes nobody: it sees each datagram as its host sends it and as a host
 * receives it, and keeps its own account of every session from that alone. It finds
 * - a packet number that names two things, or one that was left out;
 * - a packet sent again after its sender was told that it had arrived;
 * - an acknowledgement of what never arrived, or one that takes back an earlier one;
 * - more packets under way than any window allows;
 * - a NAP beyond the credit that its queue pair was granted.
 * With DXP_TRACE in the environment it prints every frame that is sent and that comes. */
#ifndef TEST_SUPPORT_WITNESS_H
#define TEST_SUPPORT_WITNESS_H

#include "sim/net.h"

#define WITNESS_HOSTS 8

struct witness;

/* Taps the network, which has at most WITNESS_HOSTS hosts and must not outlive the witness. NULL
 * when out of memory. */
struct witness *witness_create(struct net *n);
void witness_destroy(struct witness *w);

/* The host is another process now: what it said before binds it no longer. */
void witness_forget(struct witness *w, uint32_t host);

/* NULL while nothing was wrong, else the first thing that was. */
const char *witness_verdict(const struct witness *w);

struct witness_counts {
	uint64_t packets, repeats; /* reliable ones as sent: first transmissions; the others */
	uint64_t packet_bytes, repeat_bytes; /* of their datagrams */
};
const struct witness_counts *witness_counts(const struct witness *w);

#endif
