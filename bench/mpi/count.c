/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into an MPI program (LD_PRELOAD), counts allreduces by the profiling interface, and
 * times them and the other MPI calls of programs such as solvers. In MPI_Finalize rank 0 prints on
 * standard error:
 *
 *   mpi-count: ranks R wall_s W mpi_s M allreduce_s A calls C eligible E
 *
 * Times are means over ranks: W from MPI_Init to MPI_Finalize, M in MPI, A in MPI_Allreduce. C
 * counts rank 0's allreduces; E those that a switch handles as one packet: at most 256 bytes, sum,
 * minimum or maximum of one type of 4 or 8 bytes. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

#define ONE_PACKET_BYTES 256

static struct {
	double begin, inside, allreduce;
	unsigned long calls, eligible;
} seen;

static void inside_add(double begin)
{
	seen.inside += PMPI_Wtime() - begin;
}

static bool eligible(int count, MPI_Datatype type, MPI_Op op)
{
	int bytes = 0;

	if (type != MPI_DOUBLE && type != MPI_FLOAT && type != MPI_INT && type != MPI_LONG)
		return false;
	PMPI_Type_size(type, &bytes);
	return bytes * count <= ONE_PACKET_BYTES &&
	       (op == MPI_SUM || op == MPI_MIN || op == MPI_MAX);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
		  MPI_Comm comm)
{
	double begin = PMPI_Wtime();
	int status = PMPI_Allreduce(send, receive, count, type, op, comm);

	seen.allreduce += PMPI_Wtime() - begin;
	inside_add(begin);
	seen.calls++;
	seen.eligible += eligible(count, type, op);
	return status;
}

/* X(name, parameters, arguments) */
#define TIMED_CALLS(X)                                                                            \
	X(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),              \
	  (b, n, t, to, tag, c))                                                                  \
	X(Bsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),             \
	  (b, n, t, to, tag, c))                                                                  \
	X(Isend,                                                                                  \
	  (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),    \
	  (b, n, t, to, tag, c, r))                                                               \
	X(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),   \
	  (b, n, t, from, tag, c, s))                                                             \
	X(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), \
	  (b, n, t, from, tag, c, r))                                                             \
	X(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s), (from, tag, c, s))               \
	X(Wait, (MPI_Request * r, MPI_Status * s), (r, s))                                        \
	X(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))                           \
	X(Barrier, (MPI_Comm c), (c))                                                             \
	X(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))      \
	X(Reduce,                                                                                 \
	  (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),       \
	  (b, o, n, t, op, root, c))                                                              \
	X(Alltoall,                                                                               \
	  (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, MPI_Comm c),     \
	  (b, n, t, o, m, u, c))                                                                  \
	X(Gather,                                                                                 \
	  (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, int root,        \
	   MPI_Comm c),                                                                           \
	  (b, n, t, o, m, u, root, c))                                                            \
	X(Scatter,                                                                                \
	  (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, int root,        \
	   MPI_Comm c),                                                                           \
	  (b, n, t, o, m, u, root, c))                                                            \
	X(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm * o), (c, g, o))                        \
	X(Comm_dup, (MPI_Comm c, MPI_Comm * o), (c, o))                                           \
	X(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *o), (c, color, key, o))

#define TIMED_DEFINE(name, parameters, arguments)   \
	int MPI_##name parameters                   \
	{                                           \
		double begin = PMPI_Wtime();        \
		int status = PMPI_##name arguments; \
		inside_add(begin);                  \
		return status;                      \
	}
TIMED_CALLS(TIMED_DEFINE)

int MPI_Init(int *argc, char ***argv)
{
	int status = PMPI_Init(argc, argv);

	seen.begin = PMPI_Wtime();
	return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int status = PMPI_Init_thread(argc, argv, required, provided);

	seen.begin = PMPI_Wtime();
	return status;
}

int MPI_Finalize(void)
{
	double own[3] = {PMPI_Wtime() - seen.begin, seen.inside, seen.allreduce}, all[3];
	int rank, ranks;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	PMPI_Reduce(own, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		fprintf(stderr,
			"mpi-count: ranks %d wall_s %.4f mpi_s %.4f allreduce_s %.4f calls %lu "
			"eligible %lu\n",
			ranks, all[0] / ranks, all[1] / ranks, all[2] / ranks, seen.calls,
			seen.eligible);
	return PMPI_Finalize();
}
