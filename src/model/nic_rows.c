/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about the NIC: named predictions, with intervals over settings that the source leaves
 * open. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/nic.h"
#include "model/nic_internal.h"
#include "model/pcie.h"

/* for a rate: twice what the doorbell FIFO holds */
#define BACK_TO_BACK 64
/* for a rate: enough for long messages */
#define PACKETS_MOST 32768

/* Values that each switch can have for an operation; 1: no effect. */
struct switch_values {
	unsigned base, forward, header, overlap, wait, offset;
};

static struct switch_values values_of(enum model_op op)
{
	bool nap = model_nic_is_nap(op);

	return (struct switch_values){
		.base = 2,
		.forward = 2,
		.header = 2,
		.overlap = nap ? 3 : 1,
		.wait = nap ? 1 : 2,
		.offset = op == MODEL_NAP_IMM ? 3 : 1,
	};
}

/* Cuts a switch's value off the index. */
static unsigned digit(unsigned *index, unsigned count)
{
	unsigned value = *index % count;

	*index /= count;
	return value;
}

bool model_nic_setting(struct model_parameters *p, enum model_op op, unsigned index)
{
	struct switch_values c = values_of(op);

	p->base = digit(&index, c.base);
	p->forward = digit(&index, c.forward);
	p->completion_header = digit(&index, c.header);
	if (c.overlap > 1)
		p->nap_overlap = digit(&index, c.overlap);
	if (c.wait > 1)
		p->event_wait = digit(&index, c.wait);
	/* 16, 32 or 48 B: behind the header, one list, or two lists */
	if (c.offset > 1)
		p->immediate_offset_bytes = (digit(&index, c.offset) + 1) * p->descriptor_bytes / 4;
	return index == 0;
}

int model_nic_latency_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			 uint64_t *ps)
{
	struct model_nic_job job = {.op = op, .bytes = bytes, .count = 1, .outstanding = 1};
	struct model_nic_result r;
	int status = model_nic_run(p, &job, &r);

	*ps = r.latency_ps;
	return status;
}

int model_nic_bandwidth(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			uint64_t *kbps)
{
	uint64_t packets = bytes / model_pcie_payload(p) + 1;
	uint32_t count = (uint32_t)clamp_u64(PACKETS_MOST / packets, 4, BACK_TO_BACK);
	struct model_nic_job job = {.op = op, .bytes = bytes, .count = 1, .outstanding = 1};
	struct model_nic_result r;

	if (p->host_overlap) {
		job.count = count;
		job.outstanding = (uint32_t)p->fifo_depth;
	}
	int status = model_nic_run(p, &job, &r);
	if (status)
		return status;
	uint64_t half = p->host_overlap ? count - count / 2 : 1;
	uint64_t span_ps = p->host_overlap ? r.end_ps - r.half_ps : r.latency_ps;
	*kbps = span_ps ? half * bytes * 1000000000 / span_ps : 0;
	return DXP_OK;
}

bool model_nic_is_source(const struct model_parameters *p)
{
	return model_parameters_are_source(p, "nic pcie");
}

const char *model_nic_assumptions(const struct model_parameters *p, enum model_op op,
				  char out[MODEL_NIC_NAMES])
{
	model_assumptions("nic pcie", out, MODEL_NIC_NAMES);
	if (p->base == MODEL_BASE_VALUE)
		return out;
	size_t at = strlen(out);
	snprintf(out + at, MODEL_NIC_NAMES - at, ",event_cycles%s%s",
		 op == MODEL_NAP_IND ? ",indirect_cycles" : "",
		 op == MODEL_GET ? ",turnaround_cycles" : "");
	return out;
}

/* C-42: ns for 1 byte, stated. */
static const double latency_1[MODEL_OPS] = {1242, 1846, 1762, 1838};

/* Fills the row of 1 byte by base=value, whose only free parameter is host_see_ns. base=row would
 * compare the row with constants derived from it. */
static int given_row(const struct model_parameters *p, enum model_op op, struct model_row *row,
		     char names[MODEL_NIC_NAMES])
{
	struct model_parameters stated = *p;
	uint64_t ps;

	stated.base = MODEL_BASE_VALUE;
	int status = model_nic_latency_ps(&stated, op, 1, &ps);
	row->value = (double)ps / 1000;
	row->assumptions = model_nic_assumptions(&stated, op, names);
	row->published = latency_1[op];
	row->tolerance = 5;
	row->kind = op == MODEL_NAP_IMM ? MODEL_CALIBRATED_ON : MODEL_GIVEN;
	return status;
}

/* Finds the extremes over all settings. */
static int latency_interval(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			    uint64_t *low_ps, uint64_t *high_ps)
{
	struct model_parameters s = *p;
	uint64_t ps;

	for (unsigned i = 0; model_nic_setting(&s, op, i); i++) {
		int status = model_nic_latency_ps(&s, op, bytes, &ps);
		if (status)
			return status;
		*low_ps = min_u64(*low_ps, ps);
		*high_ps = max_u64(*high_ps, ps);
		s = *p;
	}
	return DXP_OK;
}

