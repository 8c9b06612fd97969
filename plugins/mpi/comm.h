/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the MPI core: a communicator, and the functions that its files share.
 *
 *   engine.c        settings, messages, progress
 *   communicator.c  agreement and roles: the leader of each rank; lifetime
 *   endpoint.c      the process's endpoint, and the group of leaders: creation, loss, new creation
 *   leaders.c       operations among leaders, through switches or without
 *   collective.c    an operation from start to completion */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include <stdalign.h>

#include "engine.h"
#include "types.h"

#define MPI_SHORT_BYTES 256 /* on the wire; such operations allocate nothing */

/* State of a communicator, the same on all its ranks at the same call. UNTRIED: no call yet.
 * JOINING: the core's own calls on it are ordinary. JOINED: operations are offloaded. REFUSED:
 * roles are assigned, but there is no group; there may be one later. ORDINARY: never offloaded. */
enum mpi_state { MPI_UNTRIED, MPI_JOINING, MPI_JOINED, MPI_REFUSED, MPI_ORDINARY };

struct mpi_location {
	int leader;    /* index of its leader among the leaders */
	int node_rank; /* in its node's communicator, where the leader is 0 */
};

/* Message of a leader to its node for a short operation: status with the data. */
struct mpi_down {
	int32_t error; /* MPI error code */
	int32_t reserved;
	alignas(8) uint8_t data[MPI_SHORT_BYTES];
};

struct dxp_mpi_comm {
	MPI_Comm comm;
	struct dxp_mpi_comm **owner; /* pointer to clear on destruction; may be NULL */
	enum mpi_state state;
	bool watched; /* MPI reports its deletion */
	int rank, ranks;

	/* Agreed by all ranks. */
	enum dxp_inc_mode mode;
	unsigned collectives;
	int64_t max_bytes;
	int retry_calls;
	uint32_t accepts[DXP_INC_OPS]; /* bit t: the switches support the operator on type t */
	int64_t waited, patience;      /* REFUSED: calls since; calls until the next try */

	/* Roles. A "node" is the ranks of one leader, including the leader. MPI_COMM_NULL: a node
	 * of one rank. node_down is for results of nonblocking operations. */
	MPI_Comm node, node_down;
	MPI_Comm leaders; /* MPI_COMM_NULL: not a leader */
	int node_rank, node_ranks, leader, leader_count;
	struct mpi_location *locations; /* of each rank */

	/* At leaders. `lost`: leaders continue by ordinary collectives. */
	struct dxp_inc_group *group;
	bool lost;
	int64_t lost_waited, lost_patience; /* as waited, patience, for a lost group */
	bool lost_reported;

	/* Cache: the last pair that could be mapped, and the last contiguous type. */
	MPI_Datatype type, flat_type;
	MPI_Op op;
	struct mpi_mapping mapping;
	struct mpi_down down;

	_Atomic int under_way; /* nonblocking operations */

	/* Calls; operations completed by switches; lost groups. */
	uint64_t calls, operations_begun, losses;
	struct dxp_mpi_comm *next;
	struct dxp_mpi_comm **link; /* pointer to this one; NULL: not listed */
};

/* ---- engine.c ---- */

/* Prints one line to standard error if `level` is at most settings.verbose. */
__attribute__((format(printf, 3, 4))) void mpi_log(int level, const struct dxp_mpi_comm *c,
						   const char *format, ...);
void mpi_progress(void);
/* Prepares a private communicator: errors are returned, and the plugin is notified. */
int mpi_adopt(MPI_Comm comm);

/* Counts a call, unless it is the core's own. Returns true if it may be offloaded. */
bool mpi_count(struct dxp_mpi_comm *c);
/* Waits for nonblocking operations, which were posted earlier. */
void mpi_let_pass(struct dxp_mpi_comm *c);

/* ---- communicator.c ---- */

/* Joins the communicator: collective, at the same call on all ranks. The state is JOINED, REFUSED
 * or ORDINARY afterwards. */
void mpi_join(struct dxp_mpi_comm *c);
/* Tries again after a refusal; collective on all ranks. */
void mpi_rejoin(struct dxp_mpi_comm *c);

/* ---- endpoint.c: collective on the leaders ---- */

/* Creates the group. On failure `why` is the reason, the same at all leaders. */
bool mpi_group_make(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES]);
void mpi_group_drop(struct dxp_mpi_comm *c);
void mpi_group_lost(struct dxp_mpi_comm *c, int status);
/* Returns whether there is a group; creates a new one when a retry is due. Call once for each
 * operation of the leaders. */
bool mpi_group_ready(struct dxp_mpi_comm *c);
void mpi_endpoint_close(void);

/* ---- leaders.c ---- */

/* Operations among leaders; return MPI error codes. `elements` counts those on the wire. `send`
 * NULL: in place. */
int mpi_leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
			  void *receive, size_t elements);
int mpi_leaders_reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
		       void *receive, size_t elements, int root);
int mpi_leaders_bcast(struct dxp_mpi_comm *c, void *data, size_t bytes, int root);
int mpi_leaders_barrier(struct dxp_mpi_comm *c);

/* ---- collective.c ---- */

/* Returns the mapping if the operator, type and length can be offloaded on a communicator that has
 * joined, or joins now if `may_join`. NULL: ordinary. Valid until the next call. */
const struct mpi_mapping *mpi_choose(struct dxp_mpi_comm *c, unsigned collective, int count,
				     MPI_Datatype type, MPI_Op op, bool may_join);

#endif
