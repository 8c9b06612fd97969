/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped cores of in-network computing on the network of inc_net.h: a switch core on each
 * switch; on hosts, members of any groups with the state machines of src/inc. It replaces a host's
 * endpoint: it passes packets to their state machine. MPI's tasks around the creation of a group
 * (exchange of addresses, agreement that all have the group) take no time and no packets here. */
#ifndef SIM_INC_SIM_H
#define SIM_INC_SIM_H

#include "inc/create.h"
#include "sim/inc_net.h"
#include "switch/switch.h"

struct inc_sim;

struct inc_sim_options {
	struct inc_net_options net;
	struct sw_options hop; /* name, ip and parents are set per switch */
	uint64_t deadline_ns;  /* deadline of operations; 0: 2 s */
	uint64_t create_ns;    /* time limit of a group's creation; 0: 1 s */
	enum dxp_inc_framing framing;
};

/* A member's host, and its endpoint there. */
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
	/* time at which this member starts to create the group; differs between members */
	uint64_t start_ns;
	uint64_t wake_ns; /* next poll for its owner; UINT64_MAX: none */
	struct inc_create *create;
	struct inc_group *group;
	int outcome; /* result of creating the group at this member; DXP_EAGAIN: not known yet */
	struct inc_control notice;
	uint32_t silent;
	struct inc_seat *next_here;
};

struct inc_job_options {
	const struct inc_location *locations; /* location of each member; copied */
	uint32_t count;
	uint32_t id, qkey; /* 0: random */
	uint16_t epoch;
	uint16_t window, segment_bytes; /* maxima; 0: as the switches allow */
	uint8_t planes;                 /* 0: all available */
	uint64_t late_ns;               /* members start within this time, uniformly */
};

struct inc_job {
	struct inc_sim *sim;
	struct inc_job_options options;
	enum inc_job_state state;
	int status; /* error of a rejected job, a status of dxp_inc_group_create() */
	uint64_t created_ns;
	struct inc_seat *seats;
	/* Called after each poll of a seat's host. A poll follows when the job becomes ready or is
	 * rejected. May start operations. */
	void (*polled)(void *context, struct inc_seat *seat, uint64_t now_ns);
	void *context;
	uint32_t kill_next, kill_rounds;
	struct inc_job *next;
};

/* Creates the simulation. DXP_ENOMEM, DXP_EINVAL. */
int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out);
void inc_sim_destroy(struct inc_sim *s); /* frees its jobs, too */

struct inc_net *inc_sim_net(struct inc_sim *s);
struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index); /* NULL: dead */
uint32_t inc_sim_switches(const struct inc_sim *s);
uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index);

/* Creates a job, owned by `s`; its members start to create the group. DXP_ENOMEM. */
int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out);

/* Closes a job: member 0 sends KILL; all state machines are freed. Living members must have no
 * outstanding operation. */
void inc_job_close(struct inc_job *job);

/* Kills a member's process without notifying any peer. */
void inc_seat_kill(struct inc_seat *seat);

/* Returns the member's group options without the list of members; valid when the job is ready. */
struct inc_group_options inc_seat_options(const struct inc_seat *seat);

/* inc_sim_switch_kill kills the switch program, while its machine still forwards packets.
 * inc_sim_switch_start starts it again without state. */
void inc_sim_switch_kill(struct inc_sim *s, uint32_t index);
int inc_sim_switch_start(struct inc_sim *s, uint32_t index);

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);
uint64_t inc_sim_now(const struct inc_sim *s);

/* One of several observers; owned by the caller until removed. */
struct inc_sim_tap {
	struct inc_tap tap;
	struct inc_sim_tap *next;
};
void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap);
void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap);

/* Packets that hosts rejected: malformed, with a wrong ICRC, or for no member. */
struct inc_sim_rejections {
	uint64_t malformed, icrc_wrong, unknown;
};
const struct inc_sim_rejections *inc_sim_rejections(const struct inc_sim *s);

#endif
