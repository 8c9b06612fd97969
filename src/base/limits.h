/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of general functions and of datagrams, each with unit and reason. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* bytes: an ACK with 16 bitmap words, the longest frame without payload */
#define DATAGRAM_HEADER_BYTES_MAX 192
/* entries of a source list in one packet; longer lists use more packets */
#define DATAGRAM_SLICES_MAX 6
/* datagrams sent or received per poll: two GSO batches of 44 */
#define DATAGRAM_BATCH 88

/* bytes: 65535 of an IPv4 packet less IP and UDP headers; a GSO batch is one such packet */
#define DATAGRAM_BYTES_MAX 65507
/* ns; an older time stamp of the kernel means that the clock was changed */
#define DATAGRAM_AGE_NS (1000ull * 1000 * 1000)

#define BUCKET_RATE_MAX    1000000000000000ull /* bytes/s: faster than any link */
#define BUCKET_BYTES_MAX   (1ull << 33)    /* bytes per charge: above the longest operation, 2^31 */
#define BUCKET_BURST_NS    (1000u * 1000u) /* ns of unused rate that are saved: one slow poll */
#define BUCKET_BURST_BYTES (64u << 10)     /* bytes; smallest burst: one GSO batch */
/* ns of debt that a bucket allows: equal to the debt in the pacing of sessions */
#define BUCKET_BATCH_NS (20u * 1000u)
/* bytes; smallest debt: one poll sends this many together */
#define BUCKET_BATCH_BYTES (16u << 10)

/* ns of spinning, about one wakeup of an idle core: longer spinning costs more than it saves */
#define WAIT_SPIN_NS (50u * 1000u)

#define FABRIC_KEY_BYTES 32 /* bytes of the secret shared by nodes and manager */
#define PUBLIC_KEY_BYTES 32 /* bytes of an X25519 key of a node or of the manager */

#endif
