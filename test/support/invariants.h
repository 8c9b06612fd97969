/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks invariants of a NIC between any two calls, for every behaviour of its peers and its user.
 * RLTP's accounts agree with its transmit entries, the engine's accounts agree with its state, and
 * nothing with work waits without a wakeup. */
#ifndef TEST_SUPPORT_INVARIANTS_H
#define TEST_SUPPORT_INVARIANTS_H

#include "nic/nic.h"

/* Returns NULL if all invariants hold, otherwise the broken one. */
const char *invariants_broken(struct nic *n);

/* Does the same if the users of functions in `hostile` (bit i: function i) write nonsense. */
const char *invariants_broken_but(struct nic *n, uint32_t hostile);

#endif
