/* SPDX-License-Identifier: BSD-3-Clause */
/* Does what bridge_add does, but on a board of this machine, without a network. First copies
 * through buffers, then works in place in the program's own memory.
 *
 *   build/bin/dma_add [ENGINE]
 *   cc dma_add.c $(pkg-config --cflags --libs dxp) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dxp/dma.h>
#include <dxp/mmd.h>

#define COUNT   (16u << 20) /* numbers: 64 MiB */
#define OPERAND 1000

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "dma_add: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t add(struct dxp_dma *board, uint32_t *numbers, uint32_t *sums, bool in_place)
{
	const struct dxp_dma_order order = {.kind = DXP_DMA_THROUGH,
					    .in_place = in_place,
					    .from = numbers,
					    .to = sums,
					    .bytes = COUNT * sizeof(*numbers)};
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < COUNT; i++)
		sums[i] = 0;
	double begin = seconds();
	check(dxp_dma_move(board, &order), "move");
	double elapsed = seconds() - begin;
	for (uint32_t i = 0; i < COUNT; i++)
		wrong += sums[i] != numbers[i] + OPERAND;
	printf("%s: added %d to %u numbers, %u errors; %.0f MB/s each way\n",
	       in_place ? "in place" : "copied", OPERAND, COUNT, wrong,
	       (double)order.bytes / elapsed / 1e6);
	return wrong;
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("dma_add: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	const struct dxp_dma_options options = {.engine = argc > 1 ? argv[1] : "board"};
	uint32_t *numbers = malloc(COUNT * sizeof(*numbers));
	uint32_t *sums = malloc(COUNT * sizeof(*sums));
	struct dxp_dma_caps caps;
	struct dxp_dma *board;

	if (!numbers || !sums)
		return 1;
	check(dxp_dma_open(&options, &board), "open");
	dxp_dma_caps(board, &caps);
	printf("%s, 2 x %u buffers of %u KiB\n", caps.device, caps.buffers,
	       caps.buffer_bytes >> 10);
	for (uint32_t i = 0; i < COUNT; i++)
		numbers[i] = i * 2654435761u;
	check(dxp_dma_core_set(board, DXP_CORE_ADD, OPERAND), "set the core");
	/* Pinned once, not by each transfer in place. */
	check(dxp_dma_pin(board, numbers, COUNT * sizeof(*numbers)), "pin");
	check(dxp_dma_pin(board, sums, COUNT * sizeof(*sums)), "pin");

	uint32_t wrong = add(board, numbers, sums, false);
	wrong += add(board, numbers, sums, true);

	dxp_dma_close(board);
	free(numbers);
	free(sums);
	return output_lost() || wrong != 0;
}
