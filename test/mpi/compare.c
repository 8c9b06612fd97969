/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares results of allreduce, reduce and broadcast with the expected results: every operator and
 * type, many counts, in place or not; broadcasts from each root. Uses communicators with many
 * mappings of ranks to hosts.
 *
 *   compare [quick]      quick: fewer counts */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int counts[] = {1, 2, 3, 31, 32, 33, 64, 65, 257, 1000, 100000};
static int count_count = sizeof(counts) / sizeof(counts[0]);

struct layout {
	const char *name;
	MPI_Comm comm;
	int rank, members;
	int world[TEST_RANKS_MAX]; /* world rank of each member */
};

static void canary(unsigned char *end)
{
	memset(end, 0x5a, 16);
}

static int canary_dead(const unsigned char *end)
{
	for (int i = 0; i < 16; i++)
		if (end[i] != 0x5a)
			return 1;
	return 0;
}

static void allreduce(const struct layout *l, const struct test_type *t, const struct test_op *op,
		      int count, bool in_place, const void *expected)
{
	size_t bytes = t->bytes * (size_t)count;
	unsigned char *send = malloc(bytes + 16), *receive = malloc(bytes + 16);
	int me = l->world[l->rank], rc;

	test_fill(t, send, me, count);
	test_fill(t, receive, in_place ? me : 63, count);
	canary(receive + bytes);
	rc = MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, t->mpi, op->mpi,
			   l->comm);
	if (rc || !test_equal(t, receive, expected, count) || canary_dead(receive + bytes))
		test_fail("%s: allreduce %s of %d %s%s: rc %d, wrong", l->name, op->name, count,
			  t->name, in_place ? " in place" : "", rc);
	test_fill(t, receive, me, count);
	if (!in_place && !test_equal(t, send, receive, count))
		test_fail("%s: allreduce %s of %d %s changed what was sent", l->name, op->name,
			  count, t->name);
	free(send);
	free(receive);
}

/* MPICH 4.0 crashes on a long reduction in place to a root other than rank 0. */
static bool may_be_in_place(int root)
{
#ifdef MPICH_VERSION
	return root == 0;
#else
	return true;
#endif
}

static void reduce(const struct layout *l, const struct test_type *t, const struct test_op *op,
		   int count, int root, bool in_place, const void *expected)
{
	size_t bytes = t->bytes * (size_t)count;
	unsigned char *send = malloc(bytes + 16), *receive = malloc(bytes + 16);
	int me = l->world[l->rank], rc;
	bool own = l->rank == root;

	test_fill(t, send, me, count);
	test_fill(t, receive, me, count);
	canary(receive + bytes);
	rc = MPI_Reduce(in_place && own ? MPI_IN_PLACE : send, own ? receive : NULL, count, t->mpi,
			op->mpi, root, l->comm);
	if (rc || !test_equal(t, receive, own ? expected : send, count) ||
	    canary_dead(receive + bytes))
		test_fail("%s: reduce %s of %d %s to %d%s: rc %d, wrong", l->name, op->name, count,
			  t->name, root, in_place ? " in place" : "", rc);
	free(send);
	free(receive);
}

static void bcast(const struct layout *l, const struct test_type *t, int count, int root)
{
	size_t bytes = t->bytes * (size_t)count;
	unsigned char *data = malloc(bytes + 16), *expected = malloc(bytes + 16);
	int rc;

	test_fill(t, data, l->world[l->rank], count);
	test_fill(t, expected, l->world[root], count);
	canary(data + bytes);
	rc = MPI_Bcast(data, count, t->mpi, root, l->comm);
	if (rc || !test_equal(t, data, expected, count) || canary_dead(data + bytes))
		test_fail("%s: bcast of %d %s from %d: rc %d, wrong", l->name, count, t->name, root,
			  rc);
	free(data);
	free(expected);
}

static void operations(const struct layout *l, const struct test_type *t, int count)
{
	void *expected = malloc(t->bytes * (size_t)count + 1);
	int root;

	for (int o = 0; o < test_op_count; o++) {
		const struct test_op *op = &test_ops[o];

		if (!(op->kinds & 1u << t->kind))
			continue;
		test_expect(t, op, l->world, l->members, expected, count);
		allreduce(l, t, op, count, false, expected);
		allreduce(l, t, op, count, true, expected);
		root = (count + o) % l->members;
		reduce(l, t, op, count, root, o % 2 && may_be_in_place(root), expected);
	}
	free(expected);
}

static void everything(const struct layout *l)
{
	for (int t = 0; t < test_type_count; t++)
		for (int c = 0; c < count_count; c++)
			operations(l, &test_types[t], counts[c]);
	for (int root = 0; root < l->members; root++)
		for (int t = 0; t < test_type_count; t += 3)
			for (int c = 0; c < count_count; c++)
				bcast(l, &test_types[t], counts[c], root);
	for (int i = 0; i < 3; i++)
		if (MPI_Barrier(l->comm))
			test_fail("%s: barrier", l->name);
}

static void layout_begin(struct layout *l, const char *name, MPI_Comm comm)
{
	int world;

	l->name = name;
	l->comm = comm;
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_rank(comm, &l->rank);
	MPI_Comm_size(comm, &l->members);
	MPI_Allgather(&world, 1, MPI_INT, l->world, 1, MPI_INT, comm);
}

static void on_split(const char *name, int color, int key)
{
	struct layout l;
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
	if (comm == MPI_COMM_NULL)
		return;
	layout_begin(&l, name, comm);
	everything(&l);
	MPI_Comm_free(&comm);
}

static void nothing(void)
{
	int one = 1, result = -7, rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (MPI_Allreduce(&one, &result, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD) || result != -7)
		test_fail("allreduce of nothing");
	if (MPI_Bcast(&result, 0, MPI_INT, 0, MPI_COMM_WORLD) || result != -7)
		test_fail("bcast of nothing");
	if (MPI_Allreduce(&one, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) || result != 1)
		test_fail("allreduce alone");
	if (MPI_Barrier(MPI_COMM_SELF))
		test_fail("barrier alone");
}

int main(int argc, char **argv)
{
	struct layout l;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (ranks > TEST_RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (argc > 1 && !strcmp(argv[1], "quick"))
		counts[1] = 33, counts[2] = 1000, count_count = 3;
	nothing();
	layout_begin(&l, "world", MPI_COMM_WORLD);
	everything(&l);
	counts[1] = 33, counts[2] = 1000, count_count = 3;
	on_split("reversed", 0, -rank);
	on_split("even and odd", rank % 2, rank);
	on_split("without the first", rank == 0 ? MPI_UNDEFINED : 0, rank);
	on_split("three first", rank < 3 ? 0 : 1, -rank);
	return test_end();
}
