/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the engine: a communicator, and what its parts do for each other.
 *
 *   engine.c     settings, life of a communicator and of the process
 *   join.c       agreement and roles: who leads whom
 *   endpoint.c   the process's endpoint, and the group of leaders: made, lost, made again
 *   leaders.c    what leaders do among each other, through the switches or without
 *   collective.c a call from end to end */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include <stdalign.h>

#include "engine.h"
#include "types.h"

#define MPI_SHORT_BYTES 256 /* on the wire; such calls allocate nothing */

/* UNTRIED: nobody has spoken yet. JOINING: the engine's own calls on this communicator are
 * ordinary. JOINED: calls are taken. REFUSED: roles are dealt, but there is no group; there may be
 * one later. ORDINARY: never. All ranks of a communicator are in the same state at the same call.
 */
enum mpi_state { MPI_UNTRIED, MPI_JOINING, MPI_JOINED, MPI_REFUSED, MPI_ORDINARY };

/* Where a rank is. */
struct mpi_place {
	int leader;    /* index of its leader among the leaders */
	int node_rank; /* in its node's communicator, where the leader is 0 */
};

/* What a leader sends down for a short call: the outcome with the data, in one message. */
struct mpi_down {
	int32_t error; /* MPI's */
	int32_t reserved;
	alignas(8) uint8_t data[MPI_SHORT_BYTES];
};

struct dxp_mpi_comm {
	MPI_Comm comm;
	struct dxp_mpi_comm **owner; /* NULL: nobody */
	enum mpi_state state;
	bool watched; /* MPI tells us of its end */
	int rank, ranks;

	/* Agreed by all ranks. */
	enum dxp_inc_mode mode;
	unsigned collectives;
	int64_t max_bytes;
	int retry_calls;
	uint32_t takes[DXP_INC_OPS]; /* bit t: the switches know the operation on type t */
	int64_t waited, patience;    /* REFUSED: calls since, calls until the next try */

	/* Roles. "Node": the ranks of one leader, itself among them. */
	MPI_Comm node, node_down; /* MPI_COMM_NULL: a node of one; node_down: for results of
				     nonblocking calls */
	MPI_Comm leaders;         /* MPI_COMM_NULL: not a leader */
	int node_rank, node_ranks, leader, leader_count;
	struct mpi_place *places; /* of each rank */

	/* At leaders. `lost`: leaders go on by ordinary collectives. */
	struct dxp_inc_group *group;
	bool lost;
	int64_t lost_waited, lost_patience; /* as waited, patience */
	bool said_lost;

	/* The last pair that could be mapped, and the last type that lies without gaps. */
	MPI_Datatype type, flat_type;
	MPI_Op op;
	struct mpi_mapping mapping;
	struct mpi_down down;

	_Atomic int under_way; /* nonblocking calls */

	/* Calls that came here; of them those that went through switches to the end; losses. */
	uint64_t calls, taken, losses;
	struct dxp_mpi_comm *next;
	struct dxp_mpi_comm **link; /* what points here; NULL: not listed */
};

/* engine.c: one line to standard error if `level` is not above settings.verbose. */
__attribute__((format(printf, 3, 4))) void mpi_say(int level, const struct dxp_mpi_comm *c,
						   const char *format, ...);
void mpi_progress(void);
/* From now on MPI tells us when the communicator goes, and MPI_Finalize ends it. */
bool mpi_enlist(struct dxp_mpi_comm *c);
/* A communicator of our own: errors are returned, and the door is told. */
int mpi_adopt(MPI_Comm comm);

/* Counts a call, unless it is our own. True: it may be taken. */
bool mpi_count(struct dxp_mpi_comm *c);
/* Waits for nonblocking calls: they came first. */
void mpi_let_pass(struct dxp_mpi_comm *c);

/* join.c: all ranks, at the same call. Leaves JOINED, REFUSED or ORDINARY. */
void mpi_join(struct dxp_mpi_comm *c);
void mpi_join_undo(struct dxp_mpi_comm *c);
/* All ranks again, after a refusal. */
void mpi_rejoin(struct dxp_mpi_comm *c);

/* endpoint.c: leaders only, all of them. On failure `why` has the reason, the same at all. */
bool mpi_group_make(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES]);
void mpi_group_drop(struct dxp_mpi_comm *c);
void mpi_group_lost(struct dxp_mpi_comm *c, int status);
/* Is there a group? Makes a new one when it is time. Once for each call of the leaders. */
bool mpi_group_ready(struct dxp_mpi_comm *c);
void mpi_endpoint_close(void);

/* leaders.c: MPI error codes. `elements` are those of the wire. `send` NULL: in place. */
int mpi_leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
			  void *receive, size_t elements);
int mpi_leaders_reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
		       void *receive, size_t elements, int root);
int mpi_leaders_bcast(struct dxp_mpi_comm *c, void *data, size_t bytes, int root);
int mpi_leaders_barrier(struct dxp_mpi_comm *c);

/* collective.c: is it a pair of ours, and a length of ours, on a communicator that has joined (or
 * does so now, if `may_join`)? NULL: ordinary. Valid until the next call. */
const struct mpi_mapping *mpi_choose(struct dxp_mpi_comm *c, unsigned collective, int count,
				     MPI_Datatype type, MPI_Op op, bool may_join);

#endif
