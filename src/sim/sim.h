/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts with the shipped NIC, on the virtual network of net.h. All random numbers come from one
 * seed, so each failure can be replayed. */
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
	uint32_t hosts;    /* 2 .. 64; host i has node id i + 1 */
	uint64_t delay_ns; /* delay from host to host; 0: 10 us */
	uint64_t rate_bps; /* rate of each host's port; 0: unlimited */
	/* Limits of that port: with more than queue_bytes waiting it drops packets, with more than
	 * mark_bytes it marks them (ECN); 0: never. */
	uint32_t queue_bytes, mark_bytes;
	uint32_t backlog_bytes, socket_bytes; /* see net.h */
	uint64_t poll_ns;
	struct sim_faults faults;
	uint32_t window_packets; /* 0: default */
	bool no_payload_crc;
	struct rltp_tuning tuning;
	uint8_t protect;         /* enum wire_protect, for all sessions */
	uint64_t update_packets; /* packets sent with one key; 0: the default */
	uint64_t start_ns;       /* time at which the clock starts; 0: 1 s */
	/* random source for NICs; NULL: random numbers that follow from the seed */
	entropy_fn entropy;
	void *entropy_context;
	/* registers of each host; their context is the host's number + 1, as a pointer */
	const struct nic_cfg_ops *cfg;
};

struct sim;

/* Creates the hosts; each host knows all others. DXP_ENOMEM, DXP_EINVAL. */
int sim_create(const struct sim_options *options, struct sim **out);
void sim_destroy(struct sim *s);

uint64_t sim_now(const struct sim *s);
struct nic *sim_nic(struct sim *s, uint32_t host);
/* Returns the window of the host's function 0. */
struct dxp_window *sim_window(struct sim *s, uint32_t host);
struct net *sim_net(struct sim *s);

/* Returns queue pair `qp` (0 .. 3) of a host's function 0, as a target for other hosts. */
struct dxp_target sim_target(struct sim *s, uint32_t host, uint16_t qp);

/* Work that runs in the thread of a host's NIC, such as a device behind a bridge. */
struct sim_beside {
	void (*poll)(void *context, uint64_t now_ns); /* called before each poll of the NIC */
	/* returns the time in ns of the next poll; UINT64_MAX: none */
	uint64_t (*deadline)(void *context);
};
/* Sets the work that runs with a host's NIC; NULL removes the work. */
void sim_beside_set(struct sim *s, uint32_t host, const struct sim_beside *ops, void *context);

/* Runs until `done` returns true, `limit_ns` of virtual time have passed, or no event is left.
 * `done` is called after each step. Returns true if `done` did. `done` may post requests. */
bool sim_run(struct sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);

/* Replaces a host, as after a crash: it has a larger incarnation and empty memory. `announce`:
 * informs the peers, like a node table. */
int sim_restart(struct sim *s, uint32_t host, bool announce);

/* Makes host `host` known to host `to`, as a node table does; for example after nic_peer_lost. */
int sim_introduce(struct sim *s, uint32_t to, uint32_t host);

/* While `on` is true, drops all datagrams from host `from` to host `to`. */
void sim_blackhole(struct sim *s, uint32_t from, uint32_t to, bool on);

/* Ends all faults, blackholes, small MTUs and stalls. */
void sim_heal(struct sim *s);

const struct sim_counters *sim_counters(const struct sim *s);

/* Returns a hash over all deliveries and their times. Equal seeds give equal hashes. */
uint64_t sim_trace_hash(const struct sim *s);

#endif
