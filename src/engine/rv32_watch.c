/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/about.h>
#include <dxp/status.h>

#include "base/log.h"
#include "rv32/disasm.h"
#include "rv32/profile.h"

static void list(struct rv32_watch *w, uint32_t warp, uint32_t pc, uint32_t mask)
{
	char text[RV32_DISASM_BYTES], where[96];

	w->listed--;
	rv32_disasm(w->image->code[(pc - RV32_CODE_BASE) / 4], pc, text, sizeof(text));
	rv32_image_position(w->image, pc, where, sizeof(where));
	log_info("trace: kernel '%.40s' core %" PRIu32 " warp %" PRIu32 " pc 0x%08" PRIx32
		 " mask %08" PRIx32 "  %s  # %s",
		 w->kernel, w->core, warp, pc, mask, text, where);
}

/* The trace hook. The trap after the last instruction is not part of the program. */
static void observe(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
		    const uint32_t (*registers)[RV32_LANES])
{
	struct rv32_watch *w = context;
	const uint32_t index = (pc - RV32_CODE_BASE) / 4;

	if (index >= w->image->code_words)
		return;
	if (w->count) {
		w->count[index].warp_instructions++;
		w->count[index].instructions += (uint64_t)__builtin_popcount(mask);
	}
	if (w->listed)
		list(w, warp, pc, mask);
	if (w->time)
		rv32_time_trace(w->time, warp, pc, mask, registers);
}

/* Allocates the counts of a program for a core, at its first counted launch. */
static int counts_make(struct engine_program *p, uint32_t core)
{
	if (p->profiled && !p->counts[core])
		p->counts[core] = calloc(p->image->code_words, sizeof(struct rv32_count));
	return p->profiled && !p->counts[core] ? DXP_ENOMEM : DXP_OK;
}

int rv32_watch_begin(struct engine_rv32 *r, const struct engine_launch *l, uint32_t cores,
		     struct rv32_launch *launch, struct rv32_watches *out)
{
	struct engine_program *p = l->program;

	out->time = NULL;
	if (!r->settings.time && !r->settings.listed && !p->profiled)
		return DXP_OK;
	if (r->settings.time) {
		out->time = rv32_time_create(r->settings.time, p->image->code, p->image->code_words,
					     RV32_CODE_BASE);
		if (!out->time)
			return DXP_ENOMEM;
	}
	launch->trace = observe;
	for (uint32_t i = 0; i < cores; i++) {
		int status = counts_make(p, i);
		if (status != DXP_OK) {
			rv32_time_destroy(out->time);
			return status;
		}
		out->watches[i] = (struct rv32_watch){.kernel = l->kernel,
						      .image = p->image,
						      .core = i,
						      .listed = r->settings.listed,
						      .count = p->counts[i],
						      .time = out->time};
		out->contexts[i] = &out->watches[i];
	}
	return DXP_OK;
}

/* Logs the cycles of the model of time, as a range over the assumptions about the memory. */
static void time_report(struct engine_rv32 *r, const struct engine_launch *l,
			const struct rv32_time *time)
{
	struct rv32_time_result t;

	rv32_time_read(time, &t);
	r->engine.cycles = (struct dxp_event_cycles){
		.cycles = t.cycles[RV32_TIME_NOMINAL],
		.cycles_least = t.cycles[RV32_TIME_FAST],
		.cycles_most = t.cycles[RV32_TIME_SLOW],
		.instructions = t.warp_instructions,
		.lines = t.lines,
		.lines_missed = t.lines_missed,
		.cores = r->settings.time->cores,
		.clock_mhz = r->settings.time->clock_mhz,
	};
	log_info(
		"kernel '%.60s': %llu cycles (%llu to %llu), %.2f instructions of a warp per cycle "
		"and core (%.2f to %.2f), %llu of %llu lines missed",
		l->kernel, (unsigned long long)t.cycles[RV32_TIME_NOMINAL],
		(unsigned long long)t.cycles[RV32_TIME_FAST],
		(unsigned long long)t.cycles[RV32_TIME_SLOW],
		t.ipc_thousandths[RV32_TIME_NOMINAL] / 1e3, t.ipc_thousandths[RV32_TIME_SLOW] / 1e3,
		t.ipc_thousandths[RV32_TIME_FAST] / 1e3, (unsigned long long)t.lines_missed,
		(unsigned long long)t.lines);
}

void rv32_watch_end(struct engine_rv32 *r, const struct engine_launch *l, struct rv32_watches *w,
		    int status)
{
	if (status == DXP_OK && w->time)
		time_report(r, l, w->time);
	rv32_time_destroy(w->time);
	w->time = NULL;
}

static void row_put(const struct rv32_profile_row *row, struct records *out)
{
	const size_t name_bytes = strlen(row->function);
	uint8_t *at = records_add(out, DXP_ABOUT_PROFILE_LINE, 20 + name_bytes);

	if (!at)
		return;
	records_put_le(at, row->line, 4);
	records_put_le(at + 4, row->count.warp_instructions, 8);
	records_put_le(at + 12, row->count.instructions, 8);
	memcpy(at + 20, row->function, name_bytes);
}

bool rv32_watch_profile(struct engine_program *p, struct records *out)
{
	struct rv32_profile_row *rows;
	uint8_t number[8];
	size_t count;

	p->profiled = true;
	records_put_le(number, p->launches, 8);
	records_put(out, DXP_ABOUT_PROFILE_LAUNCHES, number, sizeof(number));
	if (rv32_profile_rows(p->image, p->counts, RV32_CORES_MAX, &rows, &count) != DXP_OK)
		return false;
	for (size_t i = 0; i < count; i++)
		row_put(&rows[i], out);
	free(rows);
	return !out->failed;
}
