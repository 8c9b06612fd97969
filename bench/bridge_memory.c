/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the process that bridges, while the largest transfer passes: what is not device memory
 * and not rings. Beside it the process of an xPU that needs no bridge. */
#include <stdio.h>

#include <dxp/status.h>

#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

/* The most that a process has had in memory so far, in bytes; 0: unknown. */
static uint64_t resident_peak(pid_t pid)
{
	char path[64], line[128];
	unsigned long long kb = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmHWM: %llu kB", &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb << 10;
}

static uint64_t rings_bytes(const struct dxp_xpu_caps *caps)
{
	return 2ull * caps->buffers * caps->buffer_bytes;
}

/* All but the first two, in MB, after the largest transfer in, out and through. */
static double beside_mb(const struct bridge_place *p, const struct bridge_box *box)
{
	double all = (double)resident_peak(box->pid);

	return (all - (double)p->largest - (double)rings_bytes(&box->caps)) / 1e6;
}

static int largest_move(struct bridge_place *p, size_t box)
{
	const struct bridge_way in = {.route = ROUTE_TO, .box = box};
	const struct bridge_way out = {.route = ROUTE_FROM, .box = box};
	const struct bridge_way through = {.route = ROUTE_THROUGH, .box = box};
	int status = bridge_pull_move(p, &in, p->largest);

	if (status == DXP_OK)
		status = bridge_pull_move(p, &out, p->largest);
	if (status == DXP_OK)
		status = bridge_push_move(p, &in, p->largest);
	if (status == DXP_OK)
		status = bridge_push_move(p, &out, p->largest);
	if (status == DXP_OK && p->boxes[box].caps.streams)
		status = bridge_pull_move(p, &through, p->largest);
	return status;
}

int bridge_memory_rows(struct bridge_place *p, size_t board, size_t direct)
{
	char name[64], size[TABLE_BYTES_TEXT];

	snprintf(name, sizeof(name), "memory, %s", table_bytes(p->largest, size));
	if (!bench_wanted(p->options->only_case, name))
		return 0;
	int status = largest_move(p, board);
	if (status == DXP_OK)
		status = largest_move(p, direct);
	struct report_row row = {
		.bench = "bridge",
		.lab = p->lab,
		.name = name,
		.contender = "above rings and device",
		.metric = "resident memory",
		.unit = "MB",
		.value = beside_mb(p, &p->boxes[board]),
		.peer = "without a bridge",
		.peer_value = beside_mb(p, &p->boxes[direct]),
		.samples = 1,
		.more = {{"rings_mb", (double)rings_bytes(&p->boxes[board].caps) / 1e6}},
		.note = status == DXP_OK ? NULL : dxp_status_text(status),
	};
	report_row(&row);
	return status != DXP_OK;
}
