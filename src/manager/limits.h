/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the manager, each with its unit and reason. */
#ifndef MANAGER_LIMITS_H
#define MANAGER_LIMITS_H

/* rows of the grants table: one per node; use `*` for more */
#define FABRIC_GRANTS_MAX 4096
/* bytes of the longest management datagram: every path of IPv6 carries it, headers included */
#define FABRIC_DATAGRAM_BYTES 1200
/* table pages in flight to one node: 9600 bytes fit the smallest socket buffer */
#define FABRIC_WINDOW 8
/* ns that a dead host stays in the table, for display */
#define FABRIC_KEEP_NS (600ull * 1000 * 1000 * 1000)

#endif
