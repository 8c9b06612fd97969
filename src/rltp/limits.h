/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the transport, each with unit and reason. The bounds of packets are in
 * wire/limits.h. */
#ifndef RLTP_LIMITS_H
#define RLTP_LIMITS_H

/* channels per endpoint: one per function of a NIC */
#define RLTP_CHANNELS 8
/* flows per channel: one for requests and one for answers of each of the 4 queue pairs */
#define RLTP_CHANNEL_QUEUES 8
#define RLTP_FLOWS          (1 + RLTP_CHANNELS * RLTP_CHANNEL_QUEUES)
/* packets per quantum of a flow; with fewer, GSO batches would be shorter */
#define RLTP_QUANTUM_PACKETS 16
#define RLTP_WEIGHT_MAX      64
/* bytes per quantum of a channel: one full GSO batch */
#define RLTP_QUANTUM_BYTES (64u << 10)
/* bytes, divided by the weight, that a channel may catch up after it was blocked: one quantum */
#define RLTP_LAG_BYTES (64u << 10)
/* bytes, divided by the weight, by which a channel may be ahead when it has messages again */
#define RLTP_LEAD_BYTES (128u << 10)
/* While channels of high priority compete with others, the others get one byte of this many. */
#define RLTP_GUARD_SHARE 16
/* bytes that channels of high priority send before the others send one quantum; this ratio is the
 * share above */
#define RLTP_GUARD_BYTES ((RLTP_GUARD_SHARE - 1ull) * RLTP_QUANTUM_BYTES)
/* packets in flight that each flow may have in any case, for any number of other flows: one
 * quantum */
#define RLTP_FLOW_PACKETS_MIN 16
/* entries of a new session's ring: 64 use 2 KiB and are enough for requests and answers */
#define RLTP_TX_RING_MIN 64
/* packets: four times the bandwidth-delay product of the fastest measured path, 4.5 GB/s x 80 us */
#define RLTP_WINDOW_DEFAULT 1024
/* ns without work until a session frees its `io`; so long that a short pause does not free it */
#define RLTP_REST_NS (1000ull * 1000 * 1000)
/* ns until the first credit request; doubled for each further request */
#define RLTP_CREDIT_REQUEST_NS (100u * 1000u)
/* ns, longest interval of credit requests; so long that a receiver without space is not flooded */
#define RLTP_CREDIT_REQUEST_MAX_NS (100ull * 1000 * 1000)
/* packets that cause an acknowledgement without delay: every second batch, which makes a stream 5 %
 * faster */
#define RLTP_ACK_EVERY 64
/* messages that cause an acknowledgement without delay: half of a queue pair's 32 entries, because
 * an acknowledgement frees the entries */
#define RLTP_ACK_MESSAGES 16
/* ns by which an ACK may be delayed. A longer delay lowers the throughput under loss; a shorter one
 * saves no packets. */
#define RLTP_ACK_DELAY_NS (20u * 1000u)
/* ns, shortest wait before a tail probe; a peer that polls answers in less time */
#define RLTP_PTO_MIN_NS (40u * 1000u)
/* ns that a sleeping peer needs to wake; no probe is sent earlier */
#define RLTP_WAKING_NS (100u * 1000u)
/* ns, shortest timeout; a busy peer may be without CPU for one time slice */
#define RLTP_RTO_MIN_NS (4ull * 1000 * 1000)
/* ns, longest timeout: one third of the 0.6 s that RLTP_DEAD_NS leaves after an outage of 2.9 s */
#define RLTP_RTO_MAX_NS (200ull * 1000 * 1000)
/* ns, longest timeout of a session that is kept although its peer has been silent for RLTP_DEAD_NS
 * (see `patience_ns`) */
#define RLTP_RTO_SLOW_NS (1000ull * 1000 * 1000)
/* ns, round trip to assume before the first sample */
#define RLTP_RTT_INITIAL_NS    (2ull * 1000 * 1000)
#define RLTP_IRN_RTO_NS        (320u * 1000u) /* ns, RTO_high in the IRN paper */
#define RLTP_REORDER_STEPS_MAX 16
/* retransmissions in sequence without a spurious one, after which the reorder window is halved */
#define RLTP_CLEAN_REPEATS 16
/* ns, shortest reorder window: the time of six packets of 1500 bytes at 10 Gb/s */
#define RLTP_REORDER_MIN_NS (8u * 1000u)
/* tail probes before a timeout; each waits twice as long as the one before. With fewer, loss would
 * often cause a timeout: at 10 % loss, two probes in sequence are lost in 4 % of cases. */
