/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of MPI's predefined operators and types. MPI defines which pairs are valid (MPI-3.1,
 * 5.9.2). For an invalid pair, the call is ordinary, so that MPI returns the error. Long doubles
 * and wide characters are not listed, because they have no portable size. */
#include <string.h>

#include "types.h"

#define BIT(op) (1u << DXP_INC_##op)
#define ARITH   (BIT(SUM) | BIT(PROD) | BIT(MIN) | BIT(MAX))
#define LOGIC   (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITS    (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define LOC     (BIT(MINLOC) | BIT(MAXLOC))

#define INT_OF(bytes)                   \
	((bytes) == 1   ? DXP_INC_INT8  \
	 : (bytes) == 2 ? DXP_INC_INT16 \
	 : (bytes) == 4 ? DXP_INC_INT32 \
			: DXP_INC_INT64)
#define UINT_OF(bytes)                   \
	((bytes) == 1   ? DXP_INC_UINT8  \
	 : (bytes) == 2 ? DXP_INC_UINT16 \
	 : (bytes) == 4 ? DXP_INC_UINT32 \
			: DXP_INC_UINT64)

struct type_row {
	MPI_Datatype mpi;
	/* bytes of an element in memory; a type of MPI with another length is not mapped */
	uint8_t bytes;
	uint8_t dxp, parts, layout;
	uint16_t ops;
};

#define ROW(mpi, bytes, dxp, ops)                         \
	{                                                 \
		mpi, bytes, dxp, 1, MPI_LAYOUT_PLAIN, ops \
	}
#define SIGNED(mpi, ctype, ops)   ROW(mpi, sizeof(ctype), INT_OF(sizeof(ctype)), ops)
#define UNSIGNED(mpi, ctype, ops) ROW(mpi, sizeof(ctype), UINT_OF(sizeof(ctype)), ops)
#define COMPLEX(mpi, bytes, dxp)                               \
	{                                                      \
		mpi, bytes, dxp, 2, MPI_LAYOUT_PLAIN, BIT(SUM) \
	}
#define PAIR(mpi, bytes, dxp, lay)           \
	{                                    \
		mpi, bytes, dxp, 1, lay, LOC \
	}

