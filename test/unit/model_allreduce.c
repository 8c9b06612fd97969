/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model of allreduce (host, node, socket): closed forms, the claims of N-11, and
 * calibration with six rows that must predict the others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/util.h"
#include "model/calibrate.h"
#include "model/roles.h"

static const uint32_t hosts[] = {4, 9, 16}, ranks[] = {8, 32, 64};
#define SIZES    7 /* 4, 8, ... 256 bytes */
#define MACHINES 3

static double ns_of(const struct model_parameters *p, enum model_way way, uint32_t host_count,
		    uint32_t rank_count, uint32_t bytes)
{
	const struct model_allreduce of = {way, host_count, rank_count, bytes};
	double ns;

	if (model_allreduce_ns(&of, p, &ns) != DXP_OK)
		fail_msg("%s", error_text());
	return ns;
}

/* Two overheads, two services and one one-way latency. */
static void allreduce__closed_form_of_two_hosts(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	double service = (double)p.nic_gap_ps + (double)(p.frame_bytes + 8) * 8e6 / 25000;
	double expected = 2 * (double)(p.mpi_overhead_ps + 8 * p.mpi_byte_ps) + 2 * service +
			  2 * (double)p.nic_latency_ps + 2 * (double)p.cable_ps +
			  (double)p.forward_ps;
	assert_true(fabs(ns_of(&p, MODEL_WAY_HOST, 2, 1, 8) * 1000 - expected) < 3);
}

/* The path adds a ToR and a spine with their cables. At the NIC counts the longer of gap and wire
 * time (nic_service=max), or their sum. */
static void allreduce__closed_form_of_two_tors(void **state)
{
	static const int64_t gaps_ps[] = {1000, 200000};
	struct model_parameters p;

	model_parameters_default(&p);
	p.tor_hosts = 1;
	for (size_t i = 0; i < ARRAY_COUNT(gaps_ps); i++)
		for (p.nic_service = 0; p.nic_service <= MODEL_SERVICE_MAX; p.nic_service++) {
			p.nic_gap_ps = gaps_ps[i];
			double gap = (double)gaps_ps[i];
			double wire = (double)(p.frame_bytes + 8) * 8e6 / 25000;
			double service =
				p.nic_service == MODEL_SERVICE_MAX ? fmax(gap, wire) : gap + wire;
			double expected = 2 * (double)(p.mpi_overhead_ps + 8 * p.mpi_byte_ps) +
					  2 * service + 2 * (double)p.nic_latency_ps +
					  4 * (double)p.cable_ps + 3 * (double)p.forward_ps;
			double ps = ns_of(&p, MODEL_WAY_HOST, 2, 1, 8) * 1000;
			assert_true(fabs(ps - expected) < 3);
		}
}

/* ToR, spine, ToR: the ToR computes once per host, the spine per ToR, and the ToR again to fill in
 * the result. */
static void allreduce__closed_form_of_a_tree(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	double service = (double)p.nic_gap_ps + (double)(p.frame_bytes + 8 + 8) * 8e6 / 25000;
	double expected = 2 * (double)(p.mpi_overhead_ps + 8 * p.mpi_byte_ps) + 2 * service +
			  2 * (double)p.nic_latency_ps + 4 * (double)p.cable_ps +
			  (double)p.forward_ps + (8 + 2 + 1) * (double)p.compute_ps;
	assert_true(fabs(ns_of(&p, MODEL_WAY_NODE, 16, 1, 8) * 1000 - expected) < 5);
}

/* N-11, with default parameters. */
static void allreduce__claims_of_the_source(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	for (size_t h = 0; h < ARRAY_COUNT(hosts); h++)
		for (size_t r = 0; r < ARRAY_COUNT(ranks); r++) {
			double host = ns_of(&p, MODEL_WAY_HOST, hosts[h], ranks[r], 8);
			double node = ns_of(&p, MODEL_WAY_NODE, hosts[h], ranks[r], 8);
			double socket = ns_of(&p, MODEL_WAY_SOCKET, hosts[h], ranks[r], 8);
			assert_true(socket < node);
			if (hosts[h] >= 9)
				assert_true(node < host);
		}
	assert_true(ns_of(&p, MODEL_WAY_NODE, 4, 8, 8) > ns_of(&p, MODEL_WAY_HOST, 4, 8, 8));
}

