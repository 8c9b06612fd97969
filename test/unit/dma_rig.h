/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of dxp/dma.h: a board and host memory. */
#ifndef TEST_UNIT_DMA_RIG_H
#define TEST_UNIT_DMA_RIG_H

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/dma.h>
#include <dxp/mmd.h>

#include "base/rng.h"
#include "base/util.h"

#define MEMORY_BYTES (32u << 20)
#define DATA_BYTES   (6u << 20)
#define BUFFER_BYTES (256u << 10)
#define OPERAND      7
#define WAIT_NS      (120 * S_NS)

struct world {
	struct dxp_dma *dma;
	uint8_t *from, *to, *expected;
	char file[64];
};

UNUSED static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

UNUSED static void has_text(const char *part)
{
	if (!strstr(dxp_fabric_error(NULL), part))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), part);
}

/* docs/guide/bridge.md explains the lines of `description`. */
UNUSED static struct world *world_of(const char *description)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rng rng = {5};
	char engine[96];

	strcpy(w->file, "dma-board-XXXXXX");
	int fd = mkstemp(w->file);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, description, strlen(description)), strlen(description));
	close(fd);
	snprintf(engine, sizeof(engine), "board:./%s", w->file);
	const struct dxp_dma_options options = {
		.engine = engine, .memory_bytes = MEMORY_BYTES, .buffer_bytes = BUFFER_BYTES};
	ok(dxp_dma_open(&options, &w->dma));
	unlink(w->file);
	ok(dxp_dma_core_set(w->dma, DXP_CORE_ADD, OPERAND));
	w->from = malloc(DATA_BYTES + 16);
	w->to = malloc(DATA_BYTES + 16);
	w->expected = malloc(MEMORY_BYTES);
	assert_true(w->from && w->to && w->expected);
	for (uint32_t i = 0; i < DATA_BYTES + 16; i++)
		w->from[i] = (uint8_t)rng_next(&rng);
	return w;
}

UNUSED static int world_open(void **state)
{
	*state = world_of("preset = fast\ncompute = none\n");
	return 0;
}

static int world_close(void **state)
{
	struct world *w = *state;

	dxp_dma_close(w->dma);
	free(w->from);
	free(w->to);
	free(w->expected);
	free(w);
	return 0;
}

UNUSED static void assert_added(const uint8_t *was, const uint8_t *is, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4) {
		uint32_t a = 0, sum;
		size_t there = (size_t)min_u64(bytes - i, 4);
		memcpy(&a, was + i, there);
		sum = a + OPERAND;
		if (memcmp(&sum, is + i, there) != 0)
			fail_msg("byte %llu of %llu", (unsigned long long)i,
				 (unsigned long long)bytes);
	}
}

/* Moves data to the device, within the device, back, and through the core. */
UNUSED static void all_kinds(struct world *w, struct dxp_dma_order o)
{
	o.from = w->from + 3;
	o.to = w->to + 1;
	o.device_to = 4567;
	o.kind = DXP_DMA_TO_DEVICE;
	ok(dxp_dma_move(w->dma, &o));
	o.kind = DXP_DMA_DEVICE_TO_DEVICE;
	o.device_from = 4567;
	o.device_to = MEMORY_BYTES - o.bytes;
	ok(dxp_dma_move(w->dma, &o));
	memset(w->to, 0xa5, DATA_BYTES + 16);
	o.kind = DXP_DMA_FROM_DEVICE;
	o.device_from = o.device_to;
	ok(dxp_dma_move(w->dma, &o));
	assert_memory_equal(w->to + 1, w->from + 3, o.bytes);
	assert_int_equal(w->to[0], 0xa5);
	assert_int_equal(w->to[1 + o.bytes], 0xa5);
	o.kind = DXP_DMA_THROUGH;
	ok(dxp_dma_move(w->dma, &o));
	assert_added(w->from + 3, w->to + 1, o.bytes);
	assert_int_equal(w->to[1 + o.bytes], 0xa5);
}

UNUSED static struct dxp_dma_order order_of(const struct world *w, int kind, bool in_place)
{
	return (struct dxp_dma_order){.kind = (enum dxp_dma_kind)kind,
				      .in_place = in_place,
				      .from = w->from,
				      .to = w->to,
				      .device_from = 0,
				      .device_to = DATA_BYTES,
				      .bytes = DATA_BYTES / 2,
				      .piece_bytes = 64u << 10};
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

#endif
