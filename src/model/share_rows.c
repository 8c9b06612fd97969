/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about shares. The time until level is random, so `value` is the median over seeds, with the
 * extremes. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/share.h"

#define SEEDS      9 /* odd, so that the median is one seed's value */
#define GRID_SEEDS 3 /* so that 45 points take a few seconds */

static const char *const policies[] = {"message", "packet", "bytes", "weights", "none"};

static void emit(const struct model_sink *sink, struct model_row *row, double value, double low,
		 double high)
{
	row->value = value;
	row->low = low;
	row->high = high;
	model_emit(sink, row);
}

static void sort(uint64_t *values, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		for (unsigned k = i; k > 0 && values[k] < values[k - 1]; k--) {
			uint64_t t = values[k];
			values[k] = values[k - 1];
			values[k - 1] = t;
		}
}

/* Sorts results of `count` seeds. *level: runs that became level. */
static int run_seeds(const struct model_parameters *p, uint64_t seed, unsigned count,
		     uint64_t settled[SEEDS], uint64_t swings[SEEDS], unsigned *level)
{
	struct model_share s;

	*level = 0;
	for (unsigned i = 0; i < count; i++) {
		int status = model_share_run(p, seed + i, model_share_quanta(p), NULL, NULL, &s);
		if (status)
			return status;
		settled[i] = s.settled;
		swings[i] = s.swing_ppm;
		*level += s.level;
	}
	sort(settled, count);
	sort(swings, count);
	return DXP_OK;
}

static int level_rows(const struct model_parameters *p, uint64_t seed, const char *x, bool all,
		      const struct model_sink *sink)
{
	uint64_t settled[SEEDS], swings[SEEDS];
	char names[200];
	unsigned level, count = all ? SEEDS : GRID_SEEDS;
	int status = run_seeds(p, seed, count, settled, swings, &level);
	double closed = (double)model_share_closed(p);
	struct model_row row = {
		.item = "C-37",
		.quantity = "level",
		.unit = "cycles",
		.published = NAN,
		.assumptions = model_assumptions("share", names, sizeof(names)),
		.note = level > count / 2 ? NULL : "not level in the run",
	};

	if (status)
		return status;
	snprintf(row.x, sizeof(row.x), "%s", x);
	emit(sink, &row, (double)settled[count / 2], (double)settled[0],
	     (double)settled[count - 1]);
	row.quantity = "level, closed form";
	row.note = NULL;
	/* Random arrivals have no closed form for weights. */
	if (p->policy != MODEL_SHARE_WEIGHTS || p->arrival != MODEL_ARRIVAL_RANDOM)
		emit(sink, &row, closed, closed, closed);
	if (!all)
		return DXP_OK;
	row.quantity = "swing at the start";
	row.unit = "%";
	emit(sink, &row, (double)swings[count / 2] / 1e4, (double)swings[0] / 1e4,
	     (double)swings[count - 1] / 1e4);
	return DXP_OK;
}

int model_share_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	return level_rows(p, seed, policies[p->policy], true, sink);
}

int model_share_grid(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	static const struct {
		int64_t bytes;
		const char *name;
	} sizes[] = {{4096, "4K"}, {65536, "64K"}, {2097152, "2M"}};
	static const int64_t tolerances[] = {100, 50, 10};

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		for (size_t k = 0; k < ARRAY_COUNT(tolerances) * ARRAY_COUNT(policies); k++) {
			struct model_parameters at = *p;
			char x[MODEL_ROW_X];
			at.largest_bytes = sizes[i].bytes;
			at.tolerance_permille = tolerances[k / ARRAY_COUNT(policies)];
			at.policy = (int64_t)(k % ARRAY_COUNT(policies));
			snprintf(x, sizeof(x), "%s %lld%% %s", sizes[i].name,
				 (long long)at.tolerance_permille / 10, policies[at.policy]);
			int status = level_rows(&at, seed, x, false, sink);
			if (status)
				return status;
		}
	}
	return DXP_OK;
}

struct curve {
	const struct model_parameters *p;
	const struct model_sink *sink;
	const char *names;
};

/* Emits rows of one instant. */
static void curve_rows(void *context, const struct model_share *s)
{
	const struct curve *c = context;
	char quantity[32];
	struct model_row row = {
		.item = "C-37",
		.unit = "%",
		.published = NAN,
		.assumptions = c->names,
	};

	snprintf(row.x, sizeof(row.x), "%llu", (unsigned long long)s->cycles);
	row.quantity = quantity;
	for (int64_t i = 0; i < c->p->functions; i++) {
		double share = 100 * (double)s->bytes[i] / (double)s->total_bytes;
		snprintf(quantity, sizeof(quantity), "share of function %lld", (long long)i);
		emit(c->sink, &row, share, share, share);
	}
	row.quantity = "Jain";
	row.unit = "index";
	emit(c->sink, &row, (double)s->jain_ppm / 1e6, (double)s->jain_ppm / 1e6,
	     (double)s->jain_ppm / 1e6);
}

int model_share_curve(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	char names[200];
	struct curve c = {p, sink, model_assumptions("share", names, sizeof(names))};
	struct model_share s;

	return model_share_run(p, seed, model_share_quanta(p), curve_rows, &c, &s);
}
