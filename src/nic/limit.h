/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate limit of a function: one token bucket for all bytes that the function moves. RLTP
 * charges the bucket for packets, and this NIC for copies between its functions. The charge for a
 * packet is its header and payload; retransmissions are charged too. The charge for a copy is its
 * bytes plus LOCAL_COST_BYTES. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;
struct nic_user;

/* Returns true if the function may send or copy now. Counts each wait once, at its first false
 * result (limit_waits). */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* Charges `bytes`, at the time passed to limit_allows. If the bucket holds fewer bytes, nothing
 * else leaves until the difference is paid. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* Returns the time at which limit_allows becomes true; 0: it is true; UINT64_MAX: there is no
 * limit. */
uint64_t limit_deadline(const struct nic_function *f);

/* Returns true if a message to a peer may begin now. It may begin only if it can leave at once,
 * because an unpaid message delays later ones of its stream. Otherwise sets the deadline of the
 * next check. */
bool limit_begins(struct nic_user *u);
/* Returns the length in bytes of the longest message that limit_begins permits. */
uint32_t limit_message_bytes(const struct nic_function *f);

/* Applies a new rate, or a stop, to RLTP. A stopped function has no limit, so its remaining
 * messages leave at once and delay no others. */
void limit_apply(struct nic_function *f);

/* Returns the number of waits for the limit; wraps. */
uint64_t limit_waits(const struct nic_function *f);

#endif
