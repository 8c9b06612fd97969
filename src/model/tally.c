/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums errors of rows. One quantity is a family, unless families[] joins several. */
#include "model/tally.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"

static const struct {
	const char *quantity, *family;
} families[] = {
	{"latency PUT", "latency of PUT and GET"},
	{"latency GET", "latency of PUT and GET"},
	{"latency NAP-imm", "latency of NAPs"},
	{"latency NAP-ind", "latency of NAPs"},
	{"bandwidth PUT", "bandwidth"},
	{"bandwidth GET", "bandwidth"},
	{"bandwidth NAP-imm", "bandwidth"},
	{"bandwidth NAP-ind", "bandwidth"},
	{"allreduce host", "allreduce times"},
	{"allreduce node", "allreduce times"},
	{"allreduce socket", "allreduce times"},
};

static const char *family_of(const char *quantity)
{
	for (size_t i = 0; i < ARRAY_COUNT(families); i++)
		if (strcmp(families[i].quantity, quantity) == 0)
			return families[i].family;
	return quantity;
}

static void family_add(struct model_tally *t, const char *name, double error)
{
	unsigned i = 0;

	while (i < t->count && strcmp(t->families[i].name, name) != 0)
		i++;
	if (i == MODEL_TALLY_FAMILIES)
		return;
	if (i == t->count) {
		t->count++;
		snprintf(t->families[i].name, sizeof(t->families[i].name), "%s", name);
		t->families[i].least = error;
	}
	t->families[i].rows++;
	t->families[i].sum += error;
	t->families[i].least = fmin(t->families[i].least, error);
	t->families[i].most = fmax(t->families[i].most, error);
}

void model_tally_add(struct model_tally *t, const struct model_row *row)
{
	double error = fabs(model_row_error(row));

	if (model_row_is_choice(row)) {
		t->winners++;
		t->winners_right += row->value == row->published;
		return;
	}
	if (strcmp(row->quantity, "knee") == 0 && t->knees < MODEL_TALLY_KNEES) {
		t->knee_model[t->knees] = row->value;
		t->knee_judged[t->knees++] = row->published;
	}
	if (isnan(error))
		return;
	t->rows++;
	t->sum += error;
	family_add(t, family_of(row->quantity), error);
}

static void share_emit(const struct model_sink *sink, const char *quantity, unsigned right,
		       unsigned of)
{
	struct model_row row = model_row_plain("", quantity, "%", 100.0 * right / of);

	snprintf(row.x, sizeof(row.x), "%u of %u", right, of);
	model_emit(sink, &row);
}

/* Pairs of different knees in the measured order. */
static void order_emit(const struct model_tally *t, const struct model_sink *sink)
{
	unsigned pairs = 0, right = 0;

	for (unsigned i = 0; i < t->knees; i++)
		for (unsigned k = 0; k < i; k++) {
			double judged = t->knee_judged[i] - t->knee_judged[k];
			double model = t->knee_model[i] - t->knee_model[k];
			pairs += judged != 0;
			right += judged * model > 0;
		}
	if (pairs)
		share_emit(sink, "judged: order of knees", right, pairs);
}

void model_tally_emit(const struct model_tally *t, const struct model_sink *sink)
{
	for (unsigned i = 0; i < t->count; i++) {
		char quantity[96];
		unsigned rows = t->families[i].rows;
		snprintf(quantity, sizeof(quantity), "judged: error of %s", t->families[i].name);
		struct model_row row =
			model_row_plain("", quantity, "%", t->families[i].sum / rows);
		row.low = t->families[i].least;
		row.high = t->families[i].most;
		snprintf(row.x, sizeof(row.x), "%u rows", rows);
		model_emit(sink, &row);
	}
	order_emit(t, sink);
	if (t->winners)
		share_emit(sink, "judged: winners of rows", t->winners_right, t->winners);
}
