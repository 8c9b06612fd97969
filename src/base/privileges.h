/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives up the rights of root that a program needs only at its start. */
#ifndef BASE_PRIVILEGES_H
#define BASE_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#define PRIVILEGES_USER "nobody"

/* Makes the process run as `user`; NULL: as PRIVILEGES_USER, if that user exists. Drops all
 * capabilities. With `xdp`, keeps the capabilities to change the maps of an attached program. Call
 * it while the process has only one thread. Does nothing if the process has no rights of root.
 * DXP_ENOENT: no such user. DXP_EIO: the kernel does not permit it. Both errors are logged. */
int privileges_drop(const char *user, bool xdp);

/* Sets the permitted and effective capabilities of this thread: bit i is capability i. Programs
 * that the thread starts inherit none. Returns false with errno set. */
bool privileges_capabilities_set(uint64_t all);

#endif