static void allreduce__grows_with_ranks_and_bytes(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	for (int way = 0; way < MODEL_WAYS; way++)
		for (uint32_t bytes = 4; bytes <= 128; bytes *= 2) {
			enum model_way w = (enum model_way)way;
			assert_true(ns_of(&p, w, 9, 32, bytes) < ns_of(&p, w, 9, 32, 2 * bytes));
			assert_true(ns_of(&p, w, 9, 8, bytes) < ns_of(&p, w, 9, 32, bytes));
		}
}

/* N-05 and N-09: one leader per group sends up and gets down one packet; other ranks exchange one
 * message each way. */
static void allreduce__roles(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	for (int way = MODEL_WAY_NODE; way <= MODEL_WAY_SOCKET; way++)
		for (uint32_t n = 1; n <= 33; n += 4)
			for (p.tor_hosts = 4; p.tor_hosts <= 16; p.tor_hosts *= 2) {
				const struct model_allreduce of = {(enum model_way)way, n, 6, 8};
				uint32_t groups = way == MODEL_WAY_SOCKET ? 2 : 1;
				struct model_allreduce_job job;
				struct model_ranks_result run;
				struct model_roles r;
				assert_int_equal(model_roles_count(&of, &p, &r), DXP_OK);
				assert_int_equal(r.leaders, n * groups);
				assert_int_equal(r.other_ranks, n * (6 - groups));
				assert_int_equal(r.inside, 2 * r.other_ranks);
				assert_int_equal(r.up, r.leaders);
				assert_int_equal(r.down, r.leaders);
				assert_int_equal(r.to_spine, groups * r.tors);
				assert_int_equal(r.from_spine, groups * r.tors);
				assert_int_equal(model_allreduce_open(&job, &of, &p), DXP_OK);
				assert_int_equal(model_ranks_run(&job.schedule, &job.network,
								 job.members, NULL, &run),
						 DXP_OK);
				assert_int_equal(run.messages, r.inside + r.up + r.down +
								       r.to_spine + r.from_spine);
			}
	const struct model_allreduce host = {MODEL_WAY_HOST, 4, 8, 8};
	struct model_roles r;
	assert_int_equal(model_roles_count(&host, &p, &r), DXP_EINVAL);
}

static void allreduce__interval_holds_the_named_prediction(void **state)
{
	struct model_parameters p;
	double low, high;

	model_parameters_default(&p);
	for (int way = 0; way < MODEL_WAYS; way++) {
		const struct model_allreduce of = {(enum model_way)way, 16, 32, 64};
		double ns = ns_of(&p, of.way, 16, 32, 64);
		assert_int_equal(model_allreduce_interval(&of, &p, &low, &high), DXP_OK);
		assert_true(low <= ns && ns <= high && low < high);
	}
}

static void allreduce__rejects(void **state)
{
	static const struct model_allreduce cases[] = {{MODEL_WAY_HOST, 0, 8, 8},
						       {MODEL_WAY_HOST, 4097, 8, 8},
						       {MODEL_WAY_NODE, 4, 65, 8},
						       {MODEL_WAY_NODE, 4, 0, 8},
						       {MODEL_WAY_SOCKET, 4, 7, 8}};
	struct model_parameters p;
	double ns;

	model_parameters_default(&p);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		assert_int_equal(model_allreduce_ns(&cases[i], &p, &ns), DXP_EINVAL);
}

/* ---- calibration ---- */

/* Differs from the defaults, on request also in its switches. */
static void machine_make(struct model_parameters *p, struct rng *rng, bool other_switches)
{
	int64_t *values[] = {&p->mpi_overhead_ps, &p->intra_ps,       &p->inter_ps,
			     &p->nic_gap_ps,      &p->nic_latency_ps, &p->compute_ps};

	model_parameters_default(p);
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		double exponent = (double)rng_below(rng, 2001) / 1000 - 1;
		*values[i] = (int64_t)((double)*values[i] * pow(2, exponent));
	}
	/* between sockets is slower than within one */
	p->inter_ps = p->inter_ps > p->intra_ps * 3 / 2 ? p->inter_ps : p->intra_ps * 3 / 2;
	if (!other_switches)
		return;
	p->tor_hosts = 4 << rng_below(rng, 3);
	p->nic_service = (int64_t)rng_below(rng, 2);
	p->spine = (int64_t)rng_below(rng, 2);
	p->mpi_byte_ps *= 2;
}

struct score {
	double error, winners;
};

static int winner(const double *ns)
{
	int best = 0;

	for (int w = 1; w < MODEL_WAYS; w++)
		best = ns[w] < ns[best] ? w : best;
	return best;
}

