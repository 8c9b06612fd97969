/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the NIC (C-15, C-36, C-17), each with its unit and reason. */
#ifndef NIC_LIMITS_H
#define NIC_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

#include "rltp/limits.h"
#include "wire/limits.h"

#define NIC_FUNCTIONS        WIRE_FUNCTIONS
#define NIC_QPS_PER_FUNCTION DXP_QPS
/* users of windows: the maximum is reached if each user has one queue pair */
#define NIC_USERS     (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)
#define NIC_DOORBELLS DXP_DOORBELLS /* entries of a doorbell FIFO */
/* polls between two checks of the users' claim counters: each check costs a cache miss per busy
 * user */
#define NIC_CLAIMS_POLLS 256
/* requests per queue pair: 4 queue pairs sustain 4 M NAP/s at 60 us round trip */
#define NIC_OUTSTANDING_MAX 64
#define NIC_NAP_BYTES_MAX   DXP_NAP_BYTES
/* entries of the source and destination lists of one descriptor together */
#define NIC_LIST_ENTRIES_MAX DXP_LIST_ENTRIES
/* entries of all chains in progress of a user; they use 16 MiB */
#define NIC_CHAIN_ENTRIES_MAX DXP_CHAIN_ENTRIES
/* entries of each list of a chain that are resolved at once: each list gets half of a request's
 * pieces */
#define NIC_CHAIN_WINDOW (NIC_LIST_ENTRIES_MAX / 2)
/* regions; a memory key has 12 index bits */
#define NIC_REGIONS_MAX 4096
/* wrong keys and magics that one peer or user may try at once, and ns until it may try one more. A
 * host that uses old keys after a restart tries fewer than 32. At this rate, 2^19 values, half of a
 * key's possible values, take 6 days. */
#define NIC_WRONG_OWN    32
#define NIC_WRONG_OWN_NS (1000ull * 1000 * 1000)
/* wrong keys and magics that all peers and users together may try at once, and ns until one more is
 * allowed. Nodes that join again for each attempt need 4.5 hours for 2^19 values. */
#define NIC_WRONG_ALL    1024
#define NIC_WRONG_ALL_NS (1000ull * 1000 * 1000 / 32)
/* right keys remembered for each peer or user: enough for device memory and a few buffers */
#define NIC_KEYS_KNOWN 4
/* entries per event ring: one for each outstanding request of all queue pairs, and twice that
 * number for credits. So a grant of half of the credits reaches the peer before the other half is
 * used. */
#define NIC_EVENTS DXP_EVENTS
/* NAPs that a stream may send before its first grant: enough for a few commands. With many peers at
 * once, receive entries may run out. */
#define NIC_NAP_CREDIT 16
/* ns after which unused credit may be granted to another peer too */
#define NIC_CREDIT_IDLE_NS (10ull * 1000 * 1000)
/* NAPs; a grant that permits more than this number of unsent NAPs is ignored as invalid */
#define NIC_CREDIT_AHEAD_MAX 65535
/* buffers for NAPs that arrived out of order, kept for reuse: 128 KiB */
#define NIC_BUFFERS_KEPT 64
/* ns until a failed allocation is tried again: long enough that the loop does not spin */
#define NIC_MEMORY_RETRY_NS (1000ull * 1000)
/* bytes copied inside the NIC per poll: they take about 10 us, and the network waits meanwhile */
#define NIC_QUANTUM_BYTES (256u << 10)
/* bytes that a queue pair copies before the next queue pair is served: shorter slices slow a long
 * PUT by 5 % */
#define NIC_SLICE_BYTES (128u << 10)
/* bytes; a last part of a copy of at most this length joins the slice before it */
#define NIC_REST_BYTES 4096
/* receive entries that one waiting queue pair gets before the next one does: half a doorbell
 * FIFO */
#define NIC_SPACE_RUN 16
/* ns to the next check for a free receive entry; the interval doubles each time. Progress loops
 * spin for about this time before they sleep. */
#define NIC_SPACE_CHECK_NS (50u * 1000u)
/* ns, upper bound of that interval: a consumer that never reads its events costs 100 wakeups/s */
#define NIC_SPACE_CHECK_MAX_NS (10ull * 1000 * 1000)
/* numbers of free NAP buffers fetched in advance (C-30): 32 numbers fill one cache line of the
 * ring */
#define NIC_BUFFERS_AHEAD 32
/* entries of a lookup table: a device has few buffers */
#define NIC_AREAS_MAX 16
/* ns to the next attempt at a receiver without space: one round trip. The interval doubles up to
 * the second value. */
#define NIC_REGISTERS_PAUSE_NS     (20u * 1000u)
#define NIC_REGISTERS_PAUSE_MAX_NS (5000u * 1000u)
/* ns for which the NIC retries; then the sending device gets an error, because it may react better
 * than the NIC */
#define NIC_REGISTERS_BUSY_NS (1000ull * 1000 * 1000)
/* span of message ids of one stream, from the oldest incomplete message to the newest */
#define NIC_STREAM_WINDOW 128
#define NIC_CFG_WORDS_MAX DXP_CFG_WORDS
/* us until a piece of staged memory that found no space is sent again: the same as for peers that
 * do not know the NACK code WAIT */
#define NIC_STAGED_RETRY_US RLTP_WAIT_RETRY_US
/* outstanding writes of staged memory. Beyond this count, only the oldest message of each peer may
 * begin a write. Such a message waits for no other message. The memory's owner has space for more
 * writes than this count, so some of these messages always find space and complete. */
#define NIC_STAGED_LATER 256
/* bytes handed over at once inside a NIC: few enough for any buffer of a bridge */
#define NIC_STAGED_COPY_BYTES 4096
/* us until a packet held for a device is sent again: the delay if the answer is lost */
#define NIC_HELD_RETRY_US 5000
/* us, upper bound of NIC_HELD_RETRY_US after doubling, well below RLTP_DEAD_NS */
#define NIC_HELD_RETRY_MAX_US 80000
/* bytes of a request's own staged memory that move at once: enough to hide a DMA's latency */
#define NIC_BOUNCE_BYTES (256u << 10)
/* requests of one user that have such a buffer, a bounce: 1 MiB per user, 32 MiB for all users */
#define NIC_BOUNCES_MAX 4
/* bytes (C-18); the software above the NIC splits longer operations */
#define NIC_MESSAGE_BYTES_MAX 0x7fffffffu
/* GET, atomic and CFG requests outstanding per session; the responder has space for all of them */
#define NIC_READS_MAX 64

#endif
