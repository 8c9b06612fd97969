/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of sockets and local connections. */
#ifndef LINK_LIMITS_H
#define LINK_LIMITS_H

/* bytes: one full sendmmsg. Only root gets it on a default Debian, by net.core.rmem_max. */
#define LINK_SOCKET_BUFFER_BYTES (4u << 20)
/* GSO batches per sendmmsg: 64 full ones fill the socket buffer, 4 MiB */
#define LINK_MESSAGES 64
/* per sendmmsg: UIO_MAXIOV, the kernel's limit per message */
#define LINK_IOVECS 1024
/* for two full GSO batches, so that copies are cached when the kernel reads them */
#define LINK_GATHER_BYTES 131072
/* average piece from which on the kernel gathers itself */
#define LINK_GATHER_PIECE_BYTES 4096
/* longest GSO batch tried; kernels accept 64 or 128 */
#define LINK_SEGMENTS_PROBE 512
/* segments of the longest long frame on the path with the shortest datagrams */
#define LINK_LONG_SEGMENTS 64
/* GRO merges up to one full IP packet */
#define LINK_RECEIVE_BYTES 65536
/* per endpoint with GRO: 512 KiB, half of a level-2 cache; DATAGRAM_BATCH without */
#define LINK_RECEIVE_BUFFERS 8
/* connected sockets per endpoint; buffers and polls of more would cost more than they save */
#define LINK_BUSY_PEERS 4
/* polls by which a peer must lead all others together; a new socket costs as much as 50 polls */
#define LINK_BUSY_VOTES 256
/* one of this many polls also reads another socket, in 0.1 us, than that of the last arrival */
#define LINK_OTHERS_EVERY 4
/* polls in which a new connected socket reads the sender's address: others' datagrams may have
 * entered before the connect */
#define LINK_NAMED_LOOKS 64
/* consecutive polls with one datagram until a socket is quiet; many, because the time stamp option
 * may patch kernel code, in 50 us */
#define LINK_ALONE_MAX 1024
/* consecutive polls with arrivals that count as a stream */
#define LINK_STREAK_MAX 4
/* polls after which a quiet socket requests its reports again: 30 ms of a ping-pong */
#define LINK_QUIET_LOOKS 4096
/* bytes; longer single datagrams may be a stream on a slow path */
#define LINK_SHORT_BYTES 512
/* consecutive messages with other ECN bits until the socket's own change */
#define LINK_ECN_OTHER 16
/* polls with arrivals, without a sleep, until the sockets leave the epoll set */
#define LINK_UNSLEPT_MAX    64
#define LINK_CROSSBAR_PORTS 16 /* one for each slot of a daemon */
/* delayed at once; further ones are dropped */
#define LINK_FAULT_HELD 256
/* later datagrams that may overtake a delayed one */
#define LINK_FAULT_DISTANCE 16
/* ns of delay, even if no datagram overtakes */
#define LINK_FAULT_HOLD_NS (1000u * 1000u)

/* processes attaching at once; others wait in connect */
#define LOCAL_BACKLOG 64

#endif
