/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring all-reduce by kernels alone: the host only starts one on each xPU and reads the results.
 * In each round they add the numbers of all xPUs, by PUTs of parts to the next xPU.
 *
 *   dxp up --xpus 4 && build/bin/allreduce 10; dxp down */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/mmd.h>

#include "ring.h"

#define COUNT      16384u /* per xPU */
#define XPUS_MAX   8
#define ROUNDS_MAX 1000000ul
#define WAIT_NS    120000000000ull
#define VALUE(v)   value(&(v), sizeof(v))

struct stop {
	char name[64];
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	struct dxp_xpu_nic nic;
	uint64_t numbers, inbox, report; /* device addresses */
	dxp_event event;
};

static uint32_t numbers[COUNT], expected[COUNT];

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "allreduce: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static void stop_open(struct dxp_fabric *fabric, struct stop *s)
{
	check(dxp_xpu_open(fabric, s->name, &s->xpu), "open");
	const int status = dxp_program_build(s->xpu, kernel_source, NULL, &s->program);
	if (status == DXP_EBUILD)
		fprintf(stderr, "%s", dxp_program_log(s->program));
	check(status, "build");
	check(dxp_xpu_nic(s->xpu, &s->nic), "open the NIC");
	check(dxp_mem_alloc(s->xpu, sizeof(numbers), &s->numbers), "allocate");
	check(dxp_mem_alloc(s->xpu, sizeof(numbers), &s->inbox), "allocate");
	check(dxp_mem_alloc(s->xpu, sizeof(struct report), &s->report), "allocate");
	check(dxp_mem_write(s->xpu, s->numbers, numbers, sizeof(numbers)), "write");
}

static uint32_t stops_open(struct dxp_fabric *fabric, struct stop stops[XPUS_MAX])
{
	static struct dxp_node_info nodes[256];
	const int count = dxp_fabric_nodes(fabric, nodes, 256);
	uint32_t used = 0;

	check(count, "list nodes");
	for (int i = 0; i < count && i < 256 && used < XPUS_MAX; i++) {
		if (nodes[i].kind != DXP_NODE_XPU || !nodes[i].alive || !nodes[i].granted)
			continue;
		snprintf(stops[used].name, sizeof(stops[used].name), "%s", nodes[i].name);
		stop_open(fabric, &stops[used++]);
	}
	return used;
}

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}

static struct dxp_argument buffer(uint64_t address)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address};
}

static struct dxp_entry entry(const struct stop *s, uint64_t address)
{
	return (struct dxp_entry){
		.offset = address, .bytes = sizeof(numbers), .key = s->nic.memory_key};
}

static void start(struct stop *here, const struct stop *next, struct ring ring)
{
	const struct dxp_target target = {.node = next->nic.node,
					  .function = next->nic.function,
					  .qp = 0,
					  .magic = next->nic.qp_magic[0]};
	const struct dxp_entry own = entry(here, here->numbers);
	const struct dxp_entry to_numbers = entry(next, next->numbers);
	const struct dxp_entry to_inbox = entry(next, next->inbox);
	const struct dxp_argument arguments[] = {{.kind = DXP_ARGUMENT_NIC},
						 buffer(here->numbers),
						 buffer(here->inbox),
						 buffer(here->report),
						 VALUE(ring),
						 VALUE(target),
						 VALUE(own),
						 VALUE(to_numbers),
						 VALUE(to_inbox)};
	const struct dxp_launch launch = {.program = here->program,
					  .kernel = "allreduce",
					  .dimensions = 1,
					  .global = {ITEMS},
					  .local = {ITEMS},
					  .arguments = arguments,
					  .argument_count = 9};

	check(dxp_run(here->xpu, &launch, &here->event), "run");
}

static uint64_t finish(struct dxp_fabric *fabric, struct stop *s, uint32_t rounds)
{
	struct dxp_event_times times;
	struct report report;

	check(dxp_event_wait(fabric, s->event, WAIT_NS, &times), s->name);
	check(dxp_mem_read(s->xpu, &report, s->report, sizeof(report)), "read the report");
	if (report.failed || report.rounds != rounds) {
		fprintf(stderr, "allreduce: the kernel on %s stopped in round %u: %s\n", s->name,
			report.rounds, dxp_status_text(-(int)report.failed));
		exit(1);
	}
	return times.ended_ns - times.started_ns;
}

/* ---- verification ---- */

static void expected_compute(uint32_t ranks, uint32_t rounds)
{
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t round = 0; round < rounds; round++) {
			const uint32_t before = expected[i];
			expected[i] = 0;
			for (uint32_t rank = 0; rank < ranks; rank++)
				expected[i] += contribution(before, rank, i, round);
		}
}

static uint32_t wrong_count(struct stop *s)
{
	uint32_t wrong = 0;

	check(dxp_mem_read(s->xpu, numbers, s->numbers, sizeof(numbers)), "read");
	for (uint32_t i = 0; i < COUNT; i++)
		wrong += numbers[i] != expected[i];
	return wrong;
}

/* Returns how many numbers are wrong. */
static uint32_t ring_run(struct dxp_fabric *fabric, struct stop *stops, uint32_t ranks,
			 uint32_t rounds)
{
	uint64_t longest = 0;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < ranks; i++)
		start(&stops[i], &stops[(i + 1) % ranks], (struct ring){i, ranks, COUNT, rounds});
	for (uint32_t i = 0; i < ranks; i++) {
		const uint64_t ns = finish(fabric, &stops[i], rounds);
		longest = ns > longest ? ns : longest;
	}
	expected_compute(ranks, rounds);
	for (uint32_t i = 0; i < ranks; i++)
		wrong += wrong_count(&stops[i]);
	printf("%u xPUs, %u rounds by their kernels in %.1f ms: %u of %u sums differ\n", ranks,
	       rounds, (double)longest / 1e6, wrong, ranks * COUNT);
	return wrong;
}

static uint32_t rounds_of(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "10";
	char *rest;
	const unsigned long rounds = strtoul(text, &rest, 10);

	if (argc <= 2 && *text && !*rest && rounds >= 1 && rounds <= ROUNDS_MAX)
		return (uint32_t)rounds;
	fprintf(stderr, "usage: allreduce [ROUNDS]   1 to %lu, default 10\n", ROUNDS_MAX);
	exit(2);
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("allreduce: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	const uint32_t rounds = rounds_of(argc, argv);
	static struct stop stops[XPUS_MAX];
	struct dxp_fabric *fabric;

	check(dxp_fabric_open(NULL, &fabric), "join");
	const uint32_t ranks = stops_open(fabric, stops);
	if (ranks < 2) {
		fprintf(stderr,
			"allreduce: %u xPUs, but 2 are needed; start them with `dxp up --xpus 2`\n",
			ranks);
		return 1;
	}
	const uint32_t wrong = ring_run(fabric, stops, ranks, rounds);
	for (uint32_t i = 0; i < ranks; i++) {
		dxp_program_release(stops[i].program);
		dxp_xpu_close(stops[i].xpu);
	}
	dxp_fabric_close(fabric);
	return output_lost() || wrong != 0;
}
