/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the options of `dxp model crossbar`. */
#include "base/util.h"
#include "cmd/dxp/model.h"
#include "model/crossbar.h"

static bool knee, intervals, gets;

static const struct option_row rows[] = {
	{"knee", NULL, "knee and saturation, and what each cause of loss costs", OPTION_FLAG, &knee,
	 0, 0},
	{"intervals", NULL, "with --knee: low and high over depth, messages, allocator, own port",
	 OPTION_FLAG, &intervals, 0, 0},
	{"get", NULL, "GETs both ways: do they wait for each other, and in which cycle",
	 OPTION_FLAG, &gets, 0, 0},
};

static const struct model_shortcut shortcuts[] = {
	{"ports", "ports", "numbers of ports: 4,8,16"},
	{"vcs", "channels", "virtual channels of an input: 2,4"},
	{"depth", "depth", "packets in the queue of a channel: 1..64*2"},
	{"load", "load_permille", "offered loads, shares of the link: 0.05..0.75+0.05"},
	{0},
};

#define GET_REASON  "--get is of two NICs without random traffic"
#define KNEE_REASON "the knee is found over all loads"
static const struct model_exclusion exclusions[] = {
	{"get", "knee", GET_REASON},
	{"get", "intervals", GET_REASON},
	{"get", "load", GET_REASON},
	{"get", "ports", GET_REASON},
	{"get", "vcs", GET_REASON},
	{"get", "seed", GET_REASON},
	{"knee", "load", KNEE_REASON},
	{"intervals", "load", KNEE_REASON},
	{0},
};

static int run(const struct model_run *r)
{
	if (gets)
		return model_crossbar_get_row(r->parameters, r->sink);
	if (knee || intervals)
		return model_crossbar_knee_rows(r->parameters, r->seed, intervals, r->sink);
	return model_crossbar_rows(r->parameters, r->seed, r->sink);
}

const struct model_part model_part_crossbar = {
	.name = "crossbar",
	.summary = "latency against throughput, knee, saturation, deadlock",
	.text = "Simulates ports with input queues and virtual channels, cycle by cycle, under "
		"random\n"
		"traffic. Without --knee and --get it prints latency and throughput at each "
		"--load.\n"
		"The knee is the least load with twice the latency of load 0.05; the saturation is "
		"the\n"
		"throughput at load 1. Shares are payload per port over the link.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.shortcuts = shortcuts,
	.exclusions = exclusions,
	.random = true,
	.groups = "crossbar nic pcie",
	.run = run,
};
