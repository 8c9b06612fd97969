/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a kernel: checks sizes, lays out the address space, runs the cores; writes the reason of a
 * failure. */
#include <stdio.h>
#include <string.h>

#include <dxp/device.h>
#include <dxp/status.h>

#include "base/util.h"
#include "engine/ocl_library.h"
#include "engine/rv32_arguments.h"
#include "engine/rv32_engine.h"
#include "engine/rv32_pool.h"
#include "engine/rv32_print.h"
#include "engine/rv32_watch.h"

/* work-items of a work-group by default: of eight warps, some run while others wait at a barrier */
#define GROUP_ITEMS_DEFAULT 256

static int sizes_reject(struct engine_rv32 *r, char text[ENGINE_TEXT_BYTES], const char *kernel,
			const char *what, uint64_t value)
{
	snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': %s (%llu)", kernel, what,
		 (unsigned long long)value);
	r->engine.native = CL_INVALID_WORK_GROUP_SIZE;
	return DXP_EINVAL;
}

/* More warps than a core has. */
static int group_reject(struct engine_rv32 *r, char text[ENGINE_TEXT_BYTES], const char *kernel,
			uint64_t items)
{
	char what[96];

	snprintf(what, sizeof(what), "a work-group has %u work-items at most with warps=%u",
		 r->settings.warps * RV32_LANES, r->settings.warps);
	return sizes_reject(r, text, kernel, what, items);
}

/* Returns the largest divisor of `size` that is not greater than `most`. */
static uint32_t divisor_find(uint64_t size, uint32_t most)
{
	for (uint32_t d = most; d > 1; d--)
		if (size % d == 0)
			return d;
	return 1;
}

/* The size that the caller or the kernel requires; otherwise up to GROUP_ITEMS_DEFAULT, most of
 * them in dimension x. */
static int local_choose(struct engine_rv32 *r, const struct rv32_kernel *k,
			const struct engine_launch *l, struct rv32_launch *out,
			char text[ENGINE_TEXT_BYTES])
{
	const uint32_t most = r->settings.warps * RV32_LANES;
	uint32_t left = (uint32_t)min_u64(GROUP_ITEMS_DEFAULT, most);
	uint64_t items = 1;

	for (int d = 0; d < 3; d++) {
		const uint64_t global = d < l->dimensions ? l->global[d] : 1;
		uint64_t local = d >= l->dimensions ? 1
				 : l->local[0]      ? l->local[d]
				 : k->sizes[0]      ? k->sizes[d]
						    : divisor_find(global, left);
		if (k->sizes[0] && local != k->sizes[d])
			return sizes_reject(r, text, l->kernel,
					    "its text requires another work-group size than",
					    local);
		if (local == 0 || global % local)
			return sizes_reject(r, text, l->kernel,
					    "its work-group size does not divide the global size",
					    global);
		items *= local;
		if (items > most)
			return group_reject(r, text, l->kernel, items);
		out->local[d] = (uint32_t)local;
		out->groups[d] = (uint32_t)(global / local);
		left = left / (uint32_t)min_u64(local, left);
		left = max_u32(left, 1);
	}
	return DXP_OK;
}

static int sizes_set(struct engine_rv32 *r, const struct rv32_kernel *k,
		     const struct engine_launch *l, struct rv32_launch *out,
		     char text[ENGINE_TEXT_BYTES])
{
	int status = engine_sizes_check(l, text);

	if (status != DXP_OK)
		return status;
	out->dimensions = l->dimensions;
	for (int d = 0; d < l->dimensions; d++) {
		if (l->global[d] > UINT32_MAX || l->offset[d] > UINT32_MAX - l->global[d])
			return sizes_reject(
				r, text, l->kernel,
				"ids of a 32-bit device end at 2^32; use a smaller size",
				l->global[d]);
		out->offset[d] = (uint32_t)l->offset[d];
	}
	return local_choose(r, k, l, out, text);
}

static int nic_post(void *context, const struct dxp_descriptor *head, const struct dxp_entry *src,
		    const struct dxp_entry *dst, const void *data)
{
	return dxp_post_lists(context, head, src, dst, data);
}

static int nic_dequeue(void *context, struct dxp_nic_event *event)
{
	return dxp_sent_dequeue(context, event);
}

static uint64_t nic_value(void *context, enum rv32_nic_value which)
{
	struct dxp_window *w = context;

	switch (which) {
	case RV32_NIC_ERROR: return dxp_load_acquire(&w->error);
	case RV32_NIC_PRODUCER: return dxp_load_acquire(&w->producer);
	case RV32_NIC_CONSUMER: return dxp_load_acquire(&w->consumer);
	case RV32_NIC_TOTAL_LOW: return dxp_load_acquire64(&w->total_bytes);
	case RV32_NIC_OWN_NODE: return dxp_load_acquire(&w->node);
	default: return 0;
	}
}

