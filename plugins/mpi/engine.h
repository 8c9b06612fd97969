/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of both MPI plugins (Open MPI component, PMPI library): offloads a communicator's
 * collectives to switches, by include/dxp/inc.h and PMPI_ calls. Compiled for each MPI, because
 * their mpi.h differ.
 *
 * A communicator joins at its first blocking call that could be offloaded, on all ranks together:
 * roles are assigned (N-05), and leaders create a group. Each host (or CPU socket, or rank, by
 * mode) has one leader. Ordinary collectives of a private communicator reduce the other ranks'
 * contributions to the leader. Leaders reduce among each other through the switches. The result
 * returns the same way.
 *
 * The decision to offload depends only on arguments that MPI requires to be equal on all ranks, and
 * on settings agreed at the join. DXP_MPI_ORDINARY means that no rank offloaded the call and
 * nothing was done: the plugin makes the ordinary call, then calls dxp_mpi_call_end(). If a group
 * is lost during an operation, leaders complete it by ordinary collectives; the call then does not
 * return DXP_MPI_ORDINARY. */
#ifndef MPI_ENGINE_H
#define MPI_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* no MPI has negative error codes */
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

/* us: longer than a short operation of 16 hosts on two processors. With a shorter spin, a rank
 * sleeps before its result arrives, and the wakeup delays it. */
#define DXP_MPI_SPIN_US 200

/* calls from one measurement to the next: 10 of 10,000 are timed. With a larger value, the choice
 * follows changes later. */
#define DXP_MPI_MEASURE_CALLS 10000

/* bytes: longest message offloaded if nothing is measured. With few leaders an ordinary allreduce
 * has few steps, and its bytes pass user space less often than through switches. With many leaders
 * they pass the hosts more often. Measured: docs/reference/performance.md. */
#define DXP_MPI_LEADERS_MANY 8
#define DXP_MPI_FEW_BYTES    65536

/* Settings of the process. The plugin sets them before any other call. */
struct dxp_mpi_settings {
	const char *label;    /* prefix of messages */
	const char *switches; /* see dxp_inc_options; NULL or "": its defaults */
	/* 0: reports only failures, once; 1: also reasons for ordinary operations; 2: also each
	 * communicator that joins or leaves. */
	int verbose;
	enum dxp_inc_mode mode;
	unsigned collectives;
	long max_bytes;  /* longest message to offload; 0: measured, or see DXP_MPI_FEW_BYTES */
	int min_hosts;   /* communicators on fewer hosts stay ordinary */
	int retry_calls; /* calls from a loss or refusal to a retry; 0: never */
	/* Calls of a collective and size until both ways are timed again. 0: never timed, and
	 * max_bytes decides alone. Has no effect if max_bytes is not 0. */
	int measure_calls;
	int deadline_ms, create_ms, spin_us; /* see dxp_inc_options; 0: its defaults */
	bool compat; /* use the header of the source paper; `reliable` then has no effect */
	/* see dxp_inc_options; reliable: frames of RoCE's reliable connections */
	bool user_plane, reliable, no_icrc_check;
	/* Makes MPI progress; NULL: the core probes for a message. */
	void (*progress)(void *nothing);
	/* Returns whether outstanding operations progress only inside `progress`; NULL: never. */
	bool (*has_outstanding)(void);
	/* Notifies the plugin of a private communicator, which must stay ordinary. May be NULL. */
	void (*made_private)(MPI_Comm comm);
};
extern struct dxp_mpi_settings dxp_mpi_settings;

/* Parse names. On failure they print the reason and leave *out unchanged. */
bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out);
bool dxp_mpi_collectives_read(const char *text, unsigned *out);

struct dxp_mpi_comm;

/* Creates a communicator's state, without communication; for plugins that keep own data for each
 * communicator. *owner becomes NULL when MPI deletes it. NULL: no memory. */
struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner);
/* Frees the state of a communicator that never joined, or that MPI is deleting. */
void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c);

/* Returns a communicator's state; creates it at the first call. For plugins that do not use
 * dxp_mpi_comm_create. MPI must be initialized. NULL: no memory, or no communicator. */
struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm);

/* Blocking collectives with MPI's arguments. Return an MPI error code or DXP_MPI_ORDINARY. */
int dxp_mpi_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op);
int dxp_mpi_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		   MPI_Datatype type, MPI_Op op, int root);
int dxp_mpi_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root);
int dxp_mpi_barrier(struct dxp_mpi_comm *c);

/* Ends a call that was ordinary: plugins call it after the ordinary collective, also if that
 * failed. Collective: may agree on the faster way. NULL: nothing happens. */
void dxp_mpi_call_end(struct dxp_mpi_comm *c);

#endif
