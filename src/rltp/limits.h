/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the transport; those of packets are in wire/limits.h. */
#ifndef RLTP_LIMITS_H
#define RLTP_LIMITS_H

/* one per function of a NIC */
#define RLTP_CHANNELS 8
/* for requests and answers of 4 queue pairs */
#define RLTP_CHANNEL_QUEUES 8
#define RLTP_FLOWS          (1 + RLTP_CHANNELS * RLTP_CHANNEL_QUEUES)
/* of a flow; fewer would shorten GSO batches */
#define RLTP_QUANTUM_PACKETS 16
#define RLTP_WEIGHT_MAX      64
/* of a channel: one full GSO batch */
#define RLTP_QUANTUM_BYTES (64u << 10)
/* bytes by weight that a channel may catch up after it was blocked: one quantum */
#define RLTP_LAG_BYTES (64u << 10)
/* bytes by weight that a channel may be ahead when it gets messages again */
#define RLTP_LEAD_BYTES (128u << 10)
/* competing channels of low priority get one byte of this many */
#define RLTP_GUARD_SHARE 16
/* bytes of high channels before one quantum of the others */
#define RLTP_GUARD_BYTES ((RLTP_GUARD_SHARE - 1ull) * RLTP_QUANTUM_BYTES)
/* packets in flight that each flow always may have: one quantum */
#define RLTP_FLOW_PACKETS_MIN 16
/* entries of a new ring: 2 KiB, enough for requests and answers */
#define RLTP_TX_RING_MIN 64
/* packets: four times the bandwidth-delay product of the fastest measured path (4.5 GB/s x 80 us)
 */
#define RLTP_WINDOW_DEFAULT 1024
/* ns without work until a session frees its `io`; longer than a short pause */
#define RLTP_REST_NS (1000ull * 1000 * 1000)
/* ns to the first credit request; doubles */
#define RLTP_CREDIT_REQUEST_NS (100u * 1000u)
/* ns, longest interval, for a receiver without space */
#define RLTP_CREDIT_REQUEST_MAX_NS (100ull * 1000 * 1000)
/* packets: every second batch causes an ACK at once, which makes a stream 5 % faster */
#define RLTP_ACK_EVERY 64
/* messages that cause an ACK at once: half of a queue pair's 32 entries, which the ACK frees */
#define RLTP_ACK_MESSAGES 16
/* ns of delay of an ACK; more lowers the throughput under loss, less saves no packets */
#define RLTP_ACK_DELAY_NS (20u * 1000u)
/* ns, shortest wait before a tail probe */
#define RLTP_PTO_MIN_NS (40u * 1000u)
/* ns that a sleeping peer needs to wake */
#define RLTP_WAKING_NS (100u * 1000u)
/* ns, shortest timeout: a busy peer may lack the CPU for one time slice */
#define RLTP_RTO_MIN_NS (4ull * 1000 * 1000)
/* ns, longest timeout: a third of the 0.6 s that RLTP_DEAD_NS leaves after an outage of 2.9 s */
#define RLTP_RTO_MAX_NS (200ull * 1000 * 1000)
/* ns, longest timeout while a session outlives RLTP_DEAD_NS of silence (see `patience_ns`) */
#define RLTP_RTO_SLOW_NS (1000ull * 1000 * 1000)
/* ns, assumed before the first sample */
#define RLTP_RTT_INITIAL_NS    (2ull * 1000 * 1000)
#define RLTP_IRN_RTO_NS        (320u * 1000u) /* ns, RTO_high in the IRN paper */
#define RLTP_REORDER_STEPS_MAX 16
/* retransmissions without a spurious one that halve the reorder window */
#define RLTP_CLEAN_REPEATS 16
/* ns, shortest: six packets of 1500 bytes at 10 Gb/s */
#define RLTP_REORDER_MIN_NS (8u * 1000u)
/* tail probes before a timeout, each after twice the wait. At 10 % loss, fewer would often cause a
 * timeout. */