static int symbolize(void *context, uint32_t pc, char *text, size_t bytes)
{
	return rv32_image_position(context, pc, text, bytes);
}

static void failure_report(const struct engine_rv32 *r, const struct engine_launch *l,
			   const struct rv32_result *result, const struct rv32_print *print,
			   char text[ENGINE_TEXT_BYTES])
{
	const struct rv32_trap *t = &result->trap;
	struct rv32_image *image = l->program->image;
	char where[96];

	if (t->kind == RV32_TRAP_STOPPED && result->timed_out) {
		symbolize(image, t->pc, where, sizeof(where));
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.40s': still running after %u s and %.3g instructions; last at "
			 "%.50s, work-item (%u,%u,%u); split it, or raise limit= of --engine rv32",
			 l->kernel, r->settings.limit_s, (double)result->counters.instructions,
			 where, t->item[0], t->item[1], t->item[2]);
	} else if (t->kind == RV32_TRAP_ABORT && print->wrong[0]) {
		symbolize(image, t->pc, where, sizeof(where));
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.40s', work-item (%u,%u,%u): %.90s; %.50s", l->kernel,
			 t->item[0], t->item[1], t->item[2], print->wrong, where);
	} else {
		rv32_trap_format(t, l->kernel, symbolize, image, text, ENGINE_TEXT_BYTES);
	}
}

/* Once per core. */
static int codes_make(struct engine_rv32 *r, struct engine_program *p, uint32_t cores)
{
	for (uint32_t i = 0; i < cores; i++) {
		if (!p->codes[i])
			p->codes[i] = rv32_code_create(p->image->code, p->image->code_words,
						       RV32_CODE_BASE, r->settings.build);
		if (!p->codes[i])
			return DXP_ENOMEM;
	}
	return DXP_OK;
}

static uint32_t cores_of(const struct engine_rv32 *r, const struct rv32_launch *l)
{
	const uint64_t groups = (uint64_t)l->groups[0] * l->groups[1];

	return groups > UINT32_MAX ? r->settings.cores
				   : (uint32_t)min_u64(r->settings.cores, groups * l->groups[2]);
}

/* Runs a launch on the pool, with the observers that the settings and the program request. */
static int pool_run(struct engine_rv32 *r, const struct engine_launch *l,
		    struct rv32_launch *launch, uint32_t cores, struct rv32_result *result)
{
	struct rv32_watches watches;
	int status = rv32_watch_begin(r, l, cores, launch, &watches);

	if (status != DXP_OK)
		return status;
	status = rv32_pool_run(r->pool, launch, l->program->codes,
			       launch->trace ? watches.contexts : NULL, cores, result);
	r->counters = result->counters;
	l->program->launches += l->program->profiled;
	rv32_watch_end(r, l, &watches, status);
	return status;
}

static int launch_run(struct engine_rv32 *r, const struct rv32_kernel *k,
		      const struct engine_launch *l, struct rv32_launch *launch,
		      const struct rv32_space_map *map, char text[ENGINE_TEXT_BYTES])
{
	struct rv32_nic nic = {map->window, nic_post, nic_dequeue, nic_value};
	struct rv32_print print;
	struct rv32_result result;
	const uint32_t cores = cores_of(r, launch);
	int status = codes_make(r, l->program, cores);

	if (status != DXP_OK)
		return status;
	rv32_print_open(&print);
	launch->segments = map->segments;
	launch->segment_count = map->count;
	launch->entry = k->entry;
	launch->arguments = RV32_ARGUMENT_BASE;
	launch->local_bytes = map->local_bytes;
	launch->private_bytes = r->settings.private_bytes;
	launch->ecall = rv32_print_ecall;
	launch->ecall_context = &print;
	launch->nic = map->window ? &nic : NULL;
	status = pool_run(r, l, launch, cores, &result);
	rv32_print_close(&print);
	if (status == DXP_EDEVICE) {
		failure_report(r, l, &result, &print, text);
		r->engine.native = CL_OUT_OF_RESOURCES;
	} else if (status == DXP_EINVAL) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s': the core rejects its sizes or memory; report this as "
			 "a bug",
			 l->kernel);
	}
	return status;
}

int rv32_run(struct engine *e, const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	struct engine_rv32 *r = rv32_of(e);
	struct rv32_launch launch = {0};
	struct rv32_space_map map;
	const struct rv32_image *image = l->program->image;
	const struct rv32_kernel *k = image ? rv32_image_kernel(image, l->kernel) : NULL;

	if (!k) {
		snprintf(text, ENGINE_TEXT_BYTES, "the program has no kernel '%.100s'%s", l->kernel,
			 image ? "" : "; link it first");
		return DXP_ENOENT;
	}
	int status = sizes_set(r, k, l, &launch, text);
	if (status == DXP_OK)
		status = rv32_arguments_map(r, image, k, l, &map, text);
	return status == DXP_OK ? launch_run(r, k, l, &launch, &map, text) : status;
}
