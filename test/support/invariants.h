/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be true of a NIC between any two calls, whatever its peers and its user do: the
 * accounts of RLTP agree with its slots, those of the engine with what it holds, and nothing that
 * has work waits for nobody. */
#ifndef TEST_SUPPORT_INVARIANTS_H
#define TEST_SUPPORT_INVARIANTS_H

#include "nic/nic.h"

/* NULL when everything holds, else what does not. */
const char *invariants_broken(struct nic *n);

/* The same where the users of functions in `hostile`, bit i for function i, write nonsense. */
const char *invariants_broken_but(struct nic *n, uint32_t hostile);

#endif
