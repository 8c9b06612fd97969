/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate limit of a function: one token bucket for all that it moves, through RLTP (which asks
 * the bucket itself) and inside this NIC (which calls these). What counts is what it costs: payload
 * and WIRE_DATA_BYTES for each packet, repeats too. */
#ifndef NIC_LIMIT_H
#define NIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct nic_function;

/* May it send or copy now? The first refusal of each wait is counted: limit_waits. */
bool limit_allows(struct nic_function *f, uint64_t now_ns);

/* It did: so many bytes at the `now_ns` of limit_allows. More than was left is paid for before
 * anything else leaves. */
void limit_charge(struct nic_function *f, uint64_t bytes);

/* When limit_allows will be true again; UINT64_MAX when it has no limit, 0 when it is. */
uint64_t limit_deadline(const struct nic_function *f);

/* Has a limit: may it begin another message to a peer now? Only what can leave at once, so that it
 * holds no place in a stream, behind which others wait, until it is paid for. Else it is looked at
 * again when it may. */
bool limit_begins(struct nic_function *f);
uint32_t limit_message_bytes(const struct nic_function *f); /* the longest then */

/* Its rate, or whether it serves, has changed. What is left of a function that serves no more goes
 * at once: its peers are told, and nobody waits behind it. */
void limit_apply(struct nic_function *f);

/* Times that the limit held it back; wraps. */
uint64_t limit_waits(const struct nic_function *f);

#endif
