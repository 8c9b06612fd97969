/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI collectives on memory of xPUs, for net/mpi_device.sh. Rank i uses the i-th xPU. Each case
 * exits with 0 if all ranks get what it expects.
 *
 *   device values|mixed|halves|short|lengths|freed|memory|operator|same|fault|unset|dies|
 *          threads|partly|zero|negative|full */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <dxp/async.h>
#include <dxp/mpi.h>

#define BYTES (8u << 20)

static int rank, ranks;
static struct dxp_fabric *fabric;
static struct dxp_xpu *xpu;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "FAILED: rank %d: %s: %s\n", rank, what, why);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int status, const char *what)
{
	if (status < 0)
		die(what, dxp_fabric_error(NULL));
}

static void xpu_open(int index)
{
	struct dxp_node_info nodes[64];
	int count = dxp_fabric_nodes(fabric, nodes, 64);

	for (int i = 0; i < count && i < 64 && !xpu; i++)
		if (nodes[i].kind == DXP_NODE_XPU && nodes[i].alive && index-- == 0)
			check(dxp_xpu_open(fabric, nodes[i].name, &xpu), "open an xPU");
	if (!xpu)
		die("open an xPU", "there are too few");
}

struct memory {
	uint64_t address;
	void *pointer;
};

static struct memory memory_make(uint64_t bytes)
{
	struct memory m;

	check(dxp_mem_alloc(xpu, bytes, &m.address), "allocate");
	check(dxp_mpi_buffer(xpu, m.address, bytes, &m.pointer), "make a buffer");
	return m;
}

static void memory_free(struct memory *m)
{
	dxp_mpi_buffer_free(m->pointer);
	check(dxp_mem_free(xpu, m->address), "free");
}

/* ---- results ---- */

static const struct type {
	MPI_Datatype type;
	size_t bytes;
	const char *name;
} types[] = {{MPI_INT, 4, "int"},
	     {MPI_INT64_T, 8, "int64"},
	     {MPI_UINT8_T, 1, "uint8"},
	     {MPI_FLOAT, 4, "float"},
	     {MPI_DOUBLE, 8, "double"}};

static double input_of(int of, int i)
{
	return (i * 7 + of * 3) % 5 + 1;
}

static void element_put(const struct type *t, void *at, int i, double value)
{
	if (t->type == MPI_INT)
		((int *)at)[i] = (int)value;
	else if (t->type == MPI_INT64_T)
		((int64_t *)at)[i] = (int64_t)value;
	else if (t->type == MPI_UINT8_T)
		((uint8_t *)at)[i] = (uint8_t)value;
	else if (t->type == MPI_FLOAT)
		((float *)at)[i] = (float)value;
	else
		((double *)at)[i] = value;
}

/* Compares a call on device memory with the same call on host memory. */
static void compare(const struct type *t, MPI_Op op, int count, int way)
{
	const size_t bytes = (size_t)count * t->bytes;
	const int root = ranks - 1, in_place = way == 1, offset = 64;
	struct memory from = memory_make(bytes + offset), to = memory_make(bytes + offset);
	uint8_t *host = calloc(1, bytes), *expected = calloc(1, bytes), *got = calloc(1, bytes);
	uint8_t *send = (uint8_t *)from.pointer + offset, *receive = (uint8_t *)to.pointer + offset;
	int error;

	for (int i = 0; i < count; i++)
		element_put(t, host, i, input_of(rank, i));
	memcpy(expected, host, bytes);
	check(dxp_mem_write(xpu, (in_place || way == 3 ? to : from).address + offset, host, bytes),
	      "write");
	if (way == 3) {
		error = MPI_Bcast(receive, count, t->type, root, MPI_COMM_WORLD);
		for (int i = 0; i < count; i++)
			element_put(t, expected, i, input_of(root, i));
	} else if (way == 2) {
		error = MPI_Reduce(send, rank == root ? receive : NULL, count, t->type, op, root,
				   MPI_COMM_WORLD);
		MPI_Reduce(host, expected, count, t->type, op, root, MPI_COMM_WORLD);
	} else {
		error = MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, t->type, op,
				      MPI_COMM_WORLD);
		MPI_Allreduce(host, expected, count, t->type, op, MPI_COMM_WORLD);
	}
	if (error != MPI_SUCCESS)
		die(t->name, "the call fails");
	check(dxp_mem_read(xpu, got, to.address + offset, bytes), "read");
	if ((way != 2 || rank == root) && memcmp(got, expected, bytes) != 0)
		die(t->name, "wrong result");
	memory_free(&from);
	memory_free(&to);
	free(host);
	free(expected);
	free(got);
}

