/* SPDX-License-Identifier: BSD-3-Clause */
/* The core that both MPI plugins (Open MPI component, PMPI library) share: offloads collectives of
 * a communicator to switches, by include/dxp/inc.h and PMPI_ calls. Compiled for each MPI, because
 * their mpi.h differ.
 *
 * A communicator *joins* at its first blocking call that could be offloaded, on all its ranks
 * together: roles are assigned (N-05) and leaders create a group. Each host (or CPU socket, or
 * rank, by mode) has one leader. Contributions of other ranks are reduced to the leader by ordinary
 * collectives of a private communicator. Leaders reduce among each other through the switches, and
 * the result returns the same way.
 *
 * The decision to offload uses only arguments that MPI requires to be equal on all ranks, and
 * settings agreed at the join. DXP_MPI_ORDINARY means: not offloaded, on any rank, and nothing was
 * done; the plugin makes the ordinary call. A group lost during an operation does not cause that:
 * leaders finish by ordinary collectives among each other. */
#ifndef MPI_ENGINE_H
#define MPI_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* No MPI has negative error codes. */
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

/* us: longer than a short operation of 16 hosts on two processors. A rank that sleeps earlier wakes
 * after the result arrives. */
#define DXP_MPI_SPIN_US 200

/* bytes: longest offloaded message by default. Among few leaders an ordinary allreduce has few
 * steps, and bytes pass user space less often than through switches. Among many leaders they pass
 * the hosts more often. Measured: docs/reference/performance.md. */
#define DXP_MPI_LEADERS_MANY 8
#define DXP_MPI_FEW_BYTES    65536

/* Settings of the process; the plugin sets them before any other call. */
struct dxp_mpi_settings {
	const char *label;    /* prefix of each message */
	const char *switches; /* as in dxp_inc_options; NULL or empty: its defaults */
	/* 0: only failures, once; 1: also reasons for ordinary operations; 2: also each
	 * communicator that joins or leaves. */
	int verbose;
	enum dxp_inc_mode mode;
	unsigned collectives; /* offloaded collectives */
	long max_bytes;       /* longest offloaded message; 0: see DXP_MPI_FEW_BYTES */
	int min_hosts;        /* communicators on fewer hosts stay ordinary */
	int retry_calls;      /* calls after a loss or refusal until a retry; 0: never */
	int deadline_ms, create_ms, spin_us;      /* as in dxp_inc_options; 0: its defaults */
	bool user_plane, reliable, no_icrc_check; /* as in dxp_inc_options; reliable: RC framing */
	/* Makes MPI progress; NULL: probes for a message. */
	void (*progress)(void *nothing);
	/* Returns true if operations in flight progress only inside `progress`; NULL: never. */
	bool (*under_way)(void);
	/* Notifies the plugin of a private communicator, which must stay ordinary; may be NULL. */
	void (*made_private)(MPI_Comm comm);
};
extern struct dxp_mpi_settings dxp_mpi_settings;

/* Parse names; on failure print the reason and leave *out unchanged. */
bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out);
bool dxp_mpi_collectives_read(const char *text, unsigned *out);

struct dxp_mpi_comm;

/* Creates the state of a communicator, without communication, for plugins that keep their own data
 * for each. *owner becomes NULL when MPI deletes the communicator. NULL: no memory. */
struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner);
/* Frees the state of a communicator that never joined, or that MPI is deleting. */
void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c);

/* Returns the communicator's state; the first call creates it. For plugins that do not use
 * dxp_mpi_comm_create. MPI must be initialized. NULL: no memory, or no communicator. */
struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm);

/* Blocking collectives, with MPI's arguments. Return an MPI error code or DXP_MPI_ORDINARY. */
int dxp_mpi_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op);
int dxp_mpi_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		   MPI_Datatype type, MPI_Op op, int root);
int dxp_mpi_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root);
int dxp_mpi_barrier(struct dxp_mpi_comm *c);

#endif
