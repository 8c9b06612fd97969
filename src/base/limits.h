/* SPDX-License-Identifier: BSD-3-Clause */
/* Every bound of the project, with its reason. Nothing grows without one. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* link */
#define LINK_HEADER_BYTES_MAX    192           /* the longest frame without payload: an ACK with 16 bitmap words */
#define LINK_SLICES_MAX          6             /* source list entries that one packet may span; more are cut into more packets */
#define LINK_SOCKET_BUFFER_BYTES (4u << 20)    /* net.core.rmem_max of a stock Debian; root gets it beyond that too */
#define LINK_BATCH               64            /* datagrams handed to or taken from the kernel between two looks at the rest */
#define LINK_SPIN_NS             (50u * 1000u) /* about one wake-up of an idle core: spinning longer costs more than it saves */

/* wire */
#define WIRE_PORT            4795 /* default UDP port of a manager; nodes take any port */
#define WIRE_PAYLOAD_MIN     256  /* below this a path is refused: headers would dominate */
#define WIRE_PAYLOAD_MAX     8896 /* payload of one data packet: 9000-byte MTU less headers, a multiple of 64; also on loopback,
                                   * where trains of these beat single 64 KiB datagrams */
#define WIRE_SACK_WORDS_MAX  16   /* 1024 packets of bitmap per acknowledgement */

/* rltp */
#define RLTP_WINDOW_MAX      4096 /* packets in flight; also the receiver's bitmap, a power of two */
#define RLTP_SESSIONS_MAX    (1u << 20) /* 20 index bits of a session id */
#define RLTP_FLOWS_MAX       4    /* classes of messages inside a session that take turns */

/* nic: C-15, C-36, C-17 */
#define NIC_FUNCTIONS        8    /* one physical and seven virtual */
#define NIC_QPS_PER_FUNCTION 4
#define NIC_DOORBELLS        32   /* depth of a function's FIFO, and requests outstanding per queue pair */
#define NIC_NAP_BYTES_MAX    2048
#define NIC_LIST_ENTRIES_MAX 96   /* entries of source and destination lists together in one descriptor */
#define NIC_REGIONS_MAX      4096 /* 12 index bits of a key */
#define NIC_READS_MAX        64   /* GET, atomic and CFG requests outstanding per session: the responder always has room */

/* fabric */
#define FABRIC_NODES_MAX     4096 /* entries of a node table; ids 1 .. 0xfffd are possible, memory is kept for these */
#define FABRIC_NAME_BYTES    32   /* a node's name and its zero: [A-Za-z0-9._-] */
#define FABRIC_KEY_BYTES     32   /* the shared secret that nodes and manager prove */
#define FABRIC_LEASE_NS      (3000ull * 1000 * 1000) /* a node silent for this long is dead */
#define FABRIC_RENEW_NS      (1000ull * 1000 * 1000) /* three chances within a lease */
#define FABRIC_DEVICE_BYTES  96   /* an engine's own text about its device, and its zero */
#define FABRIC_GRANTS_MAX    4096 /* rows of the grants table: one per node, more are better said with `*` */
#define FABRIC_DATAGRAM_BYTES 1200 /* longest management datagram: passes every path that IPv6 allows, header included */
#define FABRIC_WINDOW        8    /* table pages under way to one node; 9600 bytes fit the smallest socket buffer */
#define FABRIC_KEEP_NS       (600ull * 1000 * 1000 * 1000) /* a dead host stays in the table this long, so that people see it */
#define FABRIC_JOIN_NS       (5000ull * 1000 * 1000) /* default bound on joining: longer than the lease of one who crashed */
#define FABRIC_SLOTS_MAX     16   /* xPU nodes in one box */

#endif
