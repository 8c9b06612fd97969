/* SPDX-License-Identifier: BSD-3-Clause */
/* Values, expected results and failure counts of the MPI tests. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int failures;

/* 1, 2 or -1: products of 64 ranks do not overflow a float. */
static int small(int rank, int i)
{
	int v = (rank * 7 + i * 3) % 11;

	return v == 0 ? 2 : v < 3 ? -1 : 1;
}

#define PUT(name, ctype, value)                     \
	static void name(void *at, int rank, int i) \
	{                                           \
		ctype v = (ctype)(value);           \
		memcpy(at, &v, sizeof(v));          \
	}
PUT(put_char, signed char, small(rank, i))
PUT(put_short, short, small(rank, i) * 3)
PUT(put_int, int, small(rank, i) * 1001)
PUT(put_long, long, small(rank, i) * 100003L)
/* Unsigned values are small: Open MPI 4.1 (op/avx) saturates bytes and compares them as signed. */
PUT(put_uchar, unsigned char, small(rank, i) + 2)
PUT(put_ushort, unsigned short, small(rank, i) + 2)
PUT(put_uint, unsigned, (small(rank, i) + 2) * 77)
PUT(put_ulong, unsigned long, (small(rank, i) + 2) * 77L)
PUT(put_float, float, small(rank, i))
PUT(put_double, double, small(rank, i) * 0.5)
PUT(put_bool, _Bool, small(rank, i) > 0)
PUT(put_logical, int, small(rank, i) > 0)
PUT(put_byte, unsigned char, rank * 37 + i)

struct float_int {
	float v;
	int i;
};
struct double_int {
	double v;
	int i;
};
struct long_int {
	long v;
	int i;
};
struct short_int {
	short v;
	int i;
};
struct two_int {
	int v, i;
};
#define PAIR(name, type)                            \
	static void name(void *at, int rank, int i) \
	{                                           \
		struct type p;                      \
		memset(&p, 0xa5, sizeof(p));        \
		p.v = small(rank, i);               \
		p.i = (rank * 5 + i) % 13;          \
		memcpy(at, &p, sizeof(p));          \
	}
PAIR(put_float_int, float_int)
PAIR(put_double_int, double_int)
PAIR(put_long_int, long_int)
PAIR(put_short_int, short_int)
PAIR(put_two_int, two_int)

static void put_float_complex(void *at, int rank, int i)
{
	float v[2] = {(float)small(rank, i), (float)(rank - i % 5)};

	memcpy(at, v, sizeof(v));
}

static void put_double_complex(void *at, int rank, int i)
{
	double v[2] = {small(rank, i), rank - i % 5};

	memcpy(at, v, sizeof(v));
}

const struct test_type test_types[] = {
	{"double", MPI_DOUBLE, 8, put_double, REALS},
	{"float", MPI_FLOAT, 4, put_float, REALS},
	{"signed char", MPI_SIGNED_CHAR, 1, put_char, INTEGERS},
	{"short", MPI_SHORT, 2, put_short, INTEGERS},
	{"int", MPI_INT, 4, put_int, INTEGERS},
	{"long", MPI_LONG, 8, put_long, INTEGERS},
	{"long long", MPI_LONG_LONG, 8, put_long, INTEGERS},
	{"unsigned char", MPI_UNSIGNED_CHAR, 1, put_uchar, INTEGERS},
	{"unsigned short", MPI_UNSIGNED_SHORT, 2, put_ushort, INTEGERS},
	{"unsigned", MPI_UNSIGNED, 4, put_uint, INTEGERS},
	{"unsigned long", MPI_UNSIGNED_LONG, 8, put_ulong, INTEGERS},
	{"int16_t", MPI_INT16_T, 2, put_short, INTEGERS},
	{"uint64_t", MPI_UINT64_T, 8, put_ulong, INTEGERS},
	{"_Bool", MPI_C_BOOL, 1, put_bool, LOGICALS},
	{"LOGICAL", MPI_LOGICAL, 4, put_logical, LOGICALS},
	{"byte", MPI_BYTE, 1, put_byte, BYTES},
	{"INTEGER", MPI_INTEGER, 4, put_int, FORTRAN},
	{"REAL", MPI_REAL, 4, put_float, REALS},
	{"DOUBLE PRECISION", MPI_DOUBLE_PRECISION, 8, put_double, REALS},
	{"float complex", MPI_C_FLOAT_COMPLEX, 8, put_float_complex, COMPLEX},
	{"double complex", MPI_C_DOUBLE_COMPLEX, 16, put_double_complex, COMPLEX},
	{"float+int", MPI_FLOAT_INT, sizeof(struct float_int), put_float_int, PAIRS},
	{"double+int", MPI_DOUBLE_INT, sizeof(struct double_int), put_double_int, PAIRS},
	{"long+int", MPI_LONG_INT, sizeof(struct long_int), put_long_int, PAIRS},
	{"short+int", MPI_SHORT_INT, sizeof(struct short_int), put_short_int, PAIRS},
	{"2int", MPI_2INT, sizeof(struct two_int), put_two_int, PAIRS},
};
const int test_type_count = sizeof(test_types) / sizeof(test_types[0]);

