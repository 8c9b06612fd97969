/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the inputs and expected results of the MPI tests. Every rank can compute the values of
 * every other rank. They are so small that sums and products are exact in every type. */
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
	/* Writes element i of a rank. */
	void (*put)(void *at, int rank, int i);
	enum { INTEGERS, FORTRAN, REALS, PAIRS, COMPLEX, LOGICALS, BYTES } kind;
};
extern const struct test_type test_types[];
extern const int test_type_count;

struct test_op {
	const char *name;
	MPI_Op mpi;
	unsigned kinds; /* bit mask of the kinds of type that the operator supports */
};
extern const struct test_op test_ops[];
extern const int test_op_count;

/* Compares buffers element by element, without the gaps inside elements. */
bool test_equal(const struct test_type *type, const void *a, const void *b, int count);
void test_fill(const struct test_type *type, void *buffer, int rank, int count);
/* Computes the expected result for the ranks ranks[0 .. members - 1]. */
void test_expect(const struct test_type *type, const struct test_op *op, const int *ranks,
		 int members, void *out, int count);

/* Counts a failure; prints the first ten. */
__attribute__((format(printf, 1, 2))) void test_fail(const char *format, ...);
/* Completes the test. Returns the exit status, which depends on the sum of all ranks' failures. */
int test_end(void);

#endif
