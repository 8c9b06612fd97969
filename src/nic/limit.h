/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limit of a function: one token bucket for all bytes that it moves. RLTP charges packets with
 * headers and retransmissions; this NIC charges copies between its functions, plus
 * LOCAL_COST_BYTES. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;
struct nic_user;

/* Counts each wait at its first false result (limit_waits). */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* Charges `bytes`, at the time passed to limit_allows. A debt stops the function until it is
 * paid. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* 0: limit_allows is true; UINT64_MAX: no limit. */
uint64_t limit_deadline(const struct nic_function *f);

/* True: a message to a peer may begin, because it can leave at once; an unpaid message would delay
 * later ones of its stream. Else sets the time of the next check. */
bool limit_begins(struct nic_user *u);
/* Longest message that limit_begins permits. */
uint32_t limit_message_bytes(const struct nic_function *f);

/* Applies a new rate, or a stop, to RLTP. A stopped function has no limit, so its last messages
 * delay no others. */
void limit_apply(struct nic_function *f);

uint64_t limit_waits(const struct nic_function *f);

#endif
