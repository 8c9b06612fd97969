/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the protection of packets, each with its unit and reason. */
#ifndef SEAL_LIMITS_H
#define SEAL_LIMITS_H

/* packets per key: the limit of RFC 9001 for AES-GCM with packets over 2 KiB. A key update costs 2
 * us. At 5 million packets per second it happens every 1.7 s. */
#define SEAL_UPDATE_PACKETS (1ull << 23)
/* A sender stops after this many times SEAL_UPDATE_PACKETS with one key. That happens only if the
 * peer never acknowledged a packet under this key. */
#define SEAL_UPDATE_LATE 2
/* sent frames whose tags are kept, because a REJECT may quote one. After a restart of the peer, a
 * sender without acknowledgements sends only one probe or retransmission every few ms. */
#define SEAL_TAGS 8

#endif