static int case_values(void)
{
	static const int counts[] = {1, 7, 1000, 300000};
	const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
	MPI_Comm half;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (int way = 0; way < 4; way++)
			compare(&types[i], ops[(i + (size_t)way) % 4],
				counts[(i + (size_t)way) % 4], way);
	compare(&types[0], MPI_SUM, 300000, 0);
	compare(&types[3], MPI_SUM, 300000, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	/* A communicator of its own, which is freed. */
	MPI_Comm_dup(MPI_COMM_WORLD, &half);
	struct memory m = memory_make(64);
	check(MPI_Allreduce(MPI_IN_PLACE, m.pointer, 4, MPI_INT, MPI_SUM, half) == MPI_SUCCESS ? 0
											       : -1,
	      "allreduce on a second communicator");
	memory_free(&m);
	MPI_Comm_free(&half);
	return 0;
}

/* ---- errors ---- */

/* Returns 0 if the call fails at this rank. */
static int must_fail(int error)
{
	if (error == MPI_SUCCESS)
		die("the call", "succeeds");
	printf("ok: the call fails at rank %d\n", rank);
	return 0;
}

static int allreduce(const void *send, void *receive, int count)
{
	return MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int case_error(const char *name)
{
	struct memory m = memory_make(2048);
	static int host[1024];

	if (strcmp(name, "mixed") == 0)
		return must_fail(allreduce(MPI_IN_PLACE, rank ? (void *)host : m.pointer, 512));
	if (strcmp(name, "zero") == 0)
		return allreduce(MPI_IN_PLACE, rank ? NULL : m.pointer, 0);
	if (strcmp(name, "halves") == 0)
		return must_fail(allreduce(host, m.pointer, 512));
	if (strcmp(name, "short") == 0)
		return must_fail(allreduce(MPI_IN_PLACE, m.pointer, 1024));
	if (strcmp(name, "lengths") == 0)
		return must_fail(allreduce(MPI_IN_PLACE, m.pointer, rank ? 500 : 512));
	if (strcmp(name, "operator") == 0)
		return must_fail(MPI_Allreduce(MPI_IN_PLACE, m.pointer, 512, MPI_INT, MPI_BXOR,
					       MPI_COMM_WORLD));
	if (strcmp(name, "memory") == 0 && rank == 1)
		check(dxp_mem_free(xpu, m.address), "free");
	if (strcmp(name, "freed") == 0 && rank == 1)
		dxp_mpi_buffer_free(m.pointer);
	return must_fail(allreduce(MPI_IN_PLACE, m.pointer, 512));
}

/* One rank has the setting: host memory works, device memory fails. */
static int case_partly(void)
{
	struct memory m = memory_make(2048);
	int host = rank + 1;

	if (allreduce(MPI_IN_PLACE, &host, 1) != MPI_SUCCESS || host != ranks * (ranks + 1) / 2)
		die("a sum in host memory", "wrong");
	return must_fail(allreduce(MPI_IN_PLACE, m.pointer, 512));
}

static int case_negative(void)
{
	struct memory m = memory_make(2048);
	int class;

	MPI_Error_class(MPI_Bcast(m.pointer, -1, MPI_INT, 0, MPI_COMM_WORLD), &class);
	if (class != MPI_ERR_COUNT)
		die("a negative count", "another error");
	return 0;
}

/* Commands behind an unset event fill the space of commands at rank 0. */
static int case_full(void)
{
	const struct dxp_rect line = {.row_bytes = 64, .rows = 1, .slices = 1};
	struct memory m = memory_make(2048), own = memory_make(2048);
	dxp_event user, last;
	int status = rank ? DXP_EAGAIN : DXP_OK;

	check(dxp_event_create(fabric, &user), "create an event");
	const struct dxp_waits waits = {.events = &user, .count = 1};
	while (status == DXP_OK) {
		status = dxp_copy(xpu, own.address, own.address + 1024, &line, &waits, &last);
		if (status == DXP_OK)
			dxp_event_forget(fabric, last);
	}
	if (status != DXP_EAGAIN)
		die("commands", dxp_fabric_error(NULL));
	must_fail(allreduce(MPI_IN_PLACE, m.pointer, 512));
	check(dxp_event_set(fabric, user, DXP_OK), "set the event");
	return 0;
}

/* ---- threads ---- */

#define THREADS     4
#define THREAD_RUNS 60
#define THREAD_INTS (1 << 18)

static MPI_Comm comms[THREADS];

/* Reduces on a communicator of its own. Each thread has other values. */
static void *thread_run(void *context)
{
	const int thread = (int)((MPI_Comm *)context - comms);
	const size_t bytes = THREAD_INTS * sizeof(int);
	struct memory from = memory_make(bytes), to = memory_make(bytes);
	int *values = calloc(1, bytes);

	for (int i = 0; i < THREAD_INTS; i++)
		values[i] = (thread + 1) * (rank + 1);
	check(dxp_mem_write(xpu, from.address, values, bytes), "write");
	for (int run = 0; run < THREAD_RUNS; run++) {
		if (MPI_Allreduce(from.pointer, to.pointer, THREAD_INTS, MPI_INT, MPI_SUM,
				  comms[thread]) != MPI_SUCCESS)
			die("a call of a thread", "fails");
		check(dxp_mem_read(xpu, values, to.address, bytes), "read");
		for (int i = 0; i < THREAD_INTS; i++)
			if (values[i] != (thread + 1) * ranks * (ranks + 1) / 2)
				die("a sum of a thread", "wrong");
	}
	free(values);
	return NULL;
}

static int case_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_run, &comms[i]) != 0)
			die("a thread", "cannot start");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	return 0;
}

