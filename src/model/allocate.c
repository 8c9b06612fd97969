/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocators of the crossbar, which choose the packets that cross next. Packets of an input for one
 * output wait in one queue, so input and output identify a packet. */
#include <strings.h>

#include "model/crossbar_internal.h"

/* Returns the first set bit of `mask` (not 0), cyclically from bit `next` on. */
static uint32_t round_robin(uint64_t mask, uint32_t next)
{
	uint64_t high = mask >> next << next;

	return (uint32_t)__builtin_ctzll(high ? high : mask);
}

static uint32_t after(const struct model_crossbar *x, uint32_t port)
{
	return port + 1 == x->ports ? 0 : port + 1;
}

/* Lets idle outputs choose in turn; each cycle begins with another output. */
static void outputs_choose(struct model_crossbar *x)
{
	uint32_t first = (uint32_t)(x->now % x->ports);

	for (uint64_t left = x->output_idle; left;) {
		uint32_t output = round_robin(left, first);
		left &= ~(1ull << output);
		uint64_t inputs = x->wants[output] & x->input_idle;
		if (!inputs)
			continue;
		uint32_t input = round_robin(inputs, x->output_next[output]);
		x->output_next[output] = after(x, input);
		model_crossbar_cross(x, input, output);
	}
	x->changed = false;
}

/* Makes one iteration of iSLIP: idle outputs grant, inputs accept one grant, and pointers move only
 * after that. Returns true if a packet started to cross. */
static bool islip_iterate(struct model_crossbar *x)
{
	uint64_t grants[MODEL_PORTS], granted = 0;
	bool started = false;

	for (uint64_t left = x->output_idle; left; left &= left - 1) {
		uint32_t output = (uint32_t)__builtin_ctzll(left);
		uint64_t inputs = x->wants[output] & x->input_idle;
		if (!inputs)
			continue;
		uint32_t input = round_robin(inputs, x->output_next[output]);
		if (!(granted >> input & 1))
			grants[input] = 0;
		granted |= 1ull << input;
		grants[input] |= 1ull << output;
	}
	for (; granted; granted &= granted - 1) {
		uint32_t input = (uint32_t)__builtin_ctzll(granted);
		uint32_t output = round_robin(grants[input], x->input_next[input]);
		x->output_next[output] = after(x, input);
		x->input_next[input] = after(x, output);
		model_crossbar_cross(x, input, output);
		started = true;
	}
	return started;
}

void model_crossbar_allocate(struct model_crossbar *x)
{
	switch (x->allocator) {
	case MODEL_ALLOCATE_ISLIP: x->changed = islip_iterate(x); break;
	case MODEL_ALLOCATE_MAXIMAL:
		while (islip_iterate(x))
			;
		x->changed = false;
		break;
	default: outputs_choose(x);
	}
}
