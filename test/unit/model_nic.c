/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model of the NIC pipeline: closed forms, latencies of 1 byte, tags; more hardware is
 * never slower. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/nic.h"
#include "model/pcie.h"

static const uint64_t sizes[] = {1, 2, 15, 16, 17, 64, 127, 128, 129, 256, 1000, 1024, 2047, 2048};

static uint64_t latency(const struct model_parameters *p, enum model_op op, uint64_t bytes)
{
	struct model_nic_job job = {.op = op, .bytes = bytes, .count = 1, .outstanding = 1};
	struct model_nic_result r;

	if (model_nic_run(p, &job, &r))
		fail_msg("%s %llu B: %s", model_op_name(op), (unsigned long long)bytes,
			 error_text());
	return r.latency_ps;
}

static uint64_t bandwidth(const struct model_parameters *p, uint64_t bytes)
{
	uint64_t kbps;

	assert_int_equal(model_nic_bandwidth(p, MODEL_PUT, bytes, &kbps), DXP_OK);
	return kbps;
}

static void pcie__cuts_accesses(void **state)
{
	assert_int_equal(model_pcie_packets(0, 4096, 128, 64), 32);
	assert_int_equal(model_pcie_packets(1, 128, 128, 64), 2);
	assert_int_equal(model_pcie_packets(4095, 2, 128, 64), 2);
	assert_int_equal(model_pcie_packets(0, 1, 128, 64), 1);
	assert_int_equal(model_pcie_packets(0, 0, 128, 64), 0);
	assert_int_equal(model_pcie_piece(10, 1000, 128, 64), 118);
	/* known efficiencies, completions of 128 and 256 bytes */
	assert_int_equal(model_pcie_efficiency_ppm(128), 864864);
	assert_int_equal(model_pcie_efficiency_ppm(256), 927536);
}

/* Coding is 8b/10b up to generation 2, then 128b/130b. */
static void pcie__link_rates(void **state)
{
	static const double gigatransfers[] = {0, 2.5, 5, 8, 16, 32};
	struct model_parameters p;

	model_parameters_default(&p);
	for (p.pcie_generation = 1; p.pcie_generation <= 5; p.pcie_generation++)
		for (p.pcie_lanes = 1; p.pcie_lanes <= 16; p.pcie_lanes *= 2) {
			double coding = p.pcie_generation <= 2 ? 8.0 / 10 : 128.0 / 130;
			double mbps = gigatransfers[p.pcie_generation] * coding / 8 * 1000 *
				      (double)p.pcie_lanes;
			assert_int_equal(model_pcie_rate(&p), (int64_t)(mbps + 0.01));
		}
}

static void pcie__return_cycles(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_pcie_return_cycles(&p, 1), 3);
	assert_int_equal(model_pcie_return_cycles(&p, 64), 6);
	assert_int_equal(model_pcie_return_cycles(&p, 128), 10);
	assert_int_equal(model_pcie_return_cycles(&p, 2048), 160);
	assert_int_equal(model_pcie_return_cycles(&p, 2049), 163);
	p.completion_header = MODEL_COMPLETION_12;
	assert_int_equal(model_pcie_return_cycles(&p, 1), 2);
	assert_int_equal(model_pcie_return_cycles(&p, 128), 10);
}

/* Equal to `row` under base=row, to `value` under base=value; both differ by less than 5 %. */
static void nic__one_byte(void **state)
{
	static const uint64_t row[] = {1242, 1846, 1762, 1838};
	static const uint64_t value[] = {1242, 1814, 1814, 1878};
	struct model_parameters p;

	model_parameters_default(&p);
	for (unsigned op = 0; op < MODEL_OPS; op++)
		assert_int_equal(latency(&p, op, 1), row[op] * 1000);
	p.base = MODEL_BASE_VALUE;
	for (unsigned op = 0; op < MODEL_OPS; op++) {
		assert_int_equal(latency(&p, op, 1), value[op] * 1000);
		assert_true(value[op] * 100 < row[op] * 105 && value[op] * 105 > row[op] * 100);
	}
}

static void nic__as_closed_form(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	p.nap_overlap = MODEL_NAP_PIECES;
	for (unsigned op = 0; op < MODEL_OPS; op++)
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
			assert_int_equal(latency(&p, op, sizes[i]),
					 model_nic_closed_ps(&p, op, sizes[i]));
	for (uint64_t bytes = 4096; bytes <= 1 << 20; bytes *= 4)
		assert_int_equal(latency(&p, MODEL_GET, bytes),
				 model_nic_closed_ps(&p, MODEL_GET, bytes));
}

