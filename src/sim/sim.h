/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts, each with the shipped NIC, on the virtual network of net.h. One seed decides everything,
 * so every failure replays. */
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
	uint32_t hosts;                   /* 2 .. 64; node ids 1 .. hosts */
	uint64_t delay_ns;                /* one way; 0: 10 us */
	uint64_t rate_bps;                /* of each host's port; 0: unlimited */
	uint32_t queue_bytes, mark_bytes; /* of the port: more is dropped, marked; 0: nothing is */
	uint32_t backlog_bytes, socket_bytes; /* as in net.h */
	uint64_t turn_ns;
	struct sim_faults faults;
	uint32_t window_packets; /* 0: the default */
	bool no_payload_crc;
	struct rltp_tuning tuning;
	uint64_t start_ns;  /* what the clock shows at first; 0: 1 s */
	entropy_fn entropy; /* where the NICs' numbers come from; NULL: the seed */
	void *entropy_context;
	const struct nic_cfg_ops
		*cfg; /* registers of every host; context is the host's index + 1 as pointer */
};

struct sim;

/* Every host knows every other. DXP_ENOMEM, DXP_EINVAL. */
int sim_create(const struct sim_options *options, struct sim **out);
void sim_destroy(struct sim *s);

uint64_t sim_now(const struct sim *s);
struct nic *sim_nic(struct sim *s, uint32_t host);
struct dxp_window *sim_window(struct sim *s, uint32_t host); /* of function 0 */
struct net *sim_net(struct sim *s);

/* The queue pair 0 .. 3 of a host's function 0, as a target for the others. */
struct dxp_target sim_target(struct sim *s, uint32_t host, uint16_t qp);

/* What works beside a host's NIC, in its thread: a device behind a bridge. */
struct sim_beside {
	void (*turn)(void *context, uint64_t now_ns); /* before each of the NIC's turns */
	uint64_t (*deadline)(void *context);          /* when it wants one; UINT64_MAX: no time */
};
/* NULL: nothing does any more. */
void sim_beside_set(struct sim *s, uint32_t host, const struct sim_beside *ops, void *context);

/* Runs until `done` says so, or `limit_ns` of virtual time have passed from now, or nothing is left
 * to happen. `done` is asked after every step and may post. Returns true when `done` did. */
bool sim_run(struct sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);

/* Replaces a host by a fresh one with a larger incarnation and empty memory, as after a crash. Its
 * peers are told only when `announce` is set, as a node table would. */
int sim_restart(struct sim *s, uint32_t host, bool announce);

/* Tells host `to` of host `host`, as a node table would: after nic_peer_lost, for one. */
int sim_introduce(struct sim *s, uint32_t to, uint32_t host);

/* Nothing from `from` reaches `to` any more, or again. */
void sim_blackhole(struct sim *s, uint32_t from, uint32_t to, bool on);

/* No faults from now on: also no blackholes, small paths and stalls. */
void sim_heal(struct sim *s);

const struct sim_counters *sim_counters(const struct sim *s);

/* A hash over every delivery and its time: equal for equal seeds. */
uint64_t sim_trace_hash(const struct sim *s);

#endif
