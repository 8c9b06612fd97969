/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs allreduces of one size after another under mpirun, for `dxp bench inc`, and checks every
 * result. As in OSU's programs, a time is each rank's mean per call, averaged over ranks.
 *
 *   dxp-mpi-allreduce BYTES:CALLS ...
 *
 * Sums doubles, or floats if BYTES is no multiple of 8. Rank 0 prints for each size:
 *
 *   BYTES MEAN_US P50_US CPU_US BUSY_US SENT CROSSED WRONG
 *
 * CPU_US: CPU time per call of all ranks; BUSY_US: of the machine. SENT: packets sent by hosts;
 * CROSSED: packets over any link. Both are counted in the namespaces of DXP_BENCH_NETNS (paths
 * after "host:" or "switch:", separated by commas), and 0 without it or without permission. Plain
 * MPI, wherever sums are computed. */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/program.h"

#define WARMUP_CALLS 20
#define CALLS_MAX    (1u << 20)
#define BYTES_MAX    (64u << 20)
/* calls with different data, so a result of an earlier call is noticed */
#define TERMS         8
#define BARRIER_BYTES 4096

struct buffers {
	/* TERMS elements longer than the message, because calls start at different offsets */
	void *terms, *sums;
	void *receive;
	double *times_us; /* CALLS_MAX entries */
	size_t elements;
	bool single;
};

struct packets {
	uint64_t sent, crossed;
};

static int rank, ranks;

static size_t element_bytes(const struct buffers *b)
{
	return b->single ? sizeof(float) : sizeof(double);
}

/* Sets element i of call c to ((i + c) % TERMS + 1) * (rank + 1): small integers, with sums exact
 * in any order. Calls start at different offsets, so nothing is written between them. */
static void fill(struct buffers *b)
{
	for (size_t i = 0; i < b->elements + TERMS; i++) {
		double value = (double)(i % TERMS + 1), factor = ranks * (ranks + 1) / 2.0;

		if (b->single) {
			((float *)b->terms)[i] = (float)(value * (rank + 1));
			((float *)b->sums)[i] = (float)(value * factor);
		} else {
			((double *)b->terms)[i] = value * (rank + 1);
			((double *)b->sums)[i] = value * factor;
		}
	}
}

static const void *start(const struct buffers *b, const void *of, unsigned call)
{
	return (const char *)of + call % TERMS * element_bytes(b);
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Returns the time that all CPUs were busy since boot, without I/O waits. */
static double busy_us(void)
{
	unsigned long long user, nice, system, idle, wait, irq, soft;
	FILE *f = fopen("/proc/stat", "r");
	int got = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			     &idle, &wait, &irq, &soft)
		    : 0;

	if (f)
		fclose(f);
	return got == 7 ? (double)(user + nice + system + irq + soft) * 1e6 /
				  (double)sysconf(_SC_CLK_TCK)
			: 0;
}

/* ---- counting packets ---- */

/* Adds the packets sent by this namespace's interfaces, except lo and bridges: each packet counts
 * at the sending side of each link. */
static void interfaces_add(uint64_t *sent)
{
	char line[512], name[64];
	FILE *f = fopen("/proc/thread-self/net/dev", "r");

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long packets;

		if (sscanf(line, " %63[^: ]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", name,
			   &packets) != 2)
			continue;
		if (strcmp(name, "lo") != 0 && strncmp(name, "br", 2) != 0)
			*sent += packets;
	}
	if (f)
		fclose(f);
}

static bool namespace_add(const char *entry, struct packets *p)
{
	const char *path = strchr(entry, ':');
	int fd = path ? open(path + 1, O_RDONLY | O_CLOEXEC) : -1;
	uint64_t sent = 0;

	if (fd < 0)
		return false;
	bool entered = setns(fd, CLONE_NEWNET) == 0;
	close(fd);
	if (entered)
		interfaces_add(&sent);
	p->crossed += sent;
	if (strncmp(entry, "host:", 5) == 0)
		p->sent += sent;
	return entered;
}

static struct packets packets_now(void)
{
	struct packets p = {0}, none = {0};
	const char *list = getenv("DXP_BENCH_NETNS");
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	char *copy = list ? strdup(list) : NULL, *rest = copy, *entry;
	bool all = copy && home >= 0;

