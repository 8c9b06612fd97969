/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench direct` tests the source's claim that bytes go between xPUs without the host.
 * Runs a transfer, and a two-stage classifier, directly and through the host. Measures time,
 * bandwidth, bytes and CPU time of the host, and copies. The ways alternate.
 *
 *   direct             xpu1 --PUT--> xpu2
 *   direct, read       xpu1 <--GET-- xpu2
 *   through the host   xpu1 --> host memory --> xpu2; the second step starts after the first
 *   overlapped         the same in pieces: one goes out while the next comes in */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/async.h>
#include <dxp/bridge.h>
#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/direct.h"
#include "bench/fabric.h"
#include "bench/report.h"
#include "bench/table.h"

#define PIECE_BYTES (4u << 20)
#define PIECES_MAX  32
#define MOVES       8          /* transfers per sample */
#define QUICK_BYTES (1u << 20) /* largest transfer with --quick */
#define WAIT_NS     (60 * S_NS)

#define MEGABIT 125000    /* bytes, 1 Mbit */
#define GIGABIT 125000000 /* bytes, 1 Gbit */
static const uint64_t sizes[] = {4096, MEGABIT, 1u << 20, 64u << 20, GIGABIT};

enum way { DIRECT, DIRECT_READ, HOST, HOST_OVERLAPPED, WAYS };
static const char *const way_names[WAYS] = {"direct", "direct, read", "through the host",
					    "through the host, overlapped"};

struct sample {
	double us, host_bytes, received_bytes, cpu_ns; /* for one transfer */
};

struct direct {
	const struct direct_options *options;
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[2];
	uint16_t nodes[2];
	uint64_t at[2]; /* device addresses on xpu1, xpu2 */
	uint8_t *memory;
	struct sample samples[WAYS][BENCH_ROUNDS_MAX];
};

/* ---- one transfer ---- */

static int direct_move(struct direct *d, uint64_t bytes)
{
	const struct dxp_transfer t = {
		.from_address = d->at[0], .to_address = d->at[1], .bytes = bytes};
	dxp_event event;
	int status = dxp_send(d->xpus[0], d->xpus[1], &t, &event);

	return status == DXP_OK ? dxp_event_wait(d->fabric, event, WAIT_NS, NULL) : status;
}

static int read_move(struct direct *d, uint64_t bytes)
{
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
					      .device_from = d->at[0],
					      .device_to = d->at[1],
					      .peer = d->xpus[0],
					      .bytes = bytes};

	return dxp_bridge_move(d->xpus[1], &t, NULL);
}

static int host_move(struct direct *d, uint64_t bytes)
{
	int status = dxp_mem_read(d->xpus[0], d->memory, d->at[0], bytes);

	return status == DXP_OK ? dxp_mem_write(d->xpus[1], d->at[1], d->memory, bytes) : status;
}

static int piece_post(struct direct *d, uint64_t at, uint64_t bytes, dxp_event *event)
{
	dxp_event in;
	int status = dxp_read(d->xpus[0], d->memory + at, d->at[0] + at, bytes, NULL, &in);

	if (status != DXP_OK)
		return status;
	const struct dxp_waits waits = {.events = &in, .count = 1, .late = true};
	status = dxp_write(d->xpus[1], d->at[1] + at, d->memory + at, bytes, &waits, event);
	dxp_event_forget(d->fabric, in);
	return status;
}

static int overlapped_move(struct direct *d, uint64_t bytes)
{
	dxp_event events[PIECES_MAX];
	uint32_t posted = 0;
	int status = DXP_OK;

	for (uint64_t at = 0; at < bytes && status == DXP_OK; at += PIECE_BYTES) {
		status = piece_post(d, at, min_u64(PIECE_BYTES, bytes - at), &events[posted]);
		posted += status == DXP_OK;
	}
	for (uint32_t i = 0; i < posted; i++) {
		int one = dxp_event_wait(d->fabric, events[i], WAIT_NS, NULL);
		status = status == DXP_OK ? one : status;
	}
	return status;
}

static int (*const moves[WAYS])(struct direct *d,
				uint64_t bytes) = {[DIRECT] = direct_move,
						   [DIRECT_READ] = read_move,
						   [HOST] = host_move,
						   [HOST_OVERLAPPED] = overlapped_move};

static bool proves(struct direct *d, enum way way, uint64_t bytes)
{
	uint8_t *there = calloc(1, bytes);

	for (uint64_t i = 0; i < bytes; i++)
		d->memory[i] = (uint8_t)(i * 2654435761u >> 13 ^ way);
	int status = there ? dxp_mem_write(d->xpus[0], d->at[0], d->memory, bytes) : DXP_ENOMEM;
	if (status == DXP_OK)
		status = dxp_mem_write(d->xpus[1], d->at[1], there, bytes);
	if (status == DXP_OK)
		status = moves[way](d, bytes);
	if (status == DXP_OK)
		status = dxp_mem_read(d->xpus[1], there, d->at[1], bytes);
	if (status == DXP_OK)
		status = dxp_mem_read(d->xpus[0], d->memory, d->at[0], bytes);
	bool same = status == DXP_OK && memcmp(there, d->memory, bytes) == 0;
	if (!same)
		log_error("bench direct: %s, %llu bytes: %s", way_names[way],
			  (unsigned long long)bytes,
			  status == DXP_OK ? "the received bytes differ" : dxp_fabric_error(NULL));
	free(there);
	return same;
}

static struct dxp_link_bytes host_bytes(const struct direct *d)
{
	struct dxp_link_bytes sum = {0}, one;

	for (int i = 0; i < 2; i++) {
		if (dxp_fabric_traffic(d->fabric, d->nodes[i], &one) != DXP_OK)
			continue;
		sum.sent_bytes += one.sent_bytes;
		sum.received_bytes += one.received_bytes;
	}
	return sum;
}

static bool sample_run(struct direct *d, enum way way, uint64_t bytes, struct sample *out)
{
	struct dxp_link_bytes before = host_bytes(d);
	uint64_t cpu_ns = child_cpu_ns(0), begin_ns = clock_now_ns();
	int status = DXP_OK;

	for (int i = 0; i < MOVES && status == DXP_OK; i++)
		status = moves[way](d, bytes);
	uint64_t elapsed_ns = clock_now_ns() - begin_ns;
	struct dxp_link_bytes after = host_bytes(d);
	double received = (double)(after.received_bytes - before.received_bytes);
	*out = (struct sample){
		.us = (double)elapsed_ns / 1e3 / MOVES,
		.host_bytes = ((double)(after.sent_bytes - before.sent_bytes) + received) / MOVES,
		.received_bytes = received / MOVES,
		.cpu_ns = (double)(child_cpu_ns(0) - cpu_ns) / MOVES,
	};
	if (status != DXP_OK)
		log_error("bench direct: %s: %s", way_names[way], dxp_fabric_error(NULL));
	return status == DXP_OK;
}

/* ---- rows ---- */

static double median_of(const struct sample *samples, unsigned rounds, size_t offset)
{
	double values[BENCH_ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		memcpy(&values[i], (const char *)&samples[i] + offset, sizeof(double));
	return report_median(values, rounds);
}
#define MEDIAN(way, field) \
	median_of(d->samples[way], d->options->rounds, offsetof(struct sample, field))

static void row_print(const struct direct *d, enum way way, uint64_t bytes)
{
	char name[64], size[TABLE_BYTES_TEXT];
	const double payload = (double)bytes;
	const struct report_row row = {
		.bench = "direct",
		.lab = "loopback",
		.name = name,
		.contender = way_names[way],
		.metric = "goodput",
		.unit = "GB/s",
		.value = payload / 1e3 / MEDIAN(way, us),
		.peer = way == HOST ? NULL : way_names[HOST],
		.peer_value = payload / 1e3 / MEDIAN(HOST, us),
		.x_name = "bytes",
		.x = payload,
		.samples = d->options->rounds,
		.more = {{"us", MEDIAN(way, us)},
			 {"host_bytes", MEDIAN(way, host_bytes)},
			 {"host_cpu_ms_per_gb", 1e3 * MEDIAN(way, cpu_ns) / payload},
			 /* one into the destination, the others into host memory */
			 {"copies", 1 + MEDIAN(way, received_bytes) / payload}},
	};

	snprintf(name, sizeof(name), "transfer %s",
		 bytes == MEGABIT   ? "1 Mb"
		 : bytes == GIGABIT ? "1 Gb"
				    : table_bytes(bytes, size));
	report_row(&row);
}

static bool size_run(struct direct *d, uint64_t bytes)
{
	for (int way = 0; way < WAYS; way++)
		if (!proves(d, way, bytes))
			return false;
	for (unsigned round = 0; round < d->options->rounds; round++)
		for (int way = 0; way < WAYS; way++)
			if (!sample_run(d, way, bytes, &d->samples[way][round]))
				return false;
	for (int way = 0; way < WAYS; way++)
		row_print(d, way, bytes);
	return true;
}

static bool xpus_open(struct direct *d, uint64_t bytes)
{
	static const char *const names[] = {"xpu1", "xpu2"};
	struct dxp_xpu_caps caps;
	int status = dxp_fabric_open(NULL, &d->fabric);

	for (int i = 0; i < 2 && status == DXP_OK; i++) {
		status = dxp_xpu_open(d->fabric, names[i], &d->xpus[i]);
		if (status == DXP_OK)
			status = dxp_xpu_caps(d->xpus[i], &caps);
		if (status == DXP_OK)
			status = dxp_mem_alloc(d->xpus[i], bytes, &d->at[i]);
		d->nodes[i] = caps.node;
	}
	d->memory = calloc(1, bytes);
	if (status != DXP_OK || !d->memory)
		log_error("bench direct: %s", dxp_fabric_error(NULL));
	return status == DXP_OK && d->memory;
}

static bool transfers_run(const struct direct_options *o)
{
	const uint64_t largest = sizes[ARRAY_COUNT(sizes) - 1];
	struct direct *d = calloc(1, sizeof(*d));
	bool good = d != NULL;

	if (!d)
		return false;
	d->options = o;
	good = xpus_open(d, largest);
	for (size_t i = 0; i < ARRAY_COUNT(sizes) && good; i++)
		if (!o->quick || sizes[i] <= QUICK_BYTES)
			good = size_run(d, sizes[i]);
	for (int i = 0; i < 2; i++)
		dxp_xpu_close(d->xpus[i]);
	dxp_fabric_close(d->fabric);
	free(d->memory);
	free(d);
	return good;
}

static int inside_run(void *context)
{
	const struct direct_options *o = context;

	if (bench_wanted(o->only_case, "transfer") && !transfers_run(o))
		return 1;
	return bench_wanted(o->only_case, "classifier") ? direct_classify_run(o) : 0;
}

int bench_direct(int argc, char **argv)
{
	struct direct_options o;
	int status = direct_options_parse(argc, argv, &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "xPU to xPU, directly and through the host");
	return fabric_run(2, "512M", inside_run, &o);
}