static int without_threads(void)
{
	puts("skipped: this MPI has no MPI_THREAD_MULTIPLE");
	return 0;
}

static sigjmp_buf back;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static int case_fault(void)
{
	struct memory m = memory_make(2048);

	signal(SIGSEGV, on_fault);
	if (sigsetjmp(back, 1) == 0) {
		*(volatile int *)m.pointer = 1;
		die("a store", "succeeds");
	}
	puts("a store to the buffer raises SIGSEGV");
	memory_free(&m);
	return 0;
}

/* Sums until the script kills an xPU; then each rank gets an error. */
static int case_dies(void)
{
	struct memory m = memory_make(BYTES);
	int error = MPI_SUCCESS;

	for (int i = 0; i < 100000 && error == MPI_SUCCESS; i++) {
		error = allreduce(MPI_IN_PLACE, m.pointer, BYTES / 4);
		if (i == 1 && rank == 0) {
			puts("ranks are at work");
			fflush(stdout);
		}
	}
	return must_fail(error);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "values";
	int status, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	check(dxp_fabric_open(NULL, &fabric), "join the fabric");
	xpu_open(strcmp(name, "same") == 0 ? 0 : rank);
	if (strcmp(name, "values") == 0)
		status = case_values();
	else if (strcmp(name, "fault") == 0)
		status = case_fault();
	else if (strcmp(name, "dies") == 0)
		status = case_dies();
	else if (strcmp(name, "threads") == 0)
		status = provided == MPI_THREAD_MULTIPLE ? case_threads() : without_threads();
	else if (strcmp(name, "partly") == 0)
		status = case_partly();
	else if (strcmp(name, "negative") == 0)
		status = case_negative();
	else if (strcmp(name, "full") == 0)
		status = case_full();
	else
		status = case_error(name);
	dxp_xpu_close(xpu);
	dxp_fabric_close(fabric);
	MPI_Finalize();
	return status;
}
