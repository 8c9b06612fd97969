/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures kernels on one rv32 core against one lane, qemu-riscv32, and one thread of PoCL.
 * Contenders alternate; results must be equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/report.h"
#include "bench/rv32.h"

#define LANES_32 "rv32, 32 lanes"
#define LANE_1   "rv32, one lane"
#define QEMU     "qemu-riscv32"

static const struct kernel_case {
	const char *name, *kernel;
	const char *serial; /* the same in one work-item; NULL: none */
	struct rv32_bench_size size;
	uint32_t out_bytes;
} cases[] = {
	{"matmul, groups of 256 x 1",
	 "matmul",
	 "matmul_serial",
	 {{RV32_BENCH_N, RV32_BENCH_N}, {256, 1}},
	 RV32_BENCH_ROWS * 4},
	{"matmul, groups of 16 x 16",
	 "matmul",
	 "matmul_serial",
	 {{RV32_BENCH_N, RV32_BENCH_N}, {16, 16}},
	 RV32_BENCH_ROWS * 4},
	{"convolution",
	 "conv",
	 "conv_serial",
	 {{RV32_BENCH_N, RV32_BENCH_N}, {256, 1}},
	 RV32_BENCH_ROWS * 4},
	{"divergent (Collatz)",
	 "collatz",
	 "collatz_serial",
	 {{RV32_BENCH_N, RV32_BENCH_N}, {256, 1}},
	 RV32_BENCH_ROWS * 4},
	{"reduction", "reduce", NULL, {{8192, 1}, {256, 1}}, 32 * 4},
	{"barriers (tiled matmul)",
	 "tiles",
	 NULL,
	 {{RV32_BENCH_N, RV32_BENCH_N}, {16, 16}},
	 RV32_BENCH_ROWS * 4},
};

struct figures {
	double value[BENCH_ROUNDS_MAX];
	unsigned count;
};

struct case_run {
	const struct bench_options *options;
	const struct kernel_case *c;
	struct rv32_bench_end *rv32, *pocl; /* pocl NULL: not installed */
	struct figures rate, time;          /* G instructions/s, and us */
	struct figures lane_rate, qemu_rate, qemu_time, pocl_time;
	uint8_t *want, *got;
	const char *wrong; /* peer with a different result */
};

static void add(struct figures *f, double value)
{
	f->value[f->count++] = value;
}

static double median(struct figures *f)
{
	return f->count ? report_median(f->value, f->count) : 0;
}

static void compare(struct case_run *r, const uint8_t *got, const char *peer)
{
	if (memcmp(got, r->want, r->c->out_bytes) != 0)
		r->wrong = peer;
}

static void serial_run(struct case_run *r)
{
	static const struct rv32_bench_size one;
	struct rv32_bench_end *e = r->rv32;
	const double ns = rv32_bench_launch(e, r->c->serial, &one);
	const double instructions = (double)rv32_of(e->engine)->counters.instructions;

	if (ns > 0) {
		add(&r->lane_rate, instructions / ns);
		compare(r, e->memory + RV32_BENCH_OUT, LANE_1);
	}
	const double started = rv32_qemu_run(e, "none_serial", r->got, r->c->out_bytes);
	const double whole = rv32_qemu_run(e, r->c->serial, r->got, r->c->out_bytes);
	if (started <= 0 || whole <= started)
		return;
	add(&r->qemu_rate, instructions / (whole - started));
	add(&r->qemu_time, (whole - started) / 1e3);
	compare(r, r->got, QEMU);
}

static bool round_run(struct case_run *r)
{
	struct rv32_bench_end *e = r->rv32;
	const struct kernel_case *c = r->c;

	memset(e->memory + RV32_BENCH_OUT, 0, c->out_bytes);
	const double ns = rv32_bench_launch(e, c->kernel, &c->size);
	if (ns <= 0)
		return false;
	add(&r->rate, (double)rv32_of(e->engine)->counters.instructions / ns);
	add(&r->time, ns / 1e3);
	memcpy(r->want, e->memory + RV32_BENCH_OUT, c->out_bytes);
	if (c->serial)
		serial_run(r);
	const double pocl = r->pocl ? rv32_bench_launch(r->pocl, c->kernel, &c->size) : 0;
	if (pocl > 0) {
		add(&r->pocl_time, pocl / 1e3);
		compare(r, r->pocl->memory + RV32_BENCH_OUT, "PoCL");
	}
	return true;
}

static void row_print(struct case_run *r, const char *contender, bool time, struct figures *own,
		      const char *peer, struct figures *other)
{
	struct report_row row = {.bench = "rv32",
				 .name = r->c->name,
				 .contender = contender,
				 .metric = time ? "CPU time" : "lane-instructions",
				 .unit = time ? "us" : "G/s",
				 .value = median(own),
				 .samples = own->count};
	char note[64];

	if (own->count == 0)
		return;
	if (other->count) {
		row.peer = peer;
		row.peer_value = median(other);
		snprintf(note, sizeof(note), "beside %s", peer);
		row.note = note;
	}
	report_row(&row);
}

static void rows_print(struct case_run *r)
{
	row_print(r, LANES_32, false, &r->rate, LANE_1, &r->lane_rate);
	if (r->c->serial) {
		row_print(r, LANE_1, false, &r->lane_rate, QEMU, &r->qemu_rate);
		row_print(r, LANES_32, true, &r->time, QEMU, &r->qemu_time);
	}
	row_print(r, LANES_32, true, &r->time, "PoCL, one thread", &r->pocl_time);
}

static int case_run(struct case_run *r)
{
	bool good = true;

	/* first launch: unmeasured, because it compiles (PoCL) or decodes (rv32) */
	rv32_bench_launch(r->rv32, r->c->kernel, &r->c->size);
	if (r->pocl)
		rv32_bench_launch(r->pocl, r->c->kernel, &r->c->size);
	for (unsigned i = 0; good && i < r->options->rounds; i++)
		good = round_run(r);
	if (!good) {
		log_error("case %s: %s", r->c->name, r->rv32->why);
		return 1;
	}
	rows_print(r);
	if (r->wrong)
		log_error("case %s: the result of %s differs; report this as a bug", r->c->name,
			  r->wrong);
	return r->wrong ? 1 : 0;
}

static int all_run(const struct bench_options *o, struct rv32_bench_end *rv32,
		   struct rv32_bench_end *pocl)
{
	uint8_t *bytes = malloc((size_t)RV32_BENCH_ROWS * 8);
	int status = bytes ? 0 : 1;

	for (size_t i = 0; bytes && i < ARRAY_COUNT(cases); i++) {
		struct case_run r = {.options = o,
				     .c = &cases[i],
				     .rv32 = rv32,
				     .pocl = pocl,
				     .want = bytes,
				     .got = bytes + (size_t)RV32_BENCH_ROWS * 4};
		if (bench_wanted(o->only_case, cases[i].name))
			status |= case_run(&r);
	}
	free(bytes);
	return status;
}

int rv32_bench_cases(const struct bench_options *o)
{
	struct rv32_bench_end rv32, pocl = {0};
	int status = 1;

	setenv("POCL_DEVICES", "basic", 0); /* one thread */
	if (!rv32_bench_open(&rv32, "rv32", rv32_bench_kernels)) {
		log_error("%s", rv32.why);
	} else {
		const bool beside = rv32_bench_open(&pocl, "ocl", rv32_bench_kernels);
		if (!beside)
			report_note("without PoCL beside it: %s", pocl.why);
		status = all_run(o, &rv32, beside ? &pocl : NULL);
		rv32_bench_close(&pocl);
	}
	rv32_bench_close(&rv32);
	return status;
}
