/* SPDX-License-Identifier: BSD-3-Clause */
/* Observes launches of engine `rv32`: counts for profiles, lists of executed instructions, the
 * model of time. Unobserved launches run at full speed. */
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
	uint32_t listed;          /* instructions */
	struct rv32_count *count; /* NULL: not counted */
	struct rv32_time *time;   /* NULL: none */
};

struct rv32_watches {
	struct rv32_watch watches[RV32_CORES_MAX];
	void *contexts[RV32_CORES_MAX]; /* for rv32_pool_run() */
	struct rv32_time *time;
};

/* Sets the trace hook of `launch` if settings or program request observers. Then call
 * rv32_watch_end(). DXP_ENOMEM. */
int rv32_watch_begin(struct engine_rv32 *r, const struct engine_launch *l, uint32_t cores,
		     struct rv32_launch *launch, struct rv32_watches *out);

/* After a successful launch, sets engine.cycles by the model of time, and logs them. */
void rv32_watch_end(struct engine_rv32 *r, const struct engine_launch *l, struct rv32_watches *w,
		    int status);

/* Adds a program's profile (dxp/about.h). The first call starts counting. False: out of memory. */
bool rv32_watch_profile(struct engine_program *p, struct records *out);

#endif