static void nic__parts_add_up(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	for (unsigned op = 0; op < MODEL_OPS; op++) {
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			struct model_nic_job job = {
				.op = op, .bytes = sizes[i], .count = 1, .outstanding = 1};
			struct model_nic_result r;
			uint64_t sum = 0;
			assert_int_equal(model_nic_run(&p, &job, &r), DXP_OK);
			for (unsigned k = 0; k < MODEL_NIC_PARTS; k++)
				sum += r.parts_ps[k];
			assert_int_equal(sum, r.latency_ps);
		}
	}
}

/* The prototype's peak drops below the tags of equation (2), C-35. */
static void nic__tags(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	assert_in_range(bandwidth(&p, 2000000), 3180000, 3200000);
	/* 128 bytes return after 130 cycles, the last byte 7 later. Tag and first bytes are hidden,
	 * so 14 tags of 10 cycles suffice. */
	p.tags = 14;
	uint64_t full = bandwidth(&p, 2000000);
	assert_in_range(full, 3130000, 3200000);
	/* The tag is kept until the last of four completions is extracted. */
	p.tags = 1;
	p.request_bytes = 512;
	assert_in_range(bandwidth(&p, 2000000), 700000, 512 * 250000 / (130 + 3 * 10));
	p.request_bytes = 128;
	for (p.tags = 13; p.tags > 1; p.tags /= 2) {
		uint64_t less = bandwidth(&p, 2000000);
		uint64_t line = (uint64_t)p.tags * 3200000 / 14;
		assert_true(less < full);
		assert_in_range(less, line * 97 / 100, line * 102 / 100);
	}
}

/* Overlapping pieces are never slower than the whole NAP or than pieces in turn; with several
 * pieces, those in turn are slowest. */
static void nic__nap_settings_are_ordered(void **state)
{
	struct model_parameters p;
	uint64_t ps[3];

	model_parameters_default(&p);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		for (p.nap_overlap = 0; p.nap_overlap <= MODEL_NAP_SERIAL; p.nap_overlap++)
			ps[p.nap_overlap] = latency(&p, MODEL_NAP_IND, sizes[i]);
		assert_true(ps[MODEL_NAP_PIECES] <= ps[MODEL_NAP_WHOLE]);
		assert_true(ps[MODEL_NAP_PIECES] <= ps[MODEL_NAP_SERIAL]);
		if (sizes[i] > 128) {
			assert_true(ps[MODEL_NAP_PIECES] < ps[MODEL_NAP_WHOLE]);
			assert_true(ps[MODEL_NAP_WHOLE] < ps[MODEL_NAP_SERIAL]);
		}
	}
}

/* All parts halve except host, memory and wire. */
static void nic__clock(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	uint64_t fixed = 200000 + 2 * 126 * 4000 + 240000 + 90000;
	uint64_t once = latency(&p, MODEL_PUT, 2048);
	p.clock_mhz = 500;
	p.pcie_generation = 3; /* so the link is no bottleneck */
	uint64_t twice = latency(&p, MODEL_PUT, 2048);
	assert_in_range(2 * (twice - fixed), once - fixed - 4000, once - fixed + 8000);
}

static void never_slower(const char *name, int64_t from, int64_t to)
{
	bool bare;
	const struct model_parameter *row = model_parameter_find(name, strlen(name), &bare);
	struct model_parameters p;
	uint64_t last[MODEL_OPS];

	assert_non_null(row);
	model_parameters_default(&p);
	memset(last, 0xff, sizeof(last));
	for (int64_t v = from; v <= to; v *= 2) {
		assert_int_equal(model_parameter_put(&p, row, v), DXP_OK);
		for (unsigned op = 0; op < MODEL_OPS; op++) {
			uint64_t ps = latency(&p, op, 2048);
			if (ps > last[op])
				fail_msg("%s=%lld: %s takes %llu ps, less took %llu", name,
					 (long long)v, model_op_name(op), (unsigned long long)ps,
					 (unsigned long long)last[op]);
			last[op] = ps;
		}
	}
}

static void nic__more_is_never_slower(void **state)
{
	never_slower("tags", 1, 256);
	never_slower("datapath_bytes", 16, 128);
	never_slower("clock_mhz", 250, 2000);
	never_slower("extract_bytes", 1, 16);
	never_slower("buffer_packets", 1, 64);
	never_slower("read_slots", 1, 64);
	never_slower("pcie_generation", 1, 4);
	never_slower("pcie_lanes", 1, 16);
}

