/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/board.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/board_kernel.h"

/* DXP_EINVAL: 0 bytes; DXP_ENOMEM: logged. */
static int board_memory_get(uint64_t bytes, uint8_t **out)
{
	if (bytes == 0)
		return DXP_EINVAL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		log_error("cannot map %llu MiB of a board's memory: %s; use a smaller --memory",
			  (unsigned long long)(bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	/* Child processes need no copy, and huge pages make the first use faster. */
	madvise(memory, bytes, MADV_DONTFORK);
	madvise(memory, bytes, MADV_HUGEPAGE);
	*out = memory;
	return DXP_OK;
}

static void board_memory_put(uint8_t *memory, uint64_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

struct engine_board *engine_board_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_board, engine);
}

static int board_build(struct engine *e, const struct engine_source *source,
		       struct engine_program **program, char **log)
{
	struct engine *compute = engine_board_of(e)->compute;

	if (!compute)
		return DXP_EUNSUPPORTED;
	int status = engine_build(compute, source, program, log);
	e->native = compute->native;
	return status;
}

static void board_release(struct engine *e, struct engine_program *program)
{
	engine_release(engine_board_of(e)->compute, program);
}

/* Converts a board address to a pointer. The NIC's window is in host memory, which kernels reach
 * over the board's bus. */
static int argument_address(const struct engine_board *b, const struct engine_launch *l, uint32_t i,
			    struct engine_argument *a, char text[ENGINE_TEXT_BYTES])
{
	if ((a->kind != COMMAND_ARG_BUFFER && a->kind != COMMAND_ARG_IMAGE) ||
	    a->address == ENGINE_NO_ADDRESS)
		return DXP_OK;
	if (a->memory_bytes > b->memory_bytes || a->address > b->memory_bytes - a->memory_bytes) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: %llu bytes at %#llx are outside the board's "
			 "memory",
			 l->kernel, i, (unsigned long long)a->memory_bytes,
			 (unsigned long long)a->address);
		return DXP_EINVAL;
	}
	a->memory = b->memory + a->address;
	return DXP_OK;
}

static int board_run(struct engine *e, const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	const struct engine_board *b = engine_board_of(e);
	struct engine_launch inside = *l;

	if (!b->compute) {
		snprintf(
			text, ENGINE_TEXT_BYTES,
			"this board runs no kernels; remove `compute = none` from its description");
		return DXP_EUNSUPPORTED;
	}
	for (uint32_t i = 0; i < l->argument_count; i++) {
		int status = argument_address(b, l, i, &inside.arguments[i], text);
		if (status != DXP_OK)
			return status;
	}
	int status = engine_run(b->compute, &inside, text);
	e->native = b->compute->native;
	e->cycles = b->compute->cycles;
	return status;
}

static int board_edit(struct engine *e, const struct engine_edit *edit)
{
	struct engine_edit inside = *edit;

	inside.memory = engine_board_of(e)->memory;
	inside.memory_bytes = engine_board_of(e)->memory_bytes;
	return engine_edit_in_place(&inside);
}

static int board_fetch(struct engine *e, struct engine_program *program, uint8_t what,
		       uint8_t **out, size_t *bytes)
{
	struct engine *compute = engine_board_of(e)->compute;

	return compute ? engine_fetch(compute, program, what, out, bytes) : DXP_EUNSUPPORTED;
}

static int board_pin(struct engine *e, void *base, uint64_t bytes)
{
	return board_pins_add(&engine_board_of(e)->pins, base, bytes);
}

static void board_unpin(struct engine *e, void *base)
{
	board_pins_remove(&engine_board_of(e)->pins, base);
}

static int board_start(struct engine *e, const struct engine_dma *dma)
{
	return board_dma_start(engine_board_of(e)->dma, dma);
}

static uint32_t board_dequeue(struct engine *e, struct engine_dma_end *out, uint32_t count)
{
	return board_dma_dequeue(engine_board_of(e)->dma, out, count);
}

static bool board_help(struct engine *e)
{
	return board_dma_help(engine_board_of(e)->dma);
}

static void board_reset(struct engine *e)
{
	board_dma_reset(engine_board_of(e)->dma);
}

static int core_set(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand)
{
	const struct board_core_task task = {core, operand};

	return board_core_set(engine_board_of(e)->core, owner, &task);
}

static void core_drop(struct engine *e, uint32_t owner)
{
	board_core_drop(engine_board_of(e)->core, owner);
}

static void core_get(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
		     uint64_t *result)
{
	struct board_core_task task;

	board_core_get(engine_board_of(e)->core, owner, &task, result);
	*core = task.core;
	*operand = task.operand;
}

