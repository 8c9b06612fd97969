/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of the event graph. */
#ifndef TEST_UNIT_GRAPH_RIG_H
#define TEST_UNIT_GRAPH_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "wire/limits.h"
#include "xpu/graph.h"
#include "xpu/limits.h"

#define HOST       7
#define XPU        3
#define PEER       4
#define OWN(count) EVENT_NAME(HOST, XPU, count)
#define FAR(count) EVENT_NAME(HOST, PEER, count)

static struct graph *g;

static int setup(void **state)
{
	return graph_create(HOST, XPU, &g);
}

static int teardown(void **state)
{
	struct graph_command *c;

	graph_cancel(g, DXP_ECLOSED);
	while ((c = graph_failed(g)))
		;
	graph_destroy(g);
	return 0;
}

UNUSED static int add(struct graph_command *c, enum graph_queue queue, uint64_t event,
		      uint8_t count, const uint64_t *waits)
{
	struct graph_posting p = {
		.queue = queue, .event = event, .waits = waits, .wait_count = count};

	return graph_add(g, c, &p);
}

#define ADD(c, queue, event, ...) \
	add(c, queue, event, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})
#define ADD0(c, queue, event) add(c, queue, event, 0, NULL)

#endif
