/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives up the rights of root that a program needs only at its start. */
#ifndef BASE_PRIVILEGES_H
#define BASE_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#define PRIVILEGES_USER "nobody"

/* Becomes `user`; NULL: PRIVILEGES_USER, if it exists. Drops all capabilities. `xdp` keeps those
 * that change the maps of an attached program. Call it while the process has one thread. Does
 * nothing if the process has no such rights. DXP_ENOENT: no such user; DXP_EIO: the kernel does not
 * permit it; both logged. */
int privileges_drop(const char *user, bool xdp);

/* Sets the permitted and effective capabilities of this thread: bit i is capability i. Programs
 * that it starts inherit none. Returns false with errno set. */
bool privileges_capabilities_set(uint64_t all);

#endif