static void board_describe(const struct engine *e, struct engine_description *out)
{
	const struct engine_board *b = engine_board_of(e);
	struct engine_description inside = {0};

	if (b->compute)
		engine_describe(b->compute, &inside);
	*out = (struct engine_description){.kind = ENGINE_BOARD,
					   .name = "board",
					   .compute_units = inside.compute_units,
					   .memory_kind = DXP_MEMORY_BRIDGED,
					   .streams = true,
					   .reaches_host = inside.reaches_host};
	snprintf(out->device, sizeof(out->device), "%s", b->device);
}

static void board_close(struct engine *e)
{
	struct engine_board *b = engine_board_of(e);

	board_dma_destroy(b->dma); /* first: its threads use all other parts */
	board_core_destroy(b->core);
	engine_close(b->compute);
	board_pins_clear(&b->pins);
	board_memory_put(b->memory, b->memory_bytes);
	free(b);
}

static const struct engine_ops board_ops = {
	.build = board_build,
	.release = board_release,
	.run = board_run,
	.fetch = board_fetch,
	.edit = board_edit,
	.describe = board_describe,
	.close = board_close,
	.pin = board_pin,
	.unpin = board_unpin,
	.dma_start = board_start,
	.dma_dequeue = board_dequeue,
	.dma_help = board_help,
	.dma_reset = board_reset,
	.core_set = core_set,
	.core_get = core_get,
	.core_drop = core_drop,
};

/* Opens the inner engine, in place in the board's memory. Without a configured engine and an OpenCL
 * CPU device, the board runs no kernels. */
static int compute_open(struct engine_board *b, const char *cache_folder, engine_opener opener)
{
	bool chosen = b->config.compute[0] != '\0';
	struct engine_options options = {.name = chosen ? b->config.compute : "ocl",
					 .cache_folder = cache_folder,
					 .memory = b->memory,
					 .memory_bytes = b->memory_bytes};

	if (strcmp(options.name, BOARD_COMPUTE_NONE) == 0)
		return DXP_OK;
	log_soften(!chosen);
	int status = board_engine_open(&options, opener, &b->compute);
	log_soften(false);
	if (status == DXP_OK || chosen)
		return status;
	if (status != DXP_EUNSUPPORTED) {
		log_error(
			"cannot open the engine for the kernels of a board: %s; DXP_LOG=info logs "
			"the reason; `compute = none` in the board's file runs it without kernels",
			dxp_status_text(status));
		return status;
	}
	log_warn("the board runs no kernels, because there is no OpenCL CPU device (DXP_LOG=info "
		 "logs more); `compute = none` in its file avoids this warning");
	return DXP_OK;
}

static void rates_write(const struct board_config *c, char *out, size_t bytes)
{
	if (c->to_device == 0 && c->from_device == 0)
		snprintf(out, bytes, "PCIe unlimited");
	else if (c->to_device == c->from_device)
		snprintf(out, bytes, "PCIe %u MB/s", (unsigned)c->to_device);
	else
		snprintf(out, bytes, "PCIe %u/%u MB/s", (unsigned)c->to_device,
			 (unsigned)c->from_device);
}

static void device_name(struct engine_board *b)
{
	static const char *const cores[] = {"pass", "add", "checksum", "kernel"};
	struct engine_description compute = {.device = "none"};
	char rates[32];

	if (b->compute)
		engine_describe(b->compute, &compute);
	rates_write(&b->config, rates, sizeof(rates));
	snprintf(b->device, sizeof(b->device), "%.15s, %s, core %s, compute %.20s",
		 b->config.preset, rates, cores[b->config.core], compute.device);
}

static int parts_open(struct engine_board *b, const struct engine_options *options,
		      engine_opener opener)
{
	int status = board_memory_get(b->memory_bytes, &b->memory);

	if (status == DXP_OK)
		status = compute_open(b, options->cache_folder, opener);
	if (status == DXP_OK)
		status = board_core_create(&b->config, options->cache_folder, opener, &b->core);
	struct board_dma_options dma = {
		.config = &b->config,
		.core = b->core,
		.memory = b->memory,
		.memory_bytes = b->memory_bytes,
		.interrupt = options->interrupt,
		.interrupt_context = options->interrupt_context,
	};
	return status == DXP_OK ? board_dma_create(&dma, &b->dma) : status;
}

int engine_board_open(const struct engine_options *options, const char *name, engine_opener opener,
		      struct engine **out)
{
	struct engine_board *b = calloc(1, sizeof(*b));

	if (!b)
		return DXP_ENOMEM;
	b->engine.ops = &board_ops;
	b->memory_bytes = options->memory_bytes;
	int status = board_config_load(name, &b->config);
	if (status == DXP_OK)
		status = parts_open(b, options, opener);
	if (status != DXP_OK) {
		board_close(&b->engine);
		return status;
	}
	device_name(b);
	*out = &b->engine;
	return DXP_OK;
}
