/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limit of a function: one token bucket for all bytes that it moves. RLTP charges header and
 * payload of packets, including retransmissions. This NIC charges copies between its functions:
 * bytes plus LOCAL_COST_BYTES. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;
struct nic_user;

/* Counts each wait once, at its first false result (limit_waits). */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* Charges `bytes`, at the time passed to limit_allows. A debt stops the function until it is
 * paid. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* Returns when limit_allows becomes true; 0: it is true; UINT64_MAX: no limit. */
uint64_t limit_deadline(const struct nic_function *f);

/* Returns true if a message to a peer may begin. It must be able to leave at once, because an
 * unpaid message delays later ones of its stream. Otherwise sets the time of the next check. */
bool limit_begins(struct nic_user *u);
/* Returns the bytes of the longest message that limit_begins permits. */
uint32_t limit_message_bytes(const struct nic_function *f);

/* Applies a new rate, or a stop, to RLTP. A stopped function has no limit, so its remaining
 * messages delay no others. */
void limit_apply(struct nic_function *f);

uint64_t limit_waits(const struct nic_function *f);

#endif
