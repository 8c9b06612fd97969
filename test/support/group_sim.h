/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates collectives between xPUs: one host and up to 64 members, each with the shipped NIC,
 * over a network with faults, and switches that compute. Runs the shipped plans (src/collective),
 * command graphs, outboxes and notices (src/xpu), event tables of the host (src/host), members and
 * cores of switches (src/inc, src/switch). Code of this simulation replaces devices, memory
 * management, and the calls between these parts.
 *
 * The host posts random operations, several at a time, and checks after each one:
 * - Results are right, and equal in every bit at all members.
 * - Inputs and everything beyond the results are unchanged.
 * - No member's memory is used before the events of its wait list.
 * - If switches are lost, all members report the same number of complete bytes.
 * After the last operation, or a failure, within a bounded time:
 * - The host has an event for every command, and no living member keeps one.
 * - The failure names the member that has died.
 *
 * One seed replays a run. Reproducible: results do not depend on `net_seed` or on times, unless
 * switches are lost. */
#ifndef TEST_SUPPORT_GROUP_SIM_H
#define TEST_SUPPORT_GROUP_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/collective.h>

#include "base/rng.h"
#include "base/util.h"
#include "collective/plan.h"
#include "collective/posting.h"
#include "host/events.h"
#include "sim/inc_sim.h"
#include "sim/sim.h"
#include "xpu/graph.h"
#include "xpu/notices.h"
#include "xpu/outbox.h"
#include "xpu/pieces.h"

#define GSIM_MEMBERS DXP_GROUP_MEMBERS_MAX
#define GSIM_SLOTS   4     /* outstanding operations; each has its own buffers */
#define GSIM_BYTES   16384 /* longest input or output of a member */
#define GSIM_GUARD   64    /* bytes after each buffer that must not change */
#define GSIM_AREA    (GSIM_BYTES + GSIM_GUARD)

/* Defects that the checks must detect: each drops a check or swaps an order. */
enum gsim_defect {
	GSIM_SOUND,
	GSIM_EVENT_BEFORE_DATA, /* the event of a SEND overtakes its data */
	GSIM_WAIT_DROPPED,      /* a kernel does not wait for one of its inputs */
	GSIM_UNGUARDED,         /* scratch memory is reused after an operation that does not
				   synchronize */
	GSIM_HALF_REUSED,       /* segments do not wait for the half of the scratch memory */
	GSIM_BEGIN_IGNORED,     /* the program's wait lists are ignored */
	GSIM_LOSS_UNNOTICED,    /* a member does not learn of another one's death */
	GSIM_FAILURE_HIDDEN,    /* a failed command reports success */
	GSIM_SETTLE_FORGOTTEN,  /* lost allreduces are not completed */
	GSIM_RESCUE_EARLY,      /* the host does not wait for the reports of all members */
	GSIM_REST_SHORT,        /* the continued part begins one element late */
	GSIM_GIVE_UP_FORGOTTEN, /* a member that cannot start does not give up the switches */
	GSIM_ARRIVAL_ORDER,     /* contributions are combined in the order of arrival */
	GSIM_BLAME_LAST,        /* the last failed command is named, not the cause */
	GSIM_DEFECTS
};

struct gsim_options {
	uint64_t seed;     /* of operations and data */
	uint64_t net_seed; /* of faults and times */
	uint32_t members;  /* 2 .. GSIM_MEMBERS */
	uint32_t calls;
	uint32_t outstanding; /* 1 .. GSIM_SLOTS */
	enum dxp_way way;
	bool switches; /* the members have joined switches */
	uint32_t scratch_bytes;
	uint32_t loss_ppm;
	uint32_t slow; /* members 0 .. slow - 1 are slow */
	/* ns after the first operation: a member dies; a switch dies; 0: never */
	uint64_t member_dies_ns, switch_dies_ns;
	uint32_t victim, victim_switch;
	uint32_t revoked_call; /* from this operation on, no PUT to the victim succeeds; 0: never */
	enum gsim_defect defect;
};

struct gsim;
struct gsim_node;

/* A command at a node; `message` has its encoded form. */
struct gsim_work {
	struct graph_command graph; /* first */
	struct gsim_node *node;
	struct gsim_work *next; /* in the engine's queue */
	uint8_t op, need_count;
	bool lazy, early; /* early: the kernel acts at its start, not at its end */
	uint16_t to_node;
	uint64_t needs[COMMAND_WAITS_MAX]; /* events that must have succeeded */
	uint32_t message_bytes;
	uint8_t message[];
};

/* ALLREDUCE at a node. */
struct gsim_reduction {
	struct gsim_reduction *next;
	struct gsim_work *work;
	struct pieces pieces;
	uint64_t from, to;
	enum dxp_inc_type type;
	enum dxp_inc_op op;
	struct inc_operation piece;
};

struct gsim_known {
	uint16_t node;
	uint32_t key;
	uint64_t address, bytes;
};

#define GSIM_KNOWN 64
#define GSIM_HELD  16

