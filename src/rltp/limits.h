/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the transport, each with unit and reason. wire/limits.h has the bounds of packets. */
#ifndef RLTP_LIMITS_H
#define RLTP_LIMITS_H

/* channels: one per function of a NIC; they share an endpoint by weight */
#define RLTP_CHANNELS       8
#define RLTP_CHANNEL_QUEUES 8 /* flows: requests and answers of 4 queue pairs */
#define RLTP_FLOWS          (1 + RLTP_CHANNELS * RLTP_CHANNEL_QUEUES)
/* packets per quantum of a flow; fewer shorten GSO batches */
#define RLTP_QUANTUM_PACKETS 16
#define RLTP_WEIGHT_MAX      64
/* bytes per quantum of a channel: one GSO batch */
#define RLTP_QUANTUM_BYTES (64u << 10)
/* bytes over weight that a channel may catch up: one quantum */
#define RLTP_LAG_BYTES (64u << 10)
/* bytes over weight that a returning channel may be ahead */
#define RLTP_LEAD_BYTES (128u << 10)
/* Channels without priority get one byte of this many while others with priority compete. */
#define RLTP_GUARD_SHARE 16
/* bytes of channels with priority until the others send: then one quantum keeps the share */
#define RLTP_GUARD_BYTES ((RLTP_GUARD_SHARE - 1ull) * RLTP_QUANTUM_BYTES)
/* packets that each flow may have in flight, with any number of other flows: one quantum */
#define RLTP_FLOW_PACKETS_MIN 16
/* entries of a new session's ring: 2 KiB, enough for requests and answers */
#define RLTP_TX_RING_MIN 64
/* packets: four times 4.5 GB/s x 80 us, the fastest measured path */
#define RLTP_WINDOW_DEFAULT 1024
/* ns without work until a session frees its `io`; short pauses do not count */
#define RLTP_REST_NS (1000ull * 1000 * 1000)
/* ns until the first credit request; doubles for each further one */
#define RLTP_CREDIT_REQUEST_NS (100u * 1000u)
/* ns, longest interval of credit requests: does not flood a receiver without space */
#define RLTP_CREDIT_REQUEST_MAX_NS (100ull * 1000 * 1000)
/* packets that force an acknowledgement: every second batch, which gains 5 % for a stream */
#define RLTP_ACK_EVERY 64
/* messages that force an acknowledgement: half of a queue pair's 32 entries, which their
 * completions free */
#define RLTP_ACK_MESSAGES 16
/* ns an ACK is delayed: longer costs goodput under loss, shorter saves no packets */
#define RLTP_ACK_DELAY_NS (20u * 1000u)
/* ns, lower bound of the tail probe: a peer that polls answers well within it */
#define RLTP_PTO_MIN_NS (40u * 1000u)
/* ns that a sleeping peer needs to wake, so no probe is sent earlier */
#define RLTP_WAKING_NS (100u * 1000u)
/* ns, lower bound of the timeout: a busy peer may lose one time slice */
#define RLTP_RTO_MIN_NS (4ull * 1000 * 1000)
/* ns, upper bound of the timeout: a third of the time that RLTP_DEAD_NS leaves after 2.9 s of
 * silence */
#define RLTP_RTO_MAX_NS (200ull * 1000 * 1000)
/* ns, timeout for a peer that is silent for longer than RLTP_DEAD_NS */
#define RLTP_RTO_SLOW_NS       (1000ull * 1000 * 1000)
#define RLTP_RTT_INITIAL_NS    (2ull * 1000 * 1000) /* ns, assumed before the first sample */
#define RLTP_IRN_RTO_NS        (320u * 1000u)       /* ns, IRN's RTO_high */
#define RLTP_REORDER_STEPS_MAX 16
/* consecutive retransmissions, none of them spurious, after which the reorder window is halved */
#define RLTP_CLEAN_REPEATS 16
/* ns, lower bound of the reorder window: two batches at 10 Gb/s */
#define RLTP_REORDER_MIN_NS (8u * 1000u)
/* tail probes before a timeout, each after twice the wait; at 10 % loss two are lost in 4 % of
 * cases */
#define RLTP_PROBES_MAX 4
/* ns of silence that close a session with outstanding work. It survives a network outage of 2.9 s:
 * 0.2 s at most lie between the last frame and the outage, and 0.2 s between the outage and the
 * next retransmission. */
#define RLTP_DEAD_NS (3500ull * 1000 * 1000)
/* ns of silence of an awaited peer before a PING */
#define RLTP_PING_NS       (200ull * 1000 * 1000)
#define RLTP_PING_AGAIN_NS (200ull * 1000 * 1000) /* ns: sixteen PINGs before RLTP_DEAD_NS */
/* ns; if rltp_endpoint_send() is later than this, the process did not run, and the peers were not
 * silent */
#define RLTP_AWAY_NS (500ull * 1000 * 1000)
/* ns that a peer has to answer after such a pause: five retransmissions */
#define RLTP_ACTIVE_NS (1000ull * 1000 * 1000)
/* pauses of this process between two frames of a peer: a process that hardly runs must time out
 * too */
#define RLTP_AWAY_MAX  30
#define RLTP_PONG_NS   (100ull * 1000 * 1000) /* ns between two PONGs to one peer */
#define RLTP_PMTU_BASE 1408 /* bytes: payload in an MTU of 1500, which common networks carry */
/* bytes: payload in an MTU of 1280, guaranteed by IPv6 and left by tunnels */
#define RLTP_PMTU_FLOOR 1152
#define RLTP_PMTU_STEP  128 /* bytes: resolution at which a search stops */
/* probes per size: at 10 % loss, one search step in 1000 is wrong */
#define RLTP_PMTU_TRIES        3
#define RLTP_PMTU_VERIFY_TRIES 60 /* pairs of probes; if none is answered, the path is broken */
/* answers for the floor, without any for `unit`, that indicate a black hole. If both sizes had
 * equal loss, this result would have a chance of 2^-10. */
