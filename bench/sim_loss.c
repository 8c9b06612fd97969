/* SPDX-License-Identifier: BSD-3-Clause */
/* Goodput against loss: the table in test/golden/goodput.tsv with four times the messages. Also
 * measures the simulator's speed. */
#include <stdio.h>
#include <time.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/report.h"
#include "bench/sim.h"
#include "sim/goodput.h"

static int case_run(const struct sim_bench_options *o, const struct goodput_row *row, int loss)
{
	const struct goodput_options options = {
		.recovery = row->recovery,
		.cc = row->cc,
		.outstanding = row->outstanding,
		.loss_ppm = goodput_losses_ppm[loss],
		.messages = o->quick ? GOODPUT_MESSAGES / 10 : 0,
		.seed = o->seed,
	};
	struct crowd_result r;
	double gbps;
	char name[64], contender[32];
	int status = goodput_run(&options, &r, &gbps);

	if (status != DXP_OK) {
		fprintf(stderr, "dxp bench sim: %s\n", dxp_status_text(status));
		return 1;
	}
	if (!o->json) {
		printf(" %7.2f", gbps);
		fflush(stdout);
		return 0;
	}
	snprintf(name, sizeof(name), "1 MiB, %u at a time, %g %% lost", row->outstanding,
		 goodput_losses_ppm[loss] / 1e4);
	snprintf(contender, sizeof(contender), "%s %s", rltp_recovery_name(row->recovery),
		 cc_name(row->cc));
	const struct report_row json = {.bench = "sim",
					.name = name,
					.metric = "goodput",
					.unit = "Gb/s",
					.value = gbps,
					.lab = "simulated",
					.contender = contender,
					.x_name = "loss_percent",
					.x = goodput_losses_ppm[loss] / 1e4,
					.p50_us = r.p50_us,
					.p99_us = r.p99_us,
					.samples = 1};
	report_row(&json);
	return 0;
}

int sim_loss(const struct sim_bench_options *o)
{
	report_begin(true, NULL);
	if (!o->json) {
		printf("Gb/s of payload, of 9.15 possible: 10 Gb/s, 10 us one way, 1 MiB messages, "
		       "loss both ways\n%-9s %-6s %11s",
		       "recovery", "cc", "outstanding");
		for (int loss = 0; loss < GOODPUT_LOSSES; loss++)
			printf(" %6g%%", goodput_losses_ppm[loss] / 1e4);
		putchar('\n');
	}
	for (int row = 0; row < GOODPUT_ROWS; row++) {
		const struct goodput_row *r = &goodput_rows[row];
		if (o->one_cc && o->cc != r->cc)
			continue;
		if (!o->json)
			printf("%-9s %-6s %11u", rltp_recovery_name(r->recovery), cc_name(r->cc),
			       r->outstanding);
		for (int loss = 0; loss < GOODPUT_LOSSES; loss++)
			if (case_run(o, r, loss) != 0)
				return 1;
		if (!o->json)
			putchar('\n');
	}
	return 0;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int sim_rate(const struct sim_bench_options *o)
{
	static const struct {
		enum crowd_pattern topology;
		uint32_t nodes;
	} cases[] = {{CROWD_PAIR, 2}, {CROWD_INCAST, 32}, {CROWD_PERMUTATION, 1024}};

	report_begin(o->json, "Speed of the simulator");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct crowd_options options =
			sim_case(cases[i].topology, cases[i].nodes, CC_SWIFT, o->seed);
		struct crowd_result r;
		char name[64];
		if (cases[i].topology != CROWD_PERMUTATION)
			options.limit_ns = S_NS;
		double begin = cpu_seconds();
		if (crowd_run(&options, &r) != DXP_OK)
			return 1;
		double spent = cpu_seconds() - begin;
		snprintf(name, sizeof(name), "%s %u", crowd_pattern_name(cases[i].topology),
			 cases[i].nodes);
		const struct report_row row = {.bench = "sim",
					       .name = name,
					       .metric = "simulated packets",
					       .unit = "M/CPU s",
					       .value = (double)r.datagrams / spent / 1e6};
		report_row(&row);
	}
	return 0;
}
