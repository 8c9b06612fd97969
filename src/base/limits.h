/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of general functions and datagrams. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* an ACK with 16 bitmap words, the longest frame without payload */
#define DATAGRAM_HEADER_BYTES_MAX 192
/* per packet; longer lists use more packets */
#define DATAGRAM_SLICES_MAX 6
/* per poll: two GSO batches of 44 */
#define DATAGRAM_BATCH 88

/* an IPv4 packet's 65535 less IP and UDP headers; a GSO batch is one */
#define DATAGRAM_BYTES_MAX 65507
/* an older time stamp means that the clock was changed */
#define DATAGRAM_AGE_NS (1000ull * 1000 * 1000)

#define BUCKET_RATE_MAX    1000000000000000ull /* faster than any link */
#define BUCKET_BYTES_MAX   (1ull << 33)        /* above the longest operation, 2^31 */
#define BUCKET_BURST_NS    (1000u * 1000u)     /* saved rate: one slow poll */
#define BUCKET_BURST_BYTES (64u << 10)         /* smallest burst: one GSO batch */
/* debt, as in the pacing of sessions */
#define BUCKET_BATCH_NS (20u * 1000u)
/* smallest debt: one poll sends this together */
#define BUCKET_BATCH_BYTES (16u << 10)

/* spin: about one wakeup of an idle core */
#define WAIT_SPIN_NS (50u * 1000u)

#define FABRIC_KEY_BYTES 32 /* shared by nodes and manager */
#define PUBLIC_KEY_BYTES 32 /* X25519, of a node or the manager */

#endif
