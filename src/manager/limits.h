/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the manager. */
#ifndef MANAGER_LIMITS_H
#define MANAGER_LIMITS_H

#include "wire/limits.h"

/* rows of the grants table: one per node; "*" covers more */
#define FABRIC_GRANTS_MAX 4096
/* table pages in flight to one node: their 9600 bytes fit the smallest socket buffer */
#define FABRIC_WINDOW 8
/* ns that a dead host stays visible */
#define FABRIC_KEEP_NS (600ull * 1000 * 1000 * 1000)

#endif
