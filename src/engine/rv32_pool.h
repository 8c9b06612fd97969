/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs launches on the cores of one xPU. The caller's thread is the first core; others have
 * threads, and one watches the time limit. They start at first use, because a worker forks before
 * its first launch. For one thread. */
#ifndef ENGINE_RV32_POOL_H
#define ENGINE_RV32_POOL_H

#include "rv32/core.h"

struct rv32_settings;
struct rv32_pool;

struct rv32_result {
	struct rv32_trap trap;         /* of the first core that trapped on its own */
	struct rv32_counters counters; /* sums */
	bool timed_out;
};

/* DXP_ENOMEM. */
int rv32_pool_create(const struct rv32_settings *settings, struct rv32_pool **out);
void rv32_pool_destroy(struct rv32_pool *p);

/* Uses codes[0 .. cores - 1], and trace_contexts[i] for core i unless NULL. Sets code, next_group
 * and stop of the launch. Errors of rv32_core_run(); DXP_ENOMEM: a core or thread could not
 * start. */
int rv32_pool_run(struct rv32_pool *p, const struct rv32_launch *launch,
		  struct rv32_code *const *codes, void *const *trace_contexts, uint32_t cores,
		  struct rv32_result *out);

#endif
