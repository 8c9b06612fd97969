/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the wire independently. It observes each datagram when it is sent and when it is received,
 * and derives the state of every session from these datagrams alone. It detects
 * - a packet number that is skipped, or used for two contents;
 * - a packet that is retransmitted although its sender received the acknowledgement;
 * - an acknowledgement of a packet that never arrived, or one that revokes an earlier one;
 * - more packets in flight than any window allows;
 * - a NAP beyond the credit of its queue pair;
 * - in a protected session, a frame counter that repeats or skips. Only the common header of such
 * frames is readable.
 * With DXP_TRACE in the environment it prints every frame when it is sent and when it arrives. */
#ifndef TEST_SUPPORT_WITNESS_H
#define TEST_SUPPORT_WITNESS_H

#include "sim/net.h"

#define WITNESS_HOSTS 8

struct witness;

/* The network has at most WITNESS_HOSTS hosts, and must be destroyed before the witness. NULL: out
 * of memory. */
struct witness *witness_create(struct net *n);
void witness_destroy(struct witness *w);

/* Drops the state of the old process of a host that has restarted. */
void witness_forget(struct witness *w, uint32_t host);

/* NULL, or the first violation. */
const char *witness_verdict(const struct witness *w);

struct witness_counts {
	uint64_t packets, repeats; /* first transmissions and retransmissions of reliable packets */
	/* bytes of their datagrams */
	uint64_t packet_bytes, repeat_bytes;
};
const struct witness_counts *witness_counts(const struct witness *w);

#endif
