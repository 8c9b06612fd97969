/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA of CUDA devices: a stream per direction, separate from the kernels' stream, and an event
 * after each DMA.
 *
 *  Per stream, a thread waits for the events. cuLaunchHostFunc would need no thread, but leaves a
 *  gap between copies, and does not call its function after a context failure. */
#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/cuda_engine.h"
#include "engine/limits.h"

static struct engine_cuda *cuda_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_cuda, engine);
}

/* Copies through the bounce buffer, from the end that would be overwritten first. *copies: accepted
 * by the driver. */
static int overlap_copies(struct engine_cuda *c, uint64_t from, uint64_t to, uint64_t bytes,
			  unsigned *copies)
{
	struct cuda_stream *stream = c->streams[0];
	int error = CUDA_OK;

	for (uint64_t done = 0; done < bytes && error == CUDA_OK;) {
		uint64_t part = min_u64(bytes - done, FLIGHT_BOUNCE_BYTES);
		uint64_t at = to < from ? done : bytes - done - part;
		error = c->cu->cuMemcpyDtoDAsync_v2(c->bounce, from + at, part, stream);
		*copies += error == CUDA_OK;
		if (error == CUDA_OK)
			error = c->cu->cuMemcpyDtoDAsync_v2(to + at, c->bounce, part, stream);
		done += part;
	}
	return error;
}

static int copies_enqueue(struct engine_cuda *c, const struct engine_dma *dma, unsigned *copies)
{
	uint64_t from = c->memory + dma->from, to = c->memory + dma->to;
	int error;

	if (dma->kind == ENGINE_DMA_COPY && from < to + dma->bytes && to < from + dma->bytes)
		return overlap_copies(c, from, to, dma->bytes, copies);
	if (dma->kind == ENGINE_DMA_IN)
		error = c->cu->cuMemcpyHtoDAsync_v2(to, dma->source, dma->bytes, c->streams[0]);
	else if (dma->kind == ENGINE_DMA_OUT)
		error = c->cu->cuMemcpyDtoHAsync_v2(dma->sink, from, dma->bytes, c->streams[1]);
	else
		error = c->cu->cuMemcpyDtoDAsync_v2(to, from, dma->bytes, c->streams[0]);
	*copies += error == CUDA_OK;
	return error;
}

/* Records an event behind the stream's commands. On failure, waits for the stream, because accepted
 * copies must complete before an error is reported. */
static int event_record(struct engine_cuda *c, struct cuda_event *event, struct cuda_stream *stream)
{
	int error = c->cu->cuEventRecord(event, stream);

	if (error != CUDA_OK)
		c->cu->cuStreamSynchronize(stream);
	return error;
}

static void dma_launch(struct engine_cuda *c, const struct engine_dma *dma, struct flight *f)
{
	struct cuda_event *event = NULL;
	unsigned copies = 0;
	int error = c->cu->cuEventCreate(&event, CUDA_EVENT_BLOCKING | CUDA_EVENT_NO_TIMING);

	if (error == CUDA_OK)
		error = copies_enqueue(c, dma, &copies);
	if (copies > 0) {
		int end = event_record(c, event, c->streams[dma->kind == ENGINE_DMA_OUT]);
		error = error == CUDA_OK ? end : error;
		flight_launch(f, event, error != CUDA_OK, false);
	} else {
		if (event)
			c->cu->cuEventDestroy_v2(event);
		flight_abandon(f);
	}
	if (error == CUDA_OK)
		return;
	cuda_check(c, error);
	log_warn("CUDA device '%s' rejects a DMA of %llu bytes: %s (%d); if this repeats, restart "
		 "dxpd",
		 c->name, (unsigned long long)dma->bytes, cuda_error_text(c->cu, error), error);
}

