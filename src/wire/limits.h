/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of packets and messages; both ends obey them. */
#ifndef WIRE_LIMITS_H
#define WIRE_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

/* packets */
#define WIRE_PORT        4795 /* UDP port of managers; nodes use any */
#define WIRE_SWITCH_PORT 4794 /* UDP port of a switch's counters */
/* payload that a path must carry; every IPv6 path carries more */
#define WIRE_PAYLOAD_MIN 1024
/* payload of a data packet: MTU 9000 less headers, a multiple of 64. Also on loopback, where such
 * batches are faster than datagrams of 64 KiB. */
#define WIRE_PAYLOAD_MAX 8896
/* payload of a long frame: with headers, a multiple of 64 that fits one IP packet, also as at most
 * 64 segments of the shortest path */
#define WIRE_LONG_PAYLOAD_MAX 65408
/* packets in flight, and in the receiver's map; a power of two */
#define WIRE_WINDOW_MAX 4096
/* words of bitmap: 1024 packets */
#define WIRE_SACK_WORDS_MAX 16
/* of a NIC's 32 queue pairs; not longer than the longest ACK */
#define WIRE_CREDIT_ENTRIES_MAX 16
#define WIRE_FUNCTIONS          8 /* one physical and seven virtual */

/* management datagram; with IP and UDP headers it fits every IPv6 path */
#define FABRIC_DATAGRAM_BYTES 1200

/* xPUs and their hosts */
#define FABRIC_NAME_BYTES 32 /* with the final zero: [A-Za-z0-9._-] */
/* an engine's text about its device, with the final zero */
#define FABRIC_DEVICE_BYTES 96
/* incomplete commands of a host on an xPU, about 90,000 short ones; hosts use fewer
 * (HOST_COMMANDS_BYTES) */
#define WIRE_COMMANDS_BYTES   (64u << 20)
#define WIRE_PEER_EVENTS_KEPT 2048 /* of other xPUs, per host */
/* one kernel's output, as in PoCL; more is dropped and counted */
#define WIRE_PRINT_BYTES (16u << 20)
#define WIRE_BUFFERS_MAX 64 /* per ring of a bridge: more hide no more latency */
/* buffers of 32 KiB and less fail in the source (S-09) */
#define WIRE_BUFFER_MIN 4096
#define WIRE_BUFFER_MAX (16u << 20) /* no gain beyond 8 MiB (S-08) */

/* collectives */
/* longest operation of one packet, as in the source */
#define INC_SHORT_BYTES 256
#define INC_WINDOW_MAX  1024 /* segments in flight per member */
/* at a switch in XDP: bits of a word */
#define INC_KERNEL_CHILDREN 64

#endif
