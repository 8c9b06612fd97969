/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks disagree on the arguments of an operation. If MPI returns errors, all ranks must get one,
 * and the program continues. It requires one rank on each node: within a node MPI itself handles
 * the operation, without the plugin.
 *
 *   disagree count|type|op */
#include <string.h>

#include "values.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "count";
	double x[4] = {1, 2, 3, 4}, sum[4];
	int rank, ranks, rc;
	bool odd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	odd = rank == ranks - 1;
	for (int i = 0; i < 5; i++) { /* the plugin joins a group after three calls */
		rc = MPI_Allreduce(x, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (rc || sum[0] != ranks)
			test_fail("before: rc %d", rc);
	}
	rc = MPI_Allreduce(x, sum, odd && !strcmp(what, "count") ? 2 : 1,
			   odd && !strcmp(what, "type") ? MPI_LONG : MPI_DOUBLE,
			   odd && !strcmp(what, "op") ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
	if (!rc)
		test_fail("no error though the ranks differ in %s", what);
	for (int i = 0; i < 10; i++) {
		rc = MPI_Allreduce(x, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (rc || sum[0] != ranks)
			test_fail("afterwards: rc %d, sum %g", rc, sum[0]);
	}
	return test_end();
}
