/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs and expected results of the MPI tests, which every rank can compute for all. They are so
 * small that sums and products are exact in every type. */
#ifndef TEST_MPI_VALUES_H
#define TEST_MPI_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#define TEST_RANKS_MAX 64

struct test_type {
	const char *name;
	MPI_Datatype mpi;
	size_t bytes; /* distance between two elements */
	/* element i of a rank */
	void (*put)(void *at, int rank, int i);
	enum { INTEGERS, FORTRAN, REALS, PAIRS, COMPLEX, LOGICALS, BYTES } kind;
};
extern const struct test_type test_types[];
extern const int test_type_count;

struct test_op {
	const char *name;
	MPI_Op mpi;
	unsigned kinds; /* mask of supported kinds of type */
};
extern const struct test_op test_ops[];
extern const int test_op_count;

/* Ignores gaps inside elements. */
bool test_equal(const struct test_type *type, const void *a, const void *b, int count);
void test_fill(const struct test_type *type, void *buffer, int rank, int count);
/* Expects the result for ranks[0 .. members - 1]. */
void test_expect(const struct test_type *type, const struct test_op *op, const int *ranks,
		 int members, void *out, int count);

/* Prints the first ten. */
__attribute__((format(printf, 1, 2))) void test_fail(const char *format, ...);
/* Returns the exit status, by the sum of all ranks' failures. */
int test_end(void);

#endif
