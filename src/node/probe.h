/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the paths from this node to its peers in the background: round trip, loss, and the
 * longest datagram that arrives. It sends one PROBE a second, to one after another of at most
 * PROBE_PATHS peers. With more peers, it replaces each after PROBE_ROUNDS probes. It also answers
 * at most PROBE_REPLIES_PER_S PROBEs of other nodes, and demands pauses if there are many. It
 * checks the MAC of at most PROBE_CHECKS_PER_S of them. Pure, like member.h. */
#ifndef NODE_PROBE_H
#define NODE_PROBE_H

#include "link/udp.h"
#include "node/limits.h"
#include "wire/probe.h"
#include "wire/stats.h"

struct probe_path {
	uint16_t node;
	uint64_t incarnation; /* incarnation of the peer; a restart begins a new measurement */
	char name[FABRIC_NAME_BYTES];
	uint64_t probes;   /* number of probes sent, short and long */
	uint64_t outcomes; /* results of the last short probes, the newest in bit 0; 1: answered */
	uint32_t judged;   /* number of short probes in `outcomes`, at most PROBE_WINDOW */
	unsigned unanswered; /* short probes without answer since the last answer */
	bool recheck;        /* a long probe was lost, so the next probe is a short one, at once */
	unsigned long_lost;  /* long probes without answer since the last answer to a long one */
	uint64_t srtt_ns, min_rtt_ns;
	uint64_t recent_ns[PROBE_RECENT]; /* the last round trips, in any order; 0: none yet */
	unsigned recent;                  /* index of the oldest one in recent_ns */
	uint8_t reported;                 /* kind of the last change (path_changes.h); 0: none */
	uint64_t answered_ns;             /* time of the last answer; 0: none yet */
	uint64_t pause_ns;                /* end of the pause that the peer demanded */
	/* Lengths of datagrams in bytes: the longest answered one; the next long probe; the longest
	 * that this node's interface permits. */
	uint16_t answered_bytes, long_bytes, limit_bytes;
};

/* The view of the fabric that the functions below get: the peers to measure, and this node. */
struct probe_view {
	/* Returns the peer to measure with the smallest id above `after`, or NULL. Valid until the
	 * next call. */
	const struct node_entry *(*next)(void *context, uint16_t after);
	/* Returns the longest datagram that this node's interface permits on the way to `to`. */
	uint16_t (*limit)(void *context, const struct udp_address *to);
	void *context;
	struct mac *mac; /* computes MACs with the fabric key */
	uint16_t node;   /* id of this node */
};

struct probe {
	struct probe_path paths[PROBE_PATHS];
	unsigned count, current; /* current: index of the path of the last probe */
	uint16_t last;           /* id of the last peer that got a path */
	uint64_t due_ns;         /* time of the next probe */
	uint64_t number;         /* number of the last probe */
	uint64_t sent_ns;
	bool outstanding, is_long;
	/* answers */
	uint64_t second_ns; /* start of the second in which `checks` and `replies` count */
	uint32_t checks;    /* number of PROBEs in this second, forged or not */
	uint32_t replies, replies_before;
	uint8_t frame[PROBE_BYTES_MAX];
};

/* `number`: random, so that no other program can guess the numbers of probes. */
void probe_init(struct probe *p, uint64_t number, uint64_t now_ns);

/* When p->due_ns has passed: fills a datagram, valid until the next call. Returns 1; 0: there is no
 * peer to measure. */
size_t probe_send(struct probe *p, const struct probe_view *view, struct datagram *out,
		  uint64_t now_ns);

/* Handles a frame of type PROBE or PROBE_REPLY. Returns 1 and fills the answer, valid until the
 * next call; 0: none. */
size_t probe_receive(struct probe *p, const struct probe_view *view,
		     const struct datagram_arrival *a, struct datagram *out, uint64_t now_ns);

/* Adds the paths with the lowest node ids from page->first on to a page of STATS_PART_PATHS. */
void probe_page_fill(const struct probe *p, struct stats_page *page, uint64_t now_ns);

#endif
