/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the options of `dxp model share`. */
#include "base/util.h"
#include "cmd/dxp/model.h"
#include "model/share.h"

static bool grid, curve;

static const struct option_row rows[] = {
	{"grid", NULL, "sizes to 4 KiB, 64 KiB, 2 MiB x tolerances 10, 5, 1 % x policies",
	 OPTION_FLAG, &grid, 0, 0},
	{"curve", NULL, "the share of each function at doubling times", OPTION_FLAG, &curve, 0, 0},
};

static const struct model_shortcut shortcuts[] = {
	{"policy", "policy", "message, packet, bytes, weights, none"},
	{"largest", "largest_bytes", "sizes are uniform from 1 B to this"},
	{"tolerance", "tolerance_permille", "how far off a level share may be: 0.05"},
	{0},
};

#define GRID_REASON "--grid has all of them"
static const struct model_exclusion exclusions[] = {
	{"grid", "curve", "they are two different tables"},
	{"grid", "policy", GRID_REASON},
	{"grid", "largest", GRID_REASON},
	{"grid", "tolerance", GRID_REASON},
	{0},
};

static int run(const struct model_run *r)
{
	if (grid)
		return model_share_grid(r->parameters, r->seed, r->sink);
	if (curve)
		return model_share_curve(r->parameters, r->seed, r->sink);
	return model_share_rows(r->parameters, r->seed, r->sink);
}

const struct model_part model_part_share = {
	.name = "share",
	.summary = "eight functions on one engine: how long until their shares are level",
	.text = "Simulates the doorbell FIFOs of the functions and the arbiter of the send engine, "
		"and\n"
		"prints when the shares of all functions were last off by more than the tolerance: "
		"the\n"
		"median of nine seeds, with the least and the most; beside the closed form.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.shortcuts = shortcuts,
	.exclusions = exclusions,
	.random = true,
	.groups = "share nic pcie",
	.run = run,
};
