/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of sockets and local connections, each with unit and reason. */
#ifndef LINK_LIMITS_H
#define LINK_LIMITS_H

/* bytes per socket buffer: one full sendmmsg. Only root gets this size on a default Debian, because
 * net.core.rmem_max is smaller there. */
#define LINK_SOCKET_BUFFER_BYTES (4u << 20)
/* GSO batches per sendmmsg: 64 full ones are 4 MiB, the size of the whole socket buffer */
#define LINK_MESSAGES 64
/* iovecs per sendmmsg; equal to UIO_MAXIOV, the kernel's limit for one message */
#define LINK_IOVECS 1024
/* bytes to copy pieces into, for two full GSO batches: so short that they are still in the cache
 * when the kernel reads them */
#define LINK_GATHER_BYTES 131072
/* bytes; if the average piece of a GSO batch is at least this long, the kernel gathers the pieces
 * itself */
#define LINK_GATHER_PIECE_BYTES 4096
/* datagrams in the longest GSO batch that the probe tries; kernels accept 64 or 128 */
#define LINK_SEGMENTS_PROBE 512
/* bytes per receive buffer: GRO merges up to one full IP packet */
#define LINK_RECEIVE_BYTES 65536
/* receive buffers per endpoint with GRO: 512 KiB, half of a level-2 cache. Without GRO the number
 * is DATAGRAM_BATCH. */
#define LINK_RECEIVE_BUFFERS 8
/* connected sockets per endpoint. Each needs buffers and polls, so the polls of more sockets would
 * cost more time than the sockets save. */
#define LINK_BUSY_PEERS 4
/* polls with arrivals by which a peer must lead all other peers together before it gets a socket;
 * creating a socket costs as much time as 50 polls */
#define LINK_BUSY_VOTES 256
/* Of every 4 polls, one also reads a socket other than that of the last arrival. Each such read
 * costs 0.1 us. */
#define LINK_OTHERS_EVERY 4
/* polls with arrivals in which a new connected socket reads the sender's address, because datagrams
 * of other peers may have entered before the connect */
#define LINK_NAMED_LOOKS 64
/* consecutive polls with a single datagram before a socket becomes quiet. The number is large
 * because a change of the time stamp option may patch kernel code, which takes 50 us. */
#define LINK_ALONE_MAX 1024
/* consecutive polls with arrivals after which these count as a stream, even if each poll returns a
 * single datagram */
#define LINK_STREAK_MAX 4
/* polls after which a quiet socket requests GRO, time stamps and ECN bits again, to detect changes;
 * 4096 polls are 30 ms of a ping-pong */
#define LINK_QUIET_LOOKS 4096
/* bytes; a longer single datagram may belong to a stream on a slow path */
#define LINK_SHORT_BYTES 512
/* consecutive messages with other ECN bits before the socket's own ECN bits are changed */
#define LINK_ECN_OTHER 16
/* polls with arrivals, without a sleep, after which the sockets are removed from the epoll set */
#define LINK_UNSLEPT_MAX    64
#define LINK_CROSSBAR_PORTS 16 /* ports: one for each slot of a daemon */
/* datagrams that the fault injector delays at the same time; it drops further ones */
#define LINK_FAULT_HELD 256
/* maximum number of later datagrams that may overtake a delayed one */
#define LINK_FAULT_DISTANCE 16
/* ns after which a delayed datagram leaves even if none overtook it */
#define LINK_FAULT_HOLD_NS (1000u * 1000u)

/* processes that may attach at the same time; others wait in connect */
#define LOCAL_BACKLOG 64

#endif
