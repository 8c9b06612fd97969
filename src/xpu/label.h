/* SPDX-License-Identifier: BSD-3-Clause */
/* Label of a host. Files kept for it serve later hosts with the same label, such as the next run of
 * a program on that machine. It proves nothing: each owner of the fabric key can join with any
 * name. No I/O. */
#ifndef XPU_LABEL_H
#define XPU_LABEL_H

#include "base/address.h"
#include "wire/limits.h"
#include "worker/limits.h"

/* "NAME@ADDRESS", without port, and without the PID of a default name PROGRAM-PID. */
void label_make(const char *name, const struct udp_address *address, char out[WORKER_LABEL_BYTES]);

#endif
