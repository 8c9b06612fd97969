/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs and checks allreduces while switches fail. Prints their number and the longest time.
 *
 *   endure SECONDS [ELEMENTS [die | FILE | CALLS]]
 *
 * die: kills the last rank after 1 s. FILE: stops when it exists, or after SECONDS. CALLS: stops
 * after so many. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "values.h"

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, begin, longest = 0;
	int elements = argc > 2 ? atoi(argv[2]) : 4, rank, ranks;
	double *x = malloc(sizeof(*x) * (size_t)(elements + 1));
	double *sum = malloc(sizeof(*sum) * (size_t)(elements + 1));
	const char *last = argc > 3 ? argv[3] : "";
	bool die = strcmp(last, "die") == 0;
	long calls = 0, calls_wanted = atol(last);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	begin = MPI_Wtime();
	for (sum[0] = 0; sum[0] == 0; calls++) {
		double now = MPI_Wtime(), elapsed;

		/* Rank 0 decides; the sum stops all ranks at the same operation. */
		x[0] = rank == 0 && (now - begin > seconds || access(last, F_OK) == 0 ||
				     calls + 1 == calls_wanted);
		if (die && rank == ranks - 1 && now - begin > 1)
			raise(SIGKILL);
		for (int i = 1; i <= elements; i++)
			x[i] = (double)(calls + i * rank);
		MPI_Allreduce(x, sum, elements + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (int i = 1; i <= elements; i++)
			if (sum[i] != (double)(ranks * calls + (long)i * ranks * (ranks - 1) / 2))
				test_fail("call %ld, element %d: %g", calls, i, sum[i]);
		elapsed = MPI_Wtime() - now;
		longest = elapsed > longest ? elapsed : longest;
	}
	if (rank == 0)
		printf("%ld calls, the longest %.3f s\n", calls, longest);
	free(x);
	free(sum);
	return test_end();
}