int cuda_dma_start(struct engine *e, const struct engine_dma *dma)
{
	struct engine_cuda *c = cuda_of(e);
	struct flight *f;

	if (dma->kind == ENGINE_DMA_THROUGH)
		return DXP_EUNSUPPORTED;
	if ((dma->kind != ENGINE_DMA_OUT && !cuda_range_fits(c, dma->to, dma->bytes)) ||
	    (dma->kind != ENGINE_DMA_IN && !cuda_range_fits(c, dma->from, dma->bytes)))
		return DXP_ERANGE;
	int status = cuda_enter(c, NULL);
	if (status == DXP_OK)
		status = flight_begin(c->flights, dma->kind == ENGINE_DMA_OUT, dma->id, &f);
	if (status == DXP_OK)
		dma_launch(c, dma, f);
	return status;
}

/* Waits for a copy. After a sticky error, all commands have ended. After another error, the state
 * of the copy is unknown (DXP_EAGAIN). */
static int event_wait(void *driver, void *command)
{
	struct engine_cuda *c = driver;

	/* per thread; setting it again has no effect */
	c->cu->cuCtxSetCurrent(c->context);
	int error = c->cu->cuEventSynchronize(command);
	cuda_check(c, error);
	return error == CUDA_OK ? DXP_OK : cuda_error_sticky(error) ? DXP_EDEVICE : DXP_EAGAIN;
}

static void event_drop(void *driver, void *command)
{
	struct engine_cuda *c = driver;

	c->cu->cuCtxSetCurrent(c->context);
	c->cu->cuEventDestroy_v2(command);
}

/* PORTABLE locks the pages for all contexts, also of other slots' devices. */
int cuda_pin(struct engine *e, void *base, uint64_t bytes)
{
	struct engine_cuda *c = cuda_of(e);
	int status = cuda_enter(c, NULL);

	if (status != DXP_OK)
		return DXP_EIO;
	int error = c->cu->cuMemHostRegister_v2(base, bytes, CUDA_HOST_PORTABLE);
	if (error == CUDA_OK)
		return DXP_OK;
	log_error("CUDA cannot lock %llu KiB of host memory: %s (%d); raise the limit (ulimit -l) "
		  "or use fewer or smaller buffers",
		  (unsigned long long)(bytes >> 10), cuda_error_text(c->cu, error), error);
	return cuda_check(c, error) == DXP_ENOMEM ? DXP_ENOMEM : DXP_EIO;
}

void cuda_unpin(struct engine *e, void *base)
{
	struct engine_cuda *c = cuda_of(e);

	if (cuda_enter(c, NULL) == DXP_OK)
		cuda_check(c, c->cu->cuMemHostUnregister(base));
}

static void streams_destroy(struct engine_cuda *c)
{
	if (c->stream)
		c->cu->cuStreamDestroy_v2(c->stream);
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
		if (c->streams[q])
			c->cu->cuStreamDestroy_v2(c->streams[q]);
}

static int streams_create(struct engine_cuda *c)
{
	int error = c->cu->cuStreamCreate(&c->stream, CUDA_STREAM_NON_BLOCKING);

	for (uint32_t q = 0; error == CUDA_OK && q < FLIGHT_QUEUES; q++)
		error = c->cu->cuStreamCreate(&c->streams[q], CUDA_STREAM_NON_BLOCKING);
	if (error == CUDA_OK)
		return DXP_OK;
	log_error("cannot create a stream on CUDA device '%s': %s (%d); check whether many "
		  "programs use it",
		  c->name, cuda_error_text(c->cu, error), error);
	return DXP_EIO;
}

int cuda_dma_create(struct engine_cuda *c, const struct engine_options *options)
{
	const struct flights_options flights = {
		.interrupt = options->interrupt,
		.interrupt_context = options->interrupt_context,
		.driver = c,
		.wait = event_wait,
		.drop = event_drop,
	};
	int status = streams_create(c);

	if (status == DXP_OK)
		status = flights_create(&flights, &c->flights);
	if (status != DXP_OK)
		streams_destroy(c);
	return status;
}

bool cuda_dma_destroy(struct engine_cuda *c)
{
	if (!flights_destroy(c->flights))
		return false;
	streams_destroy(c);
	return true;
}
