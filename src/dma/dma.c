/* SPDX-License-Identifier: BSD-3-Clause */
/* Local DMA: opens, describes, resets and closes a device. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "dma/internal.h"

#define MEMORY_BYTES (256ull << 20) /* device memory by default */

_Static_assert((int)DXP_CORE_KERNEL == (int)ENGINE_CORE_KERNEL, "the same numbers");

static void interrupt(void *dma)
{
	dma_doze_ring(&((struct dxp_dma *)dma)->doze);
}

static int check_options(const struct dxp_dma_options *o)
{
	if (o->buffers > BRIDGE_BUFFERS_MAX)
		return error_set(DXP_EINVAL, "dma: `buffers` is %u; use 1 to %u", o->buffers,
				 BRIDGE_BUFFERS_MAX);
	if (o->buffer_bytes &&
	    (o->buffer_bytes < BRIDGE_BUFFER_MIN || o->buffer_bytes > BRIDGE_BUFFER_MAX ||
	     o->buffer_bytes % BRIDGE_BUFFER_MIN))
		return error_set(DXP_EINVAL,
				 "dma: `buffer_bytes` is %u; use a multiple of 4096 up to %u",
				 o->buffer_bytes, BRIDGE_BUFFER_MAX);
	if (o->memory_bytes % 4096 || o->memory_bytes > INT64_MAX)
		return error_set(DXP_EINVAL, "dma: `memory_bytes` is %llu; use a multiple of 4096",
				 (unsigned long long)o->memory_bytes);
	return DXP_OK;
}

static int engine_error(int status, const char *name)
{
	switch (status) {
	case DXP_EINVAL:
		return error_set(status,
				 "dma: unknown engine, preset or file '%s'; use board, "
				 "board:PRESET, board:FILE, or ocl, ocl+bridged, cuda, each also "
				 "with :PART of a device's name",
				 name);
	case DXP_EUNSUPPORTED:
		return error_set(status,
				 "dma: this machine has no device for the engine '%s'; `dxp "
				 "doctor` lists what each engine needs",
				 name);
	default: return error_set(status, "dma: engine '%s': %s", name, dxp_status_text(status));
	}
}

