/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares inputs and expected results of the MPI tests: values that every rank can compute for
 * every other, small enough that sums and products are exact in every type. */
#ifndef TEST_MPI_VALUES_H
#define TEST_MPI_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#define TEST_RANKS_MAX 64

struct test_type {
	const char *name;
	MPI_Datatype mpi;
	size_t bytes; /* distance of two elements */
	/* Writes element i of a rank. */
	void (*put)(void *at, int rank, int i);
	enum { INTEGERS, FORTRAN, REALS, PAIRS, COMPLEX, LOGICALS, BYTES } kind;
};
extern const struct test_type test_types[];
extern const int test_type_count;

struct test_op {
	const char *name;
	MPI_Op mpi;
	unsigned kinds; /* bit mask of the kinds of type that it supports */
};
extern const struct test_op test_ops[];
extern const int test_op_count;

/* Compares element by element, without gaps. */
bool test_equal(const struct test_type *type, const void *a, const void *b, int count);
void test_fill(const struct test_type *type, void *buffer, int rank, int count);
/* Computes the result of ranks[0 .. members - 1]. */
void test_expect(const struct test_type *type, const struct test_op *op, const int *ranks,
		 int members, void *out, int count);

/* Counts a failure; prints the first ten. */
__attribute__((format(printf, 1, 2))) void test_fail(const char *format, ...);
/* Completes the test. Returns the exit status: the sum of all ranks' failures decides. */
int test_end(void);

#endif
