/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of general functions and of datagrams, each with its unit and reason. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* bytes of the longest frame without payload: an ACK with 16 bitmap words */
#define DATAGRAM_HEADER_BYTES_MAX 192
/* entries of a source list that one packet may span; more are split into more packets */
#define DATAGRAM_SLICES_MAX 6
/* datagrams sent or received by one poll: two GSO batches of 44 */
#define DATAGRAM_BATCH 88

/* an IPv4 packet's 65535 less IP and UDP headers; a GSO batch is one such packet */
#define DATAGRAM_BYTES_MAX 65507
/* ns; an older time stamp means a stepped clock, not a slow reader */
#define DATAGRAM_AGE_NS (1000ull * 1000 * 1000)

#define BUCKET_RATE_MAX    1000000000000000ull /* bytes/s: above any link */
#define BUCKET_BYTES_MAX   (1ull << 33)    /* bytes of one charge; the longest operation has 2^31 */
#define BUCKET_BURST_NS    (1000u * 1000u) /* ns of rate that may be saved up: one slow poll */
#define BUCKET_BURST_BYTES (64u << 10)     /* bytes, if these are more: one GSO batch */
/* ns of rate that may be owed: as for pacing of sessions */
#define BUCKET_BATCH_NS (20u * 1000u)
/* bytes, if these are more: one poll sends them together */
#define BUCKET_BATCH_BYTES (16u << 10)

/* ns, about one wakeup of an idle core: longer spinning costs more than it saves */
#define WAIT_SPIN_NS (50u * 1000u)

#define FABRIC_KEY_BYTES 32 /* secret shared by nodes and manager */

#endif
