/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the switch. */
#ifndef SWITCH_LIMITS_H
#define SWITCH_LIMITS_H

/* packets: a window of segments for each of 8 children */
#define SERVE_BATCH 512
/* source ports: one per endpoint of a host */
#define SERVE_SENDERS_MAX 128
/* beyond, a rejection opens no port */
#define SERVE_SENDERS_REJECTED 16
/* until an unused port closes */
#define SERVE_SENDER_IDLE_NS (60ull * 1000 * 1000 * 1000)
/* while the kernel's buffer is full; then packets are dropped, and hosts retransmit */
#define SERVE_SEND_TRIES 16
/* between warnings about used ports */
#define SERVE_REPORT_NS (60ull * 1000 * 1000 * 1000)
#define SERVE_EXPIRE_NS (50ull * 1000 * 1000) /* between checks of leases */

/* packets of one class in a row while the other waits */
#define INPUT_WEIGHT_MAX 16
/* per class: a window of each of 8 children; longer queues outlast hosts' patience */
#define INPUT_QUEUE_PACKETS 512
/* longest segment with headers; longer is malformed */
#define INPUT_PACKET_BYTES 9000
/* batches in a row while both classes have packets: as the queues hold */
#define INPUT_READS 8

/* one per communicator; SHARP switches support 63 to 511 */
#define SWITCH_GROUPS_DEFAULT 256
#define SWITCH_GROUPS_MAX     65536 /* an idle group takes a few KiB */
/* of aggregators: enough for 16 children per group; untouched pages take no memory */
#define SWITCH_MEMORY_DEFAULT (1u << 30)
/* of a group at one switch: ports of a large switch */
#define SWITCH_CHILDREN_MAX 256
/* segments in flight per group: 90 KB, more than a path holds */
#define SWITCH_WINDOW_DEFAULT 64
/* payload: MTU 1500 without headers and ICRC, by 16 */
#define SWITCH_SEGMENT_DEFAULT 1408
#define SWITCH_SEGMENT_MAX     8912 /* payload at MTU 9000 */
/* unacknowledged messages of any connection: a burst of short operations */
#define SWITCH_RING_MIN 16
#define SWITCH_LEASE_MS 30000
/* ns: lease while children are unknown */
#define SWITCH_UNREADY_NS (10ull * 1000 * 1000 * 1000)
/* ns until the same partial result is sent again */
#define SWITCH_AGAIN_NS (200u * 1000u)
/* ns: beyond any delay of packets; an aggregator unused for so long accepts any number */
#define SWITCH_STALE_NS (10ull * 1000 * 1000 * 1000)
/* first capacity for control packets and answers */
#define SWITCH_MESSAGES_MIN 64
/* largest: 1 MiB, a few messages per packet of the largest batch */
#define SWITCH_MESSAGES_MAX 4096
/* queued answers with data, 1400 bytes each */
#define SWITCH_ANSWERS 16
/* packets of a group in a row: two GSO batches */
#define SWITCH_QUANTUM        128
#define SWITCH_REJECTED_PER_S 1000
/* switches below a switch that it remembers, for readers of its counters */
#define SWITCH_BELOW_MAX 64
/* ns after their last packet until they are forgotten: a day, so that switches of a machine that is
 * used once a day stay known */
#define SWITCH_BELOW_NS (86400ull * 1000 * 1000 * 1000)
/* groups and memory of one address of members 0: at most n times what is free, so one job gets 7/8
 * and a small switch can be filled */
#define SWITCH_SHARE        7
#define SWITCH_SOURCE_SHARE 8 /* one address gets at most 1/n of all answers */
#define SWITCH_SOURCES      256
/* from one host: 64 ranks create 100 groups within 1 s */
#define SWITCH_QUERIES_PER_S 10000
/* forwarded KILLs of unknown groups from one host, which may open ports here: twice what the end of
 * ten groups of 64 members needs */
#define SWITCH_KILLS_PER_S 2500
/* ns of saved rate, for bursts of rejections and queries */
#define SWITCH_BURST_NS (200ull * 1000 * 1000)

/* ns until a removed group's entry is reused: beyond any run of the XDP program */
#define PLANE_REST_NS (1000ull * 1000 * 1000)

#endif
