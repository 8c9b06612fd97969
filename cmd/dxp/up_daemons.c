/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemons of `dxp up`: their command lines, how many start at one time, and how many joined. */
#include <sched.h>
#include <stdio.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/up.h"

#define DAEMON_WORDS 40 /* arguments of a daemon's command line */

/* daemons that start at one time per CPU, because a daemon that waits uses no CPU */
#define DAEMONS_PER_CPU 4
#define DAEMONS_MIN     4

/* Appends an option with its value to a command line; omits it if `value` is NULL. */
static void word_add(const char *argv[DAEMON_WORDS], const char *option, const char *value)
{
	unsigned at = 0;

	while (argv[at])
		at++;
	if (value && at + 2 < DAEMON_WORDS) {
		argv[at] = option;
		argv[at + 1] = value;
	}
}

static void flag_add(const char *argv[DAEMON_WORDS], const char *flag)
{
	int at = 0;

	while (argv[at])
		at++;
	if (flag && at + 1 < DAEMON_WORDS)
		argv[at] = flag;
}

/* Starts the next daemon. Its xPUs request their numbers as node ids, because daemons join in any
 * order. */
static bool daemon_start(struct up *u)
{
	uint64_t first = u->started + 1, daemon = u->started / u->slots + 1;
	char name[PROCESS_NAME_BYTES], slots[24], memory[24], host_memory[24], number[24];
	char port[24];
	uint64_t count = min_u64(u->slots, u->xpus - first + 1);

	snprintf(name, sizeof(name), "daemon%llu", (unsigned long long)daemon);
	snprintf(slots, sizeof(slots), "%llu", (unsigned long long)count);
	snprintf(memory, sizeof(memory), "%llu", (unsigned long long)u->memory);
	snprintf(host_memory, sizeof(host_memory), "%llu", (unsigned long long)u->host_memory);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)first);
	snprintf(port, sizeof(port), "%llu",
		 (unsigned long long)(u->node_port ? u->node_port + u->started : 0));
	const char *argv[DAEMON_WORDS] = {
		"dxpd",    "--manager", u->manager, "--key",  u->key, "--bind", u->bind,
		"--slots", slots,       "--first",  number,   "--id", number,   "--memory",
		memory,    "--engine",  u->engine,  "--port", port};
	word_add(argv, "--host-memory", u->host_memory ? host_memory : NULL);
	word_add(argv, "--state", u->state);
	flag_add(argv, up_loopback(u) ? "--share-cache" : NULL);
	word_add(argv, "--buffers", u->buffers);
	word_add(argv, "--buffer-bytes", u->buffer_bytes);
	word_add(argv, "--reads", u->reads);
	word_add(argv, "--keep-hosts", u->keep_hosts);
	if (!up_part_start(u, name, argv))
		return false;
	u->started += count;
	return true;
}

static uint64_t xpus_alive(const struct query *a)
{
	const struct node_entry *rows;
	size_t count = query_nodes(a, &rows);
	uint64_t alive = 0;

	for (size_t i = 0; i < count; i++)
		alive += rows[i].kind == MANAGE_XPU && rows[i].alive;
	return alive;
}

/* Returns how many xPUs may start at one time. If more started, each would take longer, and they
 * would use more memory. */
static uint64_t starting_max(const struct up *u)
{
	cpu_set_t set;
	int cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return max_u64((uint64_t)cpus * DAEMONS_PER_CPU, DAEMONS_MIN) * u->slots;
}

bool up_daemons_start(struct up *u)
{
	const uint64_t most = starting_max(u);
	uint64_t before = u->started;

	while (u->started < u->xpus && u->started - u->joined < most)
		if (!daemon_start(u))
			return false;
	if (u->started > before)
		up_patience_renew(u);
	return true;
}

bool up_daemons_look(struct up *u, struct query **out)
{
	const struct dxp_fabric_options fabric = {.directory = u->folder.folder};
	struct inquiry q = {.fabric = &fabric, .kind = QUERY_NODES, .timeout_ns = S_NS};
	struct query *a;

	if (inquiry_run(&q, &a) != DXP_OK)
		return false;
	uint64_t alive = xpus_alive(a);
	if (alive > u->joined) {
		u->joined = min_u64(alive, u->started);
		up_patience_renew(u);
	}
	progress_count(&u->progress, u->joined, u->xpus);
	if (u->joined < u->xpus) {
		query_destroy(a);
		return false;
	}
	*out = a;
	return true;
}
