/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures that sources (row.h) state, by item. */
#include "model/published.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

#define GIVEN(item, quantity, x, unit, value, tolerance)               \
	{                                                              \
		item, quantity, x, unit, value, tolerance, MODEL_GIVEN \
	}
#define DATA(item, quantity, x, unit, value)                   \
	{                                                      \
		item, quantity, x, unit, value, 0, MODEL_PLAIN \
	}

static const struct model_published figures[] = {
	/* T without the network: 200 + 528 + 2047 / 4 + 160 ns. */
	GIVEN("C-06", "T without hops", "2048", "ns", 1399.75, 0.001),
	/* Derived from C-06 and the source's mean distances, with three decimals. */
	GIVEN("C-07", "T hypercube", "16", "us", 1.880, 0.05),
	GIVEN("C-07", "T hypercube", "64", "us", 2.120, 0.05),
	GIVEN("C-07", "T hypercube", "256", "us", 2.360, 0.05),
	GIVEN("C-07", "T hypercube", "1024", "us", 2.600, 0.05),
	GIVEN("C-07", "T hypercube", "4096", "us", 2.840, 0.05),
	GIVEN("C-07", "T 3D torus", "16", "us", 1.853, 0.05),
	GIVEN("C-07", "T 3D torus", "64", "us", 2.120, 0.05),
	GIVEN("C-07", "T 3D torus", "256", "us", 2.543, 0.05),
	GIVEN("C-07", "T 3D torus", "1024", "us", 3.214, 0.05),
	GIVEN("C-07", "T 3D torus", "4096", "us", 4.280, 0.05),
	GIVEN("C-07", "T 3D mesh", "16", "us", 2.005, 0.05),
	GIVEN("C-07", "T 3D mesh", "64", "us", 2.360, 0.05),
	GIVEN("C-07", "T 3D mesh", "256", "us", 2.924, 0.05),
	GIVEN("C-07", "T 3D mesh", "1024", "us", 3.819, 0.05),
	GIVEN("C-07", "T 3D mesh", "4096", "us", 5.240, 0.05),
	GIVEN("C-07", "T 2D torus", "16", "us", 1.880, 0.05),
	GIVEN("C-07", "T 2D torus", "64", "us", 2.360, 0.05),
	GIVEN("C-07", "T 2D torus", "256", "us", 3.320, 0.05),
	GIVEN("C-07", "T 2D torus", "1024", "us", 5.240, 0.05),
	GIVEN("C-07", "T 2D torus", "4096", "us", 9.080, 0.05),
	GIVEN("C-07", "T 2D mesh", "16", "us", 2.040, 0.05),
	GIVEN("C-07", "T 2D mesh", "64", "us", 2.680, 0.05),
	GIVEN("C-07", "T 2D mesh", "256", "us", 3.960, 0.05),
	GIVEN("C-07", "T 2D mesh", "1024", "us", 6.520, 0.05),
	GIVEN("C-07", "T 2D mesh", "4096", "us", 11.640, 0.05),
	/* LogP's table at 1024 processors; its 3D torus has sides of 10.08, which cannot be
	 * built. */
	GIVEN("C-07", "hypercube distance, formula", "1024", "links", 5, 1),
	GIVEN("C-07", "3D torus distance, formula", "1024", "links", 7.5, 1),
	GIVEN("C-07", "3D mesh distance, formula", "1024", "links", 10, 1),
	GIVEN("C-07", "2D torus distance, formula", "1024", "links", 16, 1),
	GIVEN("C-07", "2D mesh distance, formula", "1024", "links", 21, 2),
	GIVEN("C-07", "fat tree distance, searched", "1024", "links", 9.33, 0.1),
	GIVEN("C-07", "butterfly distance, formula", "1024", "links", 10, 0.001),
	GIVEN("C-07", "butterfly distance, searched", "1024", "links", 10, 0.001),
	GIVEN("C-25", "descriptor path, cycles a beat", "16", "cycles", 2, 0.001),
	GIVEN("C-35", "tags least", "130", "", 13, 0.001),
	GIVEN("C-35", "tags cover", "32", "cycles", 320, 0.001),
	GIVEN("C-35", "tags cycles a request", "128", "cycles", 10, 0.001),
	/* Sizes and tolerance are not stated, so up to three times the figure is accepted. */
	GIVEN("C-37", "level", "message", "cycles", 1500000, 200),
	DATA("C-39", "slices of the prototype", "", "%", 8),
	DATA("C-39", "block RAM of the prototype", "", "%", 6),
	GIVEN("C-39", "PCIe after coding", "2x8", "MB/s", 4000, 0.001),
	GIVEN("C-40", "rate by tags, simulated", "32", "MB/s", 3200, 0.1),
	/* nap_engine_cycles and put_engine_cycles were set from these sums. */
	{"C-43", "engines of NAP-imm without reads", "1", "cycles", 35, 0, MODEL_CALIBRATED_ON},
	{"C-43", "engines of PUT without reads", "1", "cycles", 48, 0, MODEL_CALIBRATED_ON},
	/* Ods of C-06 is 528 ns, or 132 cycles: memory read of C-43, and return of its data. */
	GIVEN("C-43", "parts of NAP-imm 1 B", "descriptor read", "cycles", 132, 3),
	GIVEN("C-43", "parts of PUT 1 B", "descriptor read", "cycles", 132, 3),
	DATA("C-45", "latency PEARL", "", "us", 1.2),
	DATA("C-45", "bandwidth PEARL", "", "GB/s", 1.1),
	DATA("C-45", "bandwidth PEARL of its peak", "", "%", 55),
	DATA("C-45", "bandwidth Dolphin Express", "", "GB/s", 1.27),
	/* as it can be read in the source; 1.4 is likelier */
	DATA("C-45", "latency Dolphin Express", "", "us", 14),
	/* Rates of the steps are stated too, and set their stages. */
	GIVEN("S-04", "bridge naive step, READ", "320000000", "s", 0.027, 2),
	GIVEN("S-04", "bridge naive step, DMA", "320000000", "s", 0.144, 2),
	GIVEN("S-04", "bridge naive step, WRITE", "320000000", "s", 0.034, 2),
	GIVEN("S-04", "bridge naive round trip", "320000000", "s", 0.381, 6),
	GIVEN("S-04", "bridge naive round trip rate", "320000000", "MiB/s", 801.1, 6),
	/* 4732.0 MB/s by 801.1 MiB/s; both tolerances add up. */
	GIVEN("S-05", "bridge pipelined over naive", "", "", 5.633, 12),
	/* Parameters of the bridge were set from these. */
	{"S-07", "InfiniBand READ alone", "", "MB/s", 9162.1, 0, MODEL_CALIBRATED_ON},
	{"S-07", "InfiniBand WRITE alone", "", "MB/s", 11927.3, 0, MODEL_CALIBRATED_ON},
	GIVEN("S-07", "InfiniBand READ share of the port", "", "%", 73.3, 0.5),
	GIVEN("S-07", "InfiniBand WRITE share of the port", "", "%", 95.2, 0.5),
	GIVEN("S-07", "PCIe after coding", "3x8", "MB/s", 7877, 0.1),
	GIVEN("S-07", "device memory by clock and width", "200x512", "MB/s", 12800, 0.001),
	{"S-08", "local DMA, host to device", "", "MB/s", 6745.2, 0, MODEL_CALIBRATED_ON},
	{"S-08", "local DMA, device to host", "", "MB/s", 5872.6, 0, MODEL_CALIBRATED_ON},
	{"S-08", "local DMA, round trip", "", "MB/s", 4521.3, 0, MODEL_CALIBRATED_ON},
	GIVEN("S-08", "local DMA, device to device", "", "MB/s", 12172.8, 6),
	{"S-08", "local DMA share of PCIe, host to device", "", "%", 85.6, 0, MODEL_CALIBRATED_ON},
	{"S-08", "local DMA share of PCIe, device to host", "", "%", 74.5, 0, MODEL_CALIBRATED_ON},
	{"S-08", "local DMA share of PCIe, round trip", "", "%", 57.3, 0, MODEL_CALIBRATED_ON},
	DATA("S-08", "local DMA of JetStream, host to device", "", "GB/s", 6.4),
	DATA("S-08", "local DMA of JetStream, device to host", "", "GB/s", 6.85),
	GIVEN("S-08", "PCIe payload by completion", "128", "%", 85.6, 2),
	GIVEN("S-09", "bridge host to device", "8388608", "MB/s", 6379.1, 6),
	GIVEN("S-09", "bridge device to host", "8388608", "MB/s", 5696.1, 6),
	GIVEN("S-09", "bridge round trip", "8388608", "MB/s", 4732.0, 6),
	GIVEN("S-09", "bridge share of PCIe, host to device", "", "%", 81.0, 6),
	GIVEN("S-09", "bridge share of PCIe, device to host", "", "%", 72.3, 6),
	GIVEN("S-09", "bridge share of PCIe, round trip", "", "%", 60.1, 6),
	GIVEN("S-09", "bridge host to device, link limit", "8388608", "MB/s", 6379.1, 0),
	GIVEN("S-09", "bridge device to host, link limit", "8388608", "MB/s", 5696.1, 0),
	GIVEN("S-09", "bridge round trip, link limit", "8388608", "MB/s", 4732.0, 0),
	GIVEN("S-09", "bridge host to device, controllers", "8388608", "MB/s", 6379.1, 0),
	GIVEN("S-09", "bridge device to host, controllers", "8388608", "MB/s", 5696.1, 0),
	GIVEN("S-09", "bridge round trip, controllers", "8388608", "MB/s", 4732.0, 0),
	{"S-09", "bridge host to device, control", "8388608", "MB/s", 6379.1, 0,
	 MODEL_CALIBRATED_ON},
	GIVEN("S-09", "bridge device to host, control", "8388608", "MB/s", 5696.1, 3),
	GIVEN("S-09", "bridge round trip, control", "8388608", "MB/s", 4732.0, 0),
	/* One SRR per host or socket. N-09: a packet per SRR, a partial result per ToR and socket
	 * index. An SR sends its data and receives the sum. */
	GIVEN("N-05", "leaders (SRR) of a host, node", "9x32", "", 1, 0.001),
	GIVEN("N-05", "leaders (SRR) of a host, socket", "9x32", "", 2, 0.001),
	GIVEN("N-05", "other ranks (SR) of a host, node", "9x32", "", 31, 0.001),
	GIVEN("N-05", "other ranks (SR) of a host, socket", "9x32", "", 30, 0.001),
	GIVEN("N-09", "messages inside a host for an SR, node", "9x32", "", 2, 0.001),
	GIVEN("N-09", "messages inside a host for an SR, socket", "9x32", "", 2, 0.001),
	GIVEN("N-09", "packets of an SRR to its ToR, node", "9x32", "", 1, 0.001),
	GIVEN("N-09", "packets of an SRR to its ToR, socket", "9x32", "", 1, 0.001),
	GIVEN("N-09", "packets of a ToR to its spine, node", "9x32", "", 1, 0.001),
	GIVEN("N-09", "packets of a ToR to its spine, socket", "9x32", "", 2, 0.001),
	GIVEN("N-09", "packets of a spine to a ToR, node", "9x32", "", 1, 0.001),
	GIVEN("N-09", "packets of a spine to a ToR, socket", "9x32", "", 2, 0.001),
	GIVEN("N-09", "packets of a ToR to an SRR, node", "9x32", "", 1, 0.001),
	GIVEN("N-09", "packets of a ToR to an SRR, socket", "9x32", "", 1, 0.001),
	/* The middle of 10 to 30 %, which the source states. */
	GIVEN("N-11", "mean saving of node mode from 9 hosts", "", "%", 20, 50),
	/* The model's interval is wide, and "shape" tests whether it has the figure. */
	GIVEN("X-14", "matrix product on the xPU", "64", "GFLOP/s", 3.68, 0),
	DATA("X-16", "round trip of 4 B, CoE", "", "us", 0.95),
	DATA("X-16", "round trip of 4 B, CIRCUS, least", "", "us", 0.5),
	DATA("X-16", "round trip of 4 B, CIRCUS, most", "", "us", 1.87),
	DATA("X-16", "round trip of 4 B, AiS", "", "us", 5.04),
	DATA("X-16", "round trip of 4 B, Direct xPU, write", "", "us", 2.65),
	DATA("X-16", "round trip of 4 B, Direct xPU, read", "", "us", 2.72),
	/* the mean of both, which the source rounds */
	GIVEN("X-16", "round trip of 4 B, Direct xPU", "", "us", 2.69, 0.5),
	DATA("X-17", "host writes registers", "", "us", 1000),
};

