/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on memory of xPUs (dxp/mpi.h). The first call on a communicator checks that all ranks
 * have DXP_MPI_DEVICE=1 in their environment. Then each call begins with an exchange: each rank
 * states which kind of memory its pointers name. If all name device memory, the xPUs do the
 * operation. Messages between ranks carry only notices of steps. */
#ifndef MPI_DEVICE_H
#define MPI_DEVICE_H

#include "comm.h"

/* Collective. They return DXP_MPI_ORDINARY if no rank passes device memory; otherwise the same MPI
 * error code at all ranks. */
int mpi_device_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
			 MPI_Datatype type, MPI_Op op);
int mpi_device_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op, int root);
int mpi_device_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root);

#endif
