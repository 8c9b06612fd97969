/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate limit of a function: one token bucket for all that it moves, through RLTP (which uses
 * the bucket itself) and inside this NIC. It charges payload plus WIRE_DATA_BYTES per packet,
 * retransmissions included. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;
struct nic_user;

/* Returns true if the function may send or copy now. Counts the first false of each wait
 * (limit_waits). */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* Charges `bytes` at the `now_ns` of limit_allows. Bytes beyond the bucket must be paid before
 * anything else leaves. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* Returns when limit_allows becomes true; 0: it is; UINT64_MAX: there is no limit. */
uint64_t limit_deadline(const struct nic_function *f);

/* Returns true if a message to a peer may begin now: only if it can leave at once, since an unpaid
 * message would delay later ones of its stream. Otherwise sets the deadline of the next check. */
bool limit_begins(struct nic_user *u);
/* Returns the longest message that limit_begins permits. */
uint32_t limit_message_bytes(const struct nic_function *f);

/* Applies a new rate, or a stop, to RLTP. A stopped function has no limit, so its remaining
 * messages leave at once and delay no others. */
void limit_apply(struct nic_function *f);

/* Returns how often the limit held the function back; wraps. */
uint64_t limit_waits(const struct nic_function *f);

#endif
