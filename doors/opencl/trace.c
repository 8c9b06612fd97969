/* SPDX-License-Identifier: BSD-3-Clause */
/* What `dxp run` asks for: a trace of every command (an array of Chrome's trace events, which
 * Perfetto reads, too), and sums for each device at the end. */
#include <stdio.h>
#include <string.h>

#include "doors/opencl/complete.h"
#include "doors/opencl/device.h"
#include "doors/opencl/settings.h"

struct sums {
	cl_device_id device;
	uint64_t commands, failed, device_ns, kernel_ns;
	uint64_t to_bytes, from_bytes; /* host and device */
	uint64_t out_bytes;            /* to other devices */
};

static struct sums sums[DOOR_DEVICES_MAX];
static FILE *file;
static bool tried;

static const char *type_name(cl_command_type type)
{
	switch (type) {
	case CL_COMMAND_NDRANGE_KERNEL:
	case CL_COMMAND_TASK: return "kernel";
	case CL_COMMAND_READ_BUFFER: return "read buffer";
	case CL_COMMAND_WRITE_BUFFER: return "write buffer";
	case CL_COMMAND_COPY_BUFFER: return "copy buffer";
	case CL_COMMAND_READ_IMAGE: return "read image";
	case CL_COMMAND_WRITE_IMAGE: return "write image";
	case CL_COMMAND_COPY_IMAGE: return "copy image";
	case CL_COMMAND_COPY_IMAGE_TO_BUFFER: return "copy image to buffer";
	case CL_COMMAND_COPY_BUFFER_TO_IMAGE: return "copy buffer to image";
	case CL_COMMAND_MAP_BUFFER: return "map buffer";
	case CL_COMMAND_MAP_IMAGE: return "map image";
	case CL_COMMAND_UNMAP_MEM_OBJECT: return "unmap";
	case CL_COMMAND_MARKER: return "marker";
	case CL_COMMAND_BARRIER: return "barrier";
	case CL_COMMAND_READ_BUFFER_RECT: return "read rectangle";
	case CL_COMMAND_WRITE_BUFFER_RECT: return "write rectangle";
	case CL_COMMAND_COPY_BUFFER_RECT: return "copy rectangle";
	case CL_COMMAND_MIGRATE_MEM_OBJECTS: return "migrate";
	case CL_COMMAND_FILL_BUFFER: return "fill buffer";
	case CL_COMMAND_FILL_IMAGE: return "fill image";
	default: return "command";
	}
}

static FILE *trace_file(void)
{
	if (!tried && settings_get()->trace) {
		file = fopen(settings_get()->trace, "we");
		if (file)
			fputs("[\n", file);
		else
			fprintf(stderr, "dxp: DXP_CL_TRACE: cannot write %s: %m\n",
				settings_get()->trace);
	}
	tried = true;
	return file;
}

/* Names of kernels and devices hold nothing that JSON escapes but these two. */
static void put_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
	}
}

static void name_device(FILE *f, cl_device_id d)
{
	fprintf(f, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"",
		d->index + 1);
	put_text(f, d->name);
	fputs("\"}},\n", f);
}

/* Times in microseconds. */
static void put_event(FILE *f, cl_event e, const struct sums *s)
{
	if (s->commands == 0)
		name_device(f, e->device);
	fputs("{\"name\":\"", f);
	put_text(f, e->label[0] ? e->label : type_name(e->type));
	fprintf(f,
		"\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
		"\"args\":{\"queued\":%.3f,\"submitted\":%.3f,\"bytes\":%llu,\"status\":%d}},\n",
		type_name(e->type), e->device->index + 1,
		(unsigned)((uintptr_t)e->queue / 64 % 1000000), (double)e->started_ns / 1e3,
		(double)(e->ended_ns - e->started_ns) / 1e3, (double)e->queued_ns / 1e3,
		(double)e->submitted_ns / 1e3, (unsigned long long)e->bytes, e->status);
}

void trace_event(cl_event e)
{
	FILE *f = trace_file();

	if (!e->device || (!f && !settings_get()->summary))
		return;
	struct sums *s = &sums[e->device->index];
	uint64_t ns = e->ended_ns - e->started_ns;
	if (f)
		put_event(f, e, s);
	s->device = e->device;
	s->commands++;
	s->failed += e->status < 0;
	s->device_ns += ns;
	s->kernel_ns += e->type == CL_COMMAND_NDRANGE_KERNEL || e->type == CL_COMMAND_TASK ? ns : 0;
}

void trace_moved(cl_device_id from, cl_device_id to, uint64_t bytes)
{
	if (from)
		*(to ? &sums[from->index].out_bytes : &sums[from->index].from_bytes) += bytes;
	else if (to)
		sums[to->index].to_bytes += bytes;
}

static void put_sums(FILE *f, const struct sums *s)
{
	fprintf(f,
		"commands %llu failed %llu device_ns %llu kernel_ns %llu to_bytes %llu "
		"from_bytes %llu out_bytes %llu device %s\n",
		(unsigned long long)s->commands, (unsigned long long)s->failed,
		(unsigned long long)s->device_ns, (unsigned long long)s->kernel_ns,
		(unsigned long long)s->to_bytes, (unsigned long long)s->from_bytes,
		(unsigned long long)s->out_bytes, s->device->name);
}

/* A line for each device, of names and numbers; the device's own name ends it. */
static void write_summary(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f) {
		fprintf(stderr, "dxp: DXP_CL_SUMMARY: cannot write %s: %m\n", path);
		return;
	}
	for (size_t i = 0; i < DOOR_DEVICES_MAX; i++)
		if (sums[i].device)
			put_sums(f, &sums[i]);
	fclose(f);
}

void trace_close(void)
{
	if (file) {
		fprintf(file,
			"{\"name\":\"end\",\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":%.3f}\n]\n",
			(double)door_now_ns() / 1e3);
		fclose(file);
		file = NULL;
	}
	if (settings_get()->summary)
		write_summary(settings_get()->summary);
}
