/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends an array around all xPUs; each adds one to every number. The host posts all commands at
 * once and waits for the last event; the xPUs exchange data and keep order without it.
 *
 *   dxp up --xpus 3 && build/bin/ring 10; dxp down */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/mmd.h>

#define COUNT    4096
#define XPUS_MAX 16
#define WAIT_NS  30000000000ull

static const char source[] = "kernel void increment(global int *a) { a[get_global_id(0)] += 1; }\n";

struct stop {
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	uint64_t numbers; /* device address of the array */
};

static int32_t numbers[COUNT];

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "ring: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static unsigned stops_open(struct dxp_fabric *fabric, struct stop stops[XPUS_MAX])
{
	struct dxp_node_info nodes[256];
	int count = dxp_fabric_nodes(fabric, nodes, 256);
	unsigned used = 0;

	check(count, "list nodes");
	for (int i = 0; i < count && i < 256 && used < XPUS_MAX; i++) {
		struct stop *s = &stops[used];
		if (nodes[i].kind != DXP_NODE_XPU || !nodes[i].alive || !nodes[i].granted)
			continue;
		check(dxp_xpu_open(fabric, nodes[i].name, &s->xpu), "open");
		check(dxp_program_build(s->xpu, source, NULL, &s->program), "build");
		check(dxp_mem_alloc(s->xpu, sizeof(numbers), &s->numbers), "allocate");
		used++;
	}
	return used;
}

/* Adds one to each number at `here`, then sends them to `next`. Returns the event of their
 * arrival. */
static dxp_event hop(const struct stop *here, const struct stop *next, dxp_event arrived)
{
	const struct dxp_argument argument = {.kind = DXP_ARGUMENT_BUFFER,
					      .address = here->numbers};
	dxp_event added, passed;
	const struct dxp_launch launch = {.program = here->program,
					  .kernel = "increment",
					  .dimensions = 1,
					  .global = {COUNT},
					  .arguments = &argument,
					  .argument_count = 1,
					  .wait = &arrived,
					  .wait_count = 1};
	const struct dxp_transfer transfer = {.from_address = here->numbers,
					      .to_address = next->numbers,
					      .bytes = sizeof(numbers),
					      .wait = &added,
					      .wait_count = 1};

	check(dxp_run(here->xpu, &launch, &added), "run");
	check(dxp_send(here->xpu, next->xpu, &transfer, &passed), "send");
	return passed;
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("ring: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	struct stop stops[XPUS_MAX];
	struct dxp_fabric *fabric;
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10;
	dxp_event last = 0;
	int wrong = 0;

	check(dxp_fabric_open(NULL, &fabric), "join");
	unsigned count = stops_open(fabric, stops);
	if (count < 2) {
		fprintf(stderr,
			"ring: %u xPUs, but 2 are needed; start them with `dxp up --xpus 2`\n",
			count);
		return 1;
	}
	check(dxp_mem_write(stops[0].xpu, stops[0].numbers, numbers, sizeof(numbers)), "write");
	for (unsigned i = 0; i < rounds * count; i++)
		last = hop(&stops[i % count], &stops[(i + 1) % count], last);
	if (last)
		check(dxp_event_wait(fabric, last, WAIT_NS, NULL), "wait");
	check(dxp_mem_read(stops[0].xpu, numbers, stops[0].numbers, sizeof(numbers)), "read");
	for (int i = 0; i < COUNT; i++)
		wrong += numbers[i] != (int32_t)(rounds * count);
	printf("%u xPUs, %u rounds: %d is expected everywhere, %d of %d numbers differ\n", count,
	       rounds, (int)(rounds * count), wrong, COUNT);
	for (unsigned i = 0; i < count; i++) {
		dxp_program_release(stops[i].program);
		dxp_xpu_close(stops[i].xpu);
	}
	dxp_fabric_close(fabric);
	return output_lost() || wrong != 0;
}
