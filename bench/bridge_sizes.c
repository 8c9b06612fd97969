/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the buffer sizes that an xPU with this engine measures at start if no size is set. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"
#include "bridge/tune.h"
#include "engine/pump.h"

#define DEVICE_BYTES (256ull << 20)
#define LIMIT_NS     (2 * S_NS)

static void direction_print(const char *name, const struct bridge_rate *rate, uint64_t bytes_per_s,
			    bool chosen)
{
	char text[TABLE_BYTES_TEXT], size[64];

	snprintf(size, sizeof(size), "buffers of %s", table_bytes(rate->buffer_bytes, text));
	report_row(&(struct report_row){
		.bench = "bridge",
		.lab = "local",
		.name = size,
		.contender = name,
		.metric = "goodput",
		.unit = "GB/s",
		.value = (double)bytes_per_s / 1e9,
		.x_name = "buffer_bytes",
		.x = rate->buffer_bytes,
		.samples = 1,
		.note = chosen ? "chosen" : NULL,
	});
}

int bridge_sizes_print(const struct bench_options *o)
{
	const struct engine_options options = {.name = o->engine, .memory_bytes = DEVICE_BYTES};
	struct bridge_rate rows[BRIDGE_SIZES_MAX];
	struct engine *engine;

	if (engine_open(&options, &engine) != 0) /* engine_open logged the reason */
		return 1;
	size_t count = pump_measure(engine, DEVICE_BYTES, o->quick ? LIMIT_NS / 10 : LIMIT_NS, rows,
				    ARRAY_COUNT(rows));
	size_t chosen = pump_choose(rows, count);
	engine_close(engine);
	report_begin(o->json, "Sizes of buffers");
	for (size_t i = 0; i < count; i++) {
		direction_print("host to device", &rows[i], rows[i].in_bytes_per_s, i == chosen);
		direction_print("device to host", &rows[i], rows[i].out_bytes_per_s, i == chosen);
	}
	if (chosen == count)
		report_note("%s: no measurement succeeded", o->engine);
	return chosen == count;
}
