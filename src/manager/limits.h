/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the manager, each with its unit and reason. */
#ifndef MANAGER_LIMITS_H
#define MANAGER_LIMITS_H

#include "wire/limits.h"

/* rows of the grants table: one for each node of a full table; a row with "*" covers many nodes */
#define FABRIC_GRANTS_MAX 4096
/* keys, in use and removed: one for each machine or user of a full node table */
#define FABRIC_KEYS_MAX 4096
/* tokens that are valid at the same time: enough to set up a machine room */
#define FABRIC_TOKENS_MAX 256
/* channels at the same time, for operators and for machines that are being admitted; each channel
 * lives for a few round trips */
#define FABRIC_CHANNELS_MAX 64
/* ns without a request after which a channel ends */
#define FABRIC_CHANNEL_NS (10ull * 1000 * 1000 * 1000)
/* ns without a new request after which an answer counts as received: by then, a client without
 * answer has retransmitted its request three times */
#define FABRIC_CHANNEL_SILENT_NS (500ull * 1000 * 1000)
/* handshakes per second: at 0.3 ms of CPU time each, they take 6 % of a core */
#define FABRIC_CHANNELS_PER_S 200
/* table pages in flight to one node: 8 pages have 9600 bytes, which fit the smallest socket
 * buffer */
#define FABRIC_WINDOW 8
/* events that the log keeps by default: 3 MB of memory */
#define FABRIC_EVENTS     10000
#define FABRIC_EVENTS_MIN 100
#define FABRIC_EVENTS_MAX 1000000
/* ns for which a dead host stays visible; then its state becomes NODE_GONE */
#define FABRIC_KEEP_NS (600ull * 1000 * 1000 * 1000)
/* ns after which the id of a host that left goes to another host: many leases, so no xPU that is
 * alive still has the old row; and longer than a proof of an address is valid, so a recorded JOIN
 * of that host is worthless */
#define FABRIC_REUSE_NS (150ull * 1000 * 1000 * 1000)

#endif
