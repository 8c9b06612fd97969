/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the switch, each with its unit and reason. */
#ifndef SWITCH_LIMITS_H
#define SWITCH_LIMITS_H

/* packets built together: a window of segments for each of 8 children */
#define SERVE_BATCH 512
/* source ports with an open socket: one for each endpoint of a host */
#define SERVE_SENDERS_MAX 128
/* open ports; if more are open, a rejection does not open another one */
#define SERVE_SENDERS_REJECTED 16
/* ns for which an open port may be unused before it is closed */
#define SERVE_SENDER_IDLE_NS (60ull * 1000 * 1000 * 1000)
/* attempts to send while the kernel's buffer is full; then the packets are dropped, and hosts
 * retransmit */
#define SERVE_SEND_TRIES 16
/* ns between two warnings about ports that other processes use */
#define SERVE_REPORT_NS (60ull * 1000 * 1000 * 1000)
#define SERVE_EXPIRE_NS (50ull * 1000 * 1000) /* ns between checks of leases */

/* largest weight: packets of one class in a row while the other class waits */
#define INPUT_WEIGHT_MAX 16
/* packets per class: a window of each of 8 children. In a longer queue, packets would wait longer
 * than hosts wait for results. */
#define INPUT_QUEUE_PACKETS 512
/* bytes of the longest segment with its headers; longer packets are malformed */
#define INPUT_PACKET_BYTES 9000
/* batches received in a row while both classes have packets: as many as fit the queues */
#define INPUT_READS 8

/* groups by default: one for each communicator; SHARP switches support 63 to 511 */
#define SWITCH_GROUPS_DEFAULT 256
#define SWITCH_GROUPS_MAX     65536 /* groups at most: an idle group takes a few KiB */
/* bytes of all aggregators: enough if each group has 16 children; pages that are never touched take
 * no memory */
#define SWITCH_MEMORY_DEFAULT (1u << 30)
/* children of a group at one switch: as many as the ports of a large switch */
#define SWITCH_CHILDREN_MAX 256
/* segments in flight per group: 90 KB, more than a path holds */
#define SWITCH_WINDOW_DEFAULT 64
/* bytes of payload: an MTU of 1500 without headers and ICRC, rounded down to a multiple of 16 */
#define SWITCH_SEGMENT_DEFAULT 1408
#define SWITCH_SEGMENT_MAX     8912 /* bytes of payload for an MTU of 9000 */
/* unacknowledged messages that every connection permits: enough for a burst of short operations */
#define SWITCH_RING_MIN 16
#define SWITCH_LEASE_MS 30000
/* ns: lease of a group while some of its children are unknown */
#define SWITCH_UNREADY_NS (10ull * 1000 * 1000 * 1000)
/* ns between two transmissions of the same partial result */
#define SWITCH_AGAIN_NS (200u * 1000u)
/* ns: longer than any network delays a packet. An aggregator that was unused for this time accepts
 * any sequence number. */
#define SWITCH_STALE_NS (10ull * 1000 * 1000 * 1000)
/* entries: first capacity of the queue of control packets and answers; it grows */
#define SWITCH_MESSAGES_MIN 64
/* entries: largest capacity of this queue: 1 MiB, a few messages per packet of the largest batch */
#define SWITCH_MESSAGES_MAX 4096
/* answers with data that may be queued, 1400 bytes each */
#define SWITCH_ANSWERS 16
/* packets that a group may send before the next group is served: two GSO batches */
#define SWITCH_QUANTUM        128
#define SWITCH_REJECTED_PER_S 1000
#define SWITCH_SOURCE_SHARE   8 /* one address may get at most 1/n of all answers */
#define SWITCH_SOURCES        256
/* queries per second from one host: 64 ranks can create 100 groups within 1 s */
#define SWITCH_QUERIES_PER_S 10000
/* ns for which an unused rate is saved, so that a later burst may use it; for rejections and for
 * queries */
#define SWITCH_BURST_NS (200ull * 1000 * 1000)

/* ns until the entry of a removed group is reused: longer than any run of the XDP program */
#define PLANE_REST_NS (1000ull * 1000 * 1000)

#endif
