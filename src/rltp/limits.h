/* SPDX-License-Identifier: BSD-3-Clause */
/* The bounds of the transport, each with its reason; what its packets bound is in base/limits.h. */
#ifndef RLTP_LIMITS_H
#define RLTP_LIMITS_H

#define RLTP_SESSIONS_MAX   (1u << 20) /* 20 index bits of a session id */
#define RLTP_CHANNELS       8 /* that share an endpoint by weight: the functions of a NIC */
#define RLTP_CHANNEL_QUEUES 8 /* four queue pairs; requests and answers beside each */
#define RLTP_FLOWS          (1 + RLTP_CHANNELS * RLTP_CHANNEL_QUEUES)
#define RLTP_QUANTUM_PACKETS \
	16 /* of one flow before the next has its turn: shorter turns make shorter GSO trains */
#define RLTP_WEIGHT_MAX 64
#define RLTP_TURN_BYTES (64u << 10)  /* of a channel before the next has its turn: one GSO train */
#define RLTP_LAG_BYTES  (64u << 10)  /* over weight, that a channel may catch up: one turn */
#define RLTP_LEAD_BYTES (128u << 10) /* that it has to let others catch up, when it comes back */
#define RLTP_FLOW_PACKETS_MIN \
	16                /* that each flow may have under way however many there are: one turn */
#define RLTP_SLOTS_MIN 64 /* of a waking session: 2 KiB, enough for requests and answers */
#define RLTP_WINDOW_DEFAULT \
	1024 /* packets; 4 x (4.5 GB/s x 80 us), the fastest path measured here */
#define RLTP_REST_NS \
	(1000ull * 1000 * 1000) /* a session at rest gives its memory back: a pause is no rest */
#define RLTP_ASK_NS     (100u * 1000u)         /* first question for credit; doubles */
#define RLTP_ASK_MAX_NS (100ull * 1000 * 1000) /* a receiver that takes nothing is not flooded */
#define RLTP_ACK_EVERY \
	64 /* packets that force an acknowledgement: every second train, 5 % more of a stream */
#define RLTP_ACK_MESSAGES 16 /* messages that do: their ends free places of queue pairs, of 32 */
#define RLTP_ACK_DELAY_NS (20u * 1000u) /* more costs goodput under loss, less saves no packets */
#define RLTP_PTO_MIN_NS \
	(40u * 1000u) /* floor of the tail probe: a peer that polls answers well within */
#define RLTP_WAKING_NS \
	(100u * 1000u) /* that a peer which sleeps needs to wake: not a reason for a probe */
#define RLTP_RTO_MIN_NS                                                                           \
	(4ull * 1000 * 1000) /* floor of the timeout: one time slice of a busy peer is not a loss \
			      */
#define RLTP_RTO_MAX_NS \
	(200ull * 1000 * 1000) /* of what RLTP_DEAD_NS allows beyond 2.9 s of silence a third */
#define RLTP_RTO_SLOW_NS       (1000ull * 1000 * 1000) /* to a peer silent beyond RLTP_DEAD_NS */
#define RLTP_RTT_INITIAL_NS    (2ull * 1000 * 1000)    /* before the first sample */
#define RLTP_IRN_RTO_NS        (320u * 1000u)          /* of that design's RTO_high */
#define RLTP_REORDER_STEPS_MAX 16
#define RLTP_CLEAN_REPEATS     16           /* without a needless one: the reorder window halves */
#define RLTP_REORDER_MIN_NS    (8u * 1000u) /* floor of the reorder window: two trains at 10 Gb/s */
#define RLTP_PROBES_MAX                                                                         \
	4 /* tail probes before a timeout, each twice as long as the last: at 10 % loss two are \
	     lost in 4 % of all cases */
#define RLTP_DEAD_NS                                                                             \
	(3500ull * 1000 * 1000) /* silence with work outstanding that ends a session: a network  \
				 * that carries nothing for 2.9 s ends none, because 0.2 s pass  \
				 * at most since the last sign of life, and 0.2 s until the next \
				 * repeat */
#define RLTP_PING_NS     \
	(200ull * 1000 * \
	 1000) /* silence of an awaited peer before it is asked for a sign of life */
#define RLTP_PING_AGAIN_NS (200ull * 1000 * 1000) /* sixteen chances before RLTP_DEAD_NS */
#define RLTP_AWAY_NS                                                                            \
	(500ull * 1000 * 1000) /* by which a look at the sessions is late: this process did not \
				* run meanwhile, and the peers are not called silent */
#define RLTP_AWAKE_NS                                                                             \
	(1000ull * 1000 * 1000) /* at least this is left to a peer then: five repeats, unanswered \
				 */
#define RLTP_AWAY_MAX                                                                            \
	30 /* such absences between two signs of life; a process that hardly ever runs must give \
	    * up too                                                                             \
	    */
