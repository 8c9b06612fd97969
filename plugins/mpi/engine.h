/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of both MPI plugins (Open MPI component, PMPI library). It offloads collectives of a
 * communicator to switches, by include/dxp/inc.h and PMPI_ calls. It is compiled for each MPI,
 * because their mpi.h differ.
 *
 * A communicator joins at a blocking call that could be offloaded, on all ranks together: ranks get
 * roles (N-05), and the leaders create a group. In mode "node" each host has one leader; in mode
 * "socket" each CPU socket has one; in mode "flat" each rank is a leader. Ordinary collectives of a
 * private communicator reduce the other ranks' contributions to the leader. The leaders combine
 * theirs through the switches. The result is passed back in the opposite direction.
 *
 * The decision to offload depends only on two things: arguments that MPI requires to be equal on
 * all ranks, and settings that the ranks agreed on. DXP_MPI_ORDINARY means that no rank has
 * offloaded the call and nothing was done. The plugin then makes the ordinary call, and calls
 * dxp_mpi_call_end(). If a group is lost during an operation, the leaders complete it by ordinary
 * collectives. Such a call does not return DXP_MPI_ORDINARY. */
#ifndef MPI_ENGINE_H
#define MPI_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* the call was not offloaded; negative, because no MPI has negative error codes */
#define DXP_MPI_ORDINARY (-1)

/* Bits of dxp_mpi_settings.collectives. */
enum dxp_mpi_collective {
	DXP_MPI_ALLREDUCE = 1,
	DXP_MPI_IALLREDUCE = 2,
	DXP_MPI_BARRIER = 4,
	DXP_MPI_BCAST = 8,
	DXP_MPI_REDUCE = 16,
};
#define DXP_MPI_COLLECTIVES_DEFAULT "allreduce,iallreduce,barrier,bcast,reduce"

/* us that a rank spins: longer than a short operation of 16 hosts on two processors. With less, a
 * rank would sleep before its result arrives, and the wakeup would delay the result. */
#define DXP_MPI_SPIN_US 200

/* calls between two measurements: 10 of 10,000 calls are timed. With a larger value, the choice
 * would follow changes later. */
#define DXP_MPI_MEASURE_CALLS 10000

/* DXP_MPI_FEW_BYTES: longest message to offload, in bytes, if nothing is measured and there are
 * fewer leaders than DXP_MPI_LEADERS_MANY. With few leaders, an ordinary allreduce has few steps,
 * and its bytes are copied less often than through switches. With many leaders, its bytes pass the
 * hosts more often than through switches. Measured: docs/reference/performance.md. */
#define DXP_MPI_LEADERS_MANY 8
#define DXP_MPI_FEW_BYTES    65536

/* Settings of the process. The plugin sets them before it calls any function. */
struct dxp_mpi_settings {
	const char *label;    /* prefix of messages to the user */
	const char *switches; /* see dxp_inc_options; NULL or "": the defaults there */
	/* 0: reports only failures, once. 1: also reports why operations are ordinary. 2: also
	 * reports each communicator that joins or leaves. */
	int verbose;
	enum dxp_inc_mode mode;
	unsigned collectives;
	/* longest message to offload; 0: measurements decide, or see DXP_MPI_FEW_BYTES */
	long max_bytes;
	int min_hosts;   /* a communicator on fewer hosts stays ordinary */
	int retry_calls; /* calls between a loss or refusal and a retry; 0: no retry */
	/* Calls of one collective and size class until both ways are timed again. 0: they are never
	 * timed, and only max_bytes decides. Has no effect if max_bytes is not 0. */
	int measure_calls;
	int deadline_ms, create_ms, spin_us; /* see dxp_inc_options; 0: the defaults there */
	bool compat; /* true: uses the header of the source paper; `reliable` then has no effect */
	/* See dxp_inc_options. `reliable`: uses frames of RoCE's reliable connections. */
	bool user_plane, reliable, no_icrc_check;
	/* Function that makes MPI progress. NULL: the core probes for a message instead. */
	void (*progress)(void *nothing);
	/* Returns true if there are outstanding operations that advance only inside `progress`.
	 * NULL: there never are. */
	bool (*has_outstanding)(void);
	/* Called for each private communicator of the core. The plugin must not offload its calls.
	 * May be NULL. */
	void (*made_private)(MPI_Comm comm);
};
extern struct dxp_mpi_settings dxp_mpi_settings;

/* Parse names in a setting. On failure, they print the reason and leave *out unchanged. */
bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out);
bool dxp_mpi_collectives_read(const char *text, unsigned *out);

struct dxp_mpi_comm;

/* Creates the state of a communicator, without communication. For plugins that keep own data for
 * each communicator. When MPI deletes the communicator, *owner is set to NULL. Returns NULL if
 * memory is short. */
struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner);
/* Frees the state of a communicator that never joined, or that MPI is just deleting. */
void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c);

/* Returns the state of a communicator; the first call creates it. For plugins that do not use
 * dxp_mpi_comm_create. MPI must be initialized. Returns NULL if memory is short or `comm` is no
 * communicator. */
struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm);

/* Blocking collectives with the arguments of MPI. They return an MPI error code or
 * DXP_MPI_ORDINARY. */
int dxp_mpi_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op);
int dxp_mpi_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		   MPI_Datatype type, MPI_Op op, int root);
int dxp_mpi_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root);
int dxp_mpi_barrier(struct dxp_mpi_comm *c);

/* Completes an ordinary call. The plugin calls it after the ordinary collective, even if that
 * failed. Collective: the ranks may exchange times and choose the faster way. `c` NULL: does
 * nothing. */
void dxp_mpi_call_end(struct dxp_mpi_comm *c);

#endif
