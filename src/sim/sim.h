/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts with the shipped NIC on the virtual network of net.h; one seed replays a run. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "nic/user.h"
#include "sim/net.h"

#define SIM_PAYLOAD_BYTES 1408

struct sim_options {
	uint64_t seed;
	uint32_t hosts;    /* 2 .. 65; host i has node id i + 1 */
	uint64_t delay_ns; /* host to host; 0: 10 us */
	uint64_t rate_bps; /* per host's port; 0: unlimited */
	/* Limits of that port: with more than queue_bytes waiting it drops packets, with more than
	 * mark_bytes it marks them (ECN); 0: never. */
	uint32_t queue_bytes, mark_bytes;
	uint32_t backlog_bytes, socket_bytes; /* see net.h */
	uint64_t poll_ns;
	struct sim_faults faults;
	uint32_t window_packets; /* 0: default */
	bool no_payload_crc;
	bool long_frames; /* hosts send them, and the network carries them whole */
	struct rltp_tuning tuning;
	uint8_t protect;         /* enum wire_protect of all sessions */
	uint64_t update_packets; /* per key; 0: default */
	uint64_t start_ns;       /* clock at the start; 0: 1 s */
	/* for NICs; NULL: by the seed */
	entropy_fn entropy;
	void *entropy_context;
	/* of each host, whose context is its number + 1, as a pointer */
	const struct nic_cfg_ops *cfg;
};

struct sim;

/* Each host knows all others. DXP_ENOMEM, DXP_EINVAL. */
int sim_create(const struct sim_options *options, struct sim **out);
void sim_destroy(struct sim *s);

uint64_t sim_now(const struct sim *s);
struct nic *sim_nic(struct sim *s, uint32_t host);
/* Returns the window of function 0. */
struct dxp_window *sim_window(struct sim *s, uint32_t host);
struct net *sim_net(struct sim *s);

/* Returns queue pair `qp` (0 .. 3) of function 0. */
struct dxp_target sim_target(struct sim *s, uint32_t host, uint16_t qp);

/* Work in the thread of a host's NIC, such as a device behind a bridge. */
struct sim_beside {
	void (*poll)(void *context, uint64_t now_ns); /* before each poll of the NIC */
	/* next poll; UINT64_MAX: none */
	uint64_t (*deadline)(void *context);
};
/* Sets the work; NULL removes it. */
void sim_beside_set(struct sim *s, uint32_t host, const struct sim_beside *ops, void *context);

/* Runs until `done`, called after each step, returns true, `limit_ns` have passed, or no event is
 * left. Returns whether `done` did; it may post requests. */
bool sim_run(struct sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);

/* Replaces a host, as after a crash: larger incarnation, empty memory. `announce`: informs peers,
 * as a node table does. */
int sim_restart(struct sim *s, uint32_t host, bool announce);

/* Makes `host` known to `to`, as a node table does; for example after nic_peer_lost. */
int sim_introduce(struct sim *s, uint32_t to, uint32_t host);

/* Drops all datagrams while on. */
void sim_blackhole(struct sim *s, uint32_t from, uint32_t to, bool on);

/* Ends faults, blackholes, small MTUs and stalls. */
void sim_heal(struct sim *s);

const struct sim_counters *sim_counters(const struct sim *s);

/* Hashes all deliveries with their times; equal seeds give equal hashes. */
uint64_t sim_trace_hash(const struct sim *s);

#endif
