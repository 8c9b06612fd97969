/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the model with test/golden/model.tsv; each parameter must change a row. Runs write
 * model.tsv into the build folder; copy it to accept a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/crossbar.h"
#include "model/nic.h"
#include "model/share.h"

#define GOLDEN    DXP_SOURCE_DIR "/test/golden/model.tsv"
#define ROWS_MOST 96
#define CYCLES    50000 /* of a crossbar */
#define QUANTA    2000  /* of a share */

struct rows {
	char names[ROWS_MOST][48];
	uint64_t values[ROWS_MOST];
	unsigned count;
};

static void PRINTF_LIKE(3, 4) add(struct rows *r, uint64_t value, const char *format, ...)
{
	va_list list;

	assert_true(r->count < ROWS_MOST);
	va_start(list, format);
	vsnprintf(r->names[r->count], sizeof(r->names[0]), format, list);
	va_end(list);
	r->values[r->count++] = value;
}

/* 0: the model rejects the size. */
static void add_latency(struct rows *r, const struct model_parameters *p, enum model_op op,
			uint64_t bytes, const char *name)
{
	struct model_nic_job job = {.op = op, .bytes = bytes, .count = 1, .outstanding = 1};
	struct model_nic_result result;
	int status = model_nic_run(p, &job, &result);

	add(r, status ? 0 : result.latency_ps, "latency %s %s %llu ps", name, model_op_name(op),
	    (unsigned long long)bytes);
}

static void nic_rows(struct rows *r, const struct model_parameters *p)
{
	static const uint64_t sizes[] = {1, 64, 256, 1024, 2048, 65536};
	struct model_parameters s = *p;
	uint64_t kbps;

	for (unsigned op = 0; op < MODEL_OPS; op++) {
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
			if (op >= MODEL_PUT || sizes[i] <= 2048)
				add_latency(r, p, op, sizes[i], "named");
		s.host_overlap = !p->host_overlap;
		if (model_nic_bandwidth(&s, op, 256, &kbps))
			kbps = 0;
		add(r, kbps, "bandwidth %s 256 back to back kB/s", model_op_name(op));
	}
	s = *p;
	s.event_wait = !p->event_wait;
	s.base = !p->base;
	s.forward = !p->forward;
	for (unsigned op = 0; op < MODEL_OPS; op++)
		add_latency(r, &s, op, 256, "other switches");
	s = *p;
	s.request_bytes = p->request_bytes * 4 % 8192;
	s.source_offset_bytes = (p->source_offset_bytes + 100) % 4096;
	s.target_offset_bytes = (p->target_offset_bytes + 52) % 4096;
	add_latency(r, &s, MODEL_PUT, 300, "misaligned");
}

static void share_rows(struct rows *r, const struct model_parameters *p)
{
	struct model_parameters s = *p;
	struct model_share out;

	for (int64_t i = 0; i < 2 * (MODEL_SHARE_NONE + 1); i++) {
		s.policy = (p->policy + i) % (MODEL_SHARE_NONE + 1);
		s.arrival = i % 2 ? !p->arrival : p->arrival;
		assert_int_equal(model_share_run(&s, 1, QUANTA, NULL, NULL, &out), DXP_OK);
		add(r, out.settled, "share %d settled cycles", (int)i);
		add(r, out.cycles, "share %d cycles", (int)i);
	}
}

static void crossbar_sums(struct rows *r, const struct model_parameters *p, const char *name)
{
	struct model_crossbar *x = model_crossbar_create(p, 1);

	assert_non_null(x);
	model_crossbar_run(x, CYCLES);
	add(r, model_crossbar_sums(x)->delivered, "crossbar %s packets", name);
	add(r, model_crossbar_sums(x)->time, "crossbar %s packet cycles", name);
	model_crossbar_destroy(x);
}

static void crossbar_rows(struct rows *r, const struct model_parameters *p)
{
	struct model_parameters s = *p;
	struct model_crossbar_point point;
	char cycle[256];

	crossbar_sums(r, p, "named");
	s.load_permille = min_u64((uint64_t)p->load_permille * 2, 1000);
	crossbar_sums(r, &s, "twice the load");
	assert_int_equal(model_crossbar_measure(p, 1, 1, &point), DXP_OK);
	add(r, point.latency_mcycles, "crossbar latency mcycles");
	s.depth = 1;
	add(r, (uint64_t)model_crossbar_deadlock(&s, 32, cycle, sizeof(cycle)), "GET deadlock");
}

static void all_rows(struct rows *r, const struct model_parameters *p)
{
	r->count = 0;
	nic_rows(r, p);
	share_rows(r, p);
	crossbar_rows(r, p);
}

static void model__as_golden(void **state)
{
	struct model_parameters p;
	char line[128], want[128];
	struct rows rows;
	unsigned wrong = 0;
	FILE *f = fopen("model.tsv", "w");

	model_parameters_default(&p);
	all_rows(&rows, &p);
	assert_non_null(f);
	for (unsigned i = 0; i < rows.count; i++)
		fprintf(f, "%s\t%llu\n", rows.names[i], (unsigned long long)rows.values[i]);
	assert_int_equal(fclose(f), 0);
	f = fopen(GOLDEN, "r");
	assert_non_null(f);
	for (unsigned i = 0; i < rows.count; i++) {
		snprintf(want, sizeof(want), "%s\t%llu\n", rows.names[i],
			 (unsigned long long)rows.values[i]);
		assert_non_null(fgets(line, sizeof(line), f));
		if (strcmp(line, want) == 0)
			continue;
		wrong++;
		print_message("now %sgolden %s", want, line);
	}
	assert_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_int_equal(wrong, 0);
}

static bool moved(const struct model_parameters *p, const struct rows *golden)
{
	static struct rows now;

	now.count = 0;
	nic_rows(&now, p);
	share_rows(&now, p);
	if (memcmp(now.values, golden->values, now.count * sizeof(*now.values)) != 0)
		return true;
	crossbar_rows(&now, p);
	return memcmp(now.values, golden->values, now.count * sizeof(*now.values)) != 0;
}

/* Values near the default and far from it; rejected ones are skipped. */
static bool some_value_moves(const struct model_parameter *row, const struct rows *golden)
{
	const int64_t v = row->value;
	const int64_t values[] = {v + 1, 2 * v, v - 1, v / 2, v / 4, row->low, 0};

	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		struct model_parameters p;
		model_parameters_default(&p);
		if (values[i] == v || model_parameter_put(&p, row, values[i]) ||
		    model_parameters_check(&p))
			continue;
		if (moved(&p, golden))
			return true;
	}
	return false;
}

static void model__every_parameter_moves_a_row(void **state)
{
	static struct rows golden;
	struct model_parameters p;
	unsigned still = 0;

	model_parameters_default(&p);
	all_rows(&golden, &p);
	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		bool own = strcmp(row->group, "nic") == 0 || strcmp(row->group, "pcie") == 0 ||
			   strcmp(row->group, "crossbar") == 0 || strcmp(row->group, "share") == 0;
		if (!own || some_value_moves(row, &golden))
			continue;
		still++;
		print_message("%s moves nothing\n", row->name);
	}
	assert_int_equal(still, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model__as_golden),
		cmocka_unit_test(model__every_parameter_moves_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
