/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI tests put in and expect: values that every rank can compute for every other, small
 * enough that sums and products are exact in every type, so each result is known to the bit. */
#ifndef TEST_MPI_VALUES_H
#define TEST_MPI_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#define TEST_RANKS_MAX 64

struct test_type {
	const char *name;
	MPI_Datatype mpi;
	size_t bytes; /* from one element to the next */
	/* Writes element i of a rank. */
	void (*put)(void *at, int rank, int i);
	enum { INTEGERS, FORTRAN, REALS, PAIRS, COMPLEX, LOGICALS, BYTES } kind;
};
extern const struct test_type test_types[];
extern const int test_type_count;

struct test_op {
	const char *name;
	MPI_Op mpi;
	unsigned kinds; /* bit of each kind that it goes with */
};
extern const struct test_op test_ops[];
extern const int test_op_count;

/* Element by element, gaps left out. */
bool test_equal(const struct test_type *type, const void *a, const void *b, int count);
void test_fill(const struct test_type *type, void *buffer, int rank, int count);
/* What ranks[0 .. members - 1] give together. */
void test_expect(const struct test_type *type, const struct test_op *op, const int *ranks,
		 int members, void *out, int count);

/* Counts a failure and names the place, at most ten times. */
__attribute__((format(printf, 1, 2))) void test_fail(const char *format, ...);
/* Ends the test: the sum of all ranks' failures decides. */
int test_end(void);

#endif