static struct score calibrated_score(const struct model_parameters *machine, struct rng *rng,
				     double noise)
{
	/* fewest and most hosts and ranks, all three ways */
	static const struct model_allreduce cases[6] = {
		{MODEL_WAY_HOST, 4, 8, 4},  {MODEL_WAY_HOST, 16, 64, 256},
		{MODEL_WAY_NODE, 4, 64, 4}, {MODEL_WAY_NODE, 16, 8, 64},
		{MODEL_WAY_HOST, 9, 32, 4}, {MODEL_WAY_SOCKET, 16, 64, 4}};
	struct model_sample samples[6];
	struct model_calibration c;
	struct model_parameters p;
	struct score s = {0, 0};
	double count = 0, compared = 0;

	for (int i = 0; i < 6; i++) {
		samples[i].of = cases[i];
		samples[i].ns = ns_of(machine, cases[i].way, cases[i].hosts, cases[i].ranks,
				      cases[i].bytes);
		samples[i].ns *= 1 + noise * ((double)rng_below(rng, 2001) / 1000 - 1);
	}
	model_parameters_default(&p);
	assert_int_equal(model_calibrate(samples, 6, &p, &c), DXP_OK);
	assert_true(c.after < c.before);
	for (size_t h = 0; h < ARRAY_COUNT(hosts); h++)
		for (size_t r = 0; r < ARRAY_COUNT(ranks); r++)
			for (int size = 0; size < SIZES; size += 2) {
				double is[MODEL_WAYS], guess[MODEL_WAYS];
				for (int w = 0; w < MODEL_WAYS; w++) {
					is[w] = ns_of(machine, (enum model_way)w, hosts[h],
						      ranks[r], 4u << size);
					guess[w] = ns_of(&p, (enum model_way)w, hosts[h], ranks[r],
							 4u << size);
					s.error += fabs(guess[w] / is[w] - 1);
					count++;
				}
				s.winners += winner(is) == winner(guess);
				compared++;
			}
	s.error /= count;
	s.winners /= compared;
	return s;
}

static void calibrate__recovers_machines(void **state)
{
	struct score all = {0, 0};
	struct rng rng = {2};

	for (int i = 0; i < MACHINES; i++) {
		struct model_parameters machine;
		machine_make(&machine, &rng, i > 0);
		struct score s = calibrated_score(&machine, &rng, i > 0 ? 0.05 : 0);
		if (s.error > 0.15)
			fail_msg("machine %d: error %.3f, winners %.3f", i, s.error, s.winners);
		all.error += s.error / MACHINES;
		all.winners += s.winners / MACHINES;
	}
	if (all.error > 0.08 || all.winners < 0.8)
		fail_msg("error %.3f, winners %.3f", all.error, all.winners);
}

/* One rank per host determines neither shared memory nor computing switches, and the NIC's latency
 * only in part. */
static void calibrate__reports_what_is_determined(void **state)
{
	const struct model_sample sample = {{MODEL_WAY_HOST, 2, 1, 8}, 4000};
	struct model_calibration c;
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_calibrate(&sample, 1, &p, &c), DXP_OK);
	assert_int_equal(c.count, 6);
	for (unsigned i = 0; i < c.count; i++) {
		bool inside = strcmp(c.free[i].row->name, "intra_ps") == 0 ||
			      strcmp(c.free[i].row->name, "inter_ps") == 0 ||
			      strcmp(c.free[i].row->name, "compute_ps") == 0;
		if (inside) {
			assert_int_equal(c.free[i].value, c.free[i].prior);
			assert_true(c.free[i].determined < 1e-9);
			assert_true(fabs(c.free[i].factor - 2) < 1e-6);
		} else if (strcmp(c.free[i].row->name, "nic_latency_ps") == 0) {
			assert_true(c.free[i].value > c.free[i].prior);
			assert_true(c.free[i].determined > 0.5);
		}
	}
	assert_true(c.after < c.before);
	assert_int_equal(model_calibrate(&sample, 0, &p, &c), DXP_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allreduce__closed_form_of_two_hosts),
		cmocka_unit_test(allreduce__closed_form_of_two_tors),
		cmocka_unit_test(allreduce__closed_form_of_a_tree),
		cmocka_unit_test(allreduce__claims_of_the_source),
		cmocka_unit_test(allreduce__grows_with_ranks_and_bytes),
		cmocka_unit_test(allreduce__roles),
		cmocka_unit_test(allreduce__interval_holds_the_named_prediction),
		cmocka_unit_test(allreduce__rejects),
		cmocka_unit_test(calibrate__recovers_machines),
		cmocka_unit_test(calibrate__reports_what_is_determined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
