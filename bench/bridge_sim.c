/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench bridge-sim`: tables of the shipped bridge in virtual time, deterministic unless jitter
 * is set. */
#include "bench/bridge_sim.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bridge_sim_rows.h"
#include "bench/options.h"
#include "sim/bridge_lab.h"
#include "sim/bridge_source.h"

#define KIB      1024u
#define MIB      (1u << 20)
#define LIMIT_NS (100000 * S_NS)
/* bytes; the source was fastest with it (S-08, S-09) */
#define BUFFER_BYTES (8u * MIB)
#define LONG_BYTES   (512ull * MIB)

/* `direct`: the DMA step that moves user memory in place, without the network. */
static const struct bridge_sim_path paths[] = {
	{"host to device", BRIDGE_IN, 0},
	{"device to host", BRIDGE_OUT, 0},
	{"round trip", BRIDGE_THROUGH, 0},
	{"local host to device", BRIDGE_DIRECT, STAGES_IN},
	{"local device to host", BRIDGE_DIRECT, STAGES_OUT},
	{"local round trip", BRIDGE_DIRECT, STAGES_THROUGH},
	{"local device to device", BRIDGE_DIRECT, STAGES_COPY},
};
enum { NETWORK_PATHS = 3, PATHS = ARRAY_COUNT(paths) };

/* Rates in bytes/s that the source reports, in the order of `paths` (S-09, S-08). */
static const uint64_t reported[PATHS] = {
	BRIDGE_SOURCE_IN,         BRIDGE_SOURCE_OUT,       BRIDGE_SOURCE_THROUGH,
	BRIDGE_SOURCE_LOCAL_IN,   BRIDGE_SOURCE_LOCAL_OUT, BRIDGE_SOURCE_LOCAL_THROUGH,
	BRIDGE_SOURCE_LOCAL_COPY,
};

struct stages_options bridge_sim_stages(const struct bridge_sim_settings *s)
{
	return (struct stages_options){
		.read = {s->read, s->network_ns, 0},
		.write = {s->write, 0, s->network_ns},
		.to_device = {s->to_device, s->dma_ns, s->interrupt_ns},
		.from_device = {s->from_device, s->dma_ns, s->interrupt_ns},
		.memory_bytes_per_s = s->memory,
		.queue = (uint32_t)s->queue,
		.jitter_ns = s->jitter_ns,
		.seed = s->seed,
	};
}

static int run(const struct bridge_sim_case *c, struct bridge_sim_result *out)
{
	const struct bridge_sim_settings *s = c->settings;
	const struct bridge_lab_options o = {
		.stages = c->stages,
		.buffers = (uint32_t)s->buffers,
		.buffer_bytes = c->buffer_bytes,
		.fills = c->fills ? c->fills : (uint32_t)s->fills,
		.dmas = c->dmas ? c->dmas : (uint32_t)s->dmas,
		.stall_ns = LIMIT_NS,
	};
	struct bridge_lab_transfer t = {
		.order = {.path = (uint8_t)c->path->path,
			  .mode = (uint8_t)c->mode,
			  .bytes = c->bytes,
			  .piece_bytes =
				  c->dmas ? c->buffer_bytes
					  : (uint32_t)min_u64(s->piece_bytes, c->buffer_bytes)},
		.direct = c->path->direct};
	struct bridge_lab *l;
	int status = bridge_lab_create(&o, &l);

	if (status != DXP_OK)
		return status;
	status = bridge_lab_begin(l, &t);
	if (status == DXP_OK && !bridge_lab_run(l, LIMIT_NS))
		status = DXP_ETIMEDOUT;
	if (status == DXP_OK)
		status = t.end.status;
	uint64_t ps = max_u64(t.end_ps - t.begin_ps, 1);
	*out = (struct bridge_sim_result){
		.bytes_per_s = (double)c->bytes * 1e12 / (double)ps,
		.bottleneck = (double)bridge_bottleneck(&c->stages, c->path->path, c->path->direct),
		.us = (double)ps / 1e6,
		.peaks = bridge_lab_peaks(l),
	};
	bridge_lab_destroy(l);
	return status;
}

static bool runs(const struct bridge_sim_case *c, struct bridge_sim_result *out)
{
	int status = run(c, out);

	if (status != DXP_OK)
		fprintf(stderr, "dxp bench bridge-sim: %s, %llu bytes in buffers of %u: %s\n",
			c->path->name, (unsigned long long)c->bytes, c->buffer_bytes,
			dxp_status_text(status));
	return status == DXP_OK;
}

static struct bridge_sim_case case_of(const struct bridge_sim_settings *s, size_t path)
{
	return (struct bridge_sim_case){
		.settings = s,
		.stages = bridge_sim_stages(s),
		.path = &paths[path],
		.bytes = LONG_BYTES,
		.buffer_bytes = s->buffer_bytes ? (uint32_t)s->buffer_bytes : BUFFER_BYTES,
	};
}

/* Prints transfer sizes against buffer sizes, as the source's figures 11 and 12 do. */
static bool sizes_table(const struct bridge_sim_settings *s, size_t path, bool quick)
{
	struct bridge_sim_case c = case_of(s, path);

	/* 2 B, 8 B .. 512 MiB, or with `quick` in steps of 16; and 1 GiB */
	for (int bits = 1; bits <= 30; bits += bits == 29 ? 1 : quick ? 4 : 2) {
		c.bytes = 1ull << bits;
		for (c.buffer_bytes = 16 * KIB; c.buffer_bytes <= 16 * MIB; c.buffer_bytes *= 2) {
			struct bridge_sim_result r;
			if (s->buffer_bytes)
				c.buffer_bytes = (uint32_t)s->buffer_bytes;
			if (!runs(&c, &r))
				return false;
			bridge_sim_row_size(&c, &r);
			if (s->buffer_bytes)
				break;
		}
	}
	return true;
}

/* Prints the same transfer on controllers with the source's local DMA rates (S-08), one read and
 * one DMA at a time. The second row adds control time per piece. Shares are relative to PCIe. */
static bool controllers_rows(struct bridge_sim_case c)
{
	static const struct {
		const char *name;
		uint64_t control_ns;
	} rows[] = {{"controllers", 0}, {"controllers, control", BRIDGE_SOURCE_PIECE_NS}};
	const uint64_t link = c.stages.to_device.bytes_per_s;

	c.fills = c.dmas = 1;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct bridge_sim_result r;
		c.stages = bridge_source_controllers(rows[i].control_ns);
		if (!runs(&c, &r))
			return false;
		r.bottleneck = (double)link;
		bridge_sim_row_source(&c, &r, rows[i].name, 0);
	}
	return true;
}

static bool source_table(const struct bridge_sim_settings *s, size_t path)
{
	struct bridge_sim_case c = case_of(s, path);
	struct bridge_sim_result r;

	if (!runs(&c, &r))
		return false;
	bridge_sim_row_source(&c, &r, "pipelined, simulated",
			      s->source ? (double)reported[path] : 0);
	return !s->source || path >= NETWORK_PATHS || controllers_rows(c);
}

/* Compares the way without a pipeline to the bridge. The source changed its DMA together with the
 * pipeline (S-04, S-05), so only the first row has different stages. Without control time, only the
 * pipeline differs. */
static bool naive_table(const struct bridge_sim_settings *s)
{
	static const struct {
		const char *name;
		/* the naive way, or the bridge, has the source's naive rates; `control`: the naive
		 * way has its control time */
		bool naive_slow, dxp_slow, control;
	} rows[] = {
		{"different stages, as the source", true, false, true},
		{"naive rates", true, true, true},
		{"naive rates, no control", true, true, false},
		{"full rates", false, false, true},
		{"full rates, no control", false, false, false},
	};
	struct bridge_sim_case c = case_of(s, 2);
	const struct stages_options full = c.stages;

	c.bytes = BRIDGE_SOURCE_NAIVE_BYTES;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct bridge_sim_result r;
		if (!s->source && (rows[i].naive_slow || rows[i].dxp_slow))
			continue;
		c.stages = rows[i].dxp_slow ? bridge_source_naive_stages : full;
		if (!runs(&c, &r))
			return false;
		uint64_t ns = bridge_naive_ns(
			rows[i].naive_slow ? &bridge_source_naive_stages : &full,
			rows[i].control ? BRIDGE_SOURCE_CONTROL_NS : 0, c.path->path, c.bytes);
		bridge_sim_row_naive(rows[i].name, &c, &r, (double)c.bytes * 1e9 / (double)ns);
	}
	return true;
}

/* Compares pipelined with sequential, which uses one buffer and starts each step after the previous
 * one. */
static bool modes_table(const struct bridge_sim_settings *s, size_t path)
{
	static const enum bridge_mode modes[] = {BRIDGE_PIPELINED, BRIDGE_SEQUENTIAL};
	struct bridge_sim_case c = case_of(s, path);
	struct bridge_sim_result r;

	for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
		c.mode = modes[i];
		if (!runs(&c, &r))
			return false;
		bridge_sim_row_mode(&c, &r);
	}
	return true;
}

/* Shows the gain of several outstanding reads (S-06): none if a buffer takes longer than a round
 * trip, otherwise nearly the full factor. */
static bool reads_table(const struct bridge_sim_settings *s, size_t path)
{
	static const uint64_t trips_ns[] = {2000, 20000, 200000};
	struct bridge_sim_case c = case_of(s, path);

	c.bytes = 64 * MIB;
	for (c.fills = 1; c.fills <= 8 && (!s->buffers || c.fills <= s->buffers); c.fills *= 2)
		for (uint32_t i = 0; i < 2 * ARRAY_COUNT(trips_ns); i++) {
			struct bridge_sim_result r;
			c.buffer_bytes = i % 2 ? MIB : 64 * KIB;
			c.stages.read.latency_ns = trips_ns[i / 2];
			if (!runs(&c, &r))
				return false;
			bridge_sim_row_reads(&c, &r);
		}
	return true;
}

int bridge_sim_tables(const struct bridge_sim_settings *s, bool quick)
{
	bool ok = true, any = false;

	for (size_t i = 0; ok && i < PATHS; i++) {
		if (!bench_wanted(s->path, paths[i].name))
			continue;
		any = true;
		ok = (i >= NETWORK_PATHS || sizes_table(s, i, quick)) && source_table(s, i) &&
		     (i >= NETWORK_PATHS || modes_table(s, i)) && (i != 0 || reads_table(s, i)) &&
		     (i != 2 || naive_table(s));
	}
	if (!any)
		fprintf(stderr,
			"dxp bench bridge-sim: unknown path '%s'; use host to device, device to "
			"host, round trip or, with local, device to device\n",
			s->path);
	return any ? !ok : 2;
}
