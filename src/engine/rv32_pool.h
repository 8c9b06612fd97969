/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs launches on the cores of one xPU. The caller's thread runs the first core. Each other core
 * has a thread, and one more thread watches the time limit. A thread starts with the first launch
 * that needs it, because a worker forks before its first launch. Only one thread may call these
 * functions. */
#ifndef ENGINE_RV32_POOL_H
#define ENGINE_RV32_POOL_H

#include "rv32/core.h"

struct rv32_settings;
struct rv32_pool;

struct rv32_result {
	struct rv32_trap trap;         /* trap of the first core that trapped on its own */
	struct rv32_counters counters; /* sums over all cores */
	bool timed_out;
};

/* Creates the pool. DXP_ENOMEM. */
int rv32_pool_create(const struct rv32_settings *settings, struct rv32_pool **out);
void rv32_pool_destroy(struct rv32_pool *p);

/* Runs a launch on `cores` cores with codes[0 .. cores - 1]. If trace_contexts is not NULL, core i
 * gets trace_contexts[i]. The pool sets code, next_group and stop of the launch. Errors: those of
 * rv32_core_run(); DXP_ENOMEM: a core or thread could not start. */
int rv32_pool_run(struct rv32_pool *p, const struct rv32_launch *launch,
		  struct rv32_code *const *codes, void *const *trace_contexts, uint32_t cores,
		  struct rv32_result *out);

#endif
