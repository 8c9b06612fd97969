/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the switch. */
#ifndef SWITCH_LIMITS_H
#define SWITCH_LIMITS_H

#define SERVE_BATCH       512 /* packets built together: a window for each of 8 children */
#define SERVE_SENDERS_MAX 128 /* open source ports: one per endpoint of a host */
/* open ports above which a rejection does not open another one */
#define SERVE_SENDERS_REJECTED 16
/* ns without use until a port is closed */
#define SERVE_SENDER_IDLE_NS (60ull * 1000 * 1000 * 1000)
/* attempts to send while the kernel's buffer is full; after that hosts retransmit */
#define SERVE_SEND_TRIES 16
/* ns between warnings about a port */
#define SERVE_REPORT_NS (60ull * 1000 * 1000 * 1000)
#define SERVE_EXPIRE_NS (50ull * 1000 * 1000) /* ns between checks of leases */

/* packets of one class in a row while the other class waits */
#define INPUT_WEIGHT_MAX 16
/* packets: a window of each of 8 children. More packets would wait longer than hosts wait for
 * results. */
#define INPUT_QUEUE_PACKETS 512
/* bytes: longest segment and its headers; longer packets are malformed */
#define INPUT_PACKET_BYTES 9000
/* batches received at once while both classes have packets: as many as fit the queues */
#define INPUT_READS 8

/* groups: one per communicator; SHARP switches have 63 to 511 */
#define SWITCH_GROUPS_DEFAULT 256
#define SWITCH_GROUPS_MAX     65536 /* groups: an idle one has some KiB */
/* bytes of all aggregators if each group has 16 children; untouched pages cost no memory */
#define SWITCH_MEMORY_DEFAULT (1u << 30)
#define SWITCH_CHILDREN_MAX   256 /* children per group and switch: the ports of a large switch */
#define SWITCH_WINDOW_DEFAULT 64  /* segments in flight: 90 KB, more than a path holds */
/* bytes: MTU of 1500 less headers and ICRC; a multiple of 16 */
#define SWITCH_SEGMENT_DEFAULT 1408
#define SWITCH_SEGMENT_MAX     8912 /* bytes, for an MTU of 9000 */
/* messages of a connection without acknowledgement: a burst of short operations */
#define SWITCH_RING_MIN 16
#define SWITCH_LEASE_MS 30000
/* ns: lease of a group without all children */
#define SWITCH_UNREADY_NS (10ull * 1000 * 1000 * 1000)
#define SWITCH_AGAIN_NS   (200u * 1000u) /* ns between two sends of a partial result */
/* ns: longer than any network delays a packet; an aggregator unused for that long accepts any
 * sequence number */
#define SWITCH_STALE_NS (10ull * 1000 * 1000 * 1000)
/* first capacity of the queue of control packets and answers; grows */
#define SWITCH_MESSAGES_MIN 64
/* largest capacity of that queue: 1 MiB, a few messages per packet of the largest batch */
#define SWITCH_MESSAGES_MAX   4096
#define SWITCH_ANSWERS        16  /* queued answers with data, 1400 bytes each */
#define SWITCH_QUANTUM        128 /* packets per poll and group: two GSO batches */
#define SWITCH_REJECTED_PER_S 1000
#define SWITCH_SOURCE_SHARE   8 /* largest share of one address in all answers: 1/8 */
#define SWITCH_SOURCES        256
#define SWITCH_QUERIES_PER_S  10000 /* queries per host: 64 ranks create 100 groups in 1 s */
/* ns of unused rate that a later burst may use, for rejections and for queries */
#define SWITCH_BURST_NS (200ull * 1000 * 1000)

/* ns until an entry of a removed group is reused: longer than any run of the program */
#define PLANE_REST_NS (1000ull * 1000 * 1000)

#endif
