/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of dxp/mpi.h: mpi_buffer.c (pointers), mpi_xpu.c (scratch memory and programs of an
 * xPU), mpi_run.c (runs). */
#ifndef HOST_MPI_H
#define HOST_MPI_H

#include "host/mpi_device.h"

int mpi_buffer_find(const void *pointer, struct mpi_device_place *out);
/* Marks the memory of buffers that begin at this address as freed. `address` NULL: the memory of
 * all buffers of the xPU, which is closed. */
void mpi_buffers_forget(const struct dxp_xpu *xpu, const uint64_t *address);

/* Scratch memory and programs of an xPU, from the first MPI call until its last buffer is freed.
 * Runs of several threads may be under way on one xPU; each has its own scratch memory.
 * Thread-safe. */
int mpi_xpu_scratch_reserve(struct dxp_xpu *x, uint64_t *address);
void mpi_xpu_scratch_release(struct dxp_xpu *x, uint64_t address, bool quiet);
int mpi_xpu_program(struct dxp_xpu *x, enum dxp_type type, enum dxp_reduction reduction,
		    struct dxp_program **out);
void mpi_xpu_release(struct dxp_xpu *x);

#endif
