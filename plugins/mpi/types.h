/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps operators and types of MPI to operators and types of the switches, and back. */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <dxp/inc.h>

/* Layout of an element in memory. PLAIN: the same as on the wire. VALUE64_INDEX: eight bytes, an
 * int, four bytes of padding. SHORT_INDEX: a short, two bytes of padding, an int. */
enum mpi_layout { MPI_LAYOUT_PLAIN, MPI_LAYOUT_VALUE64_INDEX, MPI_LAYOUT_SHORT_INDEX };

/* A pair of operator and type that switches may support, and its equivalent on the wire. */
struct mpi_mapping {
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	enum mpi_layout layout;
	/* wire elements per element of MPI: 2 for complex numbers, otherwise 1 */
	uint8_t parts;
	uint8_t bytes;          /* bytes of an element of MPI in memory */
	MPI_Datatype wire_type; /* MPI's type of a wire element */
	MPI_Op wire_op;
};

/* Returns false if the pair cannot be mapped. Only predefined operators and types can be mapped. */
bool mpi_map(MPI_Datatype type, MPI_Op op, struct mpi_mapping *out);

/* Returns true if elements of the type are contiguous and in wire order. The result is true only
 * for predefined types. Other types are not queried, because MPI itself may pass internal types
 * that do not support queries. */
bool mpi_lies_flat(MPI_Datatype type);

/* Returns how many bytes `count` elements of MPI have on the wire. */
size_t mpi_wire_bytes(const struct mpi_mapping *m, size_t count);

/* Convert elements from memory to wire and back; source and destination may be the same. Unpacking
 * writes values and indices, but not the padding. */
void mpi_pack(const struct mpi_mapping *m, const void *memory, size_t count, void *wire);
void mpi_unpack(const struct mpi_mapping *m, const void *wire, size_t count, void *memory);

#endif