#define RLTP_PMTU_VERIFY_GOOD 10
/* long packets lost, and none arrived, until probes start */
#define RLTP_PMTU_SUSPECT 8
/* ns, lower bound of the first wait for an answer; doubles each time */
#define RLTP_PMTU_WAIT_NS  (5ull * 1000 * 1000)
#define RLTP_PMTU_AGAIN_NS (600ull * 1000 * 1000 * 1000) /* ns: PMTU_RAISE_TIMER of RFC 8899 */
/* datagrams per session and poll: one GSO batch, half of DATAGRAM_BATCH */
#define RLTP_SHARE 44
/* packets that each peer may send, for any number of peers */
#define RLTP_RWND_MIN 16
/* short packets (RLTP_PMTU_BASE) that use as much buffer space (skb and page) as a packet of 8896
 * bytes */
#define RLTP_RWND_SHORT 4
/* handshake tags per second, 1 us each: 2 % of a core; 10,000 peers reconnect in 1 s */
#define RLTP_HANDSHAKES_PER_S 20000
/* handshake tags per second and peer: a correct peer sends ten at most */
#define RLTP_HANDSHAKES_PEER_PER_S 32
/* handshake tags per second for addresses without a peer: a flood of them must not use up
 * RLTP_HANDSHAKES_PER_S */
#define RLTP_HANDSHAKES_OUTSIDE_PER_S 1000
#define RLTP_OUTSIDE_MAX              64 /* peers outside of the node table, 350 bytes each */
/* ns to the first retransmission of HELLO; doubles for each further one */
#define RLTP_HELLO_FIRST_NS (20ull * 1000 * 1000)
#define RLTP_HELLO_MAX_NS   (160ull * 1000 * 1000) /* ns: twenty HELLOs before RLTP_DEAD_NS */
/* ns that the answering side of a handshake with protection waits for the peer's first sealed frame
 * before it sends a HELLO of its own: the peer sends that frame again each 4 .. 200 ms */
#define RLTP_CONFIRM_NS (1000ull * 1000 * 1000)
/* RESETs per second: bounds reflection attacks */
#define RLTP_RESETS_PER_S 100
/* us, pause requested of a peer that does not support WAIT: half the time of a DMA of 512 KiB */
#define RLTP_WAIT_RETRY_US 32
#define RLTP_RNR_RETRY_US  100 /* us, pause that a receiver without buffers requests */
/* rejections queued per session: one batch of arrivals. Further ones are dropped, and the sender
 * retransmits. */
#define RLTP_NACKS_PENDING 64

/* congestion control and pacing: docs/design/congestion.md "Congestion" */
/* packets, window of a new or idle session: half of a default socket buffer */
#define RLTP_CC_INITIAL 32
/* 1/256 packets: one packet per 20 round trips, so that a thousand senders can share a receiver */
#define RLTP_CC_WINDOW_MIN 13
/* ns, target fabric delay: 5 .. 25 us of round trip and 50 us of queue. A new flow may measure 40
 * us of that queue as path. */
#define RLTP_CC_TARGET_NS (75u * 1000u)
/* ns of queue allowed on longer paths, and above which a loss counts as congestion. A burst of 16
 * packets at 10 Gb/s is shorter. */
#define RLTP_CC_QUEUE_NS (15u * 1000u)
/* ns, largest addition to the target for small windows, which mean many flows */
#define RLTP_CC_FLOWS_NS (60u * 1000u)
/* ns, slope of that addition over 1/sqrt(window): it covers 0.1 .. 100 packets */
#define RLTP_CC_FLOWS_SLOPE_NS  19600u
#define RLTP_CC_FLOWS_OFFSET_NS 1960u /* ns, offset: the addition is 0 above 100 packets */
/* one loss in this many packets, over two round trips, is congestion at any delay */
#define RLTP_CC_LOSS_HEAVY  4
#define RLTP_CC_LOSS_SAMPLE 8 /* packets; a loss share of fewer is not significant */
/* ns of pause that halve the window: queues change faster, but a burst each 10 ms should not
 * restart from the initial window */
#define RLTP_CC_IDLE_NS (10ull * 1000 * 1000)
/* ns of round trip accepted as path delay at once: the target includes them anyway */
#define RLTP_CC_PATH_NS (60u * 1000u)
/* units of 2^20 ns above the target at the smallest window until min_delay_ns is replaced: this
 * flow does not cause the delay */
#define RLTP_CC_REBASE 100
/* units of 2^20 ns between two cuts that empty the queue, which takes 1 % of the time */
#define RLTP_CC_DRAIN 40
/* fill level, of 31; a fuller receive buffer may soon overflow */
#define RLTP_CC_HOST_LEVEL 16
/* ns of sending at the rate in one batch: the timer's resolution */
#define RLTP_PACE_BATCH_NS (20u * 1000u)
/* bytes per batch: one GSO message; longer batches save nothing and overrun shallow queues */
#define RLTP_PACE_BATCH_BYTES (64u << 10)
/* ns between batches; closer ones fall into one poll, so they are not paced */
#define RLTP_PACE_FINEST_NS (4u * 1000u)
/* ns, longest gap between packets: 1600 senders fill 10 Gb/s, and a stalled host resumes soon */
#define RLTP_PACE_GAP_MAX_NS (2u * 1000u * 1000u)

#endif
