/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped cores of in-network computing on the network of inc_net.h: a switch core on every
 * switch, and on hosts as many members of as many groups as wanted, each with the machines of
 * src/inc. What the endpoint does on a real host is done here: it gives packets to the machine
 * they are for. What MPI does, the exchange before there is a group and the agreement whether all
 * have it, happens here out of band, at once. */
#ifndef SIM_INC_SIM_H
#define SIM_INC_SIM_H

#include "inc/create.h"
#include "sim/inc_net.h"
#include "switch/switch.h"

struct inc_sim;

struct inc_sim_options {
	struct inc_net_options net;
	struct sw_options hop; /* name, ip and parents are filled in for each switch */
	uint64_t deadline_ns;  /* of calls; 0: 2 s */
	uint64_t create_ns;    /* of a group's creation; 0: 1 s */
	enum dxp_inc_framing framing;
};

/* Where a member runs: its host, and which of the host's endpoints it has. */
struct inc_place {
	uint32_t host;
	uint16_t endpoint;
};

enum inc_job_state { INC_JOB_CREATING, INC_JOB_READY, INC_JOB_REFUSED, INC_JOB_CLOSED };

struct inc_job;

struct inc_seat {
	struct inc_job *job;
	uint32_t member;
	struct inc_place place;
	bool dead;
	uint64_t start_ns; /* when it begins to create; late members begin late */
	uint64_t wake_ns;  /* when its owner wants a turn; UINT64_MAX: never */
	struct inc_create *create;
	struct inc_group *group;
	int outcome; /* of the creation here; DXP_EAGAIN: not known yet */
	struct inc_control notice;
	uint32_t silent;
	struct inc_seat *next_here;
};

struct inc_job_options {
	const struct inc_place *places; /* in the order of members; copied */
	uint32_t count;
	uint32_t id, qkey; /* 0: drawn */
	uint16_t epoch;
	uint16_t window, segment_bytes; /* at most these; 0: what the switches take */
	uint8_t planes;                 /* 0: all there are */
	uint64_t late_ns;               /* members begin within so much, uniform */
};

struct inc_job {
	struct inc_sim *sim;
	struct inc_job_options options;
	enum inc_job_state state;
	int status; /* of a refused one: as dxp_inc_group_create would say */
	uint64_t created_ns;
	struct inc_seat *seats;
	/* after each turn of the host of a seat, and when the job became ready or was refused; may
	 * start calls */
	void (*turned)(void *context, struct inc_seat *seat, uint64_t now_ns);
	void *context;
	uint32_t kill_next, kill_rounds;
	struct inc_job *next;
};

/* DXP_ENOMEM; DXP_EINVAL. */
int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out);
void inc_sim_destroy(struct inc_sim *s); /* and its jobs */

struct inc_net *inc_sim_net(struct inc_sim *s);
struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index); /* NULL: dead */
uint32_t inc_sim_switches(const struct inc_sim *s);
uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index);

/* Members begin to create the group. */
int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out);

/* Member 0 tells the switches that the group is over; all machines are freed. No call may be in
 * flight at those that live. */
void inc_job_close(struct inc_job *job);

/* The process of a member ends; nothing says so to anybody. */
void inc_seat_kill(struct inc_seat *seat);

/* What the group's host side was made with; valid when the job is ready. */
struct inc_group_options inc_seat_options(const struct inc_seat *seat);

/* The switch's program ends; packets still pass its machine. Started again it knows nothing. */
void inc_sim_switch_kill(struct inc_sim *s, uint32_t index);
int inc_sim_switch_start(struct inc_sim *s, uint32_t index);

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context);
uint64_t inc_sim_now(const struct inc_sim *s);

/* Several may look on. The caller's, until it is taken off. */
struct inc_sim_tap {
	struct inc_tap tap;
	struct inc_sim_tap *next;
};
void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap);
void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap);

/* Packets that hosts refused: not theirs, malformed, or of a wrong ICRC. */
struct inc_sim_refusals {
	uint64_t malformed, icrc_wrong, unknown;
};
const struct inc_sim_refusals *inc_sim_refusals(const struct inc_sim *s);

#endif
