/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns hwloc's index, from 0, of the CPU socket that this process is bound to. Negative: bound
 * to none or several, or unknown. */
#ifndef MPI_SOCKET_H
#define MPI_SOCKET_H

int mpi_socket_of_this_process(void);

#endif