#define RLTP_PROBES_MAX 4
/* ns of silence after which a session with outstanding work is closed. The session survives a
 * network outage of 2.9 s. At most 0.2 s pass between the last frame and the outage, and at most
 * 0.2 s between the end of the outage and the next retransmission. */
#define RLTP_DEAD_NS (3500ull * 1000 * 1000)
/* ns of silence before a PING, if an answer of the peer is outstanding */
#define RLTP_PING_NS (200ull * 1000 * 1000)
/* ns between PINGs: at least sixteen PINGs before RLTP_DEAD_NS */
#define RLTP_PING_AGAIN_NS (200ull * 1000 * 1000)
/* ns. If rltp_endpoint_send() is called later than this after its deadline, this process did not
 * run. Then the peers' silence in this time does not count. */
#define RLTP_AWAY_NS (500ull * 1000 * 1000)
/* ns, shortest time that a peer has to answer after a pause of this process: the time of five
 * retransmissions */
#define RLTP_ACTIVE_NS (1000ull * 1000 * 1000)
/* pauses of this process that are excused between two frames of a peer. The number is bounded,
 * because a process that hardly runs must detect dead peers too. */
#define RLTP_AWAY_MAX 30
#define RLTP_PONG_NS  (100ull * 1000 * 1000) /* ns between two PONGs to one peer, at least */
/* bytes: payload of a packet for an MTU of 1500, which common networks carry */
#define RLTP_PMTU_BASE 1408
/* bytes: payload of a packet for an MTU of 1280, which IPv6 guarantees and tunnels leave */
#define RLTP_PMTU_FLOOR 1152
#define RLTP_PMTU_STEP  128 /* bytes: a search for the path MTU stops at this resolution */
/* probes per size; with 3, one step of a search in 1000 is wrong at 10 % loss */
#define RLTP_PMTU_TRIES 3
/* pairs of probes; if none is answered, the path is broken and verification stops */
#define RLTP_PMTU_VERIFY_TRIES 60
/* answers to probes of the floor's size, without any answer for `unit`, that indicate a black hole.
 * If both sizes had equal loss, this result would have a chance of 2^-10. */
#define RLTP_PMTU_VERIFY_GOOD 10
/* lost packets longer than the floor, with none arriving, after which verification starts */
#define RLTP_PMTU_SUSPECT 8
/* ns, shortest wait for the answer to the first probe; doubled for each further probe */
#define RLTP_PMTU_WAIT_NS (5ull * 1000 * 1000)
/* ns until the next search for a larger path MTU: PMTU_RAISE_TIMER of RFC 8899 */
#define RLTP_PMTU_AGAIN_NS (600ull * 1000 * 1000 * 1000)
/* datagrams per session and poll: one GSO batch, which is half of DATAGRAM_BATCH */
#define RLTP_SHARE 44
/* packets that each peer may have in flight, at least, for any number of peers */
#define RLTP_RWND_MIN 16
/* short packets (at most RLTP_PMTU_BASE) that use as much buffer space (skb and page) as one packet
 * of 8896 bytes */
#define RLTP_RWND_SHORT 4
/* handshake tags checked per second; at 1 us each, they use 2 % of a core, and 10,000 peers
 * reconnect in 1 s */
#define RLTP_HANDSHAKES_PER_S 20000
/* handshake tags checked per second and peer; a correct peer sends at most ten */
#define RLTP_HANDSHAKES_PEER_PER_S 32
/* handshake tags checked per second for unknown addresses. A flood of such handshakes must not use
 * up RLTP_HANDSHAKES_PER_S. */
