/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the rate of a pipeline with that of its slowest stage (S-07), in virtual time; only the
 * stages take time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bridge/bridge.h"

#define READ_MB_S  9162u
#define DMA_MB_S   7877u
#define WRITE_MB_S 11927u
#define LATENCY_NS 5000u
#define STEPS_MAX  256

struct stage {
	/* free_ns: when the stage accepts the next bytes */
	uint64_t mb_s, free_ns;
};

struct flight {
	uint32_t id;
	uint64_t end_ns;
};

struct pipeline {
	struct bridge *b;
	struct stage read, in, out, write;
	struct flight flights[STEPS_MAX];
	uint32_t count;
	uint64_t now_ns;
};

static uint64_t pass(struct stage *s, uint64_t from_ns, uint64_t bytes)
{
	uint64_t begin_ns = max_u64(from_ns, s->free_ns);

	s->free_ns = begin_ns + bytes * 1000 / s->mb_s;
	return s->free_ns + LATENCY_NS;
}

static void fly(struct pipeline *p, const struct bridge_action *a)
{
	uint64_t end_ns = p->now_ns;

	switch (a->step) {
	case BRIDGE_FILL: end_ns = pass(&p->read, p->now_ns, a->bytes); break;
	case BRIDGE_DMA_IN: end_ns = pass(&p->in, p->now_ns, a->bytes); break;
	case BRIDGE_DMA_OUT: end_ns = pass(&p->out, p->now_ns, a->bytes); break;
	case BRIDGE_DMA_THROUGH:
		end_ns = max_u64(pass(&p->in, p->now_ns, a->bytes),
				 pass(&p->out, p->now_ns, a->bytes));
		break;
	default: end_ns = pass(&p->write, p->now_ns, a->bytes);
	}
	assert_true(p->count < STEPS_MAX);
	p->flights[p->count++] = (struct flight){a->id, end_ns};
}

static void land_next(struct pipeline *p)
{
	uint32_t first = 0;

	assert_true(p->count > 0);
	for (uint32_t i = 1; i < p->count; i++) {
		if (p->flights[i].end_ns < p->flights[first].end_ns)
			first = i;
	}
	struct flight f = p->flights[first];
	p->flights[first] = p->flights[--p->count];
	p->now_ns = f.end_ns;
	bridge_done(p->b, f.id, DXP_OK, p->now_ns);
}

/* Returns MB/s from start to completion. */
static uint64_t speed(uint32_t buffer_bytes, enum bridge_path path, enum bridge_mode mode,
		      uint64_t bytes)
{
	static uint8_t nowhere;
	struct bridge_options o = {.buffer_bytes = buffer_bytes,
				   .to_device = &nowhere,
				   .from_device = &nowhere,
				   .stall_ns = S_NS};
	struct bridge_order order = {.path = (uint8_t)path, .mode = (uint8_t)mode, .bytes = bytes};
	struct pipeline p = {.read = {READ_MB_S, 0},
			     .in = {DMA_MB_S, 0},
			     .out = {DMA_MB_S, 0},
			     .write = {WRITE_MB_S, 0}};
	struct bridge_transfer *t;
	struct bridge_action a;
	struct bridge_end end;

	assert_int_equal(bridge_create(&o, &p.b), DXP_OK);
	assert_int_equal(bridge_begin(p.b, &order, 0, &t), DXP_OK);
	while (!bridge_ended(p.b, &end)) {
		while (bridge_next(p.b, p.now_ns, &a))
			fly(&p, &a);
		land_next(&p);
	}
	assert_int_equal(end.status, DXP_OK);
	bridge_destroy(p.b);
	return bytes * 1000 / p.now_ns;
}

static void share_at_least(enum bridge_path path, uint64_t bytes, uint64_t percent)
{
	for (uint32_t size = 64 << 10; size <= 16 << 20; size *= 2) {
		uint64_t mb_s = speed(size, path, BRIDGE_PIPELINED, bytes);
		if (mb_s * 100 < percent * DMA_MB_S)
			fail_msg("path %d, %llu MiB, buffers of %u KiB: %llu MB/s", path,
				 (unsigned long long)(bytes >> 20), size >> 10,
				 (unsigned long long)mb_s);
		assert_true(mb_s <= DMA_MB_S);
	}
}

static void bridge__nearly_the_slowest_stage(void **state)
{
	for (enum bridge_path path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
		share_at_least(path, 512u << 20, 99);
		share_at_least(path, 32u << 20, 96);
		share_at_least(path, 1u << 20, 75);
	}
}

static void bridge__sequential_is_the_sum(void **state)
{
	double ns_per_byte = 1000.0 / READ_MB_S + 1000.0 / DMA_MB_S + 1000.0 / WRITE_MB_S;
	double sum = 1000.0 / (ns_per_byte + 3.0 * LATENCY_NS / (1 << 20));
	uint64_t mb_s = speed(1 << 20, BRIDGE_THROUGH, BRIDGE_SEQUENTIAL, 512u << 20);

	assert_in_range(mb_s, (uint64_t)(sum * 0.99), (uint64_t)(sum * 1.01));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge__nearly_the_slowest_stage),
		cmocka_unit_test(bridge__sequential_is_the_sum),
	};

	return cmocka_run_group_tests_name("bridge_speed", tests, NULL, NULL);
}
