/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an engine in this process and launches the benchmark's kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/rv32.h"

#define INPUT_B (RV32_BENCH_BYTES * 3 / 8)

static void inputs_fill(uint8_t *memory)
{
	for (uint32_t i = 0; i < RV32_BENCH_OUT / 4; i++) {
		const float value = (float)(i * 2654435761u >> 29);
		memcpy(memory + 4 * (size_t)i, &value, sizeof(value));
	}
}

static bool build(struct rv32_bench_end *e, const char *text)
{
	const struct engine_file file = {.data = text, .bytes = strlen(text)};
	const struct engine_source source = {.options = "", .files = &file, .file_count = 1};
	char *log = NULL;
	const int status = engine_build(e->engine, &source, &e->program, &log);

	if (status != DXP_OK)
		snprintf(e->why, sizeof(e->why), "the kernels do not build: %.200s",
			 log ? log : dxp_status_text(status));
	free(log);
	return status == DXP_OK;
}

bool rv32_bench_open(struct rv32_bench_end *e, const char *engine, const char *text)
{
	*e = (struct rv32_bench_end){.memory = aligned_alloc(4096, RV32_BENCH_BYTES)};
	const struct engine_options options = {
		.name = engine, .memory = e->memory, .memory_bytes = RV32_BENCH_BYTES};

	if (!e->memory) {
		snprintf(e->why, sizeof(e->why), "not enough memory");
		return false;
	}
	if (engine_open(&options, &e->engine) == DXP_OK) {
		inputs_fill(e->memory);
		return build(e, text);
	}
	snprintf(e->why, sizeof(e->why), "engine %s does not open here; see `dxp doctor`", engine);
	return false;
}

void rv32_bench_close(struct rv32_bench_end *e)
{
	if (e->program)
		engine_release(e->engine, e->program);
	if (e->engine)
		engine_close(e->engine);
	free(e->memory);
}

static struct engine_argument buffer(const struct rv32_bench_end *e, uint64_t from, uint64_t to)
{
	return (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
					.memory = e->memory + from,
					.address = from,
					.memory_bytes = to - from};
}

static double ns_of(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

double rv32_bench_cpu_ns(bool children)
{
	struct rusage u;

	getrusage(children ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
	return ns_of(u.ru_utime) + ns_of(u.ru_stime);
}

double rv32_bench_launch(struct rv32_bench_end *e, const char *kernel,
			 const struct rv32_bench_size *size)
{
	const uint32_t n = RV32_BENCH_N;
	struct engine_launch l = {
		.program = e->program, .kernel = kernel, .dimensions = 2, .argument_count = 4};

	for (int d = 0; d < 2; d++) {
		l.global[d] = max_u32(size->global[d], 1);
		l.local[d] = max_u32(size->local[d], 1);
	}
	l.arguments[0] = buffer(e, 0, INPUT_B);
	l.arguments[1] = buffer(e, INPUT_B, RV32_BENCH_OUT);
	l.arguments[2] = buffer(e, RV32_BENCH_OUT, RV32_BENCH_BYTES);
	l.arguments[3] = (struct engine_argument){
		.kind = COMMAND_ARG_BYTES, .value = &n, .bytes = sizeof(n)};
	const double begin = rv32_bench_cpu_ns(false);
	if (engine_run(e->engine, &l, e->why) != DXP_OK)
		return 0;
	return rv32_bench_cpu_ns(false) - begin;
}
