/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI collectives on memory of xPUs. dxp_mpi_buffer() returns a pointer that names device memory.
 * Programs pass it, or a pointer into it, to MPI_Allreduce, MPI_Reduce and MPI_Bcast. The xPUs of
 * the ranks then exchange the data. None of it passes through a host.
 *
 *   dxp_xpu_open(fabric, "gpu1", &xpu);
 *   dxp_mem_alloc(xpu, bytes, &address);
 *   dxp_mpi_buffer(xpu, address, bytes, &gradients);
 *   MPI_Allreduce(MPI_IN_PLACE, gradients, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
 *
 * Needs one of the MPI plugins (docs/guide/inc.md), with DXP_MPI_DEVICE=1 in the environment of all
 * ranks. Each rank uses an own xPU. All ranks pass device memory, or none does.
 *
 * The pointer is in reserved address space without access rights. A program, or another MPI call,
 * that reads or writes there gets SIGSEGV or an error of the kernel (EFAULT); it never reads other
 * bytes than those of the device.
 * How it works: docs/guide/mpi.md. */
#ifndef DXP_MPI_H
#define DXP_MPI_H

#include <dxp/mmd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names `bytes` bytes at `address` of the xPU's memory. Offsets in the buffer are offsets in the
 * memory.
 * Shape:  1 or more bytes, inside the xPU's memory. Elements must be aligned to their size in
 *         device memory.
 * Owner:  the caller frees the buffer with dxp_mpi_buffer_free(), before it frees the memory and
 *         closes the xPU. MPI calls must have returned. Several buffers may name the same memory.
 * Threads: any.
 * Errors: DXP_EINVAL, DXP_ERANGE: dxp_fabric_error() names the argument; DXP_ENOMEM: no address
 *         space. MPI calls on a buffer fail if it was freed, its xPU closed, or the allocation
 *         freed at whose start it is. A later part of a freed allocation has undefined bytes. */
DXP_API int dxp_mpi_buffer(struct dxp_xpu *xpu, uint64_t address, uint64_t bytes, void **out);

/* Frees a buffer, not the memory that it names. Its addresses stay reserved for later buffers.
 * Accepts NULL. */
DXP_API void dxp_mpi_buffer_free(void *buffer);

/* Returns the functions that the MPI plugins call, in the layout of this version, which may change
 * with each release; NULL: this library has another version. Programs do not call it. */
struct mpi_device;
DXP_API const struct mpi_device *dxp_mpi_device(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif
