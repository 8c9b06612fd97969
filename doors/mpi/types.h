/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI's operations and types to those of the switches and back. */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* How an element lies in memory. PLAIN: as on the wire. VALUE64_INDEX: eight bytes, an int, and
 * four bytes that nobody wrote. SHORT_INDEX: a short, two such bytes, and an int. */
enum mpi_layout { MPI_LAYOUT_PLAIN, MPI_LAYOUT_VALUE64_INDEX, MPI_LAYOUT_SHORT_INDEX };

/* A pair of operation and type that switches may know. */
struct mpi_mapping {
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	enum mpi_layout layout;
	uint8_t parts;          /* elements on the wire for each of MPI's: 2 for complex numbers */
	uint8_t bytes;          /* of MPI's element in memory */
	MPI_Datatype wire_type; /* MPI's name for an element on the wire */
	MPI_Op wire_op;
};

/* False: the pair is none of ours. Only predefined operations and types are. */
bool mpi_map(MPI_Datatype type, MPI_Op op, struct mpi_mapping *out);

/* Do its elements lie one behind the other, in the order in which they travel? Known of predefined
 * types only; an MPI must not be asked of what others are made, as it uses some that it cannot
 * answer for. */
bool mpi_lies_flat(MPI_Datatype type);

/* Bytes on the wire of `count` of MPI's elements. */
size_t mpi_wire_bytes(const struct mpi_mapping *m, size_t count);

/* Elements in memory to elements on the wire and back, also in place. Unpacking writes
 * values and indices, not what lies between them. */
void mpi_pack(const struct mpi_mapping *m, const void *memory, size_t count, void *wire);
void mpi_unpack(const struct mpi_mapping *m, const void *wire, size_t count, void *memory);

#endif
