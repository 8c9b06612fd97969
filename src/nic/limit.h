/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate limit of a function: one token bucket for all bytes that the function moves. RLTP
 * charges the bucket for packets, and the NIC charges it for copies inside the NIC. The charge is
 * payload plus WIRE_DATA_BYTES per packet, retransmissions included. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;
struct nic_user;

/* Returns true if the function may send or copy now. limit_waits counts each wait once, at its
 * first false. */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* Charges `bytes` at the time that the last limit_allows call was given. Bytes beyond the bucket
 * must be paid before the function moves anything else. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* Returns the time in ns at which limit_allows becomes true; 0: it is true now; UINT64_MAX: the
 * function has no limit. */
uint64_t limit_deadline(const struct nic_function *f);

/* Returns true if a message to a peer may begin now. A message begins only if it can leave at once,
 * because an unsent message would delay later ones of its stream. If false, sets the deadline of
 * the next check. */
bool limit_begins(struct nic_user *u);
/* Returns the longest message that limit_begins permits. */
uint32_t limit_message_bytes(const struct nic_function *f);

/* Applies a new rate, or a stop of the function, to RLTP. A stopped function has no limit, so its
 * remaining messages leave at once and delay no messages of other functions. */
void limit_apply(struct nic_function *f);

/* Returns how often the limit made the function wait; the count wraps. */
uint64_t limit_waits(const struct nic_function *f);

#endif
