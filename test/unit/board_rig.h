/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the board's tests: a board for each test, and host memory. */
#ifndef TEST_UNIT_BOARD_RIG_H
#define TEST_UNIT_BOARD_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "engine/board.h"

#define MEMORY  (8u << 20)
#define HOST    (1u << 20)
#define LONGEST (60 * S_NS) /* ns */

static struct engine *board;
static char file_name[64];
static uint8_t *source, *sink; /* HOST bytes each */
static _Atomic uint64_t interrupts;
static uint64_t next_id;

UNUSED static void interrupted(void *context)
{
	atomic_fetch_add((_Atomic uint64_t *)context, 1);
}

UNUSED static struct engine *open_named(const char *name)
{
	struct engine_options options = {.name = name,
					 .memory_bytes = MEMORY,
					 .interrupt = interrupted,
					 .interrupt_context = &interrupts};
	struct engine *e = NULL;

	assert_int_equal(engine_open(&options, &e), DXP_OK);
	return e;
}

UNUSED static struct engine *open_lines(const char *lines)
{
	char name[80];
	FILE *file = fopen(file_name, "w");

	assert_non_null(file);
	assert_true(fputs(lines, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(name, sizeof(name), "board:%s", file_name);
	return open_named(name);
}

UNUSED static int setup(void **state)
{
	board = open_lines("preset = fast\ncompute = none\n");
	for (uint32_t i = 0; i < HOST; i++) {
		source[i] = (uint8_t)(i * 7 + i / 251);
		sink[i] = 0xee;
	}
	atomic_store(&interrupts, 0);
	return 0;
}

UNUSED static int teardown(void **state)
{
	engine_close(board);
	board = NULL;
	return 0;
}

UNUSED static void reopen(const char *lines)
{
	engine_close(board);
	board = open_lines(lines);
}

UNUSED static struct engine_dma dma_in(uint64_t to, const void *from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_IN, .to = to, .source = from, .bytes = bytes};
}

UNUSED static struct engine_dma dma_out(void *to, uint64_t from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_OUT, .from = from, .sink = to, .bytes = bytes};
}

UNUSED static struct engine_dma dma_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	return (struct engine_dma){
		.id = ++next_id, .kind = ENGINE_DMA_COPY, .from = from, .to = to, .bytes = bytes};
}

UNUSED static struct engine_dma dma_through(void *to, const void *from, uint64_t bytes)
{
	return (struct engine_dma){.id = ++next_id,
				   .kind = ENGINE_DMA_THROUGH,
				   .source = from,
				   .sink = to,
				   .bytes = bytes,
				   .first = true};
}

UNUSED static struct engine_dma_end end_wait(void)
{
	struct engine_dma_end end;
	uint64_t until_ns = clock_now_ns() + LONGEST;

	while (engine_dma_dequeue(board, &end, 1) == 0) {
		assert_true(clock_now_ns() < until_ns);
		usleep(50);
	}
	return end;
}

UNUSED static void start(const struct engine_dma *dma)
{
	assert_int_equal(engine_dma_start(board, dma), DXP_OK);
}

UNUSED static int run(const struct engine_dma *dma)
{
	start(dma);
	struct engine_dma_end end = end_wait();
	assert_int_equal(end.id, dma->id);
	return end.status;
}

#define RUN(dma)                                         \
	do {                                             \
		struct engine_dma run_dma = (dma);       \
		assert_int_equal(run(&run_dma), DXP_OK); \
	} while (0)

UNUSED static int rig_main(int (*tests)(void))
{
	snprintf(file_name, sizeof(file_name), "board-%d.conf", (int)getpid());
	source = malloc(HOST);
	sink = malloc(HOST);
	if (!source || !sink)
		return 1;
	int failed = tests();
	unlink(file_name);
	free(source);
	free(sink);
	return failed;
}

#endif
