/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that kernels start: the host starts one kernel on each xPU. In each round the kernels
 * compute new numbers and let switches sum those of all xPUs. Counters show what the host does
 * meanwhile.
 *
 *   dxp-switch --address 127.0.0.2 &
 *   DXPD_SWITCH=127.0.0.2 dxp up --xpus 2 && build/bin/kernel_allreduce 100; dxp down */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <dxp/async.h>
#include <dxp/collective.h>

#include "sums.h"

#define COUNT      16384u /* per xPU */
#define XPUS_MAX   8
#define ROUNDS_MAX 1000000ul
#define WAIT_NS    120000000000ull
#define VALUE(v)   value(&(v), sizeof(v))
/* registers of docs/reference/registers.md */
#define COMMANDS_DONE   18
#define ALLREDUCES_DONE 74

struct member {
	char name[64];
	uint16_t node;
	struct dxp_program *program;
	uint64_t numbers, report; /* device addresses */
	dxp_event event;
};

struct all {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[XPUS_MAX];
	struct member members[XPUS_MAX];
	uint32_t count, group;
};

/* Counters of the host, and the sums of the counters of all xPUs. */
struct counters {
	uint64_t commands, sums; /* commands of hosts; allreduces of kernels */
	uint64_t bytes;          /* between this host and the xPUs */
	double cpu_us;           /* CPU time of this host */
};

static uint32_t numbers[COUNT], expected[COUNT];

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "kernel_allreduce: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static void member_open(struct all *a, uint32_t i)
{
	struct member *m = &a->members[i];
	struct dxp_xpu_nic nic;

	check(dxp_xpu_open(a->fabric, m->name, &a->xpus[i]), "open");
	const int status = dxp_program_build(a->xpus[i], kernel_source, NULL, &m->program);
	if (status == DXP_EBUILD)
		fprintf(stderr, "%s", dxp_program_log(m->program));
	check(status, "build");
	check(dxp_xpu_nic(a->xpus[i], &nic), "open the NIC");
	check(dxp_mem_alloc(a->xpus[i], sizeof(numbers), &m->numbers), "allocate");
	check(dxp_mem_alloc(a->xpus[i], sizeof(struct report), &m->report), "allocate");
}

static void all_open(struct all *a)
{
	static struct dxp_node_info nodes[256];
	const int count = dxp_fabric_nodes(a->fabric, nodes, 256);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 256 && a->count < XPUS_MAX; i++) {
		struct member *m = &a->members[a->count];
		if (nodes[i].kind != DXP_NODE_XPU || !nodes[i].alive || !nodes[i].granted)
			continue;
		snprintf(m->name, sizeof(m->name), "%s", nodes[i].name);
		m->node = nodes[i].id;
		member_open(a, a->count++);
	}
}

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}

static struct dxp_argument buffer(uint64_t address)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address};
}

/* ---- a run ---- */

static void member_start(struct all *a, uint32_t i, uint32_t rounds)
{
	struct member *m = &a->members[i];
	const struct shape shape = {i, COUNT, rounds, a->group};
	const uint64_t places[2] = {m->numbers, m->report + offsetof(struct report, results)};
	const struct dxp_argument arguments[] = {{.kind = DXP_ARGUMENT_NIC},
						 buffer(m->numbers),
						 buffer(m->report),
						 VALUE(shape),
						 VALUE(places)};
	const struct dxp_launch launch = {.program = m->program,
					  .kernel = "sums",
					  .dimensions = 1,
					  .global = {ITEMS},
					  .local = {ITEMS},
					  .arguments = arguments,
					  .argument_count = 5};

	check(dxp_run(a->xpus[i], &launch, &m->event), "run");
}

static void member_prepare(struct all *a, uint32_t i)
{
	static const struct report empty;

	memset(numbers, 0, sizeof(numbers));
	check(dxp_mem_write(a->xpus[i], a->members[i].numbers, numbers, sizeof(numbers)), "write");
	check(dxp_mem_write(a->xpus[i], a->members[i].report, &empty, sizeof(empty)), "write");
}

static void member_check(struct all *a, uint32_t i, uint32_t rounds)
{
	const struct member *m = &a->members[i];
	struct report report;

	check(dxp_mem_read(a->xpus[i], &report, m->report, sizeof(report)), "read the report");
	if (!report.failed && report.sums == rounds * PARTS)
		return;
	fprintf(stderr, "kernel_allreduce: the kernel on %s stopped after %u sums: %s\n", m->name,
		report.sums, dxp_status_text(-(int)report.failed));
	exit(1);
}

static struct counters counters_read(const struct all *a)
{
	struct counters c = {0};
	struct dxp_link_bytes link;
	struct rusage usage;
	uint32_t word;

