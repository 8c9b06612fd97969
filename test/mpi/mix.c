/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a mix of operations: nonblocking operations while blocking ones run, point-to-point
 * messages, user-defined operators, derived types, persistent requests, communicators that are
 * created and freed, and threads.
 *
 *   mix [threads] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

#define FLIGHT 12

static int rank, ranks;

static double total(int i)
{
	return ranks * (double)i + ranks * (ranks - 1) / 2.0;
}

/* Blocking operations and messages while nonblocking ones are outstanding. */
static void overlap(MPI_Comm comm)
{
	double send[FLIGHT][100], receive[FLIGHT][100], x, sum;
	int from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks, token = rank, got = -1;
	MPI_Request requests[FLIGHT + 1];
	MPI_Status statuses[FLIGHT + 1];

	for (int i = 0; i < FLIGHT; i++) {
		int count = i % 3 == 0 ? 100 : 1 + i;
		bool in_place = i % 2;

		for (int k = 0; k < 100; k++)
			send[i][k] = receive[i][k] = i + k + rank;
		MPI_Iallreduce(in_place ? MPI_IN_PLACE : send[i], receive[i], count, MPI_DOUBLE,
			       MPI_SUM, comm, &requests[i]);
		if (i == 4) {
			x = 7 + rank;
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
			if (sum != total(7))
				test_fail("allreduce amid nonblocking ones: %g", sum);
		}
	}
	MPI_Irecv(&got, 1, MPI_INT, from, 5, comm, &requests[FLIGHT]);
	MPI_Send(&token, 1, MPI_INT, to, 5, comm);
	MPI_Waitall(FLIGHT + 1, requests, statuses);
	for (int i = 0; i < FLIGHT; i++)
		for (int k = 0; k < (i % 3 == 0 ? 100 : 1 + i); k++)
			if (receive[i][k] != total(i + k))
				test_fail("iallreduce %d element %d: %g", i, k, receive[i][k]);
	if (got != from)
		test_fail("message: %d instead of %d", got, from);
}

/* A rank in an operation may need a message of one that has not started it. */
static void dependent(MPI_Comm comm)
{
	long one = 1, sum = 0;
	int token = 3;
	MPI_Request request;

	if (rank == ranks - 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
	MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm, &request);
	if (rank == 0)
		MPI_Send(&token, 1, MPI_INT, ranks - 1, 9, comm);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (sum != ranks)
		test_fail("iallreduce that others wait for: %ld", sum);
}

/* An associative user operator whose result depends on the ranks' order. */
static void keep_left(void *in, void *inout, int *count, MPI_Datatype *type)
{
	for (int i = 0; i < *count; i++)
		((int *)inout)[i] = ((int *)in)[i];
}

static void strange(MPI_Comm comm)
{
	int values[8], copy[8], x = rank + 1, y = 0;
	long double wide = rank, most = 0;
	MPI_Datatype pairs, backward;
	MPI_Op op;

	MPI_Op_create(keep_left, 0, &op);
	MPI_Allreduce(&x, &y, 1, MPI_INT, op, comm);
	if (y != 1)
		test_fail("user operation: %d instead of 1", y);
	MPI_Op_free(&op);
	MPI_Allreduce(&wide, &most, 1, MPI_LONG_DOUBLE, MPI_MAX, comm);
	if (most != ranks - 1)
		test_fail("long double");

	/* different types for the same bytes */
	MPI_Type_vector(4, 1, 2, MPI_INT, &pairs);
	MPI_Type_commit(&pairs);
	for (int i = 0; i < 8; i++)
		values[i] = rank == 1 ? 10 + i : -1;
	if (rank % 2)
		MPI_Bcast(values, 1, pairs, 1, comm);
	else
		MPI_Bcast(values, 4, MPI_INT, 1, comm);
	for (int i = 0; i < 4; i++)
		if (values[rank % 2 ? 2 * i : i] != 10 + 2 * i)
			test_fail("bcast by different types: element %d is %d", i, values[i]);
	MPI_Type_free(&pairs);
	MPI_Type_indexed(2, (int[]){4, 4}, (int[]){4, 0}, MPI_INT, &backward);
	MPI_Type_commit(&backward);
	for (int i = 0; i < 8; i++)
		copy[i] = rank == 0 ? i : -1;
	MPI_Bcast(copy, rank == 0 ? 1 : 8, rank == 0 ? backward : MPI_INT, 0, comm);
	for (int i = 0; i < 8 && rank > 0; i++)
		if (copy[i] != (i + 4) % 8)
			test_fail("bcast of swapped halves: element %d is %d", i, copy[i]);
	MPI_Type_free(&backward);
}

static void persistent(MPI_Comm comm)
{
	int out = rank, in = -1, x, sum;
	MPI_Request requests[2];
	MPI_Status statuses[2];

	MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % ranks, 1, comm, &requests[0]);
	MPI_Recv_init(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm, &requests[1]);
	for (int i = 0; i < 5; i++) {
		x = i;
		MPI_Startall(2, requests);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
		MPI_Waitall(2, requests, statuses);
		if (sum != i * ranks || in != (rank + ranks - 1) % ranks)
			test_fail("persistent beside allreduce");
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void come_and_go(void)
{
	for (int i = 0; i < 6; i++) {
		MPI_Comm a, b;
		MPI_Request request;
		int x = 1, sum = 0;

		MPI_Comm_dup(MPI_COMM_WORLD, &a);
		MPI_Comm_idup(MPI_COMM_WORLD, &b, &request);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, a);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Barrier(b);
		MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, i % ranks, b);
		if (rank == i % ranks && sum != ranks)
			test_fail("on a duplicate: %d", sum);
		MPI_Comm_free(&b);
		MPI_Comm_free(&a);
	}
}

/* Intercommunicators make MPI broadcast with its internal types. */
static void halves(void)
{
	bool low = rank < ranks / 2;
	MPI_Comm half, both, merged;
	int x = low ? 1 : 100, sum = 0, others;

	MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 3, &both);
	MPI_Comm_remote_size(both, &others);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, both);
	if (sum != others * (low ? 100 : 1))
		test_fail("between two halves: %d", sum);
	MPI_Intercomm_merge(both, low, &merged);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, merged);
	if (sum != ranks / 2 + 100 * (ranks - ranks / 2))
		test_fail("on merged halves: %d", sum);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&both);
	MPI_Comm_free(&half);
}

static void *thread(void *context)
{
	MPI_Comm comm = *(MPI_Comm *)context;

	for (int i = 0; i < 100; i++) {
		double x = rank + i, sum = 0;
		MPI_Request request;

		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
		if (sum != total(i))
			test_fail("thread: %g", sum);
		MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (sum != total(i))
			test_fail("thread, nonblocking: %g", sum);
	}
	return NULL;
}

static void threads(void)
{
	MPI_Comm comms[3];
	pthread_t ids[3];

	for (int i = 0; i < 3; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < 3; i++)
		pthread_create(&ids[i], NULL, thread, &comms[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 3; i++)
		MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
	bool threaded = argc > 1 && !strcmp(argv[1], "threads");
	int provided;

	MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	overlap(MPI_COMM_WORLD); /* before any rank has joined a group of switches */
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 20; i++)
		overlap(MPI_COMM_WORLD);
	dependent(MPI_COMM_WORLD);
	strange(MPI_COMM_WORLD);
	persistent(MPI_COMM_WORLD);
	come_and_go();
	halves();
	if (threaded && provided == MPI_THREAD_MULTIPLE)
		threads();
	return test_end();
}
