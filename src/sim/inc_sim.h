/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped cores of in-network computing on the network of inc_net.h. Each switch runs a switch
 * core. Hosts run members of any groups, with the state machines of src/inc. This file replaces a
 * host's endpoint: it passes packets to their state machine. MPI exchanges addresses before a group
 * is created, and agrees afterwards that all members have the group. Here, these two tasks take no
 * time and no packets. */
#ifndef SIM_INC_SIM_H
#define SIM_INC_SIM_H

#include "inc/create.h"
#include "sim/inc_net.h"
#include "switch/switch.h"

struct inc_sim;

struct inc_sim_options {
	struct inc_net_options net;
	/* options of all switches; name, ip and parents are set for each switch */
	struct sw_options hop;
	uint64_t deadline_ns; /* ns that an operation may take; 0: 2 s */
	uint64_t create_ns;   /* ns that the creation of a group may take; 0: 1 s */
	enum dxp_inc_framing framing;
};

/* Host of a member, and number of the member's endpoint on this host. */
struct inc_location {
	uint32_t host;
	uint16_t endpoint;
};

enum inc_job_state { INC_JOB_CREATING, INC_JOB_READY, INC_JOB_REJECTED, INC_JOB_CLOSED };

struct inc_job;

struct inc_seat {
	struct inc_job *job;
	uint32_t member;
	struct inc_location location;
	bool dead;
	/* Time in ns at which this member starts to create the group; it differs between
	 * members. */
	uint64_t start_ns;
	/* time in ns at which the owner of the seat needs a poll; UINT64_MAX: none */
	uint64_t wake_ns;
	struct inc_create *create;
	struct inc_group *group;
	/* status of creating the group at this member; DXP_EAGAIN: not known yet */
	int outcome;
	struct inc_control notice;
	uint32_t silent;
	struct inc_seat *next_here;
};

struct inc_job_options {
	const struct inc_location *locations; /* location of each member, `count` entries; copied */
	uint32_t count;
	uint32_t id, qkey; /* 0: a random number */
	uint16_t epoch;
	/* largest window of the group in segments, and bytes of the largest segment; 0: as large as
	 * the switches permit */
	uint16_t window, segment_bytes;
	uint8_t planes;   /* planes that may be used; 0: all that the switches have */
	uint64_t late_ns; /* ns within which members start, at random times */
};

struct inc_job {
	struct inc_sim *sim;
	struct inc_job_options options;
	enum inc_job_state state;
	int status; /* error of a rejected job: a status of dxp_inc_group_create() */
	uint64_t created_ns;
	struct inc_seat *seats;
	/* Called after each poll of the seat's host. When the job becomes ready or is rejected, a
	 * poll follows. The function may start operations. */
	void (*polled)(void *context, struct inc_seat *seat, uint64_t now_ns);
	void *context;
	uint32_t kill_next, kill_rounds;
	struct inc_job *next;
};

/* Creates the simulation. DXP_ENOMEM, DXP_EINVAL. */
int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out);
void inc_sim_destroy(struct inc_sim *s); /* frees the jobs of the simulation, too */

struct inc_net *inc_sim_net(struct inc_sim *s);
/* Returns the core of a switch; NULL: the switch program was killed. */
struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index);
uint32_t inc_sim_switches(const struct inc_sim *s);
uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index);

/* Creates a job, which `s` owns. The job's members start to create the group. DXP_ENOMEM. */
int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out);

/* Closes a job: member 0 sends KILL, and all state machines are freed. Members that are alive must
 * have no outstanding operation. */
void inc_job_close(struct inc_job *job);

/* Kills the process of a member; no peer is notified. */
void inc_seat_kill(struct inc_seat *seat);

/* Returns the options of the member's group, without the list of members. Valid when the job is
 * ready. */
struct inc_group_options inc_seat_options(const struct inc_seat *seat);

/* inc_sim_switch_kill kills the switch program; its machine still forwards packets.
 * inc_sim_switch_start starts the program again, without its former state. */
void inc_sim_switch_kill(struct inc_sim *s, uint32_t index);
int inc_sim_switch_start(struct inc_sim *s, uint32_t index);

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);
uint64_t inc_sim_now(const struct inc_sim *s);

/* One of several observers. The caller owns it until it is removed. */
struct inc_sim_tap {
	struct inc_tap tap;
	struct inc_sim_tap *next;
};
void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap);
void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap);

/* Numbers of packets that hosts rejected: malformed, with a wrong ICRC, or for no member of the
 * host. */
struct inc_sim_rejections {
	uint64_t malformed, icrc_wrong, unknown;
};
const struct inc_sim_rejections *inc_sim_rejections(const struct inc_sim *s);

#endif