static int device_open(struct dxp_dma *d, const char *name)
{
	struct engine_options options = {.name = name,
					 .memory_bytes = d->memory_bytes,
					 .interrupt = interrupt,
					 .interrupt_context = d};

	/* Addresses for engines that use host memory; untouched ones take no memory. */
	void *memory = mmap(NULL, d->memory_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(
			DXP_ENOMEM,
			"dma: cannot map %llu bytes of addresses; use a smaller `memory_bytes`",
			(unsigned long long)d->memory_bytes);
	options.memory = d->memory = memory;
	int status = engine_open(&options, &d->engine);
	if (status != DXP_OK)
		return engine_error(status, name);
	engine_describe(d->engine, &d->description);
	d->pins.engine = d->engine;
	if (d->description.memory_kind != DXP_MEMORY_BRIDGED)
		return error_set(DXP_EUNSUPPORTED,
				 "dma: the memory of engine '%s' is memory of this program; use it "
				 "directly, without DMA",
				 name);
	return DXP_OK;
}

static int thread_start(struct dxp_dma *d)
{
	sigset_t all, old;

	/* The program's own threads handle all signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	d->started = pthread_create(&d->thread, NULL, dma_thread_main, d) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return d->started
		       ? DXP_OK
		       : error_set(DXP_ENOMEM, "dma: cannot start a thread; raise \"ulimit -u\"");
}

/* 0: the short time was not enough; pump_create() then measures longer and logs the result. */
static uint32_t buffer_bytes_measured(struct dxp_dma *d)
{
	struct bridge_rate rows[DMA_RATES_MAX];
	size_t count =
		pump_measure(d->engine, d->memory_bytes, DMA_MEASURE_NS, rows, ARRAY_COUNT(rows));
	size_t row = pump_choose(rows, count);

	return row < count ? rows[row].buffer_bytes : 0;
}

static int pump_open(struct dxp_dma *d, const struct dxp_dma_options *o)
{
	const struct pump_options options = {
		.engine = d->engine,
		.buffers = o->buffers,
		.buffer_bytes = o->buffer_bytes ? o->buffer_bytes : buffer_bytes_measured(d),
		.memory_bytes = d->memory_bytes};
	int status = pump_create(&options, &d->pump);

	if (status != DXP_OK)
		return error_set(status, "dma: cannot create the rings of buffers: %s",
				 dxp_status_text(status));
	return thread_start(d);
}

int dxp_dma_open(const struct dxp_dma_options *options, struct dxp_dma **out)
{
	static const struct dxp_dma_options defaults;
	const struct dxp_dma_options *o = options ? options : &defaults;
	int status = check_options(o);

	if (status != DXP_OK)
		return status;
	struct dxp_dma *d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(DXP_ENOMEM, "out of memory");
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->rare, NULL);
	dma_doze_init(&d->doze);
	spin_init(&d->spin, DMA_SPIN_NS);
	list_init(&d->calls);
	list_init(&d->fresh);
	list_init(&d->transfers);
	list_init(&d->idle);
	d->memory_bytes = o->memory_bytes ? o->memory_bytes : MEMORY_BYTES;
	status = device_open(d, o->engine ? o->engine : "board");
	if (status == DXP_OK)
		status = pump_open(d, o);
	if (status != DXP_OK) {
		dxp_dma_close(d);
		return status;
	}
	*out = d;
	return DXP_OK;
}

/* Completes all transfers with DXP_ECLOSED, and waits until no thread waits for them. Caller holds
 * the lock. */
static void transfers_close(struct dxp_dma *d)
{
	while (list_used(&d->fresh)) {
		struct dxp_dma_transfer *t =
			CONTAINER_OF(d->fresh.next, struct dxp_dma_transfer, fresh);
		list_remove(&t->fresh);
		dma_transfer_end(t, DXP_ECLOSED);
	}
	pump_destroy(d->pump, DXP_ECLOSED);
	while (list_used(&d->transfers)) {
		struct dxp_dma_transfer *t =
			CONTAINER_OF(d->transfers.next, struct dxp_dma_transfer, link);
		list_remove(&t->link);
		dma_transfer_part(t);
	}
	while (d->waiting)
		pthread_cond_wait(&d->rare, &d->lock);
}

void dxp_dma_close(struct dxp_dma *dma)
{
	if (!dma)
		return;
	pthread_mutex_lock(&dma->lock);
	dma->closing = true;
	pthread_mutex_unlock(&dma->lock);
	dma_doze_ring(&dma->doze);
	if (dma->started)
		pthread_join(dma->thread, NULL);
	pthread_mutex_lock(&dma->lock);
	if (dma->pump)
		transfers_close(dma);
	pthread_mutex_unlock(&dma->lock);
	if (dma->engine) {
		pins_clear(&dma->pins);
		engine_close(dma->engine);
	}
	if (dma->memory)
		munmap(dma->memory, dma->memory_bytes);
	dma_doze_destroy(&dma->doze);
	pthread_cond_destroy(&dma->rare);
	pthread_mutex_destroy(&dma->lock);
	free(dma);
}

void dxp_dma_caps(const struct dxp_dma *dma, struct dxp_dma_caps *out)
{
	const struct bridge *b = pump_bridge(dma->pump);

	*out = (struct dxp_dma_caps){.memory_bytes = dma->memory_bytes,
				     .buffers = bridge_buffers(b),
				     .buffer_bytes = bridge_buffer_bytes(b),
				     .streams = dma->description.streams};
	snprintf(out->engine, sizeof(out->engine), "%s", dma->description.name);
	snprintf(out->device, sizeof(out->device), "%s", dma->description.device);
}

/* ---- run by the device's thread ---- */

static int reset(struct dxp_dma *d, void *context)
{
	struct list *next;

	for (struct list *l = d->transfers.next; l != &d->transfers; l = next) {
		struct dxp_dma_transfer *t = CONTAINER_OF(l, struct dxp_dma_transfer, link);
		next = l->next;
		if (list_used(&t->fresh)) {
			list_remove(&t->fresh);
			dma_transfer_end(t, DXP_EDEVICE);
		} else if (t->pumped) {
			pump_cancel(d->pump, &t->pump, DXP_EDEVICE);
		}
	}
	engine_dma_reset(d->engine);
	return DXP_OK;
}

int dxp_dma_reset(struct dxp_dma *dma)
{
	return dma_call(dma, reset, NULL);
}

struct range {
	void *base;
	uint64_t bytes;
};

static int keep(struct dxp_dma *d, void *context)
{
	const struct range *r = context;

	return pins_keep(&d->pins, r->base, r->bytes);
}

int dxp_dma_pin(struct dxp_dma *dma, void *base, uint64_t bytes)
{
	struct range r = {base, bytes};

	if (!base || bytes == 0 || (uintptr_t)base + bytes < (uintptr_t)base)
		return error_set(DXP_EINVAL,
				 "dma: %llu bytes at %p cannot be pinned; the address and the "
				 "length must not be 0",
				 (unsigned long long)bytes, base);
	int status = dma_call(dma, keep, &r);
	switch (status) {
	case DXP_OK: return status;
	case DXP_EEXIST:
		return error_set(status,
				 "dma: the memory at %p is already pinned, or a transfer uses it",
				 base);
	case DXP_EBUSY:
		return error_set(status, "dma: %u ranges are pinned; unpin some", DMA_PINS_MAX);
	default:
		return error_set(status, "dma: cannot pin %llu bytes at %p: %s; see \"ulimit -l\"",
				 (unsigned long long)bytes, base, dxp_status_text(status));
	}
}

static int release(struct dxp_dma *d, void *base)
{
	return pins_release(&d->pins, base);
}

int dxp_dma_unpin(struct dxp_dma *dma, void *base)
{
	int status = dma_call(dma, release, base);

	if (status == DXP_ENOENT)
		error_set(status, "dma: nothing is pinned at %p", base);
	if (status == DXP_EBUSY)
		error_set(status, "dma: a transfer uses the memory at %p; wait for it", base);
	return status;
}

struct core_values {
	uint32_t core, operand;
	uint64_t result;
};

static int core_set(struct dxp_dma *d, void *context)
{
	const struct core_values *v = context;

	return engine_core_set(d->engine, 0, v->core, v->operand);
}

static int core_get(struct dxp_dma *d, void *context)
{
	struct core_values *v = context;

	engine_core_get(d->engine, 0, &v->core, &v->operand, &v->result);
	return DXP_OK;
}

static int no_core(const struct dxp_dma *d)
{
	return error_set(DXP_EUNSUPPORTED, "dma: engine '%s' has no stream core; use 'board'",
			 d->description.name);
}

int dxp_dma_core_set(struct dxp_dma *dma, enum dxp_core core, uint32_t operand)
{
	struct core_values v = {.core = (uint32_t)core, .operand = operand};

	if (!dma->description.streams)
		return no_core(dma);
	int status = dma_call(dma, core_set, &v);
	if (status != DXP_OK)
		error_set(status,
			  "dma: the board has no core %u; a kernel core must be in the board's "
			  "description (docs/guide/bridge.md)",
			  v.core);
	return status;
}

int dxp_dma_core_get(struct dxp_dma *dma, enum dxp_core *core, uint32_t *operand, uint64_t *result)
{
	struct core_values v;

	if (!dma->description.streams)
		return no_core(dma);
	dma_call(dma, core_get, &v);
	*core = (enum dxp_core)v.core;
	*operand = v.operand;
	*result = v.result;
	return DXP_OK;
}
