/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to the nodes of devices. If a connection is lost, its commands fail through their
 * events. The next use of the device connects again, but not within RETRY_NS after a failed
 * attempt. Each connection has a number (`generation`); programs and memory of earlier ones do not
 * exist any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "plugins/opencl/node/device.h"

#define RETRY_NS     250000000ull
#define CLOCK_ROUNDS 4

struct connection {
	struct dxp_xpu *xpu;
	struct dxp_xpu_caps caps;
	struct dxp_clock clock;
	void *about; /* description of the device; NULL: not requested */
	size_t about_bytes;
};

static void (*on_loss[LOST_STEPS])(cl_device_id d);

void device_lost_with(enum lost_step step, void (*call)(cl_device_id d))
{
	on_loss[step] = call;
}

/* Returns the measurement with the smallest error. */
static int measure(struct dxp_xpu *xpu, int rounds, struct dxp_clock *best)
{
	int status = DXP_OK;

	best->error_ns = UINT64_MAX;
	for (int i = 0; i < rounds && status == DXP_OK; i++) {
		struct dxp_clock c;
		status = dxp_xpu_clock(xpu, &c);
		if (status == DXP_OK && c.error_ns < best->error_ns)
			*best = c;
	}
	return status;
}

static void clock_set(cl_device_id d, const struct dxp_clock *c)
{
	d->clock_ns = (int64_t)(c->host_ns - c->node_ns);
}

int device_clock(cl_device_id d, struct dxp_clock *best, int rounds)
{
	int status = measure(d->xpu, rounds, best);

	if (status == DXP_OK)
		clock_set(d, best);
	return status;
}

static int hello_exchange(struct connection *c, bool about)
{
	int status = dxp_xpu_caps(c->xpu, &c->caps);

	if (status == DXP_OK && about)
		status = dxp_xpu_about(c->xpu, &c->about, &c->about_bytes);
	return status == DXP_OK ? measure(c->xpu, CLOCK_ROUNDS, &c->clock) : status;
}

/* The caller may hold the lock or not, because this only exchanges messages. */
static int connection_open(struct connection *c, const char *node, bool about)
{
	*c = (struct connection){0};
	int status = dxp_xpu_open(opencl_fabric(), node, &c->xpu);
	if (status != DXP_OK)
		return status;
	status = hello_exchange(c, about);
	if (status == DXP_OK)
		return DXP_OK;
	free(c->about);
	dxp_xpu_close(c->xpu);
	return status;
}

static void install(cl_device_id d, const struct connection *c)
{
	if (c->about) {
		d->about = c->about;
		d->about_bytes = c->about_bytes;
	}
	d->xpu = c->xpu;
	d->caps = c->caps;
	clock_set(d, &c->clock);
	d->generation++;
}

int device_open(cl_device_id d)
{
	struct connection c;
	int status = connection_open(&c, d->node, true);

	if (status == DXP_OK)
		install(d, &c);
	return status;
}

static bool is_loss(int status)
{
	return status == DXP_EPEERLOST || status == DXP_EPEERRESET || status == DXP_ECLOSED;
}

/* Tests by a mark, because other commands fail with the same status if another node that they
 * needed is lost. */
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
	return result_of(status);
}

/* Releases a lost connection. The fabric has failed its commands, so their completions are dequeued
 * first. */
static void bury(cl_device_id d)
{
	if (!d->lost)
		return;
	for (int i = 0; i < LOST_STEPS; i++)
		if (on_loss[i])
			on_loss[i](d);
	/* While a thread is in a call on this connection, it cannot be closed. It stays open until
	 * the program exits. */
	if (d->calls == 0)
		dxp_xpu_close(d->lost);
	d->lost = NULL;
}

static bool is_alive(cl_device_id d)
{
	struct dxp_node_info nodes[OPENCL_DEVICES_MAX];
	int count = dxp_fabric_nodes(opencl_fabric(), nodes, OPENCL_DEVICES_MAX);

	for (int i = 0; i < count && i < OPENCL_DEVICES_MAX; i++)
		if (strcmp(nodes[i].name, d->node) == 0)
			return nodes[i].alive && nodes[i].granted;
	return false;
}

/* Releases the lock during the attempt, which lasts until a timeout if the node is cut off. */
static bool reconnect(cl_device_id d)
{
	struct connection c;

	d->connecting = true;
	bury(d);
	opencl_out();
	int status = connection_open(&c, d->node, false);
	opencl_in();
	d->connecting = false;
	/* The program may have begun to exit during the attempt. */
	if (status == DXP_OK && opencl_fabric()) {
		install(d, &c);
		return true;
	}
	d->retry_ns = clock_now_ns() + RETRY_NS;
	return false;
}

cl_int device_connect(cl_device_id d)
{
	if (d->xpu)
		return CL_SUCCESS;
	if (!opencl_fabric() || d->connecting || clock_now_ns() < d->retry_ns || !is_alive(d))
		return CL_DEVICE_NOT_AVAILABLE;
	return reconnect(d) ? CL_SUCCESS : CL_DEVICE_NOT_AVAILABLE;
}

bool device_available(cl_device_id d)
{
	return opencl_fabric() && is_alive(d) && device_connect(d) == CL_SUCCESS;
}
