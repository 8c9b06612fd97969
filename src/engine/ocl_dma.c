/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA of OpenCL devices: a queue per direction, separate from the kernels' queue, non-blocking
 * commands, and a callback on the event.
 *
 * A DMA that crosses chunks of device memory or overlaps itself is several commands, each waiting
 * for the one before, so the last event has the status of all.
 *
 * OpenCL cannot lock existing memory. A mapped buffer over it (USE_HOST_PTR) is a hint: some
 * drivers lock its pages and recognise its addresses, others copy through their own memory, which
 * is slower. Memory of the driver would always be pinned, but the NIC must use the rings too. */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/ocl_engine.h"

struct ocl_pin {
	struct ocl_pin *next;
	void *base;
	cl_mem buffer;
};

/* The commands of one DMA, in order. */
struct chain {
	const struct ocl_library *cl;
	cl_command_queue queue;
	cl_event last; /* NULL: no command yet */
	cl_int error;
};

static void chain_add(struct chain *c, cl_int error, cl_event event)
{
	c->error = error;
	if (error != CL_SUCCESS)
		return;
	if (c->last)
		c->cl->clReleaseEvent(c->last);
	c->last = event;
}

static void host_copy(struct chain *c, const struct ocl_range *range, uint8_t *host, bool in)
{
	cl_uint waits = c->last ? 1 : 0;
	const cl_event *wait = c->last ? &c->last : NULL;
	cl_event event = NULL;
	cl_int error;

	if (in)
		error = c->cl->clEnqueueWriteBuffer(c->queue, range->chunk, CL_FALSE, range->offset,
						    range->bytes, host, waits, wait, &event);
	else
		error = c->cl->clEnqueueReadBuffer(c->queue, range->chunk, CL_FALSE, range->offset,
						   range->bytes, host, waits, wait, &event);
	chain_add(c, error, event);
}

static void host_copies(struct chain *c, const struct ocl_memory *m, uint64_t address,
			uint8_t *host, uint64_t bytes, bool in)
{
	while (bytes > 0 && c->error == CL_SUCCESS) {
		struct ocl_range range = ocl_memory_range(m, address, bytes);
		host_copy(c, &range, host, in);
		address += range.bytes;
		host += range.bytes;
		bytes -= range.bytes;
	}
}

static void device_copy(struct chain *c, cl_mem from, uint64_t from_offset, cl_mem to,
			uint64_t to_offset, uint64_t bytes)
{
	cl_event event = NULL;
	cl_int error =
		c->cl->clEnqueueCopyBuffer(c->queue, from, to, from_offset, to_offset, bytes,
					   c->last ? 1 : 0, c->last ? &c->last : NULL, &event);

	chain_add(c, error, event);
}

/* Ranges that do not overlap. */
static void apart_copies(struct chain *c, const struct ocl_memory *m, uint64_t from, uint64_t to,
			 uint64_t bytes)
{
	while (bytes > 0 && c->error == CL_SUCCESS) {
		struct ocl_range a = ocl_memory_range(m, from, bytes);
		struct ocl_range b = ocl_memory_range(m, to, a.bytes);
		device_copy(c, a.chunk, a.offset, b.chunk, b.offset, b.bytes);
		from += b.bytes;
		to += b.bytes;
		bytes -= b.bytes;
	}
}

/* Copies at most FLIGHT_BOUNCE_BYTES through the bounce buffer. */
static void bounce_copy(struct chain *c, const struct ocl_memory *m, uint64_t from, uint64_t to,
			uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes && c->error == CL_SUCCESS;) {
		struct ocl_range p = ocl_memory_range(m, from + at, bytes - at);
		device_copy(c, p.chunk, p.offset, m->bounce, at, p.bytes);
		at += p.bytes;
	}
	for (uint64_t at = 0; at < bytes && c->error == CL_SUCCESS;) {
		struct ocl_range p = ocl_memory_range(m, to + at, bytes - at);
		device_copy(c, m->bounce, at, p.chunk, p.offset, p.bytes);
		at += p.bytes;
	}
}

