/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of the MPI core: a communicator, and the functions that the files of the core
 * share.
 *
 * engine.c: settings, messages, progress
 * communicator.c: agreement and roles (the leader of each rank); lifetime
 * endpoint.c: the endpoint of the process; the group of leaders: creation, loss, new creation
 * leaders.c: operations between leaders, through switches or without
 * collective.c: an operation from start to completion
 * device.c: an operation on memory of xPUs
 * way.c: through switches or ordinary, by measurement; choice.c decides */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include <stdalign.h>

#include "choice.h"
#include "engine.h"
#include "types.h"

/* Calls of a communicator before it joins. The reason for a delay is that programs make many
 * communicators for only a few calls. This is no setting: ranks with different values would wait
 * for each other. */
#define MPI_FIRST_CALLS 3

/* bytes on the wire of a short operation; up to this length, no memory is allocated */
#define MPI_SHORT_BYTES 256

/* State of a communicator. It is equal on all ranks at the same call.
 * - UNTRIED: the communicator has not tried to join.
 * - JOINING: the core itself makes calls on it; they are ordinary.
 * - JOINED: operations are offloaded.
 * - REFUSED: roles are assigned, but no group could be created; a retry may create one.
 * - ORDINARY: calls are never offloaded. */
enum mpi_state { MPI_UNTRIED, MPI_JOINING, MPI_JOINED, MPI_REFUSED, MPI_ORDINARY };

/* Collectives that are measured separately. A nonblocking allreduce is not timed; it uses the
 * choice for blocking allreduces. */
enum mpi_way { MPI_WAY_ALLREDUCE, MPI_WAY_BARRIER, MPI_WAY_BCAST, MPI_WAY_REDUCE, MPI_WAYS };

struct mpi_choices {
	struct choice of[MPI_WAYS][CHOICE_CLASSES];
};

struct mpi_location {
	int leader;
	int node_rank; /* rank in the communicator of its node; the leader has rank 0 */
};

/* Message of a leader to its node after a short operation: status and result. */
struct mpi_down {
	int32_t error; /* MPI error code */
	int32_t reserved;
	alignas(8) uint8_t data[MPI_SHORT_BYTES];
};

struct dxp_mpi_comm {
	MPI_Comm comm;
	/* pointer that is set to NULL when this struct is freed; may be NULL */
	struct dxp_mpi_comm **owner;
	enum mpi_state state;
	bool watched; /* true: MPI reports when the communicator is deleted */
	int rank, ranks;

	/* Values that all ranks have agreed on. */
	enum dxp_inc_mode mode;
	unsigned collectives;
	int64_t max_bytes;
	int retry_calls;
	/* calls between two measurements; 0: no measurement, and max_bytes decides */
	int64_t measure_calls;
	/* per operator: bit t is set if switches support it for type t */
	uint32_t accepts[DXP_INC_OPS];
	/* REFUSED: calls since this state began, and number of calls until a retry */
	int64_t waited, patience;

	/* Roles. A node here is a leader and the ranks that it serves. Both communicators are
	 * MPI_COMM_NULL if the node has one rank. node_down carries the results of nonblocking
	 * operations. */
	MPI_Comm node, node_down;
	MPI_Comm leaders; /* communicator of the leaders; MPI_COMM_NULL: this rank is no leader */
	int node_rank, node_ranks, leader, leader_count;
	struct mpi_location *locations; /* leader and node rank of each rank; index: rank */

	/* Group of the leaders. `lost`: the group is lost, and the leaders continue by ordinary
	 * collectives. */
	struct dxp_inc_group *group;
	bool lost;
	/* for a lost group: calls since the loss, and number of calls until a retry */
	int64_t lost_waited, lost_patience;
	bool lost_reported;

	/* Cache: the last pair of type and operator that could be mapped, and the last contiguous
	 * type. */
	MPI_Datatype type, flat_type;
	MPI_Op op;
	struct mpi_mapping mapping;
	struct mpi_down down;

	/* Device memory (device.h).
	 * device_comm: private communicator for notices; MPI_COMM_NULL before the first run.
	 * device_runs: number of runs. device_busy: the core itself makes calls for a run.
	 * device_lacking: first rank without DXP_MPI_DEVICE=1; `ranks`: all have it. Valid if
	 * device_agreed. */
	MPI_Comm device_comm;
	uint32_t device_runs;
	bool device_busy, device_agreed;
	int device_lacking;

