/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to the nodes behind devices. One that is lost ends what was under way there with
 * errors, through its events; the next use connects again, at most four times a second. Each
 * connection is a new `life`: nothing of an earlier one is there any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doors/opencl/complete.h"
#include "doors/opencl/device.h"

#define RETRY_NS     250000000ull
#define CLOCK_ROUNDS 4

int device_clock(cl_device_id d, struct dxp_clock *best, int rounds)
{
	int status = DXP_OK;

	best->error_ns = UINT64_MAX;
	for (int i = 0; i < rounds && status == DXP_OK; i++) {
		struct dxp_clock c;
		status = dxp_xpu_clock(d->xpu, &c);
		if (status == DXP_OK && c.error_ns < best->error_ns)
			*best = c;
	}
	if (best->error_ns != UINT64_MAX)
		d->clock_ns = (int64_t)(best->host_ns - best->node_ns);
	return status;
}

static int greet(cl_device_id d)
{
	struct dxp_clock clock;
	size_t bytes = 0;
	void *about = NULL;
	int status = dxp_xpu_caps(d->xpu, &d->caps);

	if (status == DXP_OK && !d->about)
		status = dxp_xpu_about(d->xpu, &about, &bytes);
	if (status == DXP_OK && about) {
		d->about = about;
		d->about_bytes = bytes;
	}
	return status == DXP_OK ? device_clock(d, &clock, CLOCK_ROUNDS) : status;
}

int device_open(cl_device_id d)
{
	int status = dxp_xpu_open(door_fabric(), d->node, &d->xpu);

	if (status != DXP_OK) {
		d->xpu = NULL;
		return status;
	}
	status = greet(d);
	if (status != DXP_OK) {
		dxp_xpu_close(d->xpu);
		d->xpu = NULL;
		return status;
	}
	if (!d->heap)
		d->heap = heap_create();
	if (!d->heap)
		return DXP_ENOMEM;
	heap_reset(d->heap);
	d->life++;
	return DXP_OK;
}

static bool is_loss(int status)
{
	return status == DXP_EPEERLOST || status == DXP_EPEERRESET || status == DXP_ECLOSED;
}

/* Of the device itself: a command ends so, too, where another node that it needed is lost. */
static bool is_lost(cl_device_id d)
{
	const struct dxp_waits none = {.lazy = true};

	return is_loss(dxp_mark(d->xpu, &none, NULL));
}

cl_int device_judge(cl_device_id d, int status)
{
	if (is_loss(status) && d->xpu && is_lost(d)) {
		d->lost = d->xpu;
		d->xpu = NULL;
		d->retry_ns = 0;
	}
	return error_of(status);
}

/* What is still under way there has been failed by the fabric; the ends are taken now. */
static void bury(cl_device_id d)
{
	if (!d->lost)
		return;
	completions_poll();
	program_lost(d);
	/* Somebody is still in a call: it stays for the rest of the program. */
	if (d->calls == 0)
		dxp_xpu_close(d->lost);
	d->lost = NULL;
}

cl_int device_connect(cl_device_id d)
{
	if (d->xpu)
		return CL_SUCCESS;
	uint64_t now = door_now_ns();
	if (!door_fabric() || now < d->retry_ns)
		return CL_DEVICE_NOT_AVAILABLE;
	d->retry_ns = now + RETRY_NS;
	bury(d);
	/* Another thread may have been quicker while the ends were taken. */
	if (d->xpu || device_open(d) == DXP_OK)
		return CL_SUCCESS;
	return CL_DEVICE_NOT_AVAILABLE;
}

static bool is_alive(cl_device_id d)
{
	struct dxp_node_info nodes[DOOR_DEVICES_MAX];
	int count = dxp_fabric_nodes(door_fabric(), nodes, DOOR_DEVICES_MAX);

	for (int i = 0; i < count && i < DOOR_DEVICES_MAX; i++)
		if (strcmp(nodes[i].name, d->node) == 0)
			return nodes[i].alive && nodes[i].granted;
	return false;
}

bool device_available(cl_device_id d)
{
	return door_fabric() && is_alive(d) && device_connect(d) == CL_SUCCESS;
}
