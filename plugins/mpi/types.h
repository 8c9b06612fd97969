/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps MPI's operators and types to those of the switches and back. */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* Layout of an element in memory. PLAIN: as on the wire. VALUE64_INDEX: eight bytes, an int, four
 * bytes of padding. SHORT_INDEX: a short, two bytes of padding, an int. */
enum mpi_layout { MPI_LAYOUT_PLAIN, MPI_LAYOUT_VALUE64_INDEX, MPI_LAYOUT_SHORT_INDEX };

/* A pair of operator and type that switches may support. */
struct mpi_mapping {
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	enum mpi_layout layout;
	uint8_t parts;          /* wire elements per MPI element: 2 for complex numbers */
	uint8_t bytes;          /* length of MPI's element in memory */
	MPI_Datatype wire_type; /* MPI's type of a wire element */
	MPI_Op wire_op;
};

/* Returns false if the pair cannot be mapped: only predefined operators and types can. */
bool mpi_map(MPI_Datatype type, MPI_Op op, struct mpi_mapping *out);

/* Returns whether elements are contiguous and in wire order. True only for predefined types: MPI
 * passes internal types whose contents it cannot report, so others are never queried. */
bool mpi_lies_flat(MPI_Datatype type);

/* Returns the wire bytes of `count` MPI elements. */
size_t mpi_wire_bytes(const struct mpi_mapping *m, size_t count);

/* Convert elements between memory and wire, also in place. Unpacking writes values and indices, not
 * padding. */
void mpi_pack(const struct mpi_mapping *m, const void *memory, size_t count, void *wire);
void mpi_unpack(const struct mpi_mapping *m, const void *wire, size_t count, void *memory);

#endif