/* Frequent types come first, because the search starts there. */
static const struct type_row rows[] = {
	ROW(MPI_DOUBLE, 8, DXP_INC_DOUBLE, ARITH),
	SIGNED(MPI_INT, int, ARITH | LOGIC | BITS),
	ROW(MPI_FLOAT, 4, DXP_INC_FLOAT, ARITH),
	SIGNED(MPI_LONG, long, ARITH | LOGIC | BITS),
	ROW(MPI_DOUBLE_PRECISION, 8, DXP_INC_DOUBLE, ARITH),
	ROW(MPI_REAL, 4, DXP_INC_FLOAT, ARITH),
	ROW(MPI_INTEGER, 4, DXP_INC_INT32, ARITH | BITS),
	UNSIGNED(MPI_UNSIGNED, unsigned, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UNSIGNED_LONG, unsigned long, ARITH | LOGIC | BITS),
	SIGNED(MPI_LONG_LONG, long long, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UNSIGNED_LONG_LONG, unsigned long long, ARITH | LOGIC | BITS),
	SIGNED(MPI_SHORT, short, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UNSIGNED_SHORT, unsigned short, ARITH | LOGIC | BITS),
	SIGNED(MPI_SIGNED_CHAR, signed char, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UNSIGNED_CHAR, unsigned char, ARITH | LOGIC | BITS),
	SIGNED(MPI_INT8_T, int8_t, ARITH | LOGIC | BITS),
	SIGNED(MPI_INT16_T, int16_t, ARITH | LOGIC | BITS),
	SIGNED(MPI_INT32_T, int32_t, ARITH | LOGIC | BITS),
	SIGNED(MPI_INT64_T, int64_t, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UINT8_T, uint8_t, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UINT16_T, uint16_t, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UINT32_T, uint32_t, ARITH | LOGIC | BITS),
	UNSIGNED(MPI_UINT64_T, uint64_t, ARITH | LOGIC | BITS),
	ROW(MPI_C_BOOL, 1, DXP_INC_UINT8, LOGIC),
	ROW(MPI_BYTE, 1, DXP_INC_BYTES, BITS),
	SIGNED(MPI_AINT, MPI_Aint, ARITH | BITS),
	SIGNED(MPI_OFFSET, MPI_Offset, ARITH | BITS),
	SIGNED(MPI_COUNT, MPI_Count, ARITH | BITS),
	COMPLEX(MPI_C_FLOAT_COMPLEX, 8, DXP_INC_FLOAT),
	COMPLEX(MPI_C_DOUBLE_COMPLEX, 16, DXP_INC_DOUBLE),
	COMPLEX(MPI_COMPLEX, 8, DXP_INC_FLOAT),
	COMPLEX(MPI_DOUBLE_COMPLEX, 16, DXP_INC_DOUBLE),
	ROW(MPI_LOGICAL, 4, DXP_INC_INT32, LOGIC),
	ROW(MPI_INTEGER1, 1, DXP_INC_INT8, ARITH | BITS),
	ROW(MPI_INTEGER2, 2, DXP_INC_INT16, ARITH | BITS),
	ROW(MPI_INTEGER4, 4, DXP_INC_INT32, ARITH | BITS),
	ROW(MPI_INTEGER8, 8, DXP_INC_INT64, ARITH | BITS),
	ROW(MPI_REAL4, 4, DXP_INC_FLOAT, ARITH),
	ROW(MPI_REAL8, 8, DXP_INC_DOUBLE, ARITH),
	PAIR(MPI_2INT, 8, DXP_INC_INT32_INT, MPI_LAYOUT_PLAIN),
	PAIR(MPI_FLOAT_INT, 8, DXP_INC_FLOAT_INT, MPI_LAYOUT_PLAIN),
	PAIR(MPI_2INTEGER, 8, DXP_INC_INT32_INT, MPI_LAYOUT_PLAIN),
	PAIR(MPI_DOUBLE_INT, 12, DXP_INC_DOUBLE_INT, MPI_LAYOUT_VALUE64_INDEX),
	PAIR(MPI_LONG_INT, 12, DXP_INC_INT64_INT, MPI_LAYOUT_VALUE64_INDEX),
	PAIR(MPI_SHORT_INT, 6, DXP_INC_INT32_INT, MPI_LAYOUT_SHORT_INDEX),
};

static const struct {
	MPI_Op mpi;
	enum dxp_inc_op dxp;
} ops[] = {
	{MPI_SUM, DXP_INC_SUM},   {MPI_MAX, DXP_INC_MAX},       {MPI_MIN, DXP_INC_MIN},
	{MPI_PROD, DXP_INC_PROD}, {MPI_LAND, DXP_INC_LAND},     {MPI_LOR, DXP_INC_LOR},
	{MPI_LXOR, DXP_INC_LXOR}, {MPI_BAND, DXP_INC_BAND},     {MPI_BOR, DXP_INC_BOR},
	{MPI_BXOR, DXP_INC_BXOR}, {MPI_MINLOC, DXP_INC_MINLOC}, {MPI_MAXLOC, DXP_INC_MAXLOC},
};

/* Returns MPI's type for wire elements. Leaders use it in ordinary collectives after a loss. */
static MPI_Datatype wire_type(enum dxp_inc_type type)
{
	switch (type) {
	case DXP_INC_INT8: return MPI_INT8_T;
	case DXP_INC_INT16: return MPI_INT16_T;
	case DXP_INC_INT32: return MPI_INT32_T;
	case DXP_INC_INT64: return MPI_INT64_T;
	case DXP_INC_UINT8: return MPI_UINT8_T;
	case DXP_INC_UINT16: return MPI_UINT16_T;
	case DXP_INC_UINT32: return MPI_UINT32_T;
	case DXP_INC_UINT64: return MPI_UINT64_T;
	case DXP_INC_FLOAT: return MPI_FLOAT;
	case DXP_INC_DOUBLE: return MPI_DOUBLE;
	case DXP_INC_INT32_INT: return MPI_2INT;
	case DXP_INC_INT64_INT: return MPI_LONG_INT;
	case DXP_INC_FLOAT_INT: return MPI_FLOAT_INT;
	case DXP_INC_DOUBLE_INT: return MPI_DOUBLE_INT;
	default: return MPI_BYTE;
	}
}

