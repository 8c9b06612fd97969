/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwards the rows of all parts, but no MODEL_PLAIN rows without a published figure. */
#include "model/check.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/published.h"

static void failure_note(struct model_check *c, const struct model_row *row, double error)
{
	if (c->out_of_tolerance < MODEL_CHECK_FAILED) {
		snprintf(c->failed[c->out_of_tolerance].quantity, MODEL_JUDGE_QUANTITY, "%s",
			 row->quantity);
		snprintf(c->failed[c->out_of_tolerance].x, MODEL_ROW_X, "%s", row->x);
		c->failed[c->out_of_tolerance].error = error;
	}
	c->out_of_tolerance++;
}

/* Sets the measured value. A row of the calibration proves nothing, so it does not count in the
 * tally. */
static void row_judge(struct model_check *c, struct model_row *row)
{
	double used = c->calibrated ? model_judge_find(c->calibrated, row) : NAN;
	double value = c->judge ? model_judge_find(c->judge, row) : NAN;

	if (!isnan(used)) {
		row->published = used;
		row->kind = MODEL_CALIBRATED_ON;
	}
	if (isnan(value))
		return;
	row->published = value;
	c->judged++;
	if (isnan(used))
		model_tally_add(&c->tally, row);
}

/* A tolerance of 100 % or more means a factor, so that a value far too small fails too. */
static bool within(double error, double tolerance)
{
	if (tolerance < 100)
		return fabs(error) <= tolerance;
	return error <= tolerance && error >= 100 / (1 + tolerance / 100) - 100;
}

static void row_receive(void *context, const struct model_row *from)
{
	struct model_check *c = context;
	struct model_row row = *from;

	if (c->only && strcmp(row.item, c->only) != 0)
		return;
	model_published_attach(&row);
	if (row.kind == MODEL_PLAIN && isnan(row.published))
		return;
	row_judge(c, &row);
	c->rows++;
	if (row.kind == MODEL_SHAPE) {
		c->shapes++;
		c->shapes_failed += row.value < row.published;
	}
	if (row.kind == MODEL_GIVEN && row.tolerance > 0) {
		double error = model_row_error(&row);
		c->given++;
		if (!within(error, row.tolerance))
			failure_note(c, &row, error);
	}
	model_emit(c->sink, &row);
}

bool model_item_listed(const char *items, const char *item)
{
	size_t bytes = strlen(item);

	for (const char *at = items; *at;) {
		size_t word = strcspn(at, " ");
		if (word == bytes && memcmp(at, item, bytes) == 0)
			return true;
		at += word + strspn(at + word, " ");
	}
	return false;
}

int model_check_run(struct model_check *c, const struct model_check_part *parts, unsigned count,
		    const struct model_parameters *p, uint64_t seed)
{
	const struct model_sink sink = {row_receive, c};

	for (unsigned i = 0; i < count; i++) {
		if (c->only && !model_item_listed(parts[i].items, c->only))
			continue;
		int status = parts[i].rows(p, seed, &sink);
		if (status != DXP_OK)
			return status;
	}
	model_published_data(&sink);
	if (c->rows == 0)
		return error_set(DXP_EINVAL,
				 "no row has the item '%s'; `dxp model check` prints all", c->only);
	if (c->judge && c->only && c->judged == 0 && !model_judge_unused(c->judge, true))
		return error_set(DXP_EINVAL,
				 "no line names a row of %s; drop --only, or judge its rows",
				 c->only);
	return c->judge ? model_judge_unused(c->judge, c->only != NULL) : DXP_OK;
}

/* Returns us from the file of --judge; negative: there is no such case. */
static double judged_us(const struct model_judge *j, const struct model_allreduce *of)
{
	for (unsigned i = 0; i < j->count; i++) {
		struct model_allreduce other;
		double us;
		if (model_judged_case(&j->lines[i], &other, &us) == DXP_OK &&
		    other.way == of->way && other.hosts == of->hosts && other.ranks == of->ranks &&
		    other.bytes == of->bytes)
			return us;
	}
	return -1;
}

/* A way without a time has a negative one. */
static int fastest(const double us[MODEL_WAYS])
{
	int best = MODEL_WAY_HOST;

	for (int way = 1; way < MODEL_WAYS; way++)
		best = us[way] > 0 && us[way] < us[best] ? way : best;
	return best;
}

void model_check_winners(const struct model_judge *j,
			 double (*guess)(void *context, const struct model_allreduce *of),
			 void *context, unsigned *cases, unsigned *right)
{
	*cases = *right = 0;
	for (unsigned i = 0; i < j->count; i++) {
		double is[MODEL_WAYS], guessed[MODEL_WAYS];
		struct model_allreduce of;
		unsigned ways = 0;
		bool host = model_judged_case(&j->lines[i], &of, &is[0]) == DXP_OK &&
			    of.way == MODEL_WAY_HOST;
		for (int way = 0; way < MODEL_WAYS && host; way++) {
			of.way = (enum model_way)way;
			is[way] = judged_us(j, &of);
			guessed[way] = is[way] > 0 ? guess(context, &of) : -1;
			ways += guessed[way] > 0;
		}
		*cases += ways > 1;
		*right += ways > 1 && fastest(is) == fastest(guessed);
	}
}
