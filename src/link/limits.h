/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of sockets and local connections, each with unit and reason. */
#ifndef LINK_LIMITS_H
#define LINK_LIMITS_H

/* bytes; more than net.core.rmem_max of a default Debian permits, but that does not limit root */
#define LINK_SOCKET_BUFFER_BYTES (4u << 20)
/* GSO batches per sendmmsg: 4 MiB when full, the whole socket buffer */
#define LINK_MESSAGES 64
/* pieces per sendmmsg; equal to the kernel's UIO_MAXIOV for one GSO batch */
#define LINK_IOVECS 1024
/* bytes, two GSO batches: the copied bytes are still in the cache when the kernel reads them */
#define LINK_GATHER_BYTES 131072
/* bytes; if the pieces of a batch are longer on average, the kernel gathers them */
#define LINK_GATHER_PIECE_BYTES 4096
/* datagrams in the longest GSO batch to try; kernels accept 64 or 128 */
#define LINK_SEGMENTS_PROBE 512
/* bytes per receive buffer: GRO merges up to one full IP packet */
#define LINK_RECEIVE_BYTES 65536
/* buffers with GRO: 512 KiB, half of a level-2 cache; DATAGRAM_BATCH without GRO */
#define LINK_RECEIVE_BUFFERS 8
/* connected sockets, each with its own buffers; polling more sockets would cost what they save */
#define LINK_BUSY_PEERS 4
/* polls by which a peer must lead all other peers before it gets a socket; creating a socket costs
 * 50 polls */
#define LINK_BUSY_VOTES 256
/* every n-th poll also reads a socket other than the busiest; each costs 0.1 us */
#define LINK_OTHERS_EVERY 4
/* polls of a new connected socket that check the source: it may have received datagrams of other
 * peers before the connect */
#define LINK_NAMED_LOOKS 64
/* consecutive polls with a single datagram before a socket becomes quiet: a change of time stamps
 * may patch kernel code, which takes 50 us */
#define LINK_ALONE_MAX 1024
/* consecutive polls with arrivals that count as a stream, even of single datagrams */
#define LINK_STREAK_MAX 4
/* polls after which a quiet socket requests GRO, time stamps and ECN bits again: 30 ms of a
 * ping-pong */
#define LINK_QUIET_LOOKS 4096
#define LINK_SHORT_BYTES 512 /* bytes; longer single datagrams may be a stream on a slow path */
/* consecutive messages with other ECN bits before a socket's bits change */
#define LINK_ECN_OTHER 16
/* successful polls after which the sockets are removed from epoll */
#define LINK_UNSLEPT_MAX    64
#define LINK_CROSSBAR_PORTS 16 /* the slots of a daemon */
/* datagrams that the fault injector delays at once; further ones are dropped */
#define LINK_FAULT_HELD     256
#define LINK_FAULT_DISTANCE 16 /* later datagrams that may overtake a delayed one */
/* ns after which a delayed datagram leaves even if none overtook it */
#define LINK_FAULT_HOLD_NS (1000u * 1000u)

/* processes that may attach at the same time; others wait in connect */
#define LOCAL_BACKLOG 64

#endif