/* Each end of a range runs, or is rejected with a reason. */
static void nic__both_ends(void **state)
{
	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		if (strcmp(row->group, "nic") != 0 && strcmp(row->group, "pcie") != 0)
			continue;
		for (unsigned end = 0; end < 2 && !row->choices; end++) {
			struct model_parameters p;
			model_parameters_default(&p);
			assert_int_equal(model_parameter_put(&p, row, end ? row->high : row->low),
					 DXP_OK);
			if (model_parameters_check(&p)) {
				assert_non_null(strstr(error_text(), "llowed"));
				continue;
			}
			for (unsigned op = 0; op < MODEL_OPS; op++)
				assert_true(latency(&p, op, 1) > 0);
			latency(&p, MODEL_PUT, 5000);
		}
	}
}

static void nic__rejects_sizes(void **state)
{
	struct model_nic_job job = {
		.op = MODEL_NAP_IND, .bytes = 2049, .count = 1, .outstanding = 1};
	struct model_parameters p;
	struct model_nic_result r;

	model_parameters_default(&p);
	assert_int_equal(model_nic_run(&p, &job, &r), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "allowed: 1 to 2048"));
	job.op = MODEL_GET;
	assert_int_equal(model_nic_run(&p, &job, &r), DXP_OK);
	job.bytes = 0;
	assert_int_equal(model_nic_run(&p, &job, &r), DXP_EINVAL);
	job.bytes = MODEL_NIC_BYTES_MOST + 1;
	assert_int_equal(model_nic_run(&p, &job, &r), DXP_EINVAL);
}

/* A misaligned source makes more packets and is slower; results repeat. */
static void nic__alignment_and_repeat(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	uint64_t aligned = latency(&p, MODEL_PUT, 4096);
	p.source_offset_bytes = 100;
	uint64_t off = latency(&p, MODEL_PUT, 4096);
	assert_true(off > aligned);
	assert_int_equal(latency(&p, MODEL_PUT, 4096), off);
	p.source_offset_bytes = 0;
	p.target_offset_bytes = 100;
	assert_true(latency(&p, MODEL_PUT, 4096) > aligned);
}

/* Counts and sums of the rows that a sink has received. */
struct seen {
	/* open: rows whose interval is wider than one value */
	unsigned rows, open;
	double reads, sum; /* cycles; reads: "descriptor read" */
};

static void seen_row(void *context, const struct model_row *row)
{
	struct seen *s = context;

	s->rows++;
	s->open += row->low < row->high;
	assert_true(row->low <= row->value && row->value <= row->high);
	if (strcmp(row->x, "descriptor read") == 0)
		s->reads = row->value;
	if (strcmp(row->unit, "cycles") == 0 && strncmp(row->quantity, "parts", 5) == 0)
		s->sum += row->value;
}

/* The peak is printed with an interval for each size of a request. */
static void nic__peak_has_intervals(void **state)
{
	struct seen s = {0};
	struct model_sink sink = {seen_row, &s};
	struct model_parameters p;

	model_parameters_default(&p);
	/* two sizes of requests, few packets */
	p.mtu_bytes = p.datapath_bytes = 512;
	assert_int_equal(model_nic_peak(&p, &sink), DXP_OK);
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.open, 2);
}

/* C-43: the parts of NAP-imm and PUT add up; one is a read of 130 cycles. */
static void nic__stages_add_up(void **state)
{
	struct seen s = {0};
	struct model_sink sink = {seen_row, &s};
	struct model_parameters p;
	uint64_t cycles = 0;

	model_parameters_default(&p);
	assert_int_equal(model_nic_stage_rows(&p, &sink), DXP_OK);
	for (int op = MODEL_NAP_IMM; op <= MODEL_PUT; op += MODEL_PUT - MODEL_NAP_IMM) {
		struct model_nic_job job = {
			.op = (enum model_op)op, .bytes = 1, .count = 1, .outstanding = 1};
		struct model_nic_result r;
		assert_int_equal(model_nic_run(&p, &job, &r), DXP_OK);
		cycles += r.latency_ps;
	}
	assert_true(fabs(s.sum - (double)cycles / (double)model_cycle_ps(&p)) < 0.01);
	assert_true(s.reads >= 130 && s.reads < 133);
	assert_true(s.open >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pcie__cuts_accesses),
		cmocka_unit_test(pcie__link_rates),
		cmocka_unit_test(pcie__return_cycles),
		cmocka_unit_test(nic__one_byte),
		cmocka_unit_test(nic__as_closed_form),
		cmocka_unit_test(nic__parts_add_up),
		cmocka_unit_test(nic__tags),
		cmocka_unit_test(nic__nap_settings_are_ordered),
		cmocka_unit_test(nic__clock),
		cmocka_unit_test(nic__more_is_never_slower),
		cmocka_unit_test(nic__both_ends),
		cmocka_unit_test(nic__rejects_sizes),
		cmocka_unit_test(nic__alignment_and_repeat),
		cmocka_unit_test(nic__peak_has_intervals),
		cmocka_unit_test(nic__stages_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
