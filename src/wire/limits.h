/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of packets and messages, with unit and reason. Both ends of a connection obey them. */
#ifndef WIRE_LIMITS_H
#define WIRE_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

/* packets */
#define WIRE_PORT        4795 /* default UDP port of managers; nodes use any port */
#define WIRE_SWITCH_PORT 4794 /* default UDP port at which a switch gives its counters */
/* bytes of payload that a path must carry at least. Every IPv6 path carries more. */
#define WIRE_PAYLOAD_MIN 1024
/* bytes of payload in a data packet at most: 9000-byte MTU less headers, a multiple of 64. Also
 * used on loopback, where batches of such packets are faster than single datagrams of 64 KiB. */
#define WIRE_PAYLOAD_MAX    8896
#define WIRE_WINDOW_MAX     4096 /* packets in flight and in the receiver's map; a power of two */
#define WIRE_SACK_WORDS_MAX 16   /* 64-bit words of bitmap in an acknowledgement: 1024 packets */
/* queue pairs in one CREDIT packet: half of the 32 of a NIC. Such a packet is not longer than the
 * longest ACK. */
#define WIRE_CREDIT_ENTRIES_MAX 16
#define WIRE_FUNCTIONS          8 /* functions of a NIC: one physical and seven virtual */

/* bytes of a management datagram; with IP and UDP headers it fits every IPv6 path */
#define FABRIC_DATAGRAM_BYTES 1200

/* xPUs and their hosts */
#define FABRIC_NAME_BYTES 32 /* bytes of a node's name, with the final zero: [A-Za-z0-9._-] */
/* bytes of the text in which an engine describes its device, with the final zero */
#define FABRIC_DEVICE_BYTES 96
/* bytes of incomplete commands of one host on one xPU: about 90,000 short commands. A host limits
 * itself to fewer bytes (HOST_COMMANDS_BYTES). */
#define WIRE_COMMANDS_BYTES   (64u << 20)
#define WIRE_PEER_EVENTS_KEPT 2048 /* events of other xPUs that an xPU keeps for each host */
/* bytes that one kernel may print, as in PoCL; the xPU drops further bytes and counts them */
#define WIRE_PRINT_BYTES (16u << 20)
#define WIRE_BUFFERS_MAX 64 /* buffers per ring of a bridge: more than 8 hide no more latency */
/* bytes per buffer; in the source project, buffers of 32 KiB and less fail (S-09) */
#define WIRE_BUFFER_MIN 4096
#define WIRE_BUFFER_MAX (16u << 20) /* bytes per buffer: no gain beyond 8 MiB (S-08) */

/* collectives */
/* bytes of the longest operation that is one packet, as in the source paper */
#define INC_SHORT_BYTES 256
#define INC_WINDOW_MAX  1024 /* segments in flight for each member of a group */
/* children of a group at a switch that runs in XDP: one bit of a 64-bit word each */
#define INC_KERNEL_CHILDREN 64

#endif
