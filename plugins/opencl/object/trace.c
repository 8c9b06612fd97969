/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes commands to a file for Perfetto or chrome://tracing, as complete events of the Trace Event
 * Format: each node is a process there, each queue a thread. Times are on the host's clock. If the
 * program is killed, the file is usable: readers accept it without the last bracket. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "plugins/opencl/object/object.h"
#include "plugins/opencl/object/report.h"

#define QUEUES_MAX 256

static struct {
	FILE *file;
	bool requested, first;
	uint64_t begin_ns;
	const struct _cl_command_queue *queues[QUEUES_MAX];
	uint32_t queue_count;
	bool named[OPENCL_DEVICES_MAX];
} trace;

static void open_once(void)
{
	char path[REPORT_PATH_BYTES];

	if (trace.requested)
		return;
	trace.requested = true;
	if (!report_path(settings_get()->trace, path))
		return;
	trace.file = descriptor_fopen(path, "we");
	if (!trace.file) {
		fprintf(stderr,
			"dxp: warning: cannot write the trace to %s; check that its folder "
			"exists\n",
			path);
		return;
	}
	trace.first = true;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", trace.file);
}

static void text_put(const char *text)
{
	fputc('"', trace.file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			fprintf(trace.file, "\\%c", c);
		else if (c < 0x20)
			fprintf(trace.file, "\\u%04x", c);
		else
			fputc(c, trace.file);
	}
	fputc('"', trace.file);
}

static void record_begin(const char *phase, unsigned node)
{
	fprintf(trace.file, "%s\n{\"ph\":\"%s\",\"pid\":%u", trace.first ? "" : ",", phase, node);
	trace.first = false;
}

/* Returns the row of a node. At its first use, writes the name of the row. */
static unsigned node_row(cl_device_id d)
{
	unsigned row = d ? d->index + 1 : 0;

	if (!d || d->index >= OPENCL_DEVICES_MAX || trace.named[d->index])
		return row;
	trace.named[d->index] = true;
	record_begin("M", row);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", trace.file);
	text_put(d->node);
	fputs("}}", trace.file);
	return row;
}

/* Rows are in the order of first use. Queues beyond QUEUES_MAX share the last row. */
static unsigned queue_row(const struct _cl_command_queue *q)
{
	for (uint32_t i = 0; i < trace.queue_count; i++)
		if (trace.queues[i] == q)
			return i + 1;
	if (trace.queue_count < QUEUES_MAX)
		trace.queues[trace.queue_count++] = q;
	return trace.queue_count;
}

static void time_put(const char *name, uint64_t ns)
{
	fprintf(trace.file, ",\"%s\":%" PRIu64 ".%03" PRIu64, name, ns / 1000, ns % 1000);
}

static const char *const ways[DXP_WAYS] = {
	[DXP_WAY_RING] = "ring",
	[DXP_WAY_TREE] = "tree",
	[DXP_WAY_SWITCH] = "switch",
};

static void event_put(cl_event e)
{
	unsigned node = node_row(e->device);

	if (trace.begin_ns == 0)
		trace.begin_ns = e->queued_ns;
	record_begin("X", node);
	fprintf(trace.file, ",\"tid\":%u,\"name\":", queue_row(e->queue));
	text_put(e->label[0] ? e->label : report_type_name(e->type));
	fprintf(trace.file, ",\"cat\":\"%s\"", report_is_transfer(e->type) ? "transfer" : "device");
	time_put("ts", e->started_ns > trace.begin_ns ? e->started_ns - trace.begin_ns : 0);
	time_put("dur", e->ended_ns - e->started_ns);
	fprintf(trace.file, ",\"args\":{\"status\":%d", e->status);
	if (e->bytes)
		fprintf(trace.file, ",\"bytes\":%" PRIu64, e->bytes);
	if (e->way)
		fprintf(trace.file, ",\"way\":\"%s\"", ways[e->way]);
	time_put("waited us", e->started_ns - e->queued_ns);
	fputs("}}", trace.file);
}

void trace_open(void)
{
	summary_open();
}

void trace_queued(cl_event e)
{
	summary_used(e->device);
}

void trace_event(cl_event e)
{
	if (!e->queue)
		return;
	open_once();
	if (trace.file)
		event_put(e);
	summary_event(e);
}

void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes)
{
	summary_moved(from, to, bytes);
}

void trace_close(void)
{
	if (trace.file) {
		fputs("\n]}\n", trace.file);
		if (fclose(trace.file))
			fputs("dxp: warning: the trace is incomplete; check that the disk is not "
			      "full\n",
			      stderr);
		trace.file = NULL;
	}
	summary_close();
}
