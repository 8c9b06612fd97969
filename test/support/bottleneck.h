/* SPDX-License-Identifier: BSD-3-Clause */
/* Models flows that share one finite queue in virtual time, in a closed loop, to test congestion
 * control alone. A flow is only a window, a pace and counters: no sessions and no bytes. It always
 * has data, except in one idle interval that a test may set. A loss is detected one reorder window
 * after the missing acknowledgement was due. */
#ifndef TEST_SUPPORT_BOTTLENECK_H
#define TEST_SUPPORT_BOTTLENECK_H

#include "base/rng.h"
#include "rltp/cc.h"
#include "rltp/pace.h"

#define BOTTLENECK_FLOWS_MAX 256

struct bottleneck_options {
	uint64_t rate_bps;      /* bytes per second that the queue sends */
	uint64_t access_bps;    /* bytes per second of each sender's link */
	uint32_t delay_ns;      /* ns of round-trip propagation */
	uint32_t queue_packets; /* packets arriving at a queue of this length are dropped */
	/* above this length, arriving packets are marked; 0: never */
	uint32_t mark_packets;
	uint32_t loss_ppm; /* packets of a million that are lost behind the queue */
	uint32_t packet_bytes;
	/* packets that the receiver acknowledges together; fewer wait for RLTP_ACK_DELAY_NS */
	uint32_t ack_every;
	uint32_t noise_ns; /* each delay sample is increased by a random 0 .. noise_ns */
	/* delay samples of a million that are increased by up to spike_ns more */
	uint32_t spike_ppm;
	/* ns; models a sender that is preempted between the time stamp and the system call */
	uint32_t spike_ns;
	uint32_t host_ns; /* ns until the sender processes an arrived acknowledgement */
	uint64_t idle_from_ns, idle_to_ns; /* virtual ns; no flow has data in this interval */
	uint64_t seed;
	enum cc_kind kind;
	uint32_t most;  /* largest window of a flow in packets */
	uint32_t flows; /* 1 .. BOTTLENECK_FLOWS_MAX */
	uint8_t rx_level;
};

struct bottleneck_flow {
	struct cc cc;
	struct pace pace;
	uint64_t start_ns; /* virtual time */
	uint64_t sent, delivered, dropped, lost;
	uint64_t srtt_ns;
	uint64_t access_free_ns;
	uint32_t inflight;
	bool limited, hello_done;
	/* packets counted by the receiver since its last acknowledgement */
	uint32_t arrived, arrived_marked;
	uint64_t newest_sent_ns, newest_ns;
	/* acknowledgement timers started; only the newest one is valid */
	uint32_t ack_timers;
};

struct bottleneck_event;

struct bottleneck {
	struct bottleneck_options options;
	struct bottleneck_flow flow[BOTTLENECK_FLOWS_MAX];
	struct rng rng;
	uint64_t now_ns, busy_until_ns;
	uint64_t queue_sum; /* sum of the queue length in packets, over all arrivals */
	uint64_t arrivals;
	uint32_t queue_most;
	struct bottleneck_event *heap;
	uint32_t events, space;
	uint64_t serial;
};

/* Aborts if out of memory. All flows start at time 0; a test may change their start_ns before the
 * first run. */
void bottleneck_create(struct bottleneck *b, const struct bottleneck_options *options);
void bottleneck_destroy(struct bottleneck *b);

void bottleneck_run(struct bottleneck *b, uint64_t until_ns);

void bottleneck_reset(struct bottleneck *b);

/* Delivered bytes since the last reset, divided by what the queue can send in `span_ns`. */
double bottleneck_utilisation(const struct bottleneck *b, uint64_t span_ns);

/* Packets dropped by the queue, divided by the packets sent. */
double bottleneck_drops(const struct bottleneck *b);

/* Jain's fairness index of the bytes that the first `flows` flows delivered; 1 is fair. */
double bottleneck_fairness(const struct bottleneck *b, uint32_t flows);

/* Mean length of the queue at arrivals, in packets. */
double bottleneck_queue(const struct bottleneck *b);

#endif
