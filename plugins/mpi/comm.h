/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of the MPI core: a communicator, and the functions that its files share.
 *
 *   engine.c        settings, messages, progress
 *   communicator.c  agreement and roles: the leader of each rank; lifetime
 *   endpoint.c      the process's endpoint; group of leaders: creation, loss, new creation
 *   leaders.c       operations among leaders, through switches or without
 *   collective.c    an operation from start to completion
 *   way.c           through switches or ordinary, by measurement; choice.c decides */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include <stdalign.h>

#include "choice.h"
#include "engine.h"
#include "types.h"

/* Calls of a communicator before it joins: programs make many communicators for a few calls each.
 * No setting, because ranks with different values would wait for each other. */
#define MPI_FIRST_CALLS 3

#define MPI_SHORT_BYTES 256 /* on the wire; such operations allocate nothing */

/* State of a communicator, equal on all its ranks at the same call. UNTRIED: at most
 * MPI_FIRST_CALLS calls yet. JOINING: the core's own calls on it are ordinary. JOINED: operations
 * are offloaded. REFUSED: roles are assigned, but there is no group; later there may be one.
 * ORDINARY: never offloaded. */
enum mpi_state { MPI_UNTRIED, MPI_JOINING, MPI_JOINED, MPI_REFUSED, MPI_ORDINARY };

/* Collectives whose ways are measured apart. Nonblocking allreduces take the way of blocking ones;
 * they are not timed. */
enum mpi_way { MPI_WAY_ALLREDUCE, MPI_WAY_BARRIER, MPI_WAY_BCAST, MPI_WAY_REDUCE, MPI_WAYS };

struct mpi_choices {
	struct choice of[MPI_WAYS][CHOICE_CLASSES];
};

struct mpi_location {
	int leader;
	int node_rank; /* rank in its node's communicator; the leader's is 0 */
};

/* Message of a leader to its node for a short operation: status and data. */
struct mpi_down {
	int32_t error; /* MPI error code */
	int32_t reserved;
	alignas(8) uint8_t data[MPI_SHORT_BYTES];
};

struct dxp_mpi_comm {
	MPI_Comm comm;
	struct dxp_mpi_comm **owner; /* pointer that destruction clears; may be NULL */
	enum mpi_state state;
	bool watched; /* MPI reports its deletion */
	int rank, ranks;

	/* Agreed by all ranks. */
	enum dxp_inc_mode mode;
	unsigned collectives;
	int64_t max_bytes;
	int retry_calls;
	int64_t measure_calls;         /* 0: max_bytes decides, without measurement */
	uint32_t accepts[DXP_INC_OPS]; /* bit t: switches support the operator on type t */
	int64_t waited, patience;      /* REFUSED: calls since; calls until a retry */

	/* Roles. A node is a leader and the ranks that it serves. MPI_COMM_NULL: a node of one
	 * rank. node_down carries results of nonblocking operations. */
	MPI_Comm node, node_down;
	MPI_Comm leaders; /* MPI_COMM_NULL: not a leader */
	int node_rank, node_ranks, leader, leader_count;
	struct mpi_location *locations; /* index: rank */

	/* At leaders. `lost`: they continue by ordinary collectives. */
	struct dxp_inc_group *group;
	bool lost;
	int64_t lost_waited, lost_patience; /* `waited` and `patience` of a lost group */
	bool lost_reported;

	/* Cache: the last pair that could be mapped, and the last contiguous type. */
	MPI_Datatype type, flat_type;
	MPI_Op op;
	struct mpi_mapping mapping;
	struct mpi_down down;

	_Atomic int outstanding; /* nonblocking operations */

	/* The same on all ranks, except for times. NULL: never joined. */
	struct mpi_choices *choices;
	struct choice *timed; /* choice of the present call if it is timed */
	bool within;          /* inside an ordinary call that mpi_way_begin() chose */
	unsigned nested;      /* calls inside that one: algorithms of MPI consist of others */
	double timed_since;   /* s, PMPI_Wtime */

	/* Calls; operations that switches completed; lost groups. */
	uint64_t calls, operations_begun, losses;
	struct dxp_mpi_comm *next;
	struct dxp_mpi_comm **link; /* pointer to this one; NULL: not listed */
};

/* ---- engine.c ---- */

/* Prints a line to standard error if `level` <= settings.verbose. */
__attribute__((format(printf, 3, 4))) void mpi_log(int level, const struct dxp_mpi_comm *c,
						   const char *format, ...);
void mpi_progress(void);
/* Prepares a private communicator: errors are returned, and the plugin is notified. */
int mpi_adopt(MPI_Comm comm);

/* Counts a call, unless the core made it. Returns whether it may be offloaded. */
bool mpi_count(struct dxp_mpi_comm *c);
/* Waits for nonblocking operations that were posted earlier. */
void mpi_let_pass(struct dxp_mpi_comm *c);

/* ---- communicator.c ---- */

/* Joins the communicator; collective, at the same call on all ranks. Afterwards the state is
 * JOINED, REFUSED or ORDINARY. */
void mpi_join(struct dxp_mpi_comm *c);
/* Tries again after a refusal; collective on all ranks. */
void mpi_rejoin(struct dxp_mpi_comm *c);

/* ---- way.c ---- */

/* Returns whether the call is part of an ordinary one, so that it must be ordinary too. Blocking
 * calls test it first. */
bool mpi_way_nested(struct dxp_mpi_comm *c);
/* Begins a call that switches support. Returns whether it goes through them; false: the caller
 * returns DXP_MPI_ORDINARY. Collective: may call a barrier. dxp_mpi_call_end() follows. */
bool mpi_way_begin(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes);
/* Returns whether such calls are ordinary at present. Counts nothing. */
bool mpi_way_ordinary(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes);
/* Prints all choices if verbose. */
void mpi_way_log(const struct dxp_mpi_comm *c);

/* ---- endpoint.c: collective on the leaders ---- */

/* Creates the group. On failure `why` has the reason, the same at all leaders. */
bool mpi_group_make(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES]);
void mpi_group_drop(struct dxp_mpi_comm *c);
void mpi_group_lost(struct dxp_mpi_comm *c, int status);
/* Returns whether there is a group; creates a new one when a retry is due. Call once per operation
 * of the leaders. */
bool mpi_group_ready(struct dxp_mpi_comm *c);
void mpi_endpoint_close(void);

/* ---- leaders.c ---- */

/* Operations among leaders. Return MPI error codes. `elements`: on the wire. `send` NULL: in
 * place. */
int mpi_leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
			  void *receive, size_t elements);
int mpi_leaders_reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
		       void *receive, size_t elements, int root);
int mpi_leaders_bcast(struct dxp_mpi_comm *c, void *data, size_t bytes, int root);
int mpi_leaders_barrier(struct dxp_mpi_comm *c);

/* ---- collective.c ---- */

/* Returns the mapping if operator, type and length can be offloaded on a communicator that has
 * joined (`may_join`: or joins now). NULL: ordinary. Valid until the next call. */
const struct mpi_mapping *mpi_choose(struct dxp_mpi_comm *c, unsigned collective, int count,
				     MPI_Datatype type, MPI_Op op, bool may_join);

#endif
