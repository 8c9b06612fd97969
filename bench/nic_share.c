/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how eight functions of one NIC share it, and an idle function's cost. All keep their
 * doorbells full with PUTs of random sizes; shares are recorded after every megabyte (C-37, at this
 * machine's copying speed). Then one gets high priority. */
#include <stdio.h>
#include <string.h>

#include <dxp/function.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/util.h"
#include "bench/nic.h"
#include "bench/report.h"
#include "host/embed.h"

#define FUNCTIONS    8
#define PIECE_MAX    (64u << 10)
#define STEP_BYTES   1000000ull
#define STEPS        100
#define POLLS        200000
#define IDLE_SAMPLES 5

struct sharing {
	struct dxp_nic *nic;
	struct dxp_function *functions[FUNCTIONS];
	struct dxp_window *windows[FUNCTIONS];
	struct dxp_memory memory[FUNCTIONS];
	struct dxp_target targets[FUNCTIONS];
	uint64_t moved[FUNCTIONS];
	uint32_t count;
	struct rng rng;
};

static int complain(int status)
{
	log_error("%s", dxp_function_error());
	return status;
}

static int function_add(struct sharing *s)
{
	uint32_t i = s->count;
	int status = dxp_nic_function(s->nic, NULL, &s->functions[i]);

	if (status != DXP_OK)
		return complain(status);
	s->count++;
	s->windows[i] = dxp_function_window(s->functions[i]);
	status = dxp_memory_create(s->functions[i], 2ull * PIECE_MAX, DXP_REMOTE_WRITE,
				   &s->memory[i]);
	if (status == DXP_OK)
		status = dxp_function_target(s->functions[i], 0, &s->targets[i]);
	s->targets[i].node = 0;
	return status == DXP_OK ? DXP_OK : complain(status);
}

static int sharing_open(struct sharing *s)
{
	const struct dxp_nic_options options = {0};

	*s = (struct sharing){.rng = {42}};
	int status = dxp_nic_open(&options, &s->nic);
	return status == DXP_OK ? DXP_OK : complain(status);
}

static void sharing_close(struct sharing *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		dxp_function_close(s->functions[i]);
	dxp_nic_close(s->nic);
}

static void put_some(struct sharing *s, uint32_t i)
{
	for (int status = DXP_OK; status == DXP_OK;) {
		uint32_t bytes = 1 + (uint32_t)rng_below(&s->rng, PIECE_MAX);
		uint32_t to = (uint32_t)rng_below(&s->rng, FUNCTIONS);
		const struct dxp_entry from = {0, bytes, s->memory[i].key},
				       remote = {PIECE_MAX, bytes, s->memory[to].key};
		status = dxp_post_put(s->windows[i], (uint8_t)rng_below(&s->rng, DXP_QPS),
				      &s->targets[to], &from, &remote, 0, 0, 0);
	}
}

static void round_run(struct sharing *s)
{
	struct dxp_nic_event event;

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		put_some(s, i);
		while (dxp_sent_dequeue(s->windows[i], &event) > 0)
			s->moved[i] += event.bytes;
	}
	dxp_nic_poll(s->nic);
}

static double jain(const uint64_t *moved)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		sum += (double)moved[i];
		squares += (double)moved[i] * (double)moved[i];
	}
	return squares > 0 ? sum * sum / (FUNCTIONS * squares) : 0;
}

static void step_report(const struct sharing *s, uint32_t megabytes)
{
	struct report_row row = {
		.bench = "nic",
		.name = "8 functions share",
		.metric = "Jain's index",
		.unit = "",
		.value = jain(s->moved),
		.lab = "shared memory",
		.contender = "NIC embedded",
		.x_name = "megabytes",
		.x = megabytes,
		.samples = 1,
	};
	uint64_t least = s->moved[0], most = s->moved[0], all = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		least = min_u64(least, s->moved[i]);
		most = max_u64(most, s->moved[i]);
		all += s->moved[i];
	}
	row.more[0].name = "least_share";
	row.more[0].value = (double)least * FUNCTIONS / (double)all;
	row.more[1].name = "most_share";
	row.more[1].value = (double)most * FUNCTIONS / (double)all;
	report_row(&row);
}

static uint64_t total(const struct sharing *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		bytes += s->moved[i];
	return bytes;
}

/* Runs up to 10 s. Reports every megabyte up to 10, then every ten. */
static void share_measure(struct sharing *s)
{
	uint64_t end_ns = clock_now_ns() + 10 * S_NS;

	for (uint32_t step = 1; step <= STEPS && clock_now_ns() < end_ns; step++) {
		while (total(s) < step * STEP_BYTES && clock_now_ns() < end_ns)
			round_run(s);
		if (step <= 10 || step % 10 == 0)
			step_report(s, step);
	}
}

static int first_prioritize(struct dxp_nic *nic, void *context)
{
	return nic_function_priority(node_nic(nic->node), 0, NIC_PRIORITY_HIGH);
}

static void priority_report(const char *name, double share)
{
	const struct report_row row = {
		.bench = "nic",
		.name = name,
		.metric = "share of all bytes",
		.unit = "%",
		.value = 100 * share,
		.lab = "shared memory",
		.contender = "NIC embedded",
		.samples = 1,
	};

	report_row(&row);
}

static int priority_measure(struct sharing *s)
{
	int status = embed_run(s->nic, first_prioritize, NULL);
	uint64_t end_ns = clock_now_ns() + 10 * S_NS;

	if (status != DXP_OK)
		return complain(status);
	memset(s->moved, 0, sizeof(s->moved));
	while (total(s) < STEPS * STEP_BYTES && clock_now_ns() < end_ns)
		round_run(s);
	double share = (double)s->moved[0] / (double)max_u64(total(s), 1);
	priority_report("1 function of high priority", share);
	priority_report("7 functions of normal priority", 1 - share);
	return DXP_OK;
}

static double poll_ns(struct sharing *s)
{
	uint64_t samples[IDLE_SAMPLES];

	for (uint32_t i = 0; i < ARRAY_COUNT(samples); i++) {
		uint64_t began_ns = clock_now_ns();
		for (uint32_t k = 0; k < POLLS; k++)
			dxp_nic_poll(s->nic);
		samples[i] = clock_now_ns() - began_ns;
	}
	return (double)raw_percentile(samples, ARRAY_COUNT(samples), 50) / POLLS;
}

static void idle_report(const char *name, double ns)
{
	const struct report_row row = {
		.bench = "nic",
		.name = name,
		.metric = "time of a poll",
		.unit = "ns",
		.value = ns,
		.lab = "shared memory",
		.contender = "NIC embedded",
		.samples = IDLE_SAMPLES,
	};

	report_row(&row);
}

int nic_share_run(void)
{
	struct sharing s;
	int status = sharing_open(&s);

	if (status == DXP_OK)
		status = function_add(&s);
	if (status == DXP_OK)
		idle_report("idle, 1 function", poll_ns(&s));
	while (status == DXP_OK && s.count < FUNCTIONS)
		status = function_add(&s);
	if (status == DXP_OK) {
		idle_report("idle, 8 functions", poll_ns(&s));
		share_measure(&s);
		status = priority_measure(&s);
	}
	sharing_close(&s);
	return status == DXP_OK ? 0 : 1;
}
