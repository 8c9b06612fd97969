/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about the crossbar: curves, knees, saturation, causes of loss. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/crossbar.h"

#define CYCLES_MOST 2000000 /* of one load: up to 2 s */
#define DEEP        1024    /* packets; such a queue never stops its source */
/* each way: as many as a doorbell FIFO holds */
#define GETS 32

static struct model_row row_of(const struct model_parameters *p, const char *quantity,
			       const char *unit, const char *assumptions)
{
	struct model_row row = {
		.item = "C-44",
		.quantity = quantity,
		.unit = unit,
		.published = NAN,
		.assumptions = assumptions,
	};

	snprintf(row.x, sizeof(row.x), "%lldx%lld", (long long)p->ports, (long long)p->channels);
	return row;
}

static void row_emit(const struct model_sink *sink, struct model_row *row, double value)
{
	row->value = row->low = row->high = value;
	model_emit(sink, row);
}

int model_crossbar_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink)
{
	char names[200], quantity[64];
	struct model_crossbar_point point;
	int status = model_crossbar_measure(p, seed, CYCLES_MOST, &point);

	if (status)
		return status;
	model_assumptions("crossbar", names, sizeof(names));
	snprintf(quantity, sizeof(quantity), "latency at load %.3f",
		 (double)p->load_permille / 1000);
	struct model_row row = row_of(p, quantity, "cycles", names);
	if (point.saturated)
		row.note = "saturated: the latency grows without end";
	row_emit(sink, &row, (double)point.latency_mcycles / 1000);
	snprintf(quantity, sizeof(quantity), "throughput at load %.3f",
		 (double)p->load_permille / 1000);
	row.unit = "share";
	row_emit(sink, &row, (double)point.throughput_ppm / 1e6);
	return DXP_OK;
}

bool model_crossbar_setting(struct model_parameters *p, unsigned index)
{
	switch (index) {
	case 0: p->depth = 1; break;
	case 1: p->depth = 8; break;
	case 2: p->depth = 64; break;
	case 3: p->message_packets = 4; break;
	case 4: p->message_packets = 16; break;
	case 5: p->own_port = !p->own_port; break;
	case 6: p->allocator = MODEL_ALLOCATE_ISLIP; break;
	case 7: p->allocator = MODEL_ALLOCATE_MAXIMAL; break;
	case 8: p->source = !p->source; break;
	case 9: /* the two settings that cost most */
		p->depth = 1;
		p->message_packets = 16;
		break;
	default: return false;
	}
	return true;
}

/* Measures a value, and its interval over all settings. */
static int interval(const struct model_parameters *p, uint64_t seed,
		    int (*find)(const struct model_parameters *, uint64_t, uint64_t *),
		    bool variants, struct model_row *row)
{
	uint64_t value, least, most;
	int status = find(p, seed, &value);

	least = most = value;
	row->value = (double)value / 1e6;
	for (unsigned i = 0; !status && variants; i++) {
		struct model_parameters v = *p;
		if (!model_crossbar_setting(&v, i))
			break;
		if (v.ports == 1 && !v.own_port)
			continue;
		status = find(&v, seed, &value);
		least = min_u64(least, value);
		most = max_u64(most, value);
	}
	row->low = (double)least / 1e6;
	row->high = (double)most / 1e6;
	return status;
}

/* Emits the gain of saturation without each cause of loss, and without all. */
static int gain_rows(const struct model_parameters *p, uint64_t seed, double base,
		     const struct model_sink *sink, const char *names)
{
	struct {
		const char *quantity;
		struct model_parameters p;
	} causes[] = {
		{"gain: a channel a port", *p},  {"gain: source in any order", *p},
		{"gain: maximal allocator", *p}, {"gain: deep queues", *p},
		{"gain: all of these", *p},
	};
	struct model_parameters *all = &causes[4].p;

	causes[0].p.channels = all->channels = p->ports;
	causes[1].p.source = all->source = MODEL_SOURCE_ANY_ORDER;
	causes[2].p.allocator = all->allocator = MODEL_ALLOCATE_MAXIMAL;
	causes[3].p.depth = all->depth = DEEP;
	for (size_t i = 0; i < ARRAY_COUNT(causes); i++) {
		uint64_t value;
		int status = model_crossbar_saturation(&causes[i].p, seed, &value);
		if (status)
			return status;
		struct model_row row = row_of(p, causes[i].quantity, "share", names);
		row_emit(sink, &row, (double)value / 1e6 - base);
	}
	return DXP_OK;
}

int model_crossbar_knee_rows(const struct model_parameters *p, uint64_t seed, bool intervals,
			     const struct model_sink *sink)
{
	char names[200];

	model_assumptions("crossbar", names, sizeof(names));
	struct model_row row = row_of(p, "knee", "share", names);
	int status = interval(p, seed, model_crossbar_knee, intervals, &row);
	if (status)
		return status;
	row.kind = MODEL_WITHHELD;
	model_emit(sink, &row);
	row = row_of(p, "saturation", "share", names);
	row.kind = MODEL_WITHHELD;
	status = interval(p, seed, model_crossbar_saturation, intervals, &row);
	if (status)
		return status;
	model_emit(sink, &row);
	return gain_rows(p, seed, row.value, sink, names);
}

int model_crossbar_get_row(const struct model_parameters *p, const struct model_sink *sink)
{
	char cycle[256];
	int deadlock = model_crossbar_deadlock(p, GETS, cycle, sizeof(cycle));
	struct model_row row = {
		.item = "C-22",
		.quantity =
			p->get_channel ? "GETs both ways, no channel" : "GETs both ways, channel",
		.unit = "deadlock",
		.published = NAN,
		.assumptions = "depth,message_packets",
		.note = deadlock ? cycle : NULL,
	};

	if (deadlock < 0)
		return error_set(DXP_EBUSY, "GETs stopped without a cycle of waits: a defect");
	snprintf(row.x, sizeof(row.x), "%lld", (long long)p->depth);
	row_emit(sink, &row, deadlock);
	return DXP_OK;
}
