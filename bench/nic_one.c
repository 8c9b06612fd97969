/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures descriptors per second without waiting for another core: one thread posts NAPs to
 * another function, polls the NIC and the events, one full doorbell ring at a time. */
#include <dxp/function.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/nic.h"
#include "bench/report.h"

#define BATCHES   1000000
#define NAP_BYTES 16
#define ROUNDS    5

struct one {
	struct dxp_nic *nic;
	struct dxp_function *functions[2];
	struct dxp_window *from, *to;
	struct dxp_target target;
};

static int one_open(struct one *o)
{
	const struct dxp_nic_options options = {0};
	int status = dxp_nic_open(&options, &o->nic);

	for (int i = 0; i < 2 && status == DXP_OK; i++)
		status = dxp_nic_function(o->nic, NULL, &o->functions[i]);
	if (status == DXP_OK)
		status = dxp_function_target(o->functions[1], 0, &o->target);
	if (status != DXP_OK) {
		log_error("%s", dxp_function_error());
		return status;
	}
	o->target.node = 0;
	o->from = dxp_function_window(o->functions[0]);
	o->to = dxp_function_window(o->functions[1]);
	return DXP_OK;
}

static void one_close(struct one *o)
{
	for (int i = 0; i < 2; i++)
		if (o->functions[i])
			dxp_function_close(o->functions[i]);
	dxp_nic_close(o->nic);
}

static bool batch_run(struct one *o)
{
	static const uint8_t data[NAP_BYTES];
	uint32_t posted = 0, ended = 0, came = 0;
	struct dxp_nic_event event;

	while (dxp_post_nap(o->from, 0, &o->target, data, sizeof(data), 0, 0) == DXP_OK)
		posted++;
	dxp_nic_poll(o->nic);
	while (dxp_sent_dequeue(o->from, &event))
		ended += event.status == DXP_OK;
	for (; dxp_received_peek(o->to); came++)
		dxp_received_release(o->to);
	return posted == DXP_DOORBELLS && ended == posted && came == posted;
}

static int batches_time(struct one *o, uint32_t batches, uint64_t *ns)
{
	uint64_t began_ns = clock_now_ns();

	for (uint32_t i = 0; i < batches; i++)
		if (!batch_run(o))
			return DXP_EIO;
	*ns = clock_now_ns() - began_ns;
	return DXP_OK;
}

int nic_one_run(bool quick)
{
	uint32_t batches = quick ? BATCHES / 10 : BATCHES;
	struct one o = {0};
	uint64_t ns[ROUNDS];
	int status = one_open(&o);

	for (int i = 0; i < ROUNDS && status == DXP_OK; i++)
		status = batches_time(&o, batches / ROUNDS, &ns[i]);
	if (status == DXP_OK) {
		double each = (double)raw_percentile(ns, ROUNDS, 50) / (batches / ROUNDS);
		const struct report_row row = {
			.bench = "nic",
			.name = "descriptors, one thread",
			.metric = "rate",
			.unit = "M/s",
			.value = DXP_DOORBELLS * 1000 / each,
			.lab = "shared memory",
			.contender = "NIC embedded",
			.x_name = "bytes",
			.x = NAP_BYTES,
			.samples = ROUNDS,
		};
		report_row(&row);
	}
	one_close(&o);
	return status == DXP_OK ? 0 : 1;
}
