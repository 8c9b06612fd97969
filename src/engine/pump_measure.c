/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures DMA bandwidth per buffer size and direction, with a ring's buffers and a pump's number
 * of DMAs. */
#include <sched.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bridge/limits.h"
#include "engine/limits.h"
#include "engine/pump.h"
#include "engine/pump_memory.h"

#define ROUNDS 3

struct measurement {
	struct engine *engine;
	/* BRIDGE_BUFFERS of the longest size; shorter sizes use the start */
	struct pump_memory buffers;
	struct pump_memory saved; /* previous content of device memory */
	uint64_t saved_bytes;     /* from address 0 on */
	uint64_t slice_ns;        /* per measurement of a size and direction */
};

static int start(struct measurement *m, enum engine_dma_kind kind, uint64_t at, uint8_t *host,
		 uint64_t bytes)
{
	bool in = kind == ENGINE_DMA_IN;
	struct engine_dma dma = {
		.kind = (uint8_t)kind,
		.to = in ? at : 0,
		.from = in ? 0 : at,
		.source = in ? host : NULL,
		.sink = in ? NULL : host,
		.bytes = bytes,
	};

	return engine_dma_start(m->engine, &dma);
}

/* Returns their number; *status: that of a failed DMA. */
static uint32_t dequeue(struct measurement *m, int *status)
{
	struct engine_dma_end ends[BRIDGE_DMAS];
	uint32_t count = engine_dma_dequeue(m->engine, ends, BRIDGE_DMAS);

	for (uint32_t i = 0; i < count; i++) {
		if (ends[i].status != DXP_OK)
			*status = ends[i].status;
	}
	if (count == 0)
		sched_yield();
	return count;
}

/* Aborts DMAs that do not complete in time by a reset. */
static int finish(struct measurement *m, uint32_t outstanding, int status)
{
	uint64_t until_ns = clock_now_ns() + BRIDGE_STALL_NS;

	while (outstanding > 0 && clock_now_ns() < until_ns)
		outstanding -= dequeue(m, &status);
	if (outstanding == 0)
		return status;
	engine_dma_reset(m->engine);
	until_ns = clock_now_ns() + PUMP_RESET_NS;
	while (outstanding > 0 && clock_now_ns() < until_ns)
		outstanding -= dequeue(m, &status);
	return outstanding > 0 ? DXP_ETIMEDOUT : DXP_EDEVICE;
}

static int move(struct measurement *m, enum engine_dma_kind kind, uint64_t at, uint64_t bytes)
{
	int status = start(m, kind, at, m->saved.base + at, bytes);

	return status == DXP_OK ? finish(m, 1, DXP_OK) : status;
}

static int save(struct measurement *m, uint64_t bytes)
{
	if (bytes <= m->saved_bytes)
		return DXP_OK;
	int status = move(m, ENGINE_DMA_OUT, m->saved_bytes, bytes - m->saved_bytes);
	if (status == DXP_OK)
		m->saved_bytes = bytes;
	return status;
}

/* Bytes per second; 0: a DMA failed, with *status. */
static uint64_t rate(struct measurement *m, enum engine_dma_kind kind, uint32_t bytes, int *status)
{
	uint64_t begin_ns = clock_now_ns(), now_ns = begin_ns, started = 0;
	uint32_t outstanding = 0;

	while (*status == DXP_OK && now_ns - begin_ns < m->slice_ns) {
		uint8_t *host = m->buffers.base + started % BRIDGE_BUFFERS * bytes;
		int begun = outstanding < BRIDGE_DMAS ? start(m, kind, 0, host, bytes) : DXP_EAGAIN;
		if (begun == DXP_OK) {
			started++;
			outstanding++;
		} else if (begun != DXP_EAGAIN) {
			*status = begun;
		} else {
			outstanding -= dequeue(m, status);
		}
		now_ns = clock_now_ns();
	}
	*status = finish(m, outstanding, *status);
	uint64_t elapsed_ns = max_u64(clock_now_ns() - begin_ns, 1);
	double bytes_per_s = (double)started * bytes * 1e9 / (double)elapsed_ns;
	return *status == DXP_OK ? (uint64_t)bytes_per_s : 0;
}

