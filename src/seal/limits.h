/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of packet protection, with unit and reason. */
#ifndef SEAL_LIMITS_H
#define SEAL_LIMITS_H

/* packets: RFC 9001's limit of AES-GCM above 2 KiB. An update costs 2 us, every 1.7 s at 5 million
 * packets per second. */
#define SEAL_UPDATE_PACKETS (1ull << 23)
/* A sender stops after so many times SEAL_UPDATE_PACKETS, if the peer never acknowledged a packet
 * under the key. */
#define SEAL_UPDATE_LATE 2
/* frames whose tags are kept, because a REJECT may quote one. After a peer's restart, only one
 * probe or retransmission leaves every few ms. */
#define SEAL_TAGS 8

/* agreements of static keys that are kept: 35 us each, for as many peers as open sessions at the
 * same time */
#define SEAL_AGREEMENTS 64

#endif
