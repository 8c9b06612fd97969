/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the manager. */
#ifndef MANAGER_LIMITS_H
#define MANAGER_LIMITS_H

#include "wire/limits.h"

/* rows of the grants table: one per node; "*" covers more */
#define FABRIC_GRANTS_MAX 4096
/* keys in use and removed ones: one per machine or user */
#define FABRIC_KEYS_MAX 4096
/* tokens that are valid at a time: a machine room that is set up */
#define FABRIC_TOKENS_MAX 256
/* channels at a time: operators and machines that are admitted; each lives for a few round trips */
#define FABRIC_CHANNELS_MAX 64
/* ns without a request after which a channel ends */
#define FABRIC_CHANNEL_NS (10ull * 1000 * 1000 * 1000)
/* handshakes per second: at 0.3 ms each, 6 % of a core */
#define FABRIC_CHANNELS_PER_S 200
/* table pages in flight to one node: their 9600 bytes fit the smallest socket buffer */
#define FABRIC_WINDOW 8
/* ns that a dead host stays visible */
#define FABRIC_KEEP_NS (600ull * 1000 * 1000 * 1000)

#endif
