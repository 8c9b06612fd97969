/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench rv32`: the speed of engine rv32, and the cost of its three ways to post. */
#include "bench/rv32.h"

#include "bench/bench.h"
#include "bench/report.h"
#include "engine/rv32_clang.h"

int bench_rv32(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"Kernels on one core of engine rv32, beside qemu-riscv32, one lane at a time, and "
		"PoCL.\nLaunches over the network beside PoCL. Posting by ring, registers and "
		"instruction.",
		"c", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "RISC-V SIMT processor in software");
	if (!rv32_clang_there()) {
		report_row(&(struct report_row){
			.bench = "rv32",
			.name = "all",
			.metric = "skipped",
			.unit = "",
			.note = "skipped: apt install clang-15 libclc-15 libclc-15-dev"});
		return 0;
	}
	status = rv32_bench_cases(&o);
	status |= rv32_bench_posting(&o);
	status |= rv32_bench_latency(&o);
	return status;
}
