/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of packets and messages, with unit and reason; both ends of a connection keep them. */
#ifndef WIRE_LIMITS_H
#define WIRE_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

/* packets */
#define WIRE_PORT 4795 /* default UDP port of managers; nodes use any port */
/* bytes; paths that carry less are rejected, IPv6 guarantees more */
#define WIRE_PAYLOAD_MIN 1024
/* bytes; payload of a data packet: 9000-byte MTU less headers, a multiple of 64. Also used on
 * loopback, where batches of such packets are faster than single datagrams of 64 KiB. */
#define WIRE_PAYLOAD_MAX    8896
#define WIRE_WINDOW_MAX     4096 /* packets in flight and in the receiver's map; a power of two */
#define WIRE_SACK_WORDS_MAX 16   /* words of bitmap per acknowledgement: 1024 packets */
/* queue pairs per CREDIT: half of a NIC's; not longer than the longest ACK */
#define WIRE_CREDIT_ENTRIES_MAX 16
#define WIRE_FUNCTIONS          8 /* functions of a NIC: one physical and seven virtual */

/* bytes of a management datagram, which with headers fits every IPv6 path */
#define FABRIC_DATAGRAM_BYTES 1200

/* xPUs and their hosts */
#define FABRIC_NAME_BYTES 32 /* bytes of a node's name, with the final zero: [A-Za-z0-9._-] */
/* bytes; an engine's text about its device, with the final zero */
#define FABRIC_DEVICE_BYTES 96
/* bytes of incomplete commands of one host on one xPU: 90,000 short ones; hosts stay below it
 * (HOST_COMMANDS_BYTES) */
#define WIRE_COMMANDS_BYTES   (64u << 20)
#define WIRE_PEER_EVENTS_KEPT 2048 /* events of other xPUs that are kept per host */
/* bytes that one kernel may print, as in PoCL; further bytes are counted and dropped */
#define WIRE_PRINT_BYTES (16u << 20)
#define WIRE_BUFFERS_MAX 64          /* buffers of a bridge: more than 8 hide no more latency */
#define WIRE_BUFFER_MIN  4096        /* bytes; the source project fails at 32 KiB and less (S-09) */
#define WIRE_BUFFER_MAX  (16u << 20) /* bytes; no gain beyond 8 MiB (S-08) */

/* collectives */
#define INC_SHORT_BYTES     256  /* bytes of an operation in one packet, as in the source */
#define INC_WINDOW_MAX      1024 /* segments in flight per group and member */
#define INC_KERNEL_CHILDREN 64   /* children per group at a switch that runs in XDP: one bit each */

#endif
