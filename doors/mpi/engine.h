/* SPDX-License-Identifier: BSD-3-Clause */
/* What both MPI doors (the Open MPI component and the PMPI library) share: collectives of a
 * communicator that go up to the switches and down again, built on include/dxp/inc.h and on PMPI_
 * calls. Compiled once for each MPI, because their mpi.h differ.
 *
 * A communicator is *joined* at its first blocking call that could be taken, on all its ranks at
 * once: roles are dealt out (N-05), leaders make a group. Each host (or CPU socket, or rank, by
 * mode) has one leader; what others contribute is reduced to the leader by the ordinary collectives
 * of a private communicator, leaders reduce among each other through the switches, and the result
 * goes back the same way.
 *
 * Whether a call is taken is decided from what MPI wants equal on all ranks and from what the ranks
 * agreed upon when they joined. DXP_MPI_ORDINARY means that the call is not taken, on any rank, and
 * nothing was done: the door makes the ordinary call. A group lost in the middle of a call is no
 * reason for that: leaders finish by ordinary collectives among each other. */
#ifndef MPI_ENGINE_H
#define MPI_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* No error code of an MPI is negative. */
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

/* Longer than a short call of 16 hosts takes, all on two processors: one that falls asleep
 * meanwhile wakes later than the result comes. */
#define DXP_MPI_SPIN_US 200

/* Longest message taken where nobody says: among few leaders an ordinary allreduce has few steps,
 * and each byte passes user space less often than on its way through switches; among many leaders
 * it passes the hosts more often. Measured: docs/performance.md. */
#define DXP_MPI_LEADERS_MANY 8
#define DXP_MPI_FEW_BYTES    65536

/* One for the process; set by the door before anything else. */
struct dxp_mpi_settings {
	const char *door;     /* begins each message */
	const char *switches; /* as in dxp_inc_options; NULL or empty: its defaults */
	int verbose;          /* 0: only what went wrong, once; 1: also why something is not
				 taken; 2: also each communicator that joins or leaves */
	enum dxp_inc_mode mode;
	unsigned collectives; /* that are taken */
	long max_bytes;       /* longest message taken; 0: as DXP_MPI_FEW_BYTES says */
	int min_hosts;        /* a communicator on fewer is left alone */
	int retry_calls;      /* after a loss or refusal, until the next try; 0: never */
	int deadline_ms, create_ms, spin_us;      /* as in dxp_inc_options; 0: its defaults */
	bool user_plane, reliable, no_icrc_check; /* as in dxp_inc_options; reliable: RC framing */
	/* Makes the MPI's own progress; NULL: by probing for a message. */
	void (*progress)(void *nothing);
	/* Are calls under way that make progress only inside `progress`? NULL: never. */
	bool (*under_way)(void);
	/* Told of each private communicator, so that the door leaves it alone; NULL: nobody. */
	void (*made_private)(MPI_Comm comm);
};
extern struct dxp_mpi_settings dxp_mpi_settings;

/* Reads names and numbers; on failure says why and leaves *out alone. */
bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out);
bool dxp_mpi_collectives_read(const char *text, unsigned *out);

/* What the engine knows of a communicator. */
struct dxp_mpi_comm;

/* No communication. *owner is set, and becomes NULL when MPI deletes the communicator. NULL: out of
 * memory. For doors that keep something of their own for each communicator. */
struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner);
/* For a communicator that never joined, or whose deletion MPI has announced. */
void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c);

/* For others: what was created for this communicator, or else now. MPI must be initialized. NULL:
 * out of memory, or no communicator. */
struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm);

/* The blocking collectives: an MPI error code, or DXP_MPI_ORDINARY. Arguments as MPI has them. */
int dxp_mpi_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op);
int dxp_mpi_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		   MPI_Datatype type, MPI_Op op, int root);
int dxp_mpi_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root);
int dxp_mpi_barrier(struct dxp_mpi_comm *c);

#endif
