/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns hwloc's index (from 0) of the CPU socket to which this process is bound. Negative: it is
 * bound to no socket or to several, or this is unknown. */
#ifndef MPI_SOCKET_H
#define MPI_SOCKET_H

int mpi_socket_of_this_process(void);

#endif
