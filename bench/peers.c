/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench peers`: one NIC with 10,000 open sessions on loopback. Measures memory per peer before
 * contact, open, and idle; how fast sessions open, against TCP; and a PUT among many peers, against
 * one peer. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"
#include "bench/tcp_crowd.h"
#include "nic/limits.h"
#include "node/node.h"

#define NEAR_ID   1
#define PUTS      10000
#define IDLE_NS   (1500 * MS_NS) /* longer than an idle session keeps its rings */
#define SETUP_NS  (60 * S_NS)
#define PUT_NS    (5 * S_NS)
#define REGION    4096
#define PUT_BYTES 4

struct many {
	struct node *node;
	struct dxp_window *window;
	struct child crowd;
	uint32_t count;
	uint32_t key;
	uint8_t *memory;
	double before; /* heap bytes before peers were added */
};

struct figures {
	double added_bytes, open_bytes, idle_bytes; /* bytes for each peer */
	double setup_per_s, tcp_per_s;
	double setup_cpu_ns;
	double p50_us, p99_us, single_us;
};

static double heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double)m.uordblks + (double)m.hblkhd;
}

static int many_open(struct many *m, uint32_t count)
{
	struct node_options options = {.static_id = NEAR_ID};
	struct crowd_options crowd = {.near_id = NEAR_ID, .count = count};

	address_parse("127.0.0.1", 0, &options.bind);
	*m = (struct many){.count = count, .memory = calloc(1, REGION)};
	int status = m->memory ? node_open(&options, &m->node) : DXP_ENOMEM;
	if (status == DXP_OK)
		status = nic_region_register(node_nic(m->node), 0, m->memory, REGION, NIC_LOCAL,
					     &m->key);
	if (status != DXP_OK)
		return status;
	m->window = node_window(m->node);
	m->before = heap_bytes();
	crowd.bind = options.bind;
	node_address(m->node, &crowd.near);
	crowd.near_incarnation = node_incarnation(m->node);
	struct udp_address address;
	status = crowd_start(&crowd, &m->crowd, &address);
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		status = node_peer(m->node, (uint16_t)(CROWD_FIRST_ID + i), &address,
				   CROWD_INCARNATION);
	return status;
}

static void many_close(struct many *m)
{
	child_end(&m->crowd);
	node_close(m->node);
	free(m->memory);
}

static int put_post(struct many *m, uint32_t peer, uint8_t qp)
{
	/* peers accept any magic except 0, "no magic" */
	const struct dxp_target to = {.node = (uint16_t)(CROWD_FIRST_ID + peer), .magic = 1};
	const struct dxp_entry local = {0, PUT_BYTES, m->key}, remote = {0, PUT_BYTES, 0};
	const struct nic_lists lists = {&local, &remote, 1, 1};

	return nic_user_put(m->window, qp, &to, &lists, 0);
}

/* Sends a PUT to each peer, as many at a time as queue pairs accept. */
static int sessions_open(struct many *m)
{
	uint64_t end_ns = clock_now_ns() + SETUP_NS;
	uint32_t posted = 0, ended = 0;
	struct dxp_nic_event event;

	while (ended < m->count) {
		while (posted < m->count &&
		       put_post(m, posted, (uint8_t)(posted % NIC_QPS_PER_FUNCTION)) == DXP_OK)
			posted++;
		node_poll(m->node);
		while (dxp_sent_dequeue(m->window, &event)) {
			if (event.status != DXP_OK)
				return event.status;
			ended++;
		}
		if (clock_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
	}
	return DXP_OK;
}

static int put_time(struct many *m, uint32_t peer, uint64_t *ns)
{
	uint64_t begin_ns = clock_now_ns();
	struct dxp_nic_event event;
	int status = put_post(m, peer, 0);

	if (status != DXP_OK)
		return status;
	while (!dxp_sent_dequeue(m->window, &event)) {
		node_poll(m->node);
		if (clock_now_ns() > begin_ns + PUT_NS)
			return DXP_ETIMEDOUT;
	}
	*ns = clock_now_ns() - begin_ns;
	return event.status;
}

static int puts_run(struct many *m, uint32_t among, uint64_t *samples, uint32_t count)
{
	struct rng rng = {1};
	int status = DXP_OK;

	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		status = put_time(m, (uint32_t)(rng_below(&rng, among)), &samples[i]);
	return status;
}

static void idle(struct many *m)
{
	uint64_t end_ns = clock_now_ns() + IDLE_NS;

	while (clock_now_ns() < end_ns)
		if (node_poll(m->node) == 0)
			node_wait(m->node, end_ns);
}

/* Includes the NIC's pools for any number of sessions. */
static int idle_total(uint32_t count, double *bytes)
{
	struct many m;
	int status = many_open(&m, count);

	if (status == DXP_OK)
		status = sessions_open(&m);
	if (status == DXP_OK)
		idle(&m);
	*bytes = heap_bytes() - m.before;
	many_close(&m);
	return status;
}

static int round_run(uint32_t count, uint32_t puts, struct figures *f)
{
	static uint64_t samples[PUTS];
	struct many m;
	int status = many_open(&m, count);

	if (status != DXP_OK)
		goto close;
	f->added_bytes = (heap_bytes() - m.before) / count;
	uint64_t begin_ns = clock_now_ns(), cpu_ns = child_cpu_ns(0) + child_cpu_ns(m.crowd.pid);
	status = sessions_open(&m);
	f->setup_per_s = count * 1e9 / (double)(clock_now_ns() - begin_ns);
	cpu_ns = child_cpu_ns(0) + child_cpu_ns(m.crowd.pid) - cpu_ns;
	f->setup_cpu_ns = (double)cpu_ns / count;
	f->open_bytes = (heap_bytes() - m.before) / count;
	if (status == DXP_OK)
		status = puts_run(&m, count, samples, puts);
	if (status != DXP_OK)
		goto close;
	f->p50_us = (double)raw_percentile(samples, puts, 50) / 1000;
	f->p99_us = (double)raw_percentile(samples, puts, 99) / 1000;
	status = puts_run(&m, 1, samples, puts);
	f->single_us = (double)raw_percentile(samples, puts, 50) / 1000;
	idle(&m);
	double many_bytes = heap_bytes() - m.before, few_bytes;
	many_close(&m);
	/* The pools are the same for a tenth of the peers, so the difference is the other peers'
	 * memory. */
	status = idle_total(count / 10, &few_bytes);
	f->idle_bytes = (many_bytes - few_bytes) / (count - count / 10);
	return status == DXP_OK ? tcp_crowd_rate(count, &f->tcp_per_s) : status;
close:
	many_close(&m);
	return status;
}

static double median_of(const struct figures *f, unsigned rounds, size_t offset)
{
	double values[ROUNDS_MAX];

	for (unsigned r = 0; r < rounds; r++)
		memcpy(&values[r], (const char *)&f[r] + offset, sizeof(double));
	return report_median(values, rounds);
}

#define MEDIAN(field) median_of(f, rounds, offsetof(struct figures, field))

#define NAME_BYTES 32

static void memory_print(struct report_row *row, char name[NAME_BYTES], const struct figures *f,
			 unsigned rounds)
{
	const struct {
		const char *name, *metric;
		double value;
	} memory[] = {{"memory, silent", "of a peer without a session", MEDIAN(added_bytes)},
		      {"memory, open", "of an open session", MEDIAN(open_bytes)},
		      {"memory, idle", "of one more session idle for 1.5 s", MEDIAN(idle_bytes)}};

	row->unit = "bytes";
	for (size_t i = 0; i < ARRAY_COUNT(memory); i++) {
		snprintf(name, NAME_BYTES, "%s", memory[i].name);
		row->metric = memory[i].metric;
		row->value = memory[i].value;
		report_row(row);
	}
}

static void rows_print(uint32_t count, const struct figures *f, unsigned rounds)
{
	char name[NAME_BYTES];
	struct report_row row = {.bench = "peers",
				 .name = name,
				 .lab = "loopback",
				 .contender = "RLTP",
				 .x_name = "peers",
				 .x = count,
				 .samples = rounds};
	memory_print(&row, name, f, rounds);
	snprintf(name, sizeof(name), "set-up");
	row.metric = "sessions opened";
	row.unit = "per s";
	row.value = MEDIAN(setup_per_s);
	row.near_cpu = MEDIAN(setup_cpu_ns);
	row.cpu_unit = "ns/op";
	row.peer = "TCP connections";
	row.peer_value = MEDIAN(tcp_per_s);
	report_row(&row);
	snprintf(name, sizeof(name), "PUT 4 B to any of them");
	row.metric = "round trip p50";
	row.unit = "us";
	row.value = row.p50_us = MEDIAN(p50_us);
	row.p99_us = MEDIAN(p99_us);
	row.near_cpu = 0;
	row.cpu_unit = NULL;
	row.peer = "PUT to one of them";
	row.peer_value = MEDIAN(single_us);
	report_row(&row);
}

int bench_peers(int argc, char **argv)
{
	struct figures figures[ROUNDS_MAX];
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv, "10,000 open sessions in one process (--quick: 1,000), on loopback.",
		"", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Many peers");
	uint32_t count = o.quick ? CROWD_MAX / 10 : CROWD_MAX;
	for (unsigned r = 0; r < o.rounds; r++) {
		status = round_run(count, o.quick ? PUTS / 10 : PUTS, &figures[r]);
		if (status != DXP_OK) {
			fprintf(stderr, "dxp bench peers: %s\n", dxp_status_text(status));
			return 1;
		}
	}
	rows_print(count, figures, o.rounds);
	return 0;
}
