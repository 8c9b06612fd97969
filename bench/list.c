/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of benchmarks. */
#include "bench/bench.h"

#include <stddef.h>

const struct bench_entry bench_list[] = {
	{"latency", "round trips of PUT, GET and NAP beside a raw UDP ping-pong", bench_latency},
	{"stream", "bandwidth of PUT and GET beside a raw GSO+GRO stream", bench_stream},
	{"sim", "the transport on simulated networks: crowds, and goodput against loss", bench_sim},
	{"classify", "the classifier over two xPUs beside local OpenCL", bench_classify},
	{NULL, NULL, NULL},
};