#define RLTP_PROBES_MAX 4
/* ns of silence that close a session with outstanding work. It survives an outage of 2.9 s, plus
 * 0.2 s before and 0.2 s until the next retransmission. */
#define RLTP_DEAD_NS (3500ull * 1000 * 1000)
/* ns of silence before a PING, while an answer is outstanding */
#define RLTP_PING_NS (200ull * 1000 * 1000)
/* ns: at least sixteen PINGs before RLTP_DEAD_NS */
#define RLTP_PING_AGAIN_NS (200ull * 1000 * 1000)
/* ns. If rltp_endpoint_send() is this late, this process did not run, and the peers' silence does
 * not count. */
#define RLTP_AWAY_NS (500ull * 1000 * 1000)
/* ns that a peer gets to answer after such a pause: five retransmissions */
#define RLTP_ACTIVE_NS (1000ull * 1000 * 1000)
/* pauses excused between two frames of a peer: a starved process must detect dead peers too */
#define RLTP_AWAY_MAX 30
#define RLTP_PONG_NS  (100ull * 1000 * 1000) /* ns between PONGs to one peer, at least */
/* bytes of payload for an MTU of 1500 */
#define RLTP_PMTU_BASE 1408
/* bytes of payload for an MTU of 1280, which IPv6 guarantees and tunnels leave */
#define RLTP_PMTU_FLOOR 1152
#define RLTP_PMTU_STEP  128 /* bytes: resolution of a search */
/* probes per size: at 10 % loss, one step of a search in 1000 is wrong */
#define RLTP_PMTU_TRIES 3
/* pairs of probes; none answered: the path is broken */
#define RLTP_PMTU_VERIFY_TRIES 60
/* answers of the floor's size, and none of `unit`, that show a black hole. With equal loss, the
 * chance is 2^-10. */
#define RLTP_PMTU_VERIFY_GOOD 10
/* lost packets above the floor, with none arriving, that start verification */
#define RLTP_PMTU_SUSPECT 8
/* ns, shortest wait for a probe's answer; doubles */
#define RLTP_PMTU_WAIT_NS (5ull * 1000 * 1000)
/* ns until the next search for a larger path MTU: PMTU_RAISE_TIMER of RFC 8899 */
#define RLTP_PMTU_AGAIN_NS (600ull * 1000 * 1000 * 1000)
/* datagrams per session and poll: one GSO batch, half of DATAGRAM_BATCH */
#define RLTP_SHARE 44
/* datagrams in long frames per session and poll: two GSO batches */
#define RLTP_POLL_WEIGHT 88
/* packets that each peer may have in flight, for any number of peers */
#define RLTP_RWND_MIN 16
/* packets of at most RLTP_PMTU_BASE that use the buffer space (skb and page) of one of 8896 bytes
 */
#define RLTP_RWND_SHORT 4
/* HELLOs checked per second, without cookie, and with one: at 1 us each 2 % of a core, and 10,000
 * peers reconnect in 1 s */
#define RLTP_HANDSHAKES_PER_S 20000
/* HELLOs per second of a peer, the same number again with a cookie; a correct peer sends at most
 * ten */
#define RLTP_HANDSHAKES_PEER_PER_S 32
/* HELLOs per second from unknown addresses, the same number again with a cookie, so that
 * RLTP_HANDSHAKES_PER_S remains for peers */
#define RLTP_HANDSHAKES_OUTSIDE_PER_S 1000
/* ns until the secret of cookies changes */
#define RLTP_COOKIE_NS (120ull * 1000 * 1000 * 1000)
/* per second: at 2 us each 4 % of a core */
#define RLTP_COOKIES_PER_S 20000
/* HELLOs that COOKIEs may cause in one handshake: several, because the peer may restart with
 * another secret */
