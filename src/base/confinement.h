/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the security module (AppArmor or SELinux) that may have denied an operation. */
#ifndef BASE_CONFINEMENT_H
#define BASE_CONFINEMENT_H

#include <stdbool.h>

#define CONFINEMENT_BYTES 256

/* Returns the next step if `error`, an errno, is EACCES or EPERM and a security module confines
 * this process, to append to a message: "; the AppArmor profile ..."; else "". Keeps errno.
 * The text is valid until the next call in the same thread. */
const char *confinement_hint(int error);

/* Writes the same for the label of a process, as /proc/self/attr/current has it; `enforcing` is the
 * state of SELinux. Returns `out`. */
const char *confinement_describe(const char *label, bool enforcing, char out[CONFINEMENT_BYTES]);

#endif
