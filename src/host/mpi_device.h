/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of libdxp.so for the MPI plugins (dxp/mpi.h). A plugin is not linked with the library.
 * It looks up MPI_DEVICE_SYMBOL in the library of its program.
 *
 * A run is this process's part of one collective. Each rank plans the whole operation, and posts
 * the commands of its own xPU. Notices report the steps of other ranks; the plugin carries them.
 *
 * One thread at a time uses a run. */
#ifndef HOST_MPI_DEVICE_H
#define HOST_MPI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/collective.h>

#define MPI_DEVICE_VERSION 2
#define MPI_DEVICE_SYMBOL  "dxp_mpi_device"

/* Device memory that a pointer names. */
struct mpi_device_place {
	struct dxp_xpu *xpu;     /* valid in this process only */
	uint64_t address, bytes; /* `bytes`: to the end of the buffer */
	uint32_t key;            /* of the xPU's memory, for other xPUs */
	uint16_t node;
	char name[DXP_NAME_BYTES];
};

/* A member of a run, as all ranks know it. */
struct mpi_device_member {
	uint64_t from, to, scratch; /* addresses in the memory of the xPU */
	uint32_t key;
	uint16_t node;
};

enum mpi_device_operation { MPI_DEVICE_ALLREDUCE, MPI_DEVICE_REDUCE, MPI_DEVICE_BROADCAST };

struct mpi_device_call {
	enum mpi_device_operation operation;
	uint32_t members, self, root;
	uint64_t count;
	enum dxp_type type;
	enum dxp_reduction reduction;
	uint64_t in_place; /* bit i: member i */
	struct dxp_xpu *xpu;
	const struct mpi_device_member *all; /* `members` entries, valid until the end of the run */
};

struct mpi_device_run;

struct mpi_device {
	uint32_t version;
	/* DXP_ENOENT: the pointer names no device memory. DXP_EINVAL: the buffer was freed. */
	int (*find)(const void *pointer, struct mpi_device_place *out);
	/* Reserves scratch memory of an xPU for one run. Fails if the xPU is lost or its memory is
	 * full. */
	int (*scratch_reserve)(struct dxp_xpu *xpu, uint64_t *address);
	/* Releases the scratch memory of a run. `quiet` false: late commands may still write to it,
	 * so no run gets it again. */
	void (*scratch_release)(struct dxp_xpu *xpu, uint64_t address, bool quiet);
	/* Begins a run. After a failure, error() returns the text. */
	int (*begin)(const struct mpi_device_call *call, struct mpi_device_run **out);
	/* Posts commands and looks for complete ones. DXP_EAGAIN: not complete yet. */
	int (*advance)(struct mpi_device_run *run);
	/* Takes a notice for another member. False: none is left. */
	bool (*notice)(struct mpi_device_run *run, uint32_t *member, uint32_t *step);
	/* Handles a notice of another member. DXP_EINVAL: it has no such step. */
	int (*notified)(struct mpi_device_run *run, uint32_t member, uint32_t step);
	/* Ends a run; waits some seconds for its commands. False: some may still be under way. */
	bool (*end)(struct mpi_device_run *run);
	const char *(*error)(void);
};

#endif
