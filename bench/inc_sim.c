/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench inc-sim`: latency, packets and crossings of an allreduce of 8 and 256 bytes against
 * the number of hosts. Switch and host cores are the shipped ones; only time is simulated. */
#include "bench/inc_sim.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/report.h"
#include "sim/inc_doubling.h"
#include "sim/inc_load.h"

#define CALLS 20
/* header bytes of TCP with time stamps beyond those of UDP */
#define TCP_HEADERS 24
#define TREE_SPINES 2

/* Host: a UDP round trip through one XDP hop takes 4 us, 1.2 in XDP. TCP: 97 us of CPU for 8
 * messages of an allreduce of 4 hosts. User space: an echo takes 12.2 us. An XDP switch, four
 * packets in and out: 19 us including the hosts' part. */
const struct inc_sim_costs inc_sim_costs_default = {
	.host = {.receive_ns = 1500, .send_ns = 1500},
	.tcp = {.receive_ns = 6000, .send_ns = 6000},
	.kernel = {.receive_ns = 900, .send_ns = 300},
	.user = {.receive_ns = 3000, .send_ns = 2000, .latency_ns = 3000},
	.wire_ns = 1000,
	.forward_ns = 500,
	.rate_bps = 10000000000ull,
	.leaf_hosts = 16,
	.hosts_max = 4096,
};

enum contender { KERNEL, USER, DOUBLING_TCP, DOUBLING_UDP, CONTENDERS };

static const char *const contender_names[CONTENDERS] = {"switches, XDP", "switches, user space",
							"recursive doubling, TCP",
							"recursive doubling, UDP"};

struct figures {
	double latency_us, packets, crossings, busy_us;
};

static struct inc_net_options network(const struct inc_sim_costs *c, uint32_t hosts,
				      enum contender label)
{
	struct inc_net_options o = {
		.tree = {.hosts = hosts, .levels = 1},
		.seed = 1,
		.delay_ns = c->wire_ns,
		.forward_ns = c->forward_ns,
		.rate_bps = c->rate_bps,
		.host = label == DOUBLING_TCP ? c->tcp : c->host,
		.hop = label == USER ? c->user : c->kernel,
	};

	for (uint64_t below = c->leaf_hosts; below < hosts; below *= c->leaf_hosts) {
		o.tree.below[o.tree.levels - 1] = (uint32_t)c->leaf_hosts;
		o.tree.beside[o.tree.levels++] = TREE_SPINES;
	}
	return o;
}

static bool job_settled(void *context)
{
	return ((const struct inc_job *)context)->state != INC_JOB_CREATING;
}

static bool load_ended(void *context)
{
	return inc_load_ended(context);
}

/* Measures without the group's creation. */
static int calls_measure(struct inc_sim *sim, struct inc_job *job, uint32_t bytes,
			 struct figures *out)
{
	const struct inc_load_options work = {.seed = 1,
					      .calls = CALLS,
					      .elements_max = bytes / 8,
					      .collective = INC_ALLREDUCE,
					      .op = DXP_INC_SUM,
					      .type = DXP_INC_DOUBLE};
	const struct inc_net_counters before = *inc_net_counters(inc_sim_net(sim));
	const struct inc_net_counters *after = inc_net_counters(inc_sim_net(sim));
	struct inc_load *load;
	struct inc_load_view v;
	uint32_t hosts = job->options.count;
	int status = inc_load_create(job, &work, &load);

	if (status != DXP_OK)
		return status;
	for (uint32_t i = 0; i < hosts; i++)
		inc_net_touch(inc_sim_net(sim), i);
	inc_sim_run(sim, 60 * S_NS, load_ended, load);
	inc_load_view(load, &v);
	if (inc_load_wrong(load))
		fprintf(stderr, "dxp bench inc-sim: %s\n", inc_load_wrong(load));
	inc_load_destroy(load);
	*out = (struct figures){.latency_us = (double)(v.last_ns - v.first_ns) / 1e3 / CALLS,
				.packets = (double)(after->host_sent - before.host_sent) / CALLS,
				.crossings = (double)(after->crossings - before.crossings) / CALLS,
				.busy_us = (double)(after->host_busy_ns - before.host_busy_ns) /
					   1e3 / CALLS / hosts};
	return v.calls_done == CALLS ? DXP_OK : DXP_EIO;
}

static int switches_measure(struct inc_sim *sim, uint32_t hosts, uint32_t bytes,
			    struct figures *out)
{
	struct inc_location *locations = calloc(hosts, sizeof(*locations));
	const struct inc_job_options options = {.locations = locations, .count = hosts};
	struct inc_job *job;

	for (uint32_t i = 0; locations && i < hosts; i++)
		locations[i].host = i;
	int status = locations ? inc_job_open(sim, &options, &job) : DXP_ENOMEM;
	free(locations);
	if (status != DXP_OK)
		return status;
	inc_sim_run(sim, 60 * S_NS, job_settled, job);
	if (job->state != INC_JOB_READY)
		return job->state == INC_JOB_REJECTED ? job->status : DXP_ETIMEDOUT;
	/* empties the queues of the group's creation */
	inc_sim_run(sim, S_NS, NULL, NULL);
	return calls_measure(sim, job, bytes, out);
}

static int measure_run(const struct inc_sim_costs *costs, enum contender label, uint32_t hosts,
		       uint32_t bytes, struct figures *out)
{
	const struct inc_net_options net = network(costs, hosts, label);
	struct inc_sim *sim;

	if (label == DOUBLING_TCP || label == DOUBLING_UDP) {
		const struct inc_doubling_options o = {
			.net = net,
			.bytes = bytes + (label == DOUBLING_TCP ? TCP_HEADERS : 0),
			.calls = CALLS};
		struct inc_doubling_result r;
		int status = inc_doubling_run(&o, &r);
		if (status == DXP_OK)
			*out = (struct figures){r.latency_ns / 1e3, r.packets, r.crossings,
						r.busy_ns / 1e3};
		return status;
	}
	const struct inc_sim_options o = {
		.net = net, .deadline_ns = 10 * S_NS, .create_ns = 10 * S_NS};
	int status = inc_sim_create(&o, &sim);
	if (status != DXP_OK)
		return status;
	status = switches_measure(sim, hosts, bytes, out);
	inc_sim_destroy(sim);
	return status;
}

static void row_print(uint32_t hosts, uint32_t bytes, enum contender label, const struct figures *f,
		      double tcp_us)
{
	char name[48];
	const struct report_row row = {
		.bench = "inc-sim",
		.name = name,
		.metric = "latency",
		.unit = "us",
		.value = f->latency_us,
		.lab = "simulated",
		.contender = contender_names[label],
		.peer = label == DOUBLING_TCP ? NULL : contender_names[DOUBLING_TCP],
		.peer_value = label == DOUBLING_TCP ? 0 : tcp_us,
		.x_name = "hosts",
		.x = hosts,
		.samples = CALLS,
		.more = {{"packets", f->packets},
			 {"crossings", f->crossings},
			 {"host_busy_us", f->busy_us}},
	};

	snprintf(name, sizeof(name), "%u B, %u hosts", bytes, hosts);
	report_row(&row);
}

static int case_run(const struct inc_sim_costs *costs, const struct bench_options *o,
		    uint32_t hosts, uint32_t bytes)
{
	struct figures f, tcp = {0};

	if (measure_run(costs, DOUBLING_TCP, hosts, bytes, &tcp) != DXP_OK)
		return 1;
	for (int label = 0; label < CONTENDERS; label++) {
		if (!bench_wanted(o->only, contender_names[label]))
			continue;
		int status = label == DOUBLING_TCP
				     ? (f = tcp, DXP_OK)
				     : measure_run(costs, (enum contender)label, hosts, bytes, &f);
		if (status != DXP_OK) {
			fprintf(stderr, "dxp bench inc-sim: %s, %u hosts: %s\n",
				contender_names[label], hosts, dxp_status_text(status));
			return 1;
		}
		row_print(hosts, bytes, (enum contender)label, &f, tcp.latency_us);
	}
	return 0;
}

int inc_sim_table(const struct inc_sim_costs *costs, const struct bench_options *o)
{
	static const uint32_t hosts[] = {4, 9, 16, 32, 64, 256, 1024, 4096}, sizes[] = {8, 256};

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
		for (size_t i = 0; i < ARRAY_COUNT(hosts); i++)
			if (hosts[i] <= costs->hosts_max && (!o->quick || hosts[i] <= 256) &&
			    case_run(costs, o, hosts[i], sizes[s]) != 0)
				return 1;
	return 0;
}

int bench_inc_sim(const struct bench_options *options)
{
	return inc_sim_table(&inc_sim_costs_default, options);
}
