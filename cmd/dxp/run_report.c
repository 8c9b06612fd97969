/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and prints the summaries of a program's processes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/nodes.h"
#include "cmd/dxp/run.h"

#define LIBRARY_END ".library.summary"

static struct run_row *row_of(struct run_report *r, const char *node)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (strcmp(r->rows[i].node, node) == 0)
			return &r->rows[i];
	if (r->count == RUN_NODES_MAX)
		return NULL;
	struct run_row *row = &r->rows[r->count++];
	snprintf(row->node, sizeof(row->node), "%s", node);
	return row;
}

static void row_add(struct run_row *to, const struct run_row *from)
{
	to->commands += from->commands;
	to->kernels += from->kernels;
	to->failed += from->failed;
	to->in_bytes += from->in_bytes;
	to->out_bytes += from->out_bytes;
	to->from_bytes += from->from_bytes;
	to->to_bytes += from->to_bytes;
	to->device_ns += from->device_ns;
	to->network_ns += from->network_ns;
}

static void line_copy(struct run_report *r, const char *line)
{
	struct run_row row;

	memset(&row, 0, sizeof(row));
	if (sscanf(line,
		   "node=%31s commands=%" SCNu64 " kernels=%" SCNu64 " failed=%" SCNu64
		   " in=%" SCNu64 " out=%" SCNu64 " from=%" SCNu64 " to=%" SCNu64
		   " device_ns=%" SCNu64 " network_ns=%" SCNu64,
		   row.node, &row.commands, &row.kernels, &row.failed, &row.in_bytes,
		   &row.out_bytes, &row.from_bytes, &row.to_bytes, &row.device_ns,
		   &row.network_ns) != 10)
		return;
	struct run_row *to = row_of(r, row.node);
	if (to)
		row_add(to, &row);
}

/* Returns whether the process that wrote this file of the C library also wrote a file of the OpenCL
 * driver. */
static bool has_driver_file(const char *path)
{
	char other[PATH_BYTES];
	size_t length =
		strlen(path) - (file_name_ends(path, LIBRARY_END) ? strlen(LIBRARY_END) : 0);

	if (!path[length])
		return false;
	snprintf(other, sizeof(other), "%.*s.summary", (int)min_u64(length, 4000), path);
	return access(other, F_OK) == 0;
}

static void file_append(void *context, const char *path)
{
	struct run_report *r = context;
	char line[512];
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	r->processes += !has_driver_file(path);
	while (fgets(line, sizeof(line), file))
		line_copy(r, line);
	fclose(file);
}

void run_report_read(const char *folder, struct run_report *out)
{
	memset(out, 0, sizeof(*out));
	file_each(folder, ".summary", file_append, out);
}

static void row_show(const struct run_row *row)
{
	char in[16], out[16], from[16], to[16];

	fprintf(stderr, "%-20s %9" PRIu64 " %9" PRIu64 " %7s %7s %7s %7s %10.3f %9.3f", row->node,
		row->commands, row->kernels, nodes_bytes_format(row->in_bytes, in),
		nodes_bytes_format(row->out_bytes, out), nodes_bytes_format(row->from_bytes, from),
		nodes_bytes_format(row->to_bytes, to), (double)row->network_ns * 1e-9,
		(double)row->device_ns * 1e-9);
	if (row->failed)
		fprintf(stderr, "  %" PRIu64 " failed", row->failed);
	fputc('\n', stderr);
}

void run_report_show(const struct run_report *r, double seconds, int signal)
{
	char end[96] = "";

	if (signal)
		snprintf(end, sizeof(end), ", killed by signal %d (%s)", signal, strsignal(signal));
	if (r->count == 0) {
		fprintf(stderr, "dxp run: %.3f s%s; the program used no xPU%s\n", seconds, end,
			r->processes
				? "; `dxp nodes` lists the xPUs, `dxp grant` permits this host to "
				  "use them"
				: "; it neither listed OpenCL devices nor sent commands to an xPU");
		return;
	}
	fprintf(stderr, "dxp run: %.3f s%s%s\n%-20s %9s %9s %7s %7s %7s %7s %10s %9s\n", seconds,
		end, r->processes > 1 ? ", several processes" : "", "NODE", "COMMANDS", "KERNELS",
		"IN", "OUT", "FROM", "TO", "NETWORK s", "DEVICE s");
	for (uint32_t i = 0; i < r->count; i++)
		row_show(&r->rows[i]);
}

static json_t *row_json(const struct run_row *row)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "node", row->node,
			 "commands", (json_int_t)row->commands, "kernels", (json_int_t)row->kernels,
			 "failed", (json_int_t)row->failed, "in_bytes", (json_int_t)row->in_bytes,
			 "out_bytes", (json_int_t)row->out_bytes, "from_bytes",
			 (json_int_t)row->from_bytes, "to_bytes", (json_int_t)row->to_bytes,
			 "network_s", (double)row->network_ns * 1e-9, "device_s",
			 (double)row->device_ns * 1e-9);
}

json_t *run_report_json(const struct run_report *r, double seconds, int status)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < r->count; i++)
		json_array_append_new(rows, row_json(&r->rows[i]));
	return json_pack("{s:f, s:i, s:i, s:o}", "seconds", seconds, "status", status, "processes",
			 (int)r->processes, "nodes", rows);
}
