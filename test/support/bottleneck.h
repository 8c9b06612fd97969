/* SPDX-License-Identifier: BSD-3-Clause */
/* A closed loop for congestion control alone: flows with endless appetite share one queue of finite
 * length in virtual time. Each flow is a window, a pace and counters; losses are known a reorder
 * window after the acknowledgement that would have been. No session, no bytes: what is judged is
 * cc and pace. */
#ifndef TEST_SUPPORT_BOTTLENECK_H
#define TEST_SUPPORT_BOTTLENECK_H

#include "base/rng.h"
#include "rltp/cc.h"
#include "rltp/pace.h"

#define BOTTLENECK_FLOWS_MAX 256

struct bottleneck_options {
	uint64_t rate_bps;      /* of the queue, bytes per second */
	uint64_t access_bps;    /* of each sender's own link */
	uint32_t delay_ns;      /* propagation, there and back together */
	uint32_t queue_packets; /* then it drops */
	uint32_t mark_packets;  /* marks when longer than this; 0: never */
	uint32_t loss_ppm;      /* of what left the queue */
	uint32_t packet_bytes;
	uint32_t ack_every; /* arrivals for one acknowledgement; a rest waits RLTP_ACK_DELAY_NS */
	uint32_t noise_ns;  /* each delay sample is longer by 0 .. this */
	uint32_t spike_ppm; /* of samples that are longer by up to spike_ns */
	uint32_t spike_ns;  /* a sender that was not scheduled between stamp and system call */
	uint32_t host_ns;   /* a sender takes an acknowledgement so much later than it came */
	uint64_t idle_from_ns, idle_to_ns; /* nobody has anything to send */
	uint64_t seed;
	enum cc_kind kind;
	uint32_t most;  /* window bound, packets */
	uint32_t flows; /* 1 .. BOTTLENECK_FLOWS_MAX */
	uint8_t rx_level;
};

struct bottleneck_flow {
	struct cc cc;
	struct pace pace;
	uint64_t start_ns; /* of sending */
	uint64_t sent, delivered, dropped, lost;
	uint64_t srtt_ns;
	uint64_t access_free_ns;
	uint32_t inflight;
	bool limited, greeted;
	/* receiver */
	uint32_t arrived, arrived_marked;
	uint64_t newest_sent_ns, newest_ns;
	uint32_t ack_timers; /* started so far: an older one has nothing to say */
};

struct bottleneck_event;

struct bottleneck {
	struct bottleneck_options options;
	struct bottleneck_flow flow[BOTTLENECK_FLOWS_MAX];
	struct rng rng;
	uint64_t now_ns, busy_until_ns;
	uint64_t queue_sum; /* packets found by each arrival */
	uint64_t arrivals;
	uint32_t queue_most;
	struct bottleneck_event *heap;
	uint32_t events, room;
	uint64_t serial;
};

/* Aborts without memory. All flows start at 0; move start_ns before the first run. */
void bottleneck_create(struct bottleneck *b, const struct bottleneck_options *options);
void bottleneck_destroy(struct bottleneck *b);

/* Runs to `until_ns` of virtual time. */
void bottleneck_run(struct bottleneck *b, uint64_t until_ns);

/* Forgets what was counted: what follows is measured. */
void bottleneck_reset(struct bottleneck *b);

/* Since the last reset: delivered bytes as a share of rate times `span_ns`. */
double bottleneck_utilisation(const struct bottleneck *b, uint64_t span_ns);

/* Dropped by the queue as a share of what was sent. */
double bottleneck_drops(const struct bottleneck *b);

/* Jain's index of what was delivered, over the first `flows` flows: 1 is fair. */
double bottleneck_fairness(const struct bottleneck *b, uint32_t flows);

/* Mean length that arrivals found, in packets. */
double bottleneck_queue(const struct bottleneck *b);

#endif
