/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks invariants of a NIC. They hold between any two calls, however its peers and users behave.
 * RLTP's accounts agree with its transmit entries, and the engine's accounts agree with its state.
 * Nothing that has work waits without a wakeup. */
#ifndef TEST_SUPPORT_INVARIANTS_H
#define TEST_SUPPORT_INVARIANTS_H

#include "nic/nic.h"

/* Returns NULL if all invariants hold, otherwise the text of a broken one. */
const char *invariants_broken(struct nic *n);

/* Does what invariants_broken does, but allows the users in `hostile` (bit i: user i) to write
 * nonsense to their windows. */
const char *invariants_broken_but(struct nic *n, uint32_t hostile);

#endif