/* Emits the bandwidth, from the slowest setting without overlap to the fastest back to back. */
static int bandwidth_row(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			 uint64_t high_ps, const struct model_sink *sink, struct model_row *row,
			 const char *quantity)
{
	struct model_parameters s = *p;
	uint64_t kbps, overlapped;
	int status = model_nic_bandwidth(p, op, bytes, &kbps);

	s.host_overlap = 1;
	s.nap_overlap = MODEL_NAP_PIECES;
	if (!status)
		status = model_nic_bandwidth(&s, op, bytes, &overlapped);
	if (status)
		return status;
	row->item = "C-41";
	row->quantity = quantity;
	row->unit = "MB/s";
	row->value = (double)kbps / 1000;
	row->low = fmin(row->value, (double)bytes * 1e6 / (double)high_ps);
	row->high = fmax(row->value, (double)overlapped / 1000);
	row->published = NAN;
	row->tolerance = 0;
	row->kind = model_nic_is_source(p) ? MODEL_WITHHELD : MODEL_PLAIN;
	model_emit(sink, row);
	return DXP_OK;
}

int model_nic_rows(const struct model_parameters *p, enum model_op op, uint64_t bytes,
		   const struct model_sink *sink)
{
	char quantity[32], names[MODEL_NIC_NAMES], stated_names[MODEL_NIC_NAMES];
	uint64_t ps, low_ps, high_ps;
	int status = model_nic_latency_ps(p, op, bytes, &ps);
	struct model_row row = {
		.item = "C-42",
		.unit = "ns",
		.value = (double)ps / 1000,
		.published = NAN,
		.kind = model_nic_is_source(p) ? MODEL_WITHHELD : MODEL_PLAIN,
		.assumptions = model_nic_assumptions(p, op, names),
	};

	if (status)
		return status;
	snprintf(quantity, sizeof(quantity), "latency %s", model_op_name(op));
	snprintf(row.x, sizeof(row.x), "%llu", (unsigned long long)bytes);
	row.quantity = quantity;
	low_ps = high_ps = ps;
	if (bytes == 1 && model_nic_is_source(p))
		status = given_row(p, op, &row, stated_names);
	if (!status)
		status = latency_interval(p, op, bytes, &low_ps, &high_ps);
	if (status)
		return status;
	row.low = (double)low_ps / 1000;
	row.high = (double)high_ps / 1000;
	model_emit(sink, &row);
	/* also for 1 byte, because the bandwidth uses `base` as it is */
	row.assumptions = names;
	snprintf(quantity, sizeof(quantity), "bandwidth %s", model_op_name(op));
	return bandwidth_row(p, op, bytes, high_ps, sink, &row, quantity);
}

/* Finds the extremes of a PUT of 2 MB, with and without overlap of messages. */
static int peak_interval(const struct model_parameters *p, uint64_t *low, uint64_t *high)
{
	struct model_parameters s = *p;

	for (unsigned i = 0; model_nic_setting(&s, MODEL_PUT, i); i++) {
		for (s.host_overlap = 0; s.host_overlap < 2; s.host_overlap++) {
			uint64_t kbps;
			int status;
			/* back to back, latencies do not count, so neither do base and
			 * event_wait */
			if (s.host_overlap && (s.base != p->base || s.event_wait != p->event_wait))
				continue;
			status = model_nic_bandwidth(&s, MODEL_PUT, MODEL_NIC_PEAK_BYTES, &kbps);
			if (status)
				return status;
			*low = min_u64(*low, kbps);
			*high = max_u64(*high, kbps);
		}
		s = *p;
	}
	return DXP_OK;
}

void model_nic_link_row(const struct model_parameters *p, const struct model_sink *sink)
{
	struct model_row row =
		model_row_plain("C-39", "PCIe after coding", "MB/s", (double)model_pcie_rate(p));

	snprintf(row.x, sizeof(row.x), "%lldx%lld", (long long)p->pcie_generation,
		 (long long)p->pcie_lanes);
	model_emit(sink, &row);
}

int model_nic_peak(const struct model_parameters *p, const struct model_sink *sink)
{
	char names[MODEL_NIC_NAMES];
	struct model_row row = {
		.item = "C-40",
		.quantity = "peak PUT 2 MB by request",
		.unit = "MB/s",
		.kind = MODEL_PLAIN,
		.assumptions = model_nic_assumptions(p, MODEL_PUT, names),
	};

	for (int64_t request = 16; request <= 1024; request *= 2) {
		struct model_parameters s = *p;
		uint64_t kbps, low, high;
		s.request_bytes = s.mtu_bytes = request;
		if (s.mtu_bytes < s.datapath_bytes)
			continue;
		int status = model_nic_bandwidth(&s, MODEL_PUT, MODEL_NIC_PEAK_BYTES, &kbps);
		low = high = kbps;
		if (!status)
			status = peak_interval(&s, &low, &high);
		if (status)
			return status;
		/* C-03: the prototype's peak, for requests of 128 B */
		bool stated = request == 128 && model_nic_is_source(p);
		row.published = stated ? 3190 : NAN;
		row.tolerance = stated ? 3 : 0;
		row.kind = stated                   ? MODEL_GIVEN
			   : model_nic_is_source(p) ? MODEL_WITHHELD
						    : MODEL_PLAIN;
		snprintf(row.x, sizeof(row.x), "%lld", (long long)request);
		row.value = (double)kbps / 1000;
		row.low = (double)low / 1000;
		row.high = (double)high / 1000;
		model_emit(sink, &row);
	}
	return DXP_OK;
}