const struct model_published *model_published_at(unsigned index)
{
	return index < ARRAY_COUNT(figures) ? &figures[index] : NULL;
}

/* compared of quantity and x; longer names differ before */
#define NAME_BYTES 128

/* Appends text in lower case, with one blank for each run of separators, none at the start. */
static size_t fold(const char *text, char out[NAME_BYTES], size_t at)
{
	for (; *text && at + 2 < NAME_BYTES; text++) {
		bool separator = strchr(" -_,\t", *text) != NULL;
		if (!separator)
			out[at++] = (char)tolower((unsigned char)*text);
		else if (at > 0 && out[at - 1] != ' ')
			out[at++] = ' ';
	}
	return at;
}

/* Writes quantity and x as one name. */
static void name_fold(const char *quantity, const char *x, char out[NAME_BYTES])
{
	size_t at = fold(quantity, out, 0);

	if (at > 0 && out[at - 1] != ' ' && *x)
		out[at++] = ' ';
	at = fold(x, out, at);
	while (at > 0 && out[at - 1] == ' ')
		at--;
	out[at] = '\0';
}

bool model_name_same(const char *quantity, const char *x, const char *other, const char *other_x)
{
	char a[NAME_BYTES], b[NAME_BYTES];

	name_fold(quantity, x, a);
	name_fold(other, other_x, b);
	return strcmp(a, b) == 0;
}

void model_published_attach(struct model_row *row)
{
	if (!isnan(row->published))
		return;
	for (size_t i = 0; i < ARRAY_COUNT(figures); i++) {
		const struct model_published *f = &figures[i];
		if (f->kind == MODEL_PLAIN ||
		    !model_name_same(f->quantity, f->x, row->quantity, row->x))
			continue;
		row->published = f->value;
		row->tolerance = f->tolerance;
		row->kind = f->kind;
		return;
	}
}

void model_published_data(const struct model_sink *sink)
{
	for (size_t i = 0; i < ARRAY_COUNT(figures); i++) {
		const struct model_published *f = &figures[i];
		struct model_row row = {
			.item = f->item,
			.quantity = f->quantity,
			.unit = f->unit,
			.value = NAN,
			.low = NAN,
			.high = NAN,
			.published = f->value,
			.assumptions = "",
		};
		if (f->kind != MODEL_PLAIN)
			continue;
		snprintf(row.x, sizeof(row.x), "%s", f->x);
		model_emit(sink, &row);
	}
}