/* Starts at the end whose bytes would be overwritten first. */
static void overlap_copies(struct chain *c, const struct ocl_memory *m, uint64_t from, uint64_t to,
			   uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes && c->error == CL_SUCCESS;) {
		uint64_t part = min_u64(bytes - done, FLIGHT_BOUNCE_BYTES);
		uint64_t at = to < from ? done : bytes - done - part;
		bounce_copy(c, m, from + at, to + at, part);
		done += part;
	}
}

static void commands_enqueue(struct chain *c, const struct ocl_memory *m,
			     const struct engine_dma *dma)
{
	if (dma->kind == ENGINE_DMA_IN)
		host_copies(c, m, dma->to, (uint8_t *)(uintptr_t)dma->source, dma->bytes, true);
	else if (dma->kind == ENGINE_DMA_OUT)
		host_copies(c, m, dma->from, dma->sink, dma->bytes, false);
	else if (dma->from + dma->bytes <= dma->to || dma->to + dma->bytes <= dma->from)
		apart_copies(c, m, dma->from, dma->to, dma->bytes);
	else
		overlap_copies(c, m, dma->from, dma->to, dma->bytes);
}

/* ---- completions ---- */

/* Logs only the first error of a device: later ones are likely the same. */
static void error_report(struct engine_ocl *o, const char *does, cl_int error)
{
	if (!atomic_exchange(&o->bridge->reported, true))
		log_error("OpenCL device '%s' %s a DMA: %s (%d); if this repeats, restart this "
			  "process, and see the device's driver log (dmesg)",
			  ocl_device_name(o->device), does, ocl_error_name(error), error);
}

static int end_status(struct engine_ocl *o, cl_int state)
{
	if (state == CL_COMPLETE)
		return DXP_OK;
	error_report(o, "fails", state);
	return DXP_EDEVICE;
}

static int event_look(void *driver, void *command)
{
	struct engine_ocl *o = driver;
	cl_int state = CL_QUEUED;

	/* If the query fails, the state is unknown: the device may still be writing. */
	if (o->cl->clGetEventInfo(command, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
				  NULL) != CL_SUCCESS)
		return DXP_EAGAIN;
	return state > CL_COMPLETE ? DXP_EAGAIN : end_status(o, state);
}

static void event_drop(void *driver, void *command)
{
	const struct engine_ocl *o = driver;

	o->cl->clReleaseEvent(command);
}

static void CL_CALLBACK event_ended(cl_event event, cl_int state, void *flight)
{
	flight_land(flight, end_status(flight_driver(flight), state));
}

/* Accepted commands must complete before an error is reported. */
static void launch(struct engine_ocl *o, struct flight *f, struct chain *c)
{
	/* A device that works in the calling thread has completed them and needs no callback. */
	int status = event_look(o, c->last);
	cl_event event = c->last;

	flight_launch(f, event, c->error != CL_SUCCESS, true);
	if (status != DXP_EAGAIN)
		flight_land(f, status);
	else if (o->cl->clSetEventCallback(event, CL_COMPLETE, event_ended, f) != CL_SUCCESS)
		flight_no_callback(f);
}

static bool range_fits(const struct ocl_memory *m, uint64_t address, uint64_t bytes)
{
	return bytes > 0 && bytes <= m->bytes && address <= m->bytes - bytes;
}

int ocl_dma_start(struct engine_ocl *o, const struct engine_dma *dma)
{
	struct ocl_bridge *b = o->bridge;
	bool out = dma->kind == ENGINE_DMA_OUT;
	struct flight *f;

	if (dma->kind == ENGINE_DMA_THROUGH)
		return DXP_EUNSUPPORTED;
	if ((!out && !range_fits(&b->memory, dma->to, dma->bytes)) ||
	    (dma->kind != ENGINE_DMA_IN && !range_fits(&b->memory, dma->from, dma->bytes)))
		return DXP_ERANGE;
	int status = flight_begin(b->flights, out, dma->id, &f);
	if (status != DXP_OK)
		return status;
	struct chain c = {.cl = o->cl, .queue = b->queues[out]};
	commands_enqueue(&c, &b->memory, dma);
	if (c.error != CL_SUCCESS)
		error_report(o, "rejects", c.error);
	if (c.last) {
		o->cl->clFlush(c.queue);
		launch(o, f, &c);
	} else {
		flight_abandon(f);
	}
	return DXP_OK;
}

