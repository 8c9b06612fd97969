/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams an array through the stream core of a remote board and back. The core adds a constant to
 * each number.
 *
 *   dxp up --engine board && build/bin/bridge_add 1000; dxp down
 *   cc bridge_add.c $(pkg-config --cflags --libs dxp) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dxp/bridge.h>

#define COUNT (16u << 20) /* numbers: 64 MiB */

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "bridge_add: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static struct dxp_xpu *open_board(struct dxp_fabric *fabric, struct dxp_xpu_caps *caps)
{
	struct dxp_node_info nodes[64];
	struct dxp_xpu *xpu;
	int count = dxp_fabric_nodes(fabric, nodes, 64);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 64; i++) {
		if (nodes[i].memory_kind != DXP_MEMORY_BRIDGED || !nodes[i].alive ||
		    !nodes[i].granted)
			continue;
		check(dxp_xpu_open(fabric, nodes[i].name, &xpu), "open the xPU");
		check(dxp_xpu_caps(xpu, caps), "query of the capabilities");
		if (caps->streams)
			return xpu;
		dxp_xpu_close(xpu);
	}
	fputs("bridge_add: this fabric has no board; start one with `dxp up --engine board`\n",
	      stderr);
	exit(1);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("bridge_add: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	uint32_t operand = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	uint32_t *numbers = malloc(COUNT * sizeof(*numbers));
	uint32_t *sums = malloc(COUNT * sizeof(*sums));
	struct dxp_fabric *fabric;
	struct dxp_bridge *bridge;
	struct dxp_xpu_caps caps;
	uint32_t wrong = 0;

	if (!numbers || !sums)
		return 1;
	check(dxp_fabric_open(NULL, &fabric), "join");
	struct dxp_xpu *board = open_board(fabric, &caps);

	for (uint32_t i = 0; i < COUNT; i++)
		numbers[i] = i * 2654435761u;
	check(dxp_core_set(board, DXP_CORE_ADD, operand), "set the core");

	const struct dxp_bridge_transfer transfer = {.path = DXP_BRIDGE_THROUGH,
						     .from = numbers,
						     .to = sums,
						     .bytes = COUNT * sizeof(*numbers)};
	double begin = seconds();
	check(dxp_bridge_start(board, &transfer, &bridge), "start");
	/* the board transfers by itself, so the program could do other work */
	check(dxp_bridge_wait(bridge, 30000000000ull, NULL), "wait");
	double elapsed = seconds() - begin;

	for (uint32_t i = 0; i < COUNT; i++)
		wrong += sums[i] != numbers[i] + operand;
	printf("%s (%s) added %u to %u numbers, %u errors; %.0f MB/s each way\n", caps.name,
	       caps.device, operand, COUNT, wrong, (double)transfer.bytes / elapsed / 1e6);

	dxp_xpu_close(board);
	dxp_fabric_close(fabric);
	free(numbers);
	free(sums);
	return output_lost() || wrong != 0;
}
