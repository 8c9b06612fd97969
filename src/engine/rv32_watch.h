/* SPDX-License-Identifier: BSD-3-Clause */
/* Observes launches of engine `rv32`: counts for profiles, lists of executed instructions, the
 * model of time. If nothing is observed, a launch runs at full speed. */
#ifndef ENGINE_RV32_WATCH_H
#define ENGINE_RV32_WATCH_H

#include "engine/engine.h"
#include "engine/records.h"
#include "engine/rv32_engine.h"

/* Observers of one core of a launch. */
struct rv32_watch {
	const char *kernel;
	const struct rv32_image *image;
	uint32_t core;
	uint32_t listed;          /* instructions that may still be listed */
	struct rv32_count *count; /* counts of the program on this core; NULL: not counted */
	struct rv32_time *time;   /* model of time; NULL: none */
};

struct rv32_watches {
	struct rv32_watch watches[RV32_CORES_MAX];
	void *contexts[RV32_CORES_MAX]; /* trace_contexts of rv32_pool_run() */
	struct rv32_time *time;
};

/* Prepares the observers that settings and program request. If there are any, sets the trace hook
 * of `launch`. The caller calls rv32_watch_end(). DXP_ENOMEM. */
int rv32_watch_begin(struct engine_rv32 *r, const struct engine_launch *l, uint32_t cores,
		     struct rv32_launch *launch, struct rv32_watches *out);

/* Frees the model of time. If the launch succeeded, first logs the cycles of the model of time. */
void rv32_watch_end(const struct engine_launch *l, struct rv32_watches *w, int status);

/* Adds the records of a program's profile (dxp/about.h). The first call starts the counting.
 * Returns false if memory is short. */
bool rv32_watch_profile(struct engine_program *p, struct records *out);

#endif
