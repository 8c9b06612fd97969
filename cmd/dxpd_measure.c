/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxpd_measure.h"

#include <stdio.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/pump.h"

#define ROWS_MAX 16
#define LIMIT_NS (5 * S_NS)
#define MB_PER_S 1000000.0

static void table_print(const struct bridge_rate *rows, size_t count)
{
	size_t chosen = pump_choose(rows, count);

	printf("%12s %14s %16s\n", "BUFFER", "TO DEVICE MB/s", "FROM DEVICE MB/s");
	for (size_t i = 0; i < count; i++)
		printf("%8u KiB %14.1f %16.1f%s\n", rows[i].buffer_bytes >> 10,
		       (double)rows[i].in_bytes_per_s / MB_PER_S,
		       (double)rows[i].out_bytes_per_s / MB_PER_S, i == chosen ? "  <- auto" : "");
}

static int engine_measure(struct engine *e, const char *name, uint64_t memory_bytes)
{
	struct engine_description engine;
	struct bridge_rate rows[ROWS_MAX];

	engine_describe(e, &engine);
	if (engine.memory_kind != DXP_MEMORY_BRIDGED) {
		log_error("the network reaches the memory of engine '%s' directly, without "
			  "buffers; choose an engine behind DMA, such as --engine board",
			  name);
		return DXP_EUNSUPPORTED;
	}
	size_t count = pump_measure(e, memory_bytes, LIMIT_NS, rows, ROWS_MAX);
	if (count == 0) {
		log_error("a DMA of engine '%s' failed or took seconds, so there is no table; "
			  "check the device",
			  name);
		return DXP_EDEVICE;
	}
	table_print(rows, count);
	return DXP_OK;
}

int dxpd_measure(const char *engine, uint64_t memory_bytes)
{
	/* memory for an engine that runs in this process; this code does not access it */
	void *memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return DXP_ENOMEM;
	const struct engine_options options = {
		.name = engine, .memory = memory, .memory_bytes = memory_bytes};
	struct engine *e;
	int status = engine_open(&options, &e);
	if (status == DXP_OK) {
		status = engine_measure(e, engine, memory_bytes);
		engine_close(e);
	}
	munmap(memory, memory_bytes);
	return status;
}
