/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures three ways to post a PUT: ring, registers, one instruction. The kernel acts as the NIC
 * too, so only posting counts: instructions by the warp's counter, CPU time against a loop without
 * posts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>
#include <dxp/window.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/report.h"
#include "bench/rv32.h"

#define POSTS 200000u

enum way { WAY_NONE, WAY_RING, WAY_REGISTERS, WAY_INSTRUCTION, WAYS };

static const char *const kernels[WAYS] = {"none", "ring", "registers", "instruction"};

struct posting {
	struct rv32_bench_end end;
	struct dxp_window *window;
	uint32_t count;
	double ns[WAYS][BENCH_ROUNDS_MAX];
	double instructions[WAYS]; /* per post; equal in all rounds */
};

/* Returns false with the reason in `why`. */
static bool way_run(struct posting *p, enum way way, unsigned round)
{
	struct rv32_bench_end *e = &p->end;
	struct engine_launch l = {.program = e->program,
				  .kernel = kernels[way],
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .local = {1, 1, 1},
				  .argument_count = 3};
	uint32_t result[2] = {0, 0};

	memset(p->window, 0, sizeof(*p->window));
	memset(e->memory, 0, sizeof(result));
	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_NIC, .memory = p->window, .memory_bytes = sizeof(*p->window)};
	l.arguments[1] = (struct engine_argument){
		.kind = COMMAND_ARG_BUFFER, .memory = e->memory, .memory_bytes = 4096};
	l.arguments[2] = (struct engine_argument){
		.kind = COMMAND_ARG_BYTES, .value = &p->count, .bytes = sizeof(p->count)};
	const double begin = rv32_bench_cpu_ns(false);
	if (engine_run(e->engine, &l, e->why) != DXP_OK)
		return false;
	p->ns[way][round] = (rv32_bench_cpu_ns(false) - begin) / p->count;
	memcpy(result, e->memory, sizeof(result));
	p->instructions[way] = (double)result[0] / p->count;
	if (result[1] == p->count)
		return true;
	snprintf(e->why, sizeof(e->why), "%u of %u posts by %s were accepted", result[1], p->count,
		 kernels[way]);
	return false;
}

static void way_print(struct posting *p, enum way way, unsigned rounds)
{
	const char *const contenders[WAYS] = {NULL, "ring: dxp_post_put()", "dxp_register_send()",
					      "dxp.post"};
	double spent[WAYS][BENCH_ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		for (int w = 0; w < WAYS; w++)
			spent[w][i] = p->ns[w][i] - p->ns[WAY_NONE][i];
	struct report_row row = {.bench = "rv32",
				 .name = "posting a PUT, one work-item",
				 .contender = contenders[way],
				 .metric = "instructions",
				 .unit = "instr",
				 .value = p->instructions[way],
				 .samples = rounds};
	if (way != WAY_RING) {
		row.peer = contenders[WAY_RING];
		row.peer_value = p->instructions[WAY_RING];
	}
	report_row(&row);
	row.metric = "CPU time";
	row.unit = "ns";
	row.value = report_median(spent[way], rounds);
	if (way != WAY_RING)
		row.peer_value = report_median(spent[WAY_RING], rounds);
	report_row(&row);
}

static int ways_run(struct posting *p, const struct bench_options *o)
{
	for (unsigned i = 0; i < o->rounds; i++)
		for (int way = 0; way < WAYS; way++)
			if (!way_run(p, (enum way)way, i)) {
				log_error("posting: %s", p->end.why);
				return 1;
			}
	for (int way = WAY_RING; way < WAYS; way++)
		way_print(p, (enum way)way, o->rounds);
	return 0;
}

int rv32_bench_posting(const struct bench_options *o)
{
	static struct posting p;
	int status = 1;

	if (!bench_wanted(o->only_case, "posting"))
		return 0;
	p.count = o->quick ? POSTS / 10 : POSTS;
	p.window = aligned_alloc(4096, (sizeof(*p.window) + 4095) / 4096 * 4096);
	if (rv32_bench_open(&p.end, "rv32", rv32_bench_posts) && p.window)
		status = ways_run(&p, o);
	else
		log_error("posting: %s", p.end.why);
	rv32_bench_close(&p.end);
	free(p.window);
	return status;
}