const struct test_op test_ops[] = {
	{"SUM", MPI_SUM, 1u << INTEGERS | 1u << FORTRAN | 1u << REALS | 1u << COMPLEX},
	{"PROD", MPI_PROD, 1u << INTEGERS | 1u << FORTRAN | 1u << REALS},
	{"MIN", MPI_MIN, 1u << INTEGERS | 1u << FORTRAN | 1u << REALS},
	{"MAX", MPI_MAX, 1u << INTEGERS | 1u << FORTRAN | 1u << REALS},
	{"LAND", MPI_LAND, 1u << INTEGERS | 1u << LOGICALS},
	{"LOR", MPI_LOR, 1u << INTEGERS | 1u << LOGICALS},
	{"LXOR", MPI_LXOR, 1u << INTEGERS | 1u << LOGICALS},
	{"BAND", MPI_BAND, 1u << INTEGERS | 1u << FORTRAN | 1u << BYTES},
	{"BOR", MPI_BOR, 1u << INTEGERS | 1u << FORTRAN | 1u << BYTES},
	{"BXOR", MPI_BXOR, 1u << INTEGERS | 1u << FORTRAN | 1u << BYTES},
	{"MINLOC", MPI_MINLOC, 1u << PAIRS},
	{"MAXLOC", MPI_MAXLOC, 1u << PAIRS},
};
const int test_op_count = sizeof(test_ops) / sizeof(test_ops[0]);

/* The pair's index follows its value. */
static size_t value_bytes(const struct test_type *t)
{
	return t->mpi == MPI_SHORT_INT ? 2 : t->bytes == 16 ? 8 : 4;
}

bool test_equal(const struct test_type *t, const void *a, const void *b, int count)
{
	const unsigned char *x = a, *y = b;
	size_t value = value_bytes(t), index = value < 4 ? 4 : value;

	if (t->kind != PAIRS)
		return !memcmp(a, b, t->bytes * (size_t)count);
	for (int i = 0; i < count; i++, x += t->bytes, y += t->bytes)
		if (memcmp(x, y, value) || memcmp(x + index, y + index, sizeof(int)))
			return false;
	return true;
}

void test_fill(const struct test_type *t, void *buffer, int rank, int count)
{
	for (int i = 0; i < count; i++)
		t->put((char *)buffer + (size_t)i * t->bytes, rank, i);
}

void test_expect(const struct test_type *t, const struct test_op *op, const int *ranks, int members,
		 void *out, int count)
{
	void *one = malloc(t->bytes * (size_t)count + 1);

	test_fill(t, out, ranks[0], count);
	for (int m = 1; m < members; m++) {
		test_fill(t, one, ranks[m], count);
		PMPI_Reduce_local(one, out, count, t->mpi, op->mpi);
	}
	free(one);
}

void test_fail(const char *format, ...)
{
	va_list list;
	int rank;

	if (failures++ >= 10)
		return;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	fprintf(stderr, "rank %d: ", rank);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

int test_end(void)
{
	int all = 0, rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d failures\n", all);
	MPI_Finalize();
	return all != 0;
}
