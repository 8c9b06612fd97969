/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests congestion control alone, in a closed loop: flows that always have data share one finite
 * queue in virtual time. Each flow is a window, a pace and counters. A loss is detected one reorder
 * window after the missing acknowledgement was due. There are no sessions and no bytes. */
#ifndef TEST_SUPPORT_BOTTLENECK_H
#define TEST_SUPPORT_BOTTLENECK_H

#include "base/rng.h"
#include "rltp/cc.h"
#include "rltp/pace.h"

#define BOTTLENECK_FLOWS_MAX 256

struct bottleneck_options {
	uint64_t rate_bps;      /* bytes per second of the queue */
	uint64_t access_bps;    /* bytes per second of each sender's link */
	uint32_t delay_ns;      /* round-trip propagation */
	uint32_t queue_packets; /* drops beyond this length */
	uint32_t mark_packets;  /* marks beyond this length; 0: never */
	uint32_t loss_ppm;      /* loss of packets that left the queue */
	uint32_t packet_bytes;
	/* arrivals per acknowledgement; the rest waits RLTP_ACK_DELAY_NS */
	uint32_t ack_every;
	uint32_t noise_ns;  /* ns: 0 to this is added to each delay sample */
	uint32_t spike_ppm; /* share of samples with up to spike_ns more */
	uint32_t spike_ns;  /* ns: models a sender preempted between stamp and system call */
	uint32_t host_ns;   /* ns until a sender processes an acknowledgement */
	uint64_t idle_from_ns, idle_to_ns; /* interval in which no flow has data */
	uint64_t seed;
	enum cc_kind kind;
	uint32_t most;  /* bound of the window, packets */
	uint32_t flows; /* 1 .. BOTTLENECK_FLOWS_MAX */
	uint8_t rx_level;
};

struct bottleneck_flow {
	struct cc cc;
	struct pace pace;
	uint64_t start_ns; /* start of sending */
	uint64_t sent, delivered, dropped, lost;
	uint64_t srtt_ns;
	uint64_t access_free_ns;
	uint32_t inflight;
	bool limited, hello_done;
	/* receiver's counts since the last acknowledgement */
	uint32_t arrived, arrived_marked;
	uint64_t newest_sent_ns, newest_ns;
	uint32_t ack_timers; /* timers started so far: only the newest is valid */
};

struct bottleneck_event;

struct bottleneck {
	struct bottleneck_options options;
	struct bottleneck_flow flow[BOTTLENECK_FLOWS_MAX];
	struct rng rng;
	uint64_t now_ns, busy_until_ns;
	uint64_t queue_sum; /* sum of the queue lengths at arrivals, packets */
	uint64_t arrivals;
	uint32_t queue_most;
	struct bottleneck_event *heap;
	uint32_t events, space;
	uint64_t serial;
};

/* Creates the loop. Aborts if out of memory. All flows start at 0; change start_ns before the first
 * run. */
void bottleneck_create(struct bottleneck *b, const struct bottleneck_options *options);
void bottleneck_destroy(struct bottleneck *b);

void bottleneck_run(struct bottleneck *b, uint64_t until_ns);

/* Resets the counters and starts the measurement. */
void bottleneck_reset(struct bottleneck *b);

/* Returns the bytes delivered since the last reset as a share of rate times `span_ns`. */
double bottleneck_utilisation(const struct bottleneck *b, uint64_t span_ns);

/* Returns the share of sent packets that the queue dropped. */
double bottleneck_drops(const struct bottleneck *b);

/* Returns Jain's index of the bytes delivered by the first `flows` flows; 1 is fair. */
double bottleneck_fairness(const struct bottleneck *b, uint32_t flows);

/* Returns the mean queue length at arrivals, in packets. */
double bottleneck_queue(const struct bottleneck *b);

#endif
