/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives up root rights after a program's start. */
#ifndef BASE_PRIVILEGES_H
#define BASE_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#define PRIVILEGES_USER "nobody"

/* Runs as `user`, or NULL: as PRIVILEGES_USER if it exists, without capabilities, with `xdp` those
 * for an attached program's maps. Only with one thread; nothing without root rights. DXP_ENOENT: no
 * such user; DXP_EIO: not permitted; both logged. */
int privileges_drop(const char *user, bool xdp);

/* Sets the permitted and effective capabilities of this thread, bit i for capability i; started
 * programs inherit none. Returns false with errno. */
bool privileges_capabilities_set(uint64_t all);

#endif