/* An xPU. */
struct gsim_node {
	struct gsim *sim;
	uint32_t member;
	bool dead;
	bool knows_lost[GSIM_MEMBERS]; /* by its node table */
	struct graph *graph;
	struct outbox *outbox;
	struct notices *notices;
	uint8_t *memory;
	uint32_t key;
	struct rng rng;
	struct gsim_work *running, **running_tail;
	uint64_t running_end_ns; /* 0: the first one of `running` has not begun */
	uint64_t *failed_events; /* of the engine */
	uint32_t failed_count, failed_space;
	struct gsim_known known[GSIM_KNOWN];
	struct inc_seat *seat; /* NULL: no switches */
	struct gsim_reduction *reduction, *lost;
	uint32_t transfers; /* SENDs and SIGNALs under way */
	uint8_t held[GSIM_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
};

struct gsim_event {
	uint64_t event;
	uint32_t member, peer;
};

struct gsim_operation {
	struct gsim_operation *next;
	uint32_t number, slot;
	struct plan_request request; /* without way and `guarded` */
	enum dxp_type type;
	enum dxp_reduction reduction;
	uint64_t data_seed;
	struct gsim_event *events;
	uint32_t event_count, event_space;
	uint64_t ends[GSIM_MEMBERS], late[GSIM_MEMBERS];
	bool through;        /* by switches, and not continued yet */
	bool by_switches;    /* by switches at first */
	uint64_t done_bytes; /* of a continued operation: bytes by switches */
};

/* An event of the program that a member's begin mark waits for. */
struct gsim_late {
	struct gsim_late *next;
	uint64_t due_ns, event;
	uint64_t nodes; /* bit m: commands of member m wait for the event */
	uint32_t member;
	const struct gsim_operation *operation;
};

struct gsim_host {
	struct gsim *sim;
	struct outbox *outbox;
	struct events events[GSIM_MEMBERS], own;
	bool knows_lost[GSIM_MEMBERS];
	struct gsim_operation *first, **end;
	uint32_t started, completed; /* operations */
	uint64_t ends[GSIM_MEMBERS];
	bool guarded, suspended;
	struct gsim_late *late;
	struct rng rng, pace;
	uint64_t failed_ns; /* when the first operation's failure was seen; 0: not */
	int status;         /* of the group */
	uint32_t named, named_peer;
	uint32_t continued; /* allreduces that continued without switches */
	uint32_t ways[DXP_WAYS];
	uint64_t digest; /* of all results */
	uint64_t wake_ns;
};

struct gsim {
	struct gsim_options options;
	struct sim *sim;
	struct inc_sim *inc;
	struct inc_job *job;
	struct gsim_node nodes[GSIM_MEMBERS];
	struct gsim_host host;
	uint64_t begun_ns; /* first operation */
	bool member_died, switch_died;
	uint64_t
		known_ns[GSIM_MEMBERS + 1]; /* when a node, or last the host, learns of the death */
	uint64_t ended_ns;
	struct rng rng;
	char wrong[256];
};

/* ---- group_sim.c ---- */
/* Runs to the end. Returns the first failed check, or NULL. The text is valid until gsim_free().
 * Call gsim_free() in both cases. */
const char *gsim_run(struct gsim *g, const struct gsim_options *options);
void gsim_free(struct gsim *g);
void gsim_wrong(struct gsim *g, const char *format, ...) PRINTF_LIKE(2, 3);
uint64_t gsim_now(const struct gsim *g);
/* Node ids of sim.h. */
static inline uint16_t gsim_member_id(uint32_t member)
{
	return (uint16_t)(member + 1);
}
static inline uint16_t gsim_host_id(const struct gsim *g)
{
	return (uint16_t)(g->options.members + 1);
}

/* ---- group_node.c ---- */
int gsim_node_open(struct gsim *g, uint32_t member);
void gsim_node_close(struct gsim_node *x);
/* Notes that another xPU is lost in the node's table. */
void gsim_node_learn(struct gsim_node *x, uint32_t lost);
/* Completes pieces whose results have arrived. */
void gsim_node_reduced(struct gsim_node *x);
/* True: no command is left. */
bool gsim_node_idle(const struct gsim_node *x);

/* ---- group_device.c ---- */
/* Runs an engine's command on the memory of the node. */
void gsim_device_run(struct gsim_node *x, const struct command *c);

/* ---- group_host.c ---- */
int gsim_host_open(struct gsim *g);
void gsim_host_close(struct gsim_host *h);
void gsim_host_learn(struct gsim_host *h, uint32_t lost);
/* True: the host has started and completed everything, or the group is lost, and every event of
 * living members is known. */
bool gsim_host_over(const struct gsim_host *h);

/* ---- group_command.c ---- */
/* Sends a command, which waits for these events. Sets *event to its event, which is cancelled if
 * one of the awaited ones has failed. The caller has filled `c`, except its events. */
int gsim_command_start(struct gsim_host *h, uint32_t member, struct command *c,
		       const uint64_t *waits, uint32_t wait_count, uint64_t *event);
/* Returns NULL if the event is unknown. */
struct host_event *gsim_event_find(const struct gsim_host *h, uint64_t event);

/* ---- group_rescue.c ---- */
/* Continues or ends allreduces whose switches are lost, in the order of their start. */
void gsim_rescue(struct gsim_host *h);

/* ---- group_post.c ---- */
/* Posts a plan. `more`: the rest of an operation without switches. */
int gsim_post(struct gsim_host *h, struct gsim_operation *o, const struct plan *plan, bool more,
	      uint64_t ends[GSIM_MEMBERS]);

/* ---- group_data.c ---- */
/* Draws the next operation. */
void gsim_operation_draw(struct gsim_host *h, struct gsim_operation *o);
uint64_t gsim_from(const struct gsim_operation *o, uint32_t member);
uint64_t gsim_to(const struct gsim_operation *o, uint32_t member);
uint64_t gsim_scratch(void);
uint64_t gsim_memory_bytes(const struct gsim *g);
/* Fills the buffers of a member before the operation; `input`: with the input. */
void gsim_fill(struct gsim *g, const struct gsim_operation *o, uint32_t member, bool input);
/* Checks that nothing has used the buffers of a member whose input is still to come. */
void gsim_untouched(struct gsim *g, const struct gsim_operation *o, uint32_t member);
/* Checks the results of a complete operation, and adds them to *digest. */
void gsim_judge(struct gsim *g, const struct gsim_operation *o, uint64_t *digest);

#endif