static void keep_best(uint64_t *best, uint64_t rate)
{
	*best = max_u64(*best, rate);
}

static void measure_row(struct measurement *m, struct bridge_rate *row, int *status)
{
	*status = save(m, row->buffer_bytes);
	keep_best(&row->in_bytes_per_s, rate(m, ENGINE_DMA_IN, row->buffer_bytes, status));
	keep_best(&row->out_bytes_per_s, rate(m, ENGINE_DMA_OUT, row->buffer_bytes, status));
}

/* Keeps the best of ROUNDS separate rounds, because other processes use the machine. A size that
 * takes PUMP_SLOW_NS ends sizes and rounds. Returns the number of rows. */
static size_t measure_rows(struct measurement *m, const uint32_t *sizes, size_t count,
			   struct bridge_rate *rows, int *status)
{
	uint64_t begin_ns = clock_now_ns(), row_ns = begin_ns;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct bridge_rate){.buffer_bytes = sizes[i]};
	for (size_t i = 0; i < count && *status == DXP_OK; i++) {
		measure_row(m, &rows[i], status);
		if (clock_now_ns() - row_ns > PUMP_SLOW_NS)
			/* a single slow row allows no comparison */
			count = i + (i > 0);
		row_ns = clock_now_ns();
	}
	for (size_t k = count; k < ROUNDS * count && *status == DXP_OK; k++)
		if (clock_now_ns() - begin_ns < PUMP_SLOW_NS)
			measure_row(m, &rows[k % count], status);
	return count;
}

/* No outstanding DMA may still write there. */
static bool memory_free(int status)
{
	return status != DXP_ETIMEDOUT;
}

static size_t measure(struct measurement *m, const uint32_t *sizes, size_t count,
		      struct bridge_rate *rows)
{
	uint64_t most = sizes[count - 1];
	bool well = false;

	if (pump_memory_map(m->engine, BRIDGE_BUFFERS * most, &m->buffers) != DXP_OK)
		return 0;
	if (pump_memory_map(m->engine, most, &m->saved) != DXP_OK)
		goto unmap_buffers;
	int status = DXP_OK;
	count = measure_rows(m, sizes, count, rows, &status);
	well = status == DXP_OK;
	if (memory_free(status) && m->saved_bytes > 0) {
		status = move(m, ENGINE_DMA_IN, 0, m->saved_bytes);
		well &= status == DXP_OK;
	}
	/* The device may still write there. */
	if (!memory_free(status))
		return 0;
	pump_memory_unmap(m->engine, &m->saved);
unmap_buffers:
	pump_memory_unmap(m->engine, &m->buffers);
	return well ? count : 0;
}

size_t pump_measure(struct engine *engine, uint64_t memory_bytes, uint64_t limit_ns,
		    struct bridge_rate *rows, size_t count)
{
	uint32_t sizes[16];
	size_t n = bridge_sizes(sizes, ARRAY_COUNT(sizes));

	n = min_u64(n, count);
	while (n > 0 && sizes[n - 1] > memory_bytes)
		n--;
	if (n == 0)
		return 0;
	struct measurement m = {.engine = engine};
	m.slice_ns = (limit_ns ? limit_ns : PUMP_MEASURE_NS) / (2 * n * ROUNDS);
	return measure(&m, sizes, n, rows);
}

size_t pump_choose(const struct bridge_rate *rows, size_t count)
{
	size_t row = bridge_choose(rows, count, 0);

	while (row + 1 < count && rows[row].buffer_bytes < PUMP_BUFFER_BYTES)
		row++;
	return row;
}
