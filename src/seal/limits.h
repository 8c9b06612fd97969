/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the protection of packets, each with unit and reason. */
#ifndef SEAL_LIMITS_H
#define SEAL_LIMITS_H

/* packets per key: the limit of RFC 9001 for AES-GCM with packets over 2 KiB. An update costs 2 us;
 * at 5 million packets a second it happens every 1.7 s. */
#define SEAL_UPDATE_PACKETS (1ull << 23)
/* times that limit at which a sender stops: the peer never answered a packet of this key */
#define SEAL_UPDATE_LATE 2
/* tags of sent frames that a REJECT may quote: after a restart of the peer, a sender without
 * acknowledgements sends a probe or a retransmission each few ms */
#define SEAL_TAGS 8

#endif
