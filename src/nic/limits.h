/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the NIC (C-15, C-36, C-17), with units and reasons. */
#ifndef NIC_LIMITS_H
#define NIC_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

#include "rltp/limits.h"
#include "wire/limits.h"

#define NIC_FUNCTIONS        WIRE_FUNCTIONS
#define NIC_QPS_PER_FUNCTION DXP_QPS
/* if each has one queue pair */
#define NIC_USERS     (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)
#define NIC_DOORBELLS DXP_DOORBELLS /* entries of a doorbell FIFO */
/* polls between calls of doorbells_overrun(), which costs a cache miss per busy user */
#define NIC_CLAIMS_POLLS 256
/* requests per queue pair: four queue pairs sustain 4 M NAP/s at 60 us round trip */
#define NIC_OUTSTANDING_MAX 64
#define NIC_NAP_BYTES_MAX   DXP_NAP_BYTES
/* entries of both lists of a descriptor */
#define NIC_LIST_ENTRIES_MAX DXP_LIST_ENTRIES
/* entries of chains in progress per user: 16 MiB */
#define NIC_CHAIN_ENTRIES_MAX DXP_CHAIN_ENTRIES
/* entries per list of a chain resolved together: half of a request's pieces */
#define NIC_CHAIN_WINDOW (NIC_LIST_ENTRIES_MAX / 2)
#define NIC_REGIONS_MAX  4096 /* 12 index bits of a memory key */
/* wrong keys and magics of one peer or user at once, and ns until one more. A host with old keys
 * after a restart sends fewer. Half of all values of a key, 2^19, take 6 days. */
#define NIC_WRONG_OWN    32
#define NIC_WRONG_OWN_NS (1000ull * 1000 * 1000)
/* wrong ones of all peers and users together: nodes that join again for each attempt need 4.5 hours
 * for 2^19 values */
#define NIC_WRONG_ALL    1024
#define NIC_WRONG_ALL_NS (1000ull * 1000 * 1000 / 32)
/* right keys remembered per peer or user: device memory and a few buffers */
#define NIC_KEYS_KNOWN 4
/* entries per event ring: twice the outstanding requests of all queue pairs */
#define NIC_EVENTS DXP_EVENTS
/* NAPs per stream before the first grant. With many peers, receive entries may run out. */
#define NIC_NAP_CREDIT 16
/* ns after which unused credit may be granted to others too */
#define NIC_CREDIT_IDLE_NS (10ull * 1000 * 1000)
/* NAPs; a grant that permits more at once is invalid and ignored */
#define NIC_CREDIT_AHEAD_MAX 65535
#define NIC_BUFFERS_KEPT     64 /* buffers for NAPs out of order, kept for reuse: 128 KiB */
/* ns until an allocation is tried again */
#define NIC_MEMORY_RETRY_NS (1000ull * 1000)
/* bytes copied inside the NIC per poll: 10 us without packets */
#define NIC_QUANTUM_BYTES (256u << 10)
/* bytes that a queue pair copies before the next one: shorter slices slow a long PUT by 5 % */
#define NIC_SLICE_BYTES (128u << 10)
#define NIC_REST_BYTES  4096 /* bytes at the end of a copy that join its last slice */
/* receive buffers that a waiting queue pair gets before the next one: half a FIFO */
#define NIC_SPACE_RUN 16
/* ns to the next check for a free receive buffer, doubling: the loop spins as long before it
 * sleeps */
#define NIC_SPACE_CHECK_NS (50u * 1000u)
/* ns: a user that frees no buffer costs 100 wakeups/s */
#define NIC_SPACE_CHECK_MAX_NS (10ull * 1000 * 1000)
/* buffer numbers read ahead (C-30): one cache line of the ring */
#define NIC_BUFFERS_AHEAD 32
#define NIC_AREAS_MAX     16 /* entries of a lookup table: a device has few buffers */
/* ns to the next attempt at a full receiver: one round trip; doubles up to the maximum */
#define NIC_REGISTERS_PAUSE_NS     (20u * 1000u)
#define NIC_REGISTERS_PAUSE_MAX_NS (5000u * 1000u)
/* ns of retries at a full receiver; then the send fails */
#define NIC_REGISTERS_BUSY_NS (1000ull * 1000 * 1000)
/* messages of a stream, from the oldest incomplete one to the newest */
#define NIC_STREAM_WINDOW 128
#define NIC_CFG_WORDS_MAX DXP_CFG_WORDS
/* us until a packet without space in staged memory is sent again */
#define NIC_STAGED_RETRY_US RLTP_WAIT_RETRY_US
/* outstanding writes of staged memory, beyond which only a peer's oldest message, which waits for
 * no other, may begin one. Owners have space for more, so some always complete. */
#define NIC_STAGED_LATER      256
#define NIC_STAGED_COPY_BYTES 4096 /* bytes passed to an owner at once inside a NIC */
/* us until a held message is sent again: the delay if its answer is lost */
#define NIC_HELD_RETRY_US 5000
/* us: limit of doubling NIC_HELD_RETRY_US, well below RLTP_DEAD_NS */
#define NIC_HELD_RETRY_MAX_US 80000
/* bytes of a bounce: hides the latency of a DMA */
#define NIC_BOUNCE_BYTES (256u << 10)
/* bounces per user: 1 MiB, or 32 MiB for all users */
#define NIC_BOUNCES_MAX 4
/* bytes of a message (C-18); software above splits longer operations */
#define NIC_MESSAGE_BYTES_MAX 0x7fffffffu
/* GET, atomic and CFG requests outstanding per session; the responder always has space */
#define NIC_READS_MAX 64

#endif