#define RLTP_HANDSHAKES_OUTSIDE_PER_S 1000
#define RLTP_OUTSIDE_MAX              64 /* peers outside of the node table; 350 bytes each */
/* ns to the first retransmission of HELLO; doubled for each further retransmission */
#define RLTP_HELLO_FIRST_NS (20ull * 1000 * 1000)
/* ns, longest interval between two HELLOs: more than twenty HELLOs before RLTP_DEAD_NS */
#define RLTP_HELLO_MAX_NS (160ull * 1000 * 1000)
/* ns that the answering side of a handshake with protection waits for the peer's first sealed
 * frame. Then it sends its own HELLO. The peer retransmits that frame every 4 .. 200 ms, so several
 * copies may be lost. */
#define RLTP_CONFIRM_NS (1000ull * 1000 * 1000)
/* RESETs and REJECTs per second; bounds the traffic that an attacker can cause with faked
 * packets */
#define RLTP_RESETS_PER_S 100
/* us, pause in the code RNR that replaces WAIT if the sender does not support WAIT: half the time
 * of a DMA of 512 KiB */
#define RLTP_WAIT_RETRY_US 32
/* us, pause that a receiver without buffers requests from the sender */
#define RLTP_RNR_RETRY_US 100
/* rejections queued per session: one batch of arrivals. If there are more, they are dropped, and
 * the sender retransmits the packets. */
#define RLTP_NACKS_PENDING 64

/* congestion control and pacing: docs/design/congestion.md "Congestion" */
/* packets, window of a new session or after idle: half of a default socket buffer */
#define RLTP_CC_INITIAL 32
/* 1/256 packets, smallest window: one packet per 20 round trips, so that a thousand senders can
 * share a receiver */
#define RLTP_CC_WINDOW_MIN 13
/* ns, target fabric delay: a round trip of 5 .. 25 us, plus 50 us of queue. So large because a new
 * flow may measure 40 us of that queue as path delay. */
#define RLTP_CC_TARGET_NS (75u * 1000u)
/* ns of queue that the target delay of longer paths includes at least. A loss while the queue is
 * longer counts as congestion. A burst of 12 packets of 1500 bytes at 10 Gb/s causes less. */
#define RLTP_CC_QUEUE_NS (15u * 1000u)
/* ns, largest addition to the target for small windows, which mean that many flows share the
 * path */
#define RLTP_CC_FLOWS_NS (60u * 1000u)
/* ns times sqrt(packets): slope of the addition for small windows over 1/sqrt(window). It serves
 * windows of 0.1 .. 100 packets. */
#define RLTP_CC_FLOWS_SLOPE_NS 19600u
/* ns, subtracted from the addition for small windows, so that it is 0 above 100 packets */
#define RLTP_CC_FLOWS_OFFSET_NS 1960u
/* If more than one packet in this many is lost, over two round trips, this is congestion at any
 * delay. */
#define RLTP_CC_LOSS_HEAVY 4
/* packets; the share of losses in fewer packets is not significant */
#define RLTP_CC_LOSS_SAMPLE 8
/* ns of pause after which the window is halved. Queues change faster than this. But a sender with a
 * burst every 10 ms should not restart from the initial window. */
#define RLTP_CC_IDLE_NS (10ull * 1000 * 1000)
/* ns of round trip that are accepted as path delay at once: the target includes this time anyway */
#define RLTP_CC_PATH_NS (60u * 1000u)
/* units of 2^20 ns. If the delay is above the target for this time although the window is the
 * smallest, this flow does not cause the delay, and min_delay_ns is replaced. */
#define RLTP_CC_REBASE 100
/* units of 2^20 ns between two cuts that empty the queue; at this interval, emptying takes 1 % of
 * the time */
#define RLTP_CC_DRAIN 40
/* fill level, of 31; a receive buffer fuller than half may soon overflow */
#define RLTP_CC_HOST_LEVEL 16
/* ns: one batch contains at most what the pace sends in this time; equal to the resolution of
 * timers */
#define RLTP_PACE_BATCH_NS (20u * 1000u)
/* bytes per batch: one GSO message; longer batches save no time and overflow the short queues of
 * switches */
#define RLTP_PACE_BATCH_BYTES (64u << 10)
/* ns between batches; batches closer than this are sent in one poll, so they are not paced */
#define RLTP_PACE_FINEST_NS (4u * 1000u)
/* ns, longest gap between packets: with it, 1600 senders fill 10 Gb/s, and a sender that stalled
 * resumes soon */
#define RLTP_PACE_GAP_MAX_NS (2u * 1000u * 1000u)

#endif
