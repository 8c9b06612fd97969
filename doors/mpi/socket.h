/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU socket that this process is bound to: hwloc's index of it, counted from 0; negative: the
 * process may run on several, or nobody knows. */
#ifndef MPI_SOCKET_H
#define MPI_SOCKET_H

int mpi_socket_of_this_process(void);

#endif
