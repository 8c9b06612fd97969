/* SPDX-License-Identifier: BSD-3-Clause */
/* The source's figures (bridge_source.h), and its naive method on the simulated hardware. */
#include "sim/bridge_source.h"

#include <dxp/status.h>

#include "base/util.h"

#define MB  1000000ull
#define MIB 1048576ull

#define NETWORK_NS   2000
#define DMA_NS       2000
#define INTERRUPT_NS 10000

/* Tenths of `unit`. */
#define TENTHS(n, unit) ((n) * (unit) / 10)

const struct stages_options bridge_source_stages = {
	.read = {TENTHS(91621, MB), NETWORK_NS, 0},
	.write = {TENTHS(119273, MB), 0, NETWORK_NS},
	.to_device = {7877 * MB, DMA_NS, INTERRUPT_NS},
	.from_device = {7877 * MB, DMA_NS, INTERRUPT_NS},
	.memory_bytes_per_s = 12800 * MB,
};

const struct stages_options bridge_source_naive_stages = {
	.read = {TENTHS(111875, MIB), NETWORK_NS, 0},
	.write = {TENTHS(89791, MIB), 0, NETWORK_NS},
	.to_device = {TENTHS(21039, MIB), DMA_NS, INTERRUPT_NS},
	.from_device = {TENTHS(21039, MIB), DMA_NS, INTERRUPT_NS},
	.memory_bytes_per_s = 12800 * MB,
};

struct stages_options bridge_source_controllers(uint64_t control_ns)
{
	struct stages_options o = bridge_source_stages;

	o.read.latency_ns = o.write.end_ns = 0;
	o.to_device.latency_ns = o.to_device.end_ns = 0;
	o.from_device.latency_ns = o.from_device.end_ns = 0;
	o.controller_bytes_per_s[STAGES_IN] = BRIDGE_SOURCE_LOCAL_IN;
	o.controller_bytes_per_s[STAGES_OUT] = BRIDGE_SOURCE_LOCAL_OUT;
	o.controller_bytes_per_s[STAGES_THROUGH] = BRIDGE_SOURCE_LOCAL_THROUGH;
	o.control_ns = control_ns;
	return o;
}

/* Each path's steps over the network, in order. */
static const struct {
	uint8_t steps[3], count;
} paths[] = {
	[BRIDGE_IN] = {{STAGES_READ, STAGES_IN}, 2},
	[BRIDGE_OUT] = {{STAGES_OUT, STAGES_WRITE}, 2},
	[BRIDGE_THROUGH] = {{STAGES_READ, STAGES_THROUGH, STAGES_WRITE}, 3},
};

/* Runs the steps one after another. Returns ns; 0: a rate is out of range, or no memory. */
static uint64_t steps_run(const struct stages_options *stages, const uint8_t *steps, uint8_t count,
			  uint64_t bytes)
{
	struct stages *s;
	uint64_t tag;
	int status;

	if (bridge_stages_create(stages, &s) != DXP_OK)
		return 0;
	for (uint8_t i = 0; i < count; i++) {
		bridge_stages_start(s, (enum stages_step)steps[i], bytes, i);
		while (!bridge_stages_dequeue(s, &tag, &status))
			bridge_stages_advance(s, bridge_stages_next_ps(s));
	}
	uint64_t ns = bridge_stages_now_ps(s) / STAGES_NS;
	bridge_stages_destroy(s);
	return ns;
}

uint64_t bridge_naive_step_ns(const struct stages_options *stages, enum stages_step step,
			      uint64_t bytes)
{
	const uint8_t steps[] = {(uint8_t)step};

	return steps_run(stages, steps, 1, bytes);
}

uint64_t bridge_naive_ns(const struct stages_options *stages, uint64_t control_ns,
			 enum bridge_path path, uint64_t bytes)
{
	if (path == BRIDGE_DIRECT)
		return 0;
	uint64_t ns = steps_run(stages, paths[path].steps, paths[path].count, bytes);
	return ns ? control_ns + ns : 0;
}

/* Lowers *slowest to `rate`; 0 is unlimited. */
static void limit(uint64_t *slowest, uint64_t rate)
{
	if (rate != 0 && (*slowest == 0 || rate < *slowest))
		*slowest = rate;
}

static void step_limits(uint64_t *slowest, const struct stages_options *o, uint8_t step)
{
	if (step == STAGES_READ)
		limit(slowest, o->read.bytes_per_s);
	if (step == STAGES_WRITE)
		limit(slowest, o->write.bytes_per_s);
	if (step == STAGES_IN || step == STAGES_THROUGH)
		limit(slowest, o->to_device.bytes_per_s);
	if (step == STAGES_OUT || step == STAGES_THROUGH)
		limit(slowest, o->from_device.bytes_per_s);
	if (step == STAGES_IN || step == STAGES_OUT || step == STAGES_COPY)
		limit(slowest, o->memory_bytes_per_s);
}

uint64_t bridge_bottleneck(const struct stages_options *stages, enum bridge_path path,
			   enum stages_step direct)
{
	uint64_t slowest = 0;

	if (path == BRIDGE_DIRECT)
		step_limits(&slowest, stages, (uint8_t)direct);
	for (uint8_t i = 0; path != BRIDGE_DIRECT && i < paths[path].count; i++)
		step_limits(&slowest, stages, paths[path].steps[i]);
	return slowest;
}