	for (uint32_t i = 0; i < a->count; i++) {
		check(dxp_reg_read(a->xpus[i], COMMANDS_DONE, &word, 1), "read a register");
		c.commands += word;
		check(dxp_reg_read(a->xpus[i], ALLREDUCES_DONE, &word, 1), "read a register");
		c.sums += word;
		check(dxp_fabric_traffic(a->fabric, a->members[i].node, &link), "traffic");
		c.bytes += link.sent_bytes + link.received_bytes;
	}
	getrusage(RUSAGE_SELF, &usage);
	c.cpu_us = 1e6 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return c;
}

/* Lets the kernels run, and returns how the counters changed. */
static struct counters rounds_run(struct all *a, uint32_t rounds, double *ms)
{
	struct dxp_event_times times;
	uint64_t longest = 0;

	for (uint32_t i = 0; i < a->count; i++)
		member_prepare(a, i);
	const struct counters before = counters_read(a);
	for (uint32_t i = 0; i < a->count; i++)
		member_start(a, i, rounds);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct member *m = &a->members[i];
		check(dxp_event_wait(a->fabric, m->event, WAIT_NS, &times), m->name);
		const uint64_t ns = times.ended_ns - times.started_ns;
		longest = ns > longest ? ns : longest;
	}
	const struct counters after = counters_read(a);
	for (uint32_t i = 0; i < a->count; i++)
		member_check(a, i, rounds);
	*ms = (double)longest / 1e6;
	return (struct counters){.commands = after.commands - before.commands,
				 .sums = after.sums - before.sums,
				 .bytes = after.bytes - before.bytes,
				 .cpu_us = after.cpu_us - before.cpu_us};
}

/* ---- verification ---- */

static void expected_compute(uint32_t ranks, uint32_t rounds)
{
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t round = 0; round < rounds; round++) {
			const uint32_t before = expected[i];
			expected[i] = 0;
			for (uint32_t rank = 0; rank < ranks; rank++)
				expected[i] += contribution(before, rank, i, round);
		}
}

static uint32_t wrong_count(const struct all *a)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		check(dxp_mem_read(a->xpus[i], numbers, a->members[i].numbers, sizeof(numbers)),
		      "read");
		for (uint32_t k = 0; k < COUNT; k++)
			wrong += numbers[k] != expected[k];
	}
	return wrong;
}

static void counters_print(uint32_t rounds, const struct counters *c)
{
	printf("%7u rounds: %llu sums started by kernels; the host posted %llu commands, exchanged "
	       "%llu bytes, used %.0f us of CPU time\n",
	       rounds, (unsigned long long)c->sums, (unsigned long long)c->commands,
	       (unsigned long long)c->bytes, c->cpu_us);
}

/* Compares a run with one without rounds. Returns how many numbers are wrong. */
static uint32_t sums_run(struct all *a, uint32_t rounds)
{
	double ms, none_ms;

	rounds_run(a, 1, &ms); /* loads the kernels */
	const struct counters none = rounds_run(a, 0, &none_ms), c = rounds_run(a, rounds, &ms);

	counters_print(0, &none);
	counters_print(rounds, &c);
	expected_compute(a->count, rounds);
	const uint32_t wrong = wrong_count(a);
	printf("%u xPUs, %.1f us per sum, %lld commands and %.2f us of the host's CPU time per "
	       "sum: %u of %u numbers differ\n",
	       a->count, 1e3 * ms / (rounds * PARTS),
	       (long long)(c.commands - none.commands) / (rounds * PARTS),
	       (c.cpu_us - none.cpu_us) / (rounds * PARTS), wrong, a->count * COUNT);
	return wrong;
}

static uint32_t rounds_of(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "10";
	char *rest;
	const unsigned long rounds = strtoul(text, &rest, 10);

	if (argc <= 2 && *text && !*rest && rounds >= 1 && rounds <= ROUNDS_MAX)
		return (uint32_t)rounds;
	fprintf(stderr, "usage: kernel_allreduce [ROUNDS]   1 to %lu, default 10\n", ROUNDS_MAX);
	exit(2);
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("kernel_allreduce: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	const struct dxp_group_options options = {.way = DXP_WAY_SWITCH};
	const uint32_t rounds = rounds_of(argc, argv);
	static struct all a;
	struct dxp_group *group;

	check(dxp_fabric_open(NULL, &a.fabric), "join");
	all_open(&a);
	if (a.count < 2) {
		fprintf(stderr,
			"kernel_allreduce: %u xPUs, but 2 are needed; start them with `dxp up "
			"--xpus 2`\n",
			a.count);
		return 1;
	}
	check(dxp_group_create(a.fabric, a.xpus, a.count, &options, &group), "create a group");
	check(dxp_group_kernels(group, &a.group), "give the group to kernels");
	const uint32_t wrong = sums_run(&a, rounds);
	dxp_group_destroy(group);
	for (uint32_t i = 0; i < a.count; i++) {
		dxp_program_release(a.members[i].program);
		dxp_xpu_close(a.xpus[i]);
	}
	dxp_fabric_close(a.fabric);
	return output_lost() || wrong != 0;
}
