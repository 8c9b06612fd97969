/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants of a NIC between any two calls, however its peers and users behave: RLTP's accounts
 * agree with its transmit entries, and the engine's with its state; nothing that has work waits
 * without a wakeup. */
#ifndef TEST_SUPPORT_INVARIANTS_H
#define TEST_SUPPORT_INVARIANTS_H

#include "nic/nic.h"

/* NULL, or the text of a broken invariant. */
const char *invariants_broken(struct nic *n);

/* The users in `hostile` (bit i: user i) may write nonsense to their windows. */
const char *invariants_broken_but(struct nic *n, uint32_t hostile);

#endif
