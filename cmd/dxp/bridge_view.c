/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/bridge_view.h"

#include "base/clock.h"

/* percent of busy time from which DMA is the bottleneck; the rest is the time between two
 * transfers */
#define BUSY_HIGH 80
/* percent of busy time; below it, DMA waits for something else most of the time */
#define BUSY_LOW 50

bool bridge_view_has(const struct node_entry *row)
{
	return row->kind == MANAGE_XPU && row->alive &&
	       (row->capabilities & MANAGE_CAPABILITY_BRIDGED);
}

void bridge_view_read(struct bridge_view *v, struct bridge_reading *out)
{
	if (v->xpu &&
	    dxp_reg_read(v->xpu, BRIDGE_VIEW_FIRST, out->words, BRIDGE_VIEW_WORDS) != DXP_OK) {
		dxp_xpu_close(v->xpu);
		v->xpu = NULL;
	}
	out->at_ns = clock_now_ns();
}

static uint64_t one(const struct bridge_reading *r, enum cfg_register index)
{
	return r->words[index - BRIDGE_VIEW_FIRST];
}

static uint64_t pair(const struct bridge_reading *r, enum cfg_register low)
{
	return one(r, low) | one(r, low + 1) << 32;
}

uint64_t bridge_view_one(const struct bridge_view *v, enum cfg_register index)
{
	return one(&v->after, index);
}

uint64_t bridge_view_pair(const struct bridge_view *v, enum cfg_register low)
{
	return pair(&v->after, low);
}

double bridge_view_rate(const struct bridge_view *v, enum cfg_register low)
{
	double passed = (double)(v->after.at_ns - v->before.at_ns) / 1e9;

	return passed > 0 ? (double)(pair(&v->after, low) - pair(&v->before, low)) / passed : 0;
}

/* The whole time of a DMA is counted when it completes, even the part before the first reading. So
 * the result is capped at 100 %. */
double bridge_view_busy(const struct bridge_view *v, enum cfg_register low)
{
	double percent = bridge_view_rate(v, low) / 1e4;

	return percent < 100 ? percent : 100;
}

/* The counter may have wrapped between the readings, so the difference is modulo 2^32. */
uint32_t bridge_view_grown(const struct bridge_view *v, enum cfg_register index)
{
	return (uint32_t)one(&v->after, index) - (uint32_t)one(&v->before, index);
}

/* ---- verdict ---- */

enum bridge_verdict bridge_verdict_of(const struct bridge_load *l)
{
	if (!l->known)
		return BRIDGE_SILENT;
	if (l->failures)
		return BRIDGE_FAILING;
	if (l->in_busy >= BUSY_HIGH || l->out_busy >= BUSY_HIGH)
		return BRIDGE_DEVICE;
	if (l->full && l->in_busy < BUSY_LOW)
		return BRIDGE_BUFFERS;
	if (l->buffers && l->out_used >= l->buffers && l->out_busy < BUSY_LOW)
		return BRIDGE_READER;
	return l->transfers || l->moved_bytes > 0 ? BRIDGE_NETWORK : BRIDGE_IDLE;
}

static const struct {
	const char *name, *text;
} verdicts[BRIDGE_VERDICTS] = {
	[BRIDGE_SILENT] = {"silent", "no answer: it is down, or this host has no grant for it; "
				     "see `dxp nodes` and `dxp grant`"},
	[BRIDGE_FAILING] = {"failing", "transfers fail or exceed their time limit; the log of its "
				       "`dxpd` names device, step and bytes"},
	[BRIDGE_IDLE] = {"idle", "no transfers"},
	[BRIDGE_DEVICE] = {"device", "DMA is busy nearly all the time: the device limits the rate; "
				     "if it can do more, use larger buffers (--buffer-bytes)"},
	[BRIDGE_BUFFERS] = {"buffers", "bytes from the network find no free buffer, although DMA "
				       "is idle: more or larger buffers (--buffers, "
				       "--buffer-bytes)"},
	[BRIDGE_READER] = {"reader", "the network does not drain the buffers: look at the reading "
				     "node with `dxp top`"},
	[BRIDGE_NETWORK] = {"network", "DMA waits for bytes: the network or the sender limits the "
				       "rate; look at the sender with `dxp top`"},
};

const char *bridge_verdict_name(enum bridge_verdict v)
{
	return verdicts[v].name;
}

const char *bridge_verdict_text(enum bridge_verdict v)
{
	return verdicts[v].text;
}

static struct bridge_load load_of(const struct bridge_view *v)
{
	return (struct bridge_load){
		.known = v->xpu != NULL,
		.in_busy = bridge_view_busy(v, CFG_DMA_IN_US_LO),
		.out_busy = bridge_view_busy(v, CFG_DMA_OUT_US_LO),
		.moved_bytes =
			bridge_view_rate(v, CFG_DMA_IN_LO) + bridge_view_rate(v, CFG_DMA_OUT_LO),
		.full = bridge_view_grown(v, CFG_BRIDGE_FULL),
		.failures =
			bridge_view_grown(v, CFG_DMA_FAILED) + bridge_view_grown(v, CFG_DMA_STALLS),
		.buffers = (uint32_t)one(&v->after, CFG_BRIDGE_BUFFERS),
		.out_used = (uint32_t)one(&v->after, CFG_BRIDGE_OUT_TAKEN),
		.transfers = (uint32_t)one(&v->after, CFG_BRIDGE_TRANSFERS),
	};
}

/* ---- JSON ---- */

static json_t *known_json(const struct bridge_view *v)
{
	const struct bridge_reading *r = &v->after;

	return json_pack(
		"{s:s, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
		"name", v->name, "known", 1, "buffers", (json_int_t)one(r, CFG_BRIDGE_BUFFERS),
		"buffer_bytes", (json_int_t)one(r, CFG_BRIDGE_BUFFER_BYTES), "in_bytes",
		(json_int_t)pair(r, CFG_DMA_IN_LO), "out_bytes",
		(json_int_t)pair(r, CFG_DMA_OUT_LO), "in_bytes_per_s",
		bridge_view_rate(v, CFG_DMA_IN_LO), "out_bytes_per_s",
		bridge_view_rate(v, CFG_DMA_OUT_LO), "in_busy_percent",
		bridge_view_busy(v, CFG_DMA_IN_US_LO), "out_busy_percent",
		bridge_view_busy(v, CFG_DMA_OUT_US_LO), "in_taken",
		(json_int_t)one(r, CFG_BRIDGE_IN_TAKEN), "out_taken",
		(json_int_t)one(r, CFG_BRIDGE_OUT_TAKEN), "full",
		(json_int_t)bridge_view_grown(v, CFG_BRIDGE_FULL), "transfers",
		(json_int_t)one(r, CFG_BRIDGE_TRANSFERS), "failed",
		(json_int_t)one(r, CFG_DMA_FAILED), "stalls", (json_int_t)one(r, CFG_DMA_STALLS));
}

json_t *bridge_view_json(const struct bridge_view *v)
{
	const struct bridge_load load = load_of(v);
	const enum bridge_verdict verdict = bridge_verdict_of(&load);
	json_t *out = v->xpu ? known_json(v) : json_pack("{s:s, s:b}", "name", v->name, "known", 0);

	json_object_set_new(out, "verdict", json_string(bridge_verdict_name(verdict)));
	json_object_set_new(out, "verdict_text", json_string(bridge_verdict_text(verdict)));
	return out;
}