static bool known_size(const struct type_row *row)
{
	int bytes;

	return row->mpi != MPI_DATATYPE_NULL && PMPI_Type_size(row->mpi, &bytes) == MPI_SUCCESS &&
	       bytes == row->bytes;
}

static uint8_t memory_bytes(const struct type_row *row)
{
	return row->layout == MPI_LAYOUT_VALUE64_INDEX ? 16
	       : row->layout == MPI_LAYOUT_SHORT_INDEX ? 8
						       : row->bytes;
}

bool mpi_map(MPI_Datatype type, MPI_Op op, struct mpi_mapping *out)
{
	const struct type_row *row = rows, *end = rows + sizeof(rows) / sizeof(rows[0]);
	size_t o = 0;

	while (row < end && row->mpi != type)
		row++;
	while (o < sizeof(ops) / sizeof(ops[0]) && ops[o].mpi != op)
		o++;
	if (row == end || o == sizeof(ops) / sizeof(ops[0]))
		return false;
	if (!(row->ops & 1u << ops[o].dxp) || !known_size(row))
		return false;
	*out = (struct mpi_mapping){
		.op = ops[o].dxp,
		.type = row->dxp,
		.layout = row->layout,
		.parts = row->parts,
		.bytes = memory_bytes(row),
		.wire_type = wire_type(row->dxp),
		.wire_op = op,
	};
	return true;
}

bool mpi_lies_flat(MPI_Datatype type)
{
	static const MPI_Datatype others[] = {
		MPI_CHAR,        MPI_CHARACTER, MPI_PACKED,           MPI_WCHAR,
		MPI_LONG_DOUBLE, MPI_2REAL,     MPI_2DOUBLE_PRECISION};
	const struct type_row *row = rows, *end = rows + sizeof(rows) / sizeof(rows[0]);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] == type)
			return true;
	while (row < end && row->mpi != type)
		row++;
	return row < end && row->layout == MPI_LAYOUT_PLAIN && known_size(row);
}

size_t mpi_wire_bytes(const struct mpi_mapping *m, size_t count)
{
	return count * m->parts * dxp_inc_type_bytes(m->type);
}

void mpi_pack(const struct mpi_mapping *m, const void *memory, size_t count, void *wire)
{
	const uint8_t *from = memory;
	uint8_t *to = wire;
	int32_t wide;
	short narrow;

	if (m->layout == MPI_LAYOUT_PLAIN) {
		memmove(to, from, count * m->bytes);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (m->layout == MPI_LAYOUT_VALUE64_INDEX) {
			memmove(to, from, 12);
			memset(to + 12, 0, 4);
		} else {
			memcpy(&narrow, from, sizeof(narrow));
			wide = narrow;
			memcpy(to, &wide, 4);
			memmove(to + 4, from + 4, 4);
		}
		from += m->bytes;
		to += m->bytes;
	}
}

void mpi_unpack(const struct mpi_mapping *m, const void *wire, size_t count, void *memory)
{
	const uint8_t *from = wire;
	uint8_t *to = memory;
	int32_t wide;
	short narrow;

	if (m->layout == MPI_LAYOUT_PLAIN) {
		memmove(to, from, count * m->bytes);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (m->layout == MPI_LAYOUT_VALUE64_INDEX) {
			memmove(to, from, 12);
		} else {
			memcpy(&wide, from, 4);
			narrow = (short)wide;
			memcpy(to, &narrow, sizeof(narrow));
			memmove(to + 4, from + 4, 4);
		}
		from += m->bytes;
		to += m->bytes;
	}
}