/* ---- host memory ---- */

int ocl_pin(struct engine_ocl *o, void *base, uint64_t bytes)
{
	struct ocl_pin *p = calloc(1, sizeof(*p));
	cl_int error;

	if (!p)
		return DXP_ENOMEM;
	p->base = base;
	p->buffer =
		o->cl->clCreateBuffer(ocl_device_context(o->device),
				      CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, base, &error);
	if (p->buffer)
		o->cl->clEnqueueMapBuffer(o->bridge->queues[0], p->buffer, CL_TRUE,
					  CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL,
					  &error);
	if (error == CL_SUCCESS) {
		p->next = o->bridge->pins;
		o->bridge->pins = p;
		return DXP_OK;
	}
	log_error("OpenCL device '%s' cannot use %llu KiB of host memory: %s (%d); use fewer or "
		  "smaller buffers",
		  ocl_device_name(o->device), (unsigned long long)(bytes >> 10),
		  ocl_error_name(error), error);
	if (p->buffer)
		o->cl->clReleaseMemObject(p->buffer);
	free(p);
	return DXP_EIO;
}

static void pin_release(struct engine_ocl *o, struct ocl_pin *p)
{
	cl_command_queue queue = o->bridge->queues[0];

	if (o->cl->clEnqueueUnmapMemObject(queue, p->buffer, p->base, 0, NULL, NULL) == CL_SUCCESS)
		o->cl->clFinish(queue);
	o->cl->clReleaseMemObject(p->buffer);
	free(p);
}

void ocl_unpin(struct engine_ocl *o, void *base)
{
	for (struct ocl_pin **at = &o->bridge->pins, *p; (p = *at); at = &p->next)
		if (p->base == base) {
			*at = p->next;
			pin_release(o, p);
			return;
		}
}

/* ---- create and destroy ---- */

static void queues_release(struct engine_ocl *o)
{
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
		if (o->bridge->queues[q])
			o->cl->clReleaseCommandQueue(o->bridge->queues[q]);
}

static int queues_create(struct engine_ocl *o)
{
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++) {
		cl_int error;
		o->bridge->queues[q] = o->cl->clCreateCommandQueue(
			ocl_device_context(o->device), ocl_device_id(o->device), 0, &error);
		if (o->bridge->queues[q])
			continue;
		log_error("cannot create a queue for DMA on OpenCL device '%s': %s (%d); check "
			  "whether another program uses it",
			  ocl_device_name(o->device), ocl_error_name(error), error);
		queues_release(o);
		return DXP_EIO;
	}
	return DXP_OK;
}

int ocl_bridge_create(struct engine_ocl *o, const struct engine_options *options)
{
	const struct flights_options flights = {
		.interrupt = options->interrupt,
		.interrupt_context = options->interrupt_context,
		.driver = o,
		.look = event_look,
		.drop = event_drop,
	};
	int status;

	o->bridge = calloc(1, sizeof(*o->bridge));
	if (!o->bridge)
		return DXP_ENOMEM;
	status = queues_create(o);
	if (status != DXP_OK)
		goto bridge_free;
	status = ocl_memory_create(o->device, o->queue, options->memory_bytes, &o->bridge->memory);
	if (status != DXP_OK)
		goto queues_release;
	status = flights_create(&flights, &o->bridge->flights);
	if (status == DXP_OK)
		return DXP_OK;
	ocl_memory_destroy(&o->bridge->memory);
queues_release:
	queues_release(o);
bridge_free:
	free(o->bridge);
	o->bridge = NULL;
	return status;
}

bool ocl_bridge_destroy(struct engine_ocl *o)
{
	if (!flights_destroy(o->bridge->flights)) {
		log_error("OpenCL device '%s' has not completed a DMA; its memory stays allocated "
			  "until this process exits",
			  ocl_device_name(o->device));
		return false;
	}
	while (o->bridge->pins)
		ocl_unpin(o, o->bridge->pins->base);
	ocl_memory_destroy(&o->bridge->memory);
	queues_release(o);
	free(o->bridge);
	o->bridge = NULL;
	return true;
}