	_Atomic int outstanding; /* number of nonblocking operations that are not complete */

	/* Choices between the two ways. They are equal on all ranks, except for the times. NULL:
	 * the communicator never joined. */
	struct mpi_choices *choices;
	struct choice *timed; /* choice that the present call is timed for; NULL: not timed */
	bool within;          /* true inside an ordinary call that mpi_way_begin() chose */
	/* Number of MPI calls inside that call: the algorithms of an MPI may consist of other MPI
	 * calls. */
	unsigned nested;
	double timed_since; /* start of the timed call, in s (PMPI_Wtime) */

	/* Statistics: calls; operations that switches completed; lost groups. */
	uint64_t calls, operations_begun, losses;
	struct dxp_mpi_comm *next;
	/* pointer in the list that points to this struct; NULL: not in the list */
	struct dxp_mpi_comm **link;
};

/* ---- engine.c ---- */

/* Prints a line to standard error if settings.verbose is at least `level`. */
__attribute__((format(printf, 3, 4))) void mpi_log(int level, const struct dxp_mpi_comm *c,
						   const char *format, ...);
void mpi_progress(void);
/* Prepares a private communicator of the core: its errors are returned, and the plugin is notified
 * of it. */
int mpi_adopt(MPI_Comm comm);

/* Counts a call, unless the core itself makes it. Returns true if the call may be offloaded. */
bool mpi_count(struct dxp_mpi_comm *c);
/* Waits until the nonblocking operations that were posted earlier are complete. */
void mpi_let_pass(struct dxp_mpi_comm *c);

/* ---- communicator.c ---- */

/* Lets the communicator join. Collective: all ranks call this at the same call of the program.
 * Afterwards the state is JOINED, REFUSED or ORDINARY. */
void mpi_join(struct dxp_mpi_comm *c);
/* Adds the communicator to the list, unless it is there, so that MPI reports its deletion and
 * MPI_Finalize frees it. Returns false if MPI failed. */
bool mpi_enlist(struct dxp_mpi_comm *c);
/* Retries to create the group in state REFUSED; collective on all ranks. */
void mpi_rejoin(struct dxp_mpi_comm *c);

/* ---- way.c ---- */

/* Returns true if the call is made inside an ordinary call, so that it must be ordinary too.
 * Blocking calls test this first. */
bool mpi_way_nested(struct dxp_mpi_comm *c);
/* Begins a call that switches support. Returns true if the call goes through switches; then the
 * caller must call dxp_mpi_call_end() afterwards. If false, the caller must return
 * DXP_MPI_ORDINARY, and the plugin calls dxp_mpi_call_end(). Collective: it may call a barrier. */
bool mpi_way_begin(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes);
/* Returns true if such calls are ordinary at present. Does not count the call. */
bool mpi_way_ordinary(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes);
/* Prints all choices if `verbose` is set. */
void mpi_way_log(const struct dxp_mpi_comm *c);

/* ---- endpoint.c: all leaders make these calls together ---- */

/* Creates the group. On failure, `why` contains the reason, which is the same at all leaders. */
bool mpi_group_make(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES]);
void mpi_group_drop(struct dxp_mpi_comm *c);
void mpi_group_lost(struct dxp_mpi_comm *c, int status);
/* Returns true if there is a group. If the group was lost and a retry is due, creates a new one.
 * Call it once per operation of the leaders. */
bool mpi_group_ready(struct dxp_mpi_comm *c);
void mpi_endpoint_close(void);

/* ---- leaders.c ---- */

/* Operations between leaders. They return MPI error codes. `elements` counts wire elements. `send`
 * NULL: the data is in `receive` (in place). */
int mpi_leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
			  void *receive, size_t elements);
int mpi_leaders_reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
		       void *receive, size_t elements, int root);
int mpi_leaders_bcast(struct dxp_mpi_comm *c, void *data, size_t bytes, int root);
int mpi_leaders_barrier(struct dxp_mpi_comm *c);

/* ---- collective.c ---- */

/* Returns the mapping if operator, type and length can be offloaded and the communicator has
 * joined. With `may_join`, it may join in this call. NULL: the call must be ordinary. The result is
 * valid until the next call. */
const struct mpi_mapping *mpi_choose(struct dxp_mpi_comm *c, unsigned collective, int count,
				     MPI_Datatype type, MPI_Op op, bool may_join);

#endif
