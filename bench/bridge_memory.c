/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the bridging process's memory: its peak during the largest transfers, and its size
 * between transfers. Device memory, which these transfers fill, and the buffer rings are not
 * counted. */
#include <stdio.h>

#include <dxp/status.h>

#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

/* Reads a kB value from /proc/PID/status; returns bytes, 0: unknown. */
static uint64_t resident(pid_t pid, const char *format)
{
	char path[64], line[128];
	unsigned long long kb = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, format, &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb << 10;
}

static void peak_forget(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fputs("5", f);
	fclose(f);
}

static uint64_t rings_bytes(const struct dxp_xpu_caps *caps)
{
	return 2ull * caps->buffers * caps->buffer_bytes;
}

static double beside_mb(const struct bridge_setup *p, const struct bridge_daemon *daemon,
			uint64_t bytes)
{
	return ((double)bytes - (double)p->largest - (double)rings_bytes(&daemon->caps)) / 1e6;
}

static int largest_move(struct bridge_setup *p, size_t daemon)
{
	const struct bridge_way in = {.route = ROUTE_TO, .daemon = daemon};
	const struct bridge_way out = {.route = ROUTE_FROM, .daemon = daemon};
	const struct bridge_way through = {.route = ROUTE_THROUGH, .daemon = daemon};
	int status = bridge_pull_move(p, &in, p->largest);

	if (status == DXP_OK)
		status = bridge_pull_move(p, &out, p->largest);
	if (status == DXP_OK)
		status = bridge_push_move(p, &in, p->largest);
	if (status == DXP_OK)
		status = bridge_push_move(p, &out, p->largest);
	if (status == DXP_OK && p->daemons[daemon].caps.streams)
		status = bridge_pull_move(p, &through, p->largest);
	return status;
}

int bridge_memory_row(struct bridge_setup *p, size_t at)
{
	const struct bridge_daemon *daemon = &p->daemons[at];
	char name[64], size[TABLE_BYTES_TEXT];

	snprintf(name, sizeof(name), "memory, %s", table_bytes(p->largest, size));
	if (!bench_wanted(p->options->only_case, name))
		return 0;
	int status = largest_move(p, at); /* fills the device's memory */
	uint64_t between = resident(daemon->pid, "VmRSS: %llu kB");
	peak_forget(daemon->pid);
	if (status == DXP_OK)
		status = largest_move(p, at);
	report_row(&(struct report_row){
		.bench = "bridge",
		.lab = p->lab,
		.name = name,
		.contender = "during transfers",
		.metric = "resident memory",
		.unit = "MB",
		.value = beside_mb(p, daemon, resident(daemon->pid, "VmHWM: %llu kB")),
		.peer = "between them",
		.peer_value = beside_mb(p, daemon, between),
		.samples = 1,
		.more = {{"rings_mb", (double)rings_bytes(&daemon->caps) / 1e6}},
		.note = status == DXP_OK ? NULL : dxp_status_text(status),
	});
	return status != DXP_OK;
}