	while (all && (entry = strsep(&rest, ",")))
		all = namespace_add(entry, &p);
	if (home >= 0) {
		if (copy && setns(home, CLONE_NEWNET) != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
		close(home);
	}
	free(copy);
	return all ? p : none;
}

/* ---- one size ---- */

/* Returns this rank's mean time of a call. Checks results outside the timed part; after a long
 * check a barrier keeps it from delaying other ranks. */
static double calls(struct buffers *b, unsigned count, bool timed, unsigned *wrong)
{
	MPI_Datatype type = b->single ? MPI_FLOAT : MPI_DOUBLE;
	size_t bytes = b->elements * element_bytes(b);
	double total = 0;

	for (unsigned i = 0; i < count; i++) {
		double begin = MPI_Wtime();
		MPI_Allreduce(start(b, b->terms, i), b->receive, (int)b->elements, type, MPI_SUM,
			      MPI_COMM_WORLD);
		double us = (MPI_Wtime() - begin) * 1e6;
		if (timed)
			b->times_us[i] = us;
		total += us;
		if (memcmp(b->receive, start(b, b->sums, i), bytes) != 0)
			++*wrong;
		if (timed && bytes >= BARRIER_BYTES)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	return total / count;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the packets of n calls: those of 2n calls less those of n, which cancels packets around
 * the calls. */
static void packets_count(struct buffers *b, unsigned n, double *sent, double *crossed,
			  unsigned *wrong)
{
	struct packets p[4] = {0};

	*sent = *crossed = 0;
	if (!getenv("DXP_BENCH_NETNS"))
		return;
	for (unsigned i = 0; i < 2; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			p[2 * i] = packets_now();
		calls(b, n << i, false, wrong);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			p[2 * i + 1] = packets_now();
	}
	*sent = ((double)(p[3].sent - p[2].sent) - (double)(p[1].sent - p[0].sent)) / n;
	*crossed =
		((double)(p[3].crossed - p[2].crossed) - (double)(p[1].crossed - p[0].crossed)) / n;
}

static void size_run(struct buffers *b, size_t bytes, unsigned count)
{
	unsigned wrong = 0, all_wrong = 0;
	double own[2], all[2], busy, sent, crossed;

	b->single = bytes % sizeof(double) != 0;
	b->elements = bytes / element_bytes(b);
	fill(b);
	calls(b, WARMUP_CALLS < count ? WARMUP_CALLS : count, false, &wrong);
	MPI_Barrier(MPI_COMM_WORLD);
	busy = busy_us();
	own[1] = -cpu_us();
	own[0] = calls(b, count, true, &wrong);
	own[1] += cpu_us();
	busy = busy_us() - busy;
	packets_count(b, count / 4 > 0 ? count / 4 : 1, &sent, &crossed, &wrong);
	PMPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	PMPI_Reduce(&wrong, &all_wrong, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	qsort(b->times_us, count, sizeof(*b->times_us), double_compare);
	printf("%zu %.3f %.3f %.3f %.3f %.3f %.3f %u\n", bytes, all[0] / ranks,
	       b->times_us[count / 2], all[1] / count, busy / count, sent, crossed, all_wrong);
	if (!program_output_check())
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static bool buffers_make(struct buffers *b)
{
	b->terms = malloc(BYTES_MAX + TERMS * sizeof(double));
	b->sums = malloc(BYTES_MAX + TERMS * sizeof(double));
	b->receive = malloc(BYTES_MAX);
	b->times_us = calloc(CALLS_MAX, sizeof(*b->times_us));
	return b->terms && b->sums && b->receive && b->times_us;
}

int main(int argc, char **argv)
{
	struct buffers b = {0};

	program_begin("dxp-mpi-allreduce");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!buffers_make(&b))
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 1; i < argc; i++) {
		char *colon;
		unsigned long bytes = strtoul(argv[i], &colon, 10);
		unsigned long count = *colon == ':' ? strtoul(colon + 1, NULL, 10) : 0;

		if (bytes == 0 || bytes % 4 != 0 || bytes > BYTES_MAX || count == 0 ||
		    count > CALLS_MAX) {
			if (rank == 0)
				fprintf(stderr, "dxp-mpi-allreduce: not BYTES:CALLS: %s\n",
					argv[i]);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		size_run(&b, bytes, (unsigned)count);
	}
	free(b.terms);
	free(b.sums);
	free(b.receive);
	free(b.times_us);
	MPI_Finalize();
	return 0;
}
