/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program did with each node, for the summary of `dxp run`: one line for each, numbers by
 * name, written when the program ends. */
#include <inttypes.h>
#include <stdio.h>

#include "base/descriptor.h"
#include "doors/opencl/report.h"

struct tally {
	cl_device_id device;
	uint64_t commands, kernels, failed;
	uint64_t in_bytes, out_bytes;     /* from and to the host */
	uint64_t from_bytes, to_bytes;    /* from and to other nodes */
	uint64_t device_ns, device_until; /* busy, overlaps counted once */
	uint64_t network_ns, network_until;
};

static struct tally tallies[DOOR_DEVICES_MAX];

static bool wanted(void)
{
	const char *path = settings_get()->summary;

	return path && *path;
}

static struct tally *tally_of(cl_device_id d)
{
	struct tally *t = &tallies[d->index];

	t->device = d;
	return t;
}

/* Ends come in about the order of time, so that what a command shares with earlier ones is what
 * lies before the latest end. */
static void busy_add(uint64_t *sum, uint64_t *until, cl_event e)
{
	uint64_t from = e->started_ns > *until ? e->started_ns : *until;

	if (e->ended_ns <= from)
		return;
	*sum += e->ended_ns - from;
	*until = e->ended_ns;
}

void summary_event(cl_event e)
{
	if (!e->device || e->device->index >= DOOR_DEVICES_MAX || !wanted())
		return;
	struct tally *t = tally_of(e->device);
	t->commands++;
	t->failed += e->status < 0;
	t->kernels += e->type == CL_COMMAND_NDRANGE_KERNEL || e->type == CL_COMMAND_TASK;
	if (report_is_transfer(e->type))
		busy_add(&t->network_ns, &t->network_until, e);
	else
		busy_add(&t->device_ns, &t->device_until, e);
}

void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes)
{
	if (!wanted())
		return;
	if (to && to->index < DOOR_DEVICES_MAX)
		*(from ? &tally_of(to)->from_bytes : &tally_of(to)->in_bytes) += bytes;
	if (from && from->index < DOOR_DEVICES_MAX)
		*(to ? &tally_of(from)->to_bytes : &tally_of(from)->out_bytes) += bytes;
}

static void tally_put(FILE *file, const struct tally *t)
{
	fprintf(file,
		"node=%s commands=%" PRIu64 " kernels=%" PRIu64 " failed=%" PRIu64 " in=%" PRIu64
		" out=%" PRIu64 " from=%" PRIu64 " to=%" PRIu64 " device_ns=%" PRIu64
		" network_ns=%" PRIu64 "\n",
		t->device->node, t->commands, t->kernels, t->failed, t->in_bytes, t->out_bytes,
		t->from_bytes, t->to_bytes, t->device_ns, t->network_ns);
}

void summary_close(void)
{
	char path[REPORT_PATH_BYTES];

	if (!report_path(settings_get()->summary, path))
		return;
	FILE *file = descriptor_fopen(path, "we");
	if (!file)
		return; /* its reader says what is missing */
	for (uint32_t i = 0; i < DOOR_DEVICES_MAX; i++)
		if (tallies[i].device)
			tally_put(file, &tallies[i]);
	fclose(file);
}
