/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/pump.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "bridge/limits.h"
#include "engine/limits.h"
#include "engine/pump_memory.h"

struct pump {
	struct engine *engine;
	struct bridge *bridge;
	struct pump_memory to_device, from_device;
	/* Outstanding DMAs, in any order; those that a broken device never completes can be
	 * released. */
	uint32_t dmas[3 * BRIDGE_DMAS];
	uint32_t dma_count;
};

static uint32_t buffer_bytes_chosen(const struct pump_options *o)
{
	struct bridge_rate rows[16];
	size_t count = pump_measure(o->engine, o->memory_bytes, 0, rows, ARRAY_COUNT(rows));
	size_t row = pump_choose(rows, count);

	if (row < count)
		return rows[row].buffer_bytes;
	log_warn("the device's DMA could not be measured; buffers have %u KiB; choose another size "
		 "if transfers are slow",
		 PUMP_BUFFER_BYTES >> 10);
	return PUMP_BUFFER_BYTES;
}

static int rings_map(struct pump *p, uint32_t buffers, uint32_t buffer_bytes)
{
	uint64_t bytes = (uint64_t)buffers * buffer_bytes;
	int status = pump_memory_map(p->engine, bytes, &p->to_device);

	if (status != DXP_OK)
		return status;
	status = pump_memory_map(p->engine, bytes, &p->from_device);
	if (status != DXP_OK)
		pump_memory_unmap(p->engine, &p->to_device);
	return status;
}

static bool options_valid(const struct pump_options *o)
{
	const uint32_t buffers = o->buffers ? o->buffers : BRIDGE_BUFFERS;

	if (o->reads > buffers) {
		log_error("%u outstanding reads need as many buffers; use --reads 1 to %u, or more "
			  "--buffers",
			  o->reads, buffers);
		return false;
	}
	if (o->buffers <= BRIDGE_BUFFERS_MAX &&
	    (o->buffer_bytes == 0 ||
	     (o->buffer_bytes >= BRIDGE_BUFFER_MIN && o->buffer_bytes <= BRIDGE_BUFFER_MAX &&
	      o->buffer_bytes % BRIDGE_BUFFER_MIN == 0)))
		return true;
	log_error("%u buffers of %u bytes are not possible; use 1 to %u buffers of 4 KiB to 16 MiB "
		  "each, in multiples of 4 KiB",
		  o->buffers, o->buffer_bytes, BRIDGE_BUFFERS_MAX);
	return false;
}

static bool transfer_patient(void *context)
{
	const struct pump_transfer *t = context;

	return t->patient && t->patient(t);
}

int pump_create(const struct pump_options *options, struct pump **out)
{
	if (!options_valid(options))
		return DXP_EINVAL;
	struct pump *p = calloc(1, sizeof(*p));
	if (!p) {
		log_error("out of memory for a bridge; stop other programs");
		return DXP_ENOMEM;
	}
	struct bridge_options o = {
		.buffers = options->buffers ? options->buffers : BRIDGE_BUFFERS,
		.buffer_bytes = options->buffer_bytes ? options->buffer_bytes
						      : buffer_bytes_chosen(options),
		.fills = options->reads,
		.dmas = BRIDGE_DMAS,
		.stall_ns = options->stall_ns,
		.patient = transfer_patient,
	};
	p->engine = options->engine;
	int status = rings_map(p, o.buffers, o.buffer_bytes);
	if (status != DXP_OK)
		goto free_pump;
	o.to_device = p->to_device.base;
	o.from_device = p->from_device.base;
	status = bridge_create(&o, &p->bridge);
	if (status != DXP_OK) {
		log_error("cannot create a bridge: %s; stop other programs",
			  dxp_status_text(status));
		goto unmap;
	}
	*out = p;
	return DXP_OK;

unmap:
	pump_memory_unmap(p->engine, &p->to_device);
	pump_memory_unmap(p->engine, &p->from_device);
free_pump:
	free(p);
	return status;
}

struct bridge *pump_bridge(struct pump *p)
{
	return p->bridge;
}

void pump_rings(const struct pump *p, uint8_t **to_device, uint8_t **from_device, uint64_t *bytes)
{
	*to_device = p->to_device.base;
	*from_device = p->from_device.base;
	*bytes = p->to_device.bytes;
}

int pump_begin(struct pump *p, struct pump_transfer *t, const struct bridge_order *order,
	       uint64_t now_ns)
{
	struct bridge_order o = *order;

	t->bytes = o.bytes;
	o.context = t;
	o.core = o.path == BRIDGE_DIRECT && t->source && t->sink;
	return bridge_begin(p->bridge, &o, now_ns, &t->bridge);
}

void pump_cancel(struct pump *p, struct pump_transfer *t, int status)
{
	bridge_cancel(p->bridge, t->bridge, status);
}

void pump_done(struct pump *p, uint32_t id, int status, uint64_t now_ns)
{
	bridge_done(p->bridge, id, status, now_ns);
}

static bool ended_report(struct pump *p)
{
	struct bridge_end end;

	if (!bridge_ended(p->bridge, &end))
		return false;
	struct pump_transfer *t = end.context;
	t->ended(t, &end);
	return true;
}

static bool granted_report(struct pump *p, uint64_t now_ns)
{
	struct bridge_grant grant;

	if (!bridge_granted(p->bridge, now_ns, &grant))
		return false;
	struct pump_transfer *t = grant.context;
	t->granted(t, &grant);
	return true;
}

/* An overlapping copy to a higher address begins at its end, so as not to read its own output. The
 * controller works in order. */
static uint64_t copy_at(const struct pump_transfer *t, const struct bridge_action *a)
{
	bool backwards = t->device_to > t->device_from && t->device_to - t->device_from < t->bytes;

	return backwards ? t->bytes - a->at - a->bytes : a->at;
}

