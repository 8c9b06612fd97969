/* SPDX-License-Identifier: BSD-3-Clause */
/* Shipped cores of in-network computing on inc_net.h: switch cores, and members by src/inc. This
 * file is the hosts' endpoint. What MPI does, to exchange addresses and to agree on the group,
 * takes no time here. */
#ifndef SIM_INC_SIM_H
#define SIM_INC_SIM_H

#include "inc/create.h"
#include "sim/inc_net.h"
#include "switch/switch.h"

struct inc_sim;

struct inc_sim_options {
	struct inc_net_options net;
	/* name, ip and parents are set for each switch */
	struct sw_options hop;
	uint64_t deadline_ns; /* of an operation; 0: 2 s */
	uint64_t create_ns;   /* of a group's creation; 0: 1 s */
	enum dxp_inc_framing framing;
};

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
	/* Start of the group's creation; differs between members. */
	uint64_t start_ns;
	/* ns of the poll that its owner needs; UINT64_MAX: none */
	uint64_t wake_ns;
	struct inc_create *create;
	struct inc_group *group;
	/* of the creation at this member; DXP_EAGAIN: not known yet */
	int outcome;
	struct inc_control notice;
	uint32_t silent;
	struct inc_seat *next_here;
};

struct inc_job_options {
	const struct inc_location *locations; /* by member, `count` entries; copied */
	uint32_t count;
	uint32_t id, qkey; /* 0: random */
	uint16_t epoch;
	/* group's window in segments, and largest segment; 0: as the switches permit */
	uint16_t window, segment_bytes;
	uint8_t planes;   /* 0: all of the switches */
	uint64_t late_ns; /* members start at random within */
};

struct inc_job {
	struct inc_sim *sim;
	struct inc_job_options options;
	enum inc_job_state state;
	int status; /* of a rejected job: as of dxp_inc_group_create() */
	uint64_t created_ns;
	struct inc_seat *seats;
	/* After each poll of the seat's host; a poll follows when the job becomes ready or is
	 * rejected. May start operations. */
	void (*polled)(void *context, struct inc_seat *seat, uint64_t now_ns);
	void *context;
	uint32_t kill_next, kill_rounds;
	struct inc_job *next;
};

/* DXP_ENOMEM, DXP_EINVAL. */
int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out);
void inc_sim_destroy(struct inc_sim *s); /* and its jobs */

struct inc_net *inc_sim_net(struct inc_sim *s);
/* Returns NULL if the program was killed. */
struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index);
uint32_t inc_sim_switches(const struct inc_sim *s);
uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index);

/* Creates a job, which `s` owns; its members start to create the group. DXP_ENOMEM. */
int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out);

/* Sends KILL as member 0. Living members must have no outstanding operation. */
void inc_job_close(struct inc_job *job);

/* Kills without notifying a peer. */
void inc_seat_kill(struct inc_seat *seat);

/* Returns the options without the list of members; valid when the job is ready. */
struct inc_group_options inc_seat_options(const struct inc_seat *seat);

/* A killed program's machine still forwards packets; a started one has no former state. */
void inc_sim_switch_kill(struct inc_sim *s, uint32_t index);
int inc_sim_switch_start(struct inc_sim *s, uint32_t index);

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);
uint64_t inc_sim_now(const struct inc_sim *s);

/* The caller owns it until it is removed. */
struct inc_sim_tap {
	struct inc_tap tap;
	struct inc_sim_tap *next;
};
void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap);
void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap);

/* Packets that hosts rejected; unknown: for no member of the host. */
struct inc_sim_rejections {
	uint64_t malformed, icrc_wrong, unknown;
};
const struct inc_sim_rejections *inc_sim_rejections(const struct inc_sim *s);

#endif