#define RLTP_COOKIE_HELLOS 4
#define RLTP_OUTSIDE_MAX   64 /* 350 bytes each */
/* ns to the first retransmitted HELLO; doubles */
#define RLTP_HELLO_FIRST_NS (20ull * 1000 * 1000)
/* ns, longest interval: more than twenty HELLOs before RLTP_DEAD_NS */
#define RLTP_HELLO_MAX_NS (160ull * 1000 * 1000)
/* ns that the answering side waits for the first sealed frame, which the peer retransmits every 4
 * .. 200 ms, before its own HELLO */
#define RLTP_CONFIRM_NS (1000ull * 1000 * 1000)
/* RESETs and REJECTs per second that forged packets can cause. Each share of the peers has one
 * more, so that forged packets do not suppress answers to others. */
#define RLTP_RESETS_PER_S 100
/* answers per second to one share: enough for a network that loses half of them */
#define RLTP_RESETS_SHARE_PER_S 16
#define RLTP_RESETS_SHARES      256 /* the low bits of a node id select one */
/* us, pause in an RNR for a sender without WAIT: half the time of a DMA of 512 KiB */
#define RLTP_WAIT_RETRY_US 32
/* us, pause that a receiver without buffers requests */
#define RLTP_RNR_RETRY_US 100
/* rejections queued per session: one batch of arrivals. Packets beyond it are retransmitted. */
#define RLTP_NACKS_PENDING 64

/* congestion control and pacing: docs/design/congestion.md "Congestion" */
/* packets, first window, also after idle: half of a default socket buffer */
#define RLTP_CC_INITIAL 32
/* 1/256 packets: one packet per 20 round trips, so that a thousand senders can share a receiver */
#define RLTP_CC_WINDOW_MIN 13
/* ns, target fabric delay: a round trip of 5 .. 25 us plus 50 us of queue, of which a new flow may
 * measure 40 us as path delay */
#define RLTP_CC_TARGET_NS (75u * 1000u)
/* ns of queue in the target of longer paths, at least: above a burst of 12 packets of 1500 bytes at
 * 10 Gb/s */
#define RLTP_CC_QUEUE_NS (15u * 1000u)
/* ns, largest addition to the target for small windows, which mean many flows */
#define RLTP_CC_FLOWS_NS (60u * 1000u)
/* ns times sqrt(packets): slope of this addition over 1/sqrt(window), for windows of 0.1 .. 100
 * packets */
#define RLTP_CC_FLOWS_SLOPE_NS 19600u
/* ns subtracted from it, so that it is 0 above 100 packets */
#define RLTP_CC_FLOWS_OFFSET_NS 1960u
/* More than one packet in this many lost, over two round trips, is congestion at any delay. */
#define RLTP_CC_LOSS_HEAVY 4
/* packets; losses of fewer are not significant */
#define RLTP_CC_LOSS_SAMPLE 8
/* ns of pause that halve the window. Queues change faster, but a sender with a burst every 10 ms
 * should not restart. */
#define RLTP_CC_IDLE_NS (10ull * 1000 * 1000)
/* ns of round trip accepted as path delay at once: the target includes them anyway */
#define RLTP_CC_PATH_NS (60u * 1000u)
/* units of 2^20 ns above the target with the smallest window, after which min_delay_ns is replaced
 */
#define RLTP_CC_REBASE 100
/* units of 2^20 ns between cuts that empty the queue; this takes 1 % of the time */
#define RLTP_CC_DRAIN 40
/* of 31: a buffer fuller than half may soon overflow */
#define RLTP_CC_HOST_LEVEL 16
/* ns of the pace in one batch: the resolution of timers */
#define RLTP_PACE_BATCH_NS (20u * 1000u)
/* bytes per batch: one GSO message; longer ones save no time and overflow short queues */
#define RLTP_PACE_BATCH_BYTES (64u << 10)
/* ns: closer batches leave in one poll, so they are not paced */
#define RLTP_PACE_FINEST_NS (4u * 1000u)
/* ns: 1600 senders fill 10 Gb/s, and a stalled sender resumes soon */
#define RLTP_PACE_GAP_MAX_NS (2u * 1000u * 1000u)

#endif
