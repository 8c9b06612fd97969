/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped cores of in-network computing on the network of inc_net.h: a switch core on every
 * switch; on hosts any number of members of any number of groups, with the state machines of
 * src/inc. This module replaces the endpoint of a real host: it passes packets to their state
 * machine. The exchange before a group exists and the agreement that all have it, which MPI does,
 * happen here at once and out of band. */
#ifndef SIM_INC_SIM_H
#define SIM_INC_SIM_H

#include "inc/create.h"
#include "sim/inc_net.h"
#include "switch/switch.h"

struct inc_sim;

struct inc_sim_options {
	struct inc_net_options net;
	struct sw_options hop; /* name, ip and parents are set for each switch */
	uint64_t deadline_ns;  /* of operations; 0: 2 s */
	uint64_t create_ns;    /* of a group's creation; 0: 1 s */
	enum dxp_inc_framing framing;
};

/* Location of a member: host, and endpoint on that host. */
struct inc_location {
	uint32_t host;
	uint16_t endpoint;
};

enum inc_job_state { INC_JOB_CREATING, INC_JOB_READY, INC_JOB_REFUSED, INC_JOB_CLOSED };

struct inc_job;

struct inc_seat {
	struct inc_job *job;
	uint32_t member;
	struct inc_location location;
	bool dead;
	uint64_t start_ns; /* begin of its creation; late members begin late */
	uint64_t wake_ns;  /* next poll for its owner; UINT64_MAX: none */
	struct inc_create *create;
	struct inc_group *group;
	int outcome; /* of its creation; DXP_EAGAIN: not known yet */
	struct inc_control notice;
	uint32_t silent;
	struct inc_seat *next_here;
};

struct inc_job_options {
	const struct inc_location *locations; /* in the order of members; copied */
	uint32_t count;
	uint32_t id, qkey; /* 0: drawn at random */
	uint16_t epoch;
	uint16_t window, segment_bytes; /* maxima; 0: as the switches allow */
	uint8_t planes;                 /* 0: all available */
	uint64_t late_ns;               /* members begin within this time, uniform */
};

struct inc_job {
	struct inc_sim *sim;
	struct inc_job_options options;
	enum inc_job_state state;
	int status; /* of a refused job, as from dxp_inc_group_create */
	uint64_t created_ns;
	struct inc_seat *seats;
	/* called after each poll of a seat's host; a poll follows when the job becomes ready or is
	 * refused; may start operations */
	void (*polled)(void *context, struct inc_seat *seat, uint64_t now_ns);
	void *context;
	uint32_t kill_next, kill_rounds;
	struct inc_job *next;
};

/* Creates the simulation; inc_sim_destroy frees it. DXP_ENOMEM; DXP_EINVAL. */
int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out);
void inc_sim_destroy(struct inc_sim *s); /* frees its jobs too */

struct inc_net *inc_sim_net(struct inc_sim *s);
struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index); /* NULL: dead */
uint32_t inc_sim_switches(const struct inc_sim *s);
uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index);

/* Creates a job, owned by `s`; its members begin to create the group. DXP_ENOMEM. */
int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out);

/* Closes a job: member 0 sends KILL to the switches; all state machines are freed. No operation may
 * be in flight at living members. */
void inc_job_close(struct inc_job *job);

/* Kills a member's process; no peer is notified. */
void inc_seat_kill(struct inc_seat *seat);

/* Returns the options of the member's group, except the list of members; valid when the job is
 * ready. */
struct inc_group_options inc_seat_options(const struct inc_seat *seat);

/* Kill the switch program (packets still pass its machine), or start it again without state. */
void inc_sim_switch_kill(struct inc_sim *s, uint32_t index);
int inc_sim_switch_start(struct inc_sim *s, uint32_t index);

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);
uint64_t inc_sim_now(const struct inc_sim *s);

/* One of several observers; owned by the caller, until removed. */
struct inc_sim_tap {
	struct inc_tap tap;
	struct inc_sim_tap *next;
};
void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap);
void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap);

/* Packets that hosts refused: malformed, of a wrong ICRC, or for no member. */
struct inc_sim_refusals {
	uint64_t malformed, icrc_wrong, unknown;
};
const struct inc_sim_refusals *inc_sim_refusals(const struct inc_sim *s);

#endif
