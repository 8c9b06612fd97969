/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench join`: 1,000 and 4,096 nodes join an empty fabric at the same moment. Each is a member
 * with a socket of its own; all are in this process. Four are xPUs, which see all nodes, so their
 * tables show how fast the node table propagates. The manager is a process with its registry in
 * SQLite, or in members of etcd that run on this machine too. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/fabric.h"
#include "bench/lab.h"
#include "bench/members.h"
#include "bench/report.h"
#include "node/limits.h"

#define WATCHERS      4
#define JOIN_NS       (300 * S_NS) /* longest time for all to join */
#define STEADY_NS     (10 * S_NS)  /* measured time with renewals only */
#define LOOK_NS       (5 * MS_NS)  /* between two reads of the watchers' tables */
#define ETCD_MEMBERS  7
#define NODES_MAX     FABRIC_NODES_MAX
#define FOLDER_TEXT   64
#define SCRIPT_TEXT   2560
#define QUICK_DIVISOR 10

struct join_bench {
	char folder[FOLDER_TEXT];
	unsigned nodes, etcd;
	bool quick;
};

struct join_figures {
	double joined_s, table_s; /* until all have a lease; until the watchers see all */
	double cpu_s;             /* of the manager until then */
	double steady_cpu;        /* cores of the manager while nodes only renew */
	double memory_mb;         /* of the manager */
};

/* Starts the members of etcd, and waits for them. Sets $store. */
#define ETCD_START                                                                               \
	"members=; store=etcd://; for i in $(seq %u); do\n"                                      \
	"members=$members,e$i=http://$address:$((2380 + i * 10)); "                              \
	"store=$store$address:$((2379 + i * 10)),; done\n"                                       \
	"store=\"--store ${store%%,}\"\n"                                                        \
	"for i in $(seq %u); do p=http://$address:$((2380 + i * 10)) "                           \
	"c=http://$address:$((2379 + i * 10))\n"                                                 \
	"etcd --name e$i --data-dir etcd$i --listen-client-urls $c --advertise-client-urls $c "  \
	"--listen-peer-urls $p --initial-advertise-peer-urls $p --initial-cluster ${members#,} " \
	">etcd$i.log 2>&1 &\n"                                                                   \
	"echo $! >etcd$i.pid; done\n"                                                            \
	"for i in $(seq %u); do until grep -q 'ready to serve client requests' etcd$i.log || "   \
	"! kill -0 $(cat etcd$i.pid); do sleep 0.05; done; done 2>>output\n"
/* The address is this process's own, so that ports are free. */
#define MANAGER_START                                                                       \
	"cd %s && address=127.78.$(($$ / 250 %% 250)).$(($$ %% 250 + 1)) store=\n%s"        \
	"'%s/dxp-manager' --key key --new-key --state state --bind $address:0 --admit key " \
	"--grants any --announce address $store >>output 2>&1 &\n"                          \
	"echo $! >manager.pid\n"                                                            \
	"until [ -e address ] || ! kill -0 $!; do sleep 0.05; done 2>/dev/null\n"           \
	"true" /* cannot fail; inside_run logs failures */
#define MANAGER_END "cd %s && kill $(cat manager.pid etcd*.pid); cd /; rm -rf %s"

static void path_of(const struct join_bench *b, const char *name, char out[FOLDER_TEXT + 16])
{
	snprintf(out, FOLDER_TEXT + 16, "%s/%s", b->folder, name);
}

/* Reads the first line of a file. Returns false if there is none. */
static bool line_read(const struct join_bench *b, const char *name, char out[256])
{
	char path[FOLDER_TEXT + 16];

	path_of(b, name, path);
	FILE *f = fopen(path, "re");
	const bool found = f && fgets(out, 256, f);
	if (f)
		fclose(f);
	if (found)
		out[strcspn(out, "\n")] = '\0';
	return found;
}

static int fabric_find(const struct join_bench *b, struct members_options *out, pid_t *manager)
{
	char path[FOLDER_TEXT + 16], text[256], output[256] = "no process started";

	if (!line_read(b, "address", text)) {
		line_read(b, "output", output);
		log_error("cannot start a manager for this benchmark: %s", output);
		return DXP_EIO;
	}
	if (managers_parse(text, 0, &out->manager, &out->others) != DXP_OK ||
	    !line_read(b, "manager.pid", text))
		return DXP_EIO;
	*manager = (pid_t)strtol(text, NULL, 10);
	path_of(b, "key", path);
	return keyfile_read(path, out->key);
}

/* Returns the most memory that a process had, in MB. */
static double memory_mb(pid_t pid)
{
	char path[64], line[256];
	unsigned long long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib * 1024 / 1e6;
}

/* Returns whether each watcher sees all nodes alive. */
static bool watchers_complete(struct members *m, unsigned nodes)
{
	for (unsigned i = 0; i < WATCHERS; i++) {
		const struct node_table *t = member_table(members_at(m, i));
		unsigned alive = 0;
		if (node_table_count(t) < nodes)
			return false;
		for (size_t k = 0; k < node_table_count(t); k++)
			alive += node_table_at(t, k)->alive;
		if (alive < nodes)
			return false;
	}
	return true;
}

static int members_join(struct members *m, unsigned nodes, struct join_figures *out)
{
	const uint64_t begin_ns = clock_now_ns();
	int status = DXP_OK;

	for (unsigned i = 0; status == DXP_OK && i < nodes; i++)
		status = members_start(m, i);
	for (uint64_t look_ns = 0; status == DXP_OK;) {
		const uint64_t now_ns = clock_now_ns();
		members_run(m, now_ns + LOOK_NS);
		if (now_ns < look_ns)
			continue;
		look_ns = now_ns + LOOK_NS;
		const double passed_s = (double)(now_ns - begin_ns) / S_NS;
		const unsigned joined = members_joined(m);
		if (out->joined_s == 0 && joined == nodes)
			out->joined_s = passed_s;
		if (out->joined_s > 0 && watchers_complete(m, nodes)) {
			out->table_s = passed_s;
			return DXP_OK;
		}
		if (now_ns - begin_ns > JOIN_NS) {
			log_error("after %d s %u of %u nodes have joined, and tables are %s",
				  (int)(JOIN_NS / S_NS), joined, nodes,
				  watchers_complete(m, nodes) ? "complete" : "not complete");
			status = DXP_ETIMEDOUT;
		}
	}
	return status;
}

static int figures_measure(const struct join_bench *b, struct join_figures *out)
{
	struct members_options options = {.name = "n", .count = b->nodes, .xpus = WATCHERS};
	struct members *m = NULL;
	pid_t manager;
	int status = fabric_find(b, &options, &manager);

	if (status == DXP_OK)
		status = members_open(&options, &m);
	keys_erase(options.key, sizeof(options.key));
	const uint64_t begin_ns = status == DXP_OK ? child_cpu_ns(manager) : 0;
	if (status == DXP_OK)
		status = members_join(m, b->nodes, out);
	if (status == DXP_OK) {
		const uint64_t joined_ns = child_cpu_ns(manager);
		const uint64_t steady_ns = b->quick ? STEADY_NS / QUICK_DIVISOR : STEADY_NS;
		const uint64_t until_ns = clock_now_ns() + steady_ns;
		while (clock_now_ns() < until_ns)
			members_run(m, until_ns);
		out->cpu_s = (double)(joined_ns - begin_ns) / S_NS;
		out->steady_cpu = (double)(child_cpu_ns(manager) - joined_ns) / (double)steady_ns;
		out->memory_mb = memory_mb(manager);
	}
	members_close(m);
	return status;
}

static int inside_run(void *context)
{
	const struct join_bench *b = context;
	struct join_figures f = {0};
	char name[32], store[32] = "SQLite";

	if (figures_measure(b, &f) != DXP_OK)
		return 1;
	snprintf(name, sizeof(name), "%u nodes", b->nodes);
	if (b->etcd)
		snprintf(store, sizeof(store), "etcd, members: %u", b->etcd);
	report_row(&(struct report_row){.bench = "join",
					.name = name,
					.metric = "join",
					.unit = "s",
					.value = f.joined_s,
					.lab = "loopback",
					.contender = store,
					.x_name = "nodes",
					.x = b->nodes,
					.more = {{"joins_per_s", (double)b->nodes / f.joined_s},
						 {"table_s", f.table_s},
						 {"manager_cpu_s", f.cpu_s},
						 {"steady_cores", f.steady_cpu},
						 {"manager_mb", f.memory_mb}},
					.samples = 1});
	return 0;
}

static int run(struct join_bench *b)
{
	char make[SCRIPT_TEXT], end[SCRIPT_TEXT], etcd[SCRIPT_TEXT / 2] = "";

	snprintf(b->folder, sizeof(b->folder), "/tmp/dxp-bench-XXXXXX");
	if (!mkdtemp(b->folder)) {
		log_error("cannot create a folder in /tmp: %m");
		return 1;
	}
	if (b->etcd)
		snprintf(etcd, sizeof(etcd), ETCD_START, b->etcd, b->etcd, b->etcd);
	snprintf(make, sizeof(make), MANAGER_START, b->folder, etcd, fabric_programs_folder());
	snprintf(end, sizeof(end), MANAGER_END, b->folder, b->folder);
	const struct lab_scripts scripts = {
		.name = "join", .make = make, .remove = end, .anyone = true};
	return lab_scripts_run(&scripts, inside_run, b);
}

static int help(void)
{
	puts("usage: dxp bench join [options]\n\n"
	     "Nodes join an empty fabric at the same moment: time until all have a lease, until "
	     "four\n"
	     "xPUs have the whole node table, CPU time and memory of the manager.\n\n"
	     "  --nodes N         8 .. 4096 nodes; default: 1000, then 4096\n"
	     "  --etcd N          the registry is in N members of etcd on this machine, 1 .. 7\n"
	     "                    (default: in SQLite)\n"
	     "  --quick           250 nodes, and a tenth of the time for renewals\n"
	     "  --json            one JSON object a line\n"
	     "  --help            this text");
	return 0;
}

static bool number_read(const char *option, const char *text, unsigned low, unsigned high,
			unsigned *out)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*end || value < low || value > high) {
		fprintf(stderr, "dxp bench join: %s needs %u .. %u, not '%s'\n", option, low, high,
			text);
		return false;
	}
	*out = (unsigned)value;
	return true;
}

int bench_join(int argc, char **argv)
{
	static const struct option options[] = {
		{"nodes", required_argument, NULL, 'n'}, {"etcd", required_argument, NULL, 'e'},
		{"quick", no_argument, NULL, 'q'},       {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
	static const unsigned counts[] = {1000, 4096};
	struct join_bench b = {0};
	unsigned nodes = 0;
	bool json = false;
	int letter, status = 0;

	optind = 1;
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'h')
			return help();
		if ((letter == 'n' && !number_read("--nodes", optarg, 8, NODES_MAX, &nodes)) ||
		    (letter == 'e' && !number_read("--etcd", optarg, 1, ETCD_MEMBERS, &b.etcd)) ||
		    letter == '?')
			return 2;
		b.quick |= letter == 'q';
		json |= letter == 'j';
	}
	if (optind < argc) {
		fprintf(stderr, "dxp bench join: '%s' is not an option; see --help\n",
			argv[optind]);
		return 2;
	}
	report_begin(json, "Joins of an empty fabric");
	nodes = nodes ? nodes : b.quick ? 250 : 0;
	for (size_t i = 0; status == 0 && i < (nodes ? 1 : ARRAY_COUNT(counts)); i++) {
		b.nodes = nodes ? nodes : counts[i];
		status = run(&b);
	}
	return status;
}