static void dma_direct(const struct pump_transfer *t, const struct bridge_action *a,
		       struct engine_dma *dma)
{
	uint64_t at = t->source || t->sink ? a->at : copy_at(t, a);

	if (t->source && t->sink)
		dma->kind = ENGINE_DMA_THROUGH;
	else if (t->source)
		dma->kind = ENGINE_DMA_IN;
	else
		dma->kind = t->sink ? ENGINE_DMA_OUT : ENGINE_DMA_COPY;
	dma->source = t->source ? t->source + at : NULL;
	dma->sink = t->sink ? t->sink + at : NULL;
	dma->from = t->source ? 0 : t->device_from + at;
	dma->to = t->sink ? 0 : t->device_to + at;
}

static int dma_start(struct pump *p, const struct pump_transfer *t, const struct bridge_action *a)
{
	struct engine_dma dma = {
		.id = a->id,
		.source = a->in,
		.sink = a->out,
		.bytes = a->bytes,
	};

	switch (a->step) {
	case BRIDGE_DMA_IN:
		dma.kind = ENGINE_DMA_IN;
		dma.to = t->device_to + a->at;
		break;
	case BRIDGE_DMA_OUT:
		dma.kind = ENGINE_DMA_OUT;
		dma.from = t->device_from + a->at;
		break;
	case BRIDGE_DMA_THROUGH: dma.kind = ENGINE_DMA_THROUGH; break;
	default: dma_direct(t, a, &dma);
	}
	dma.first = dma.kind == ENGINE_DMA_THROUGH && a->at == 0;
	dma.owner = t->owner;
	int status = engine_dma_start(p->engine, &dma);
	if (status == DXP_OK) {
		assert(p->dma_count < ARRAY_COUNT(p->dmas));
		p->dmas[p->dma_count++] = a->id;
	}
	return status;
}

static void dma_forget(struct pump *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->dma_count; i++) {
		if (p->dmas[i] == id)
			p->dmas[i] = p->dmas[--p->dma_count];
	}
}

static uint32_t dma_dequeue(struct pump *p, uint64_t now_ns)
{
	struct engine_dma_end ends[PUMP_ENDS];
	uint32_t count = engine_dma_dequeue(p->engine, ends, PUMP_ENDS);

	for (uint32_t i = 0; i < count; i++) {
		dma_forget(p, ends[i].id);
		bridge_done(p->bridge, (uint32_t)ends[i].id, ends[i].status, now_ns);
	}
	return count;
}

static bool act(struct pump *p, uint64_t now_ns)
{
	struct bridge_action a;

	if (!bridge_next(p->bridge, now_ns, &a))
		return false;
	struct pump_transfer *t = a.context;
	bool network = a.step == BRIDGE_FILL || a.step == BRIDGE_DRAIN;
	int status = network ? t->step(t, &a) : dma_start(p, t, &a);
	if (status == DXP_EAGAIN)
		bridge_later(p->bridge, a.id);
	else if (status != DXP_OK)
		bridge_done(p->bridge, a.id, status, now_ns);
	return true;
}

static void expire(struct pump *p, uint64_t now_ns)
{
	void *context;

	if (now_ns < bridge_deadline(p->bridge))
		return;
	bool dma = bridge_expire(p->bridge, now_ns);
	while (bridge_stuck(p->bridge, &context)) {
		struct pump_transfer *t = context;
		if (t->stuck)
			t->stuck(t);
	}
	if (!dma)
		return;
	log_warn("a DMA has not completed in time; the device is reset, and outstanding transfers "
		 "fail; if this repeats, restart the device");
	engine_dma_reset(p->engine);
}

uint32_t pump_poll(struct pump *p, uint64_t now_ns)
{
	uint32_t count = dma_dequeue(p, now_ns);
	uint32_t acts = 0;

	expire(p, now_ns);
	while (acts < PUMP_POLL_ACTIONS &&
	       (act(p, now_ns) || ended_report(p) || granted_report(p, now_ns)))
		acts++;
	return count + acts;
}

bool pump_help(struct pump *p)
{
	return p->dma_count > 0 && engine_dma_help(p->engine);
}

uint64_t pump_deadline(const struct pump *p)
{
	return bridge_deadline(p->bridge);
}

/* False: the device does not complete them, and keeps the memory of the rings. */
static bool dma_end_all(struct pump *p)
{
	uint64_t now_ns = clock_now_ns(), until_ns = now_ns + PUMP_RESET_NS;
	struct timespec pause = {.tv_nsec = PUMP_PAUSE_NS};

	if (p->dma_count > 0)
		engine_dma_reset(p->engine);
	while (p->dma_count > 0 && now_ns < until_ns) {
		if (dma_dequeue(p, now_ns) == 0)
			nanosleep(&pause, NULL);
		now_ns = clock_now_ns();
	}
	if (p->dma_count == 0)
		return true;
	log_error("the device does not complete its DMAs after a reset; %llu KiB of buffers stay "
		  "in use; restart this program, and if that does not help, the device",
		  (unsigned long long)(2 * p->to_device.bytes >> 10));
	while (p->dma_count > 0)
		bridge_done(p->bridge, p->dmas[--p->dma_count], DXP_EDEVICE, now_ns);
	return false;
}

void pump_destroy(struct pump *p, int status)
{
	if (!p)
		return;
	bridge_cancel_all(p->bridge, status);
	bool memory_free = dma_end_all(p);
	while (ended_report(p)) {
	}
	bridge_destroy(p->bridge);
	if (memory_free) {
		pump_memory_unmap(p->engine, &p->to_device);
		pump_memory_unmap(p->engine, &p->from_device);
	}
	free(p);
}