#define RLTP_PONG_NS           (100ull * 1000 * 1000) /* between two answers to one peer */
#define RLTP_PMTU_BASE         1408 /* payload in an MTU of 1500, which every network here has */
#define RLTP_PMTU_FLOOR        1152 /* in one of 1280, which IPv6 promises and tunnels leave */
#define RLTP_PMTU_STEP         128  /* a search ends when it is this close */
#define RLTP_PMTU_TRIES        3    /* of each size: at 10 % loss one size in 1000 is misjudged */
#define RLTP_PMTU_VERIFY_TRIES 60   /* pairs of probes; then it is no path at all */
#define RLTP_PMTU_VERIFY_GOOD \
	10 /* answers of the floor before one of the other: 2^-10 where both are lost alike */
#define RLTP_PMTU_SUSPECT  8 /* long packets lost, and none arrived; then probes go out */
#define RLTP_PMTU_WAIT_NS  (5ull * 1000 * 1000) /* first wait for an answer, at least; doubles */
#define RLTP_PMTU_AGAIN_NS (600ull * 1000 * 1000 * 1000) /* RFC 8899, PMTU_RAISE_TIMER */
#define RLTP_SHARE                                                                               \
	44 /* datagrams of one session before the next has its turn: one GSO train, half a batch \
	    */
#define RLTP_RWND_MIN 16 /* packets that each peer may send however many share the buffer */
#define RLTP_RWND_SHORT                                                           \
	4 /* packets of RLTP_PMTU_BASE take the room of one of 8896: skb and page \
	   */
#define RLTP_GREETINGS_PER_S                                                                     \
	20000 /* whose tag is computed, 1 us each: 2 % of a core, and 10,000 peers return in 1 s \
	       */
#define RLTP_GREETINGS_PEER_PER_S 32 /* of one peer: honest ones send ten at most */
#define RLTP_HELLO_FIRST_NS       (20ull * 1000 * 1000)  /* first repeat of a HELLO; doubles */
#define RLTP_HELLO_MAX_NS         (160ull * 1000 * 1000) /* twenty chances before RLTP_DEAD_NS */
#define RLTP_RESETS_PER_S         100 /* answers to unknown sessions: more would be a weapon */
#define RLTP_RNR_RETRY_US         100 /* a receiver out of buffers asks for this pause */
#define RLTP_NACKS_PENDING                                                                        \
	64 /* refusals waiting to be sent per session, a batch of arrivals; more are dropped, the \
	      sender repeats */

/* congestion control and pacing: docs/design.md "Congestion" */
#define RLTP_CC_INITIAL \
	32 /* packets of a fresh or rested session: half of what a stock socket buffer holds */
#define RLTP_CC_WINDOW_MIN                                                                       \
	13 /* 1/256 packets, 0.05: 20 round trips between packets, for a thousand senders to one \
	    */
#define RLTP_CC_TARGET_NS                                                                         \
	(75u * 1000u) /* fabric delay aimed at: the round trip of a fabric, 5 .. 25 us, and 50 us \
			 of queue, of which a newcomer takes up to 40 for the path */
#define RLTP_CC_QUEUE_NS                                                                          \
	(15u * 1000u) /* queue allowed on longer paths; with more than this a loss is congestion: \
			 one clump of 16 packets at 10 Gb/s does not count */
#define RLTP_CC_FLOWS_NS \
	(60u * 1000u) /* what small windows, hence many flows, are allowed on top, at most */
#define RLTP_CC_FLOWS_SLOPE_NS \
	19600u /* of that allowance over 1/sqrt(window): spreads it over 0.1 .. 100 packets */
#define RLTP_CC_FLOWS_OFFSET_NS 1960u /* it ends at 100 packets */
#define RLTP_CC_LOSS_HEAVY \
	4 /* one packet of four lost within two round trips is congestion, whatever the delay */
#define RLTP_CC_LOSS_SAMPLE 8 /* packets below which a share of losses means nothing */
#define RLTP_CC_IDLE_NS                                                              \
	(10ull * 1000 *                                                              \
	 1000) /* after a pause of this the window halves, for each: a queue changes \
		  in less, but a burst each 10 ms should not start from scratch */
#define RLTP_CC_PATH_NS \
	(60u * 1000u) /* round trip that is believed at once: the target holds it in any case */
#define RLTP_CC_REBASE     100 /* 2^20 ns at the smallest window: it did not make the delay */
#define RLTP_CC_DRAIN      40  /* 2^20 ns between two cuts that empty the queue: 1 % of the time */
#define RLTP_CC_HOST_LEVEL 16  /* of 31: a fuller receive buffer is about to lose packets */
#define RLTP_PACE_TRAIN_NS (20u * 1000u) /* of the rate in one train: the timer's grain */
#define RLTP_PACE_TRAIN_BYTES \
	(64u << 10) /* one GSO message; longer ones save nothing, and overrun shallow queues */
#define RLTP_PACE_FINEST_NS \
	(4u * 1000u) /* trains closer than one turn of the loop are not told apart: not paced */
#define RLTP_PACE_GAP_MAX_NS                                                                    \
	(2u * 1000u * 1000u) /* longest wait for a packet's turn: 1600 senders fill 10 Gb/s so, \
				and a host's hiccup is over soon */

#endif
