/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes schedules, judge files, --config and --sweep of the hardware model; the first byte
 * selects. A parsed schedule is unchanged after writing and parsing, and runs to completion. A
 * parsed judge line has a name and a finite value. Parsed parameters are within their ranges. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/judge.h"
#include "model/ranks.h"
#include "model/sweep.h"
#include "test/fuzz/fuzz.h"

#define RANKS_MAX 4096 /* more take seconds and reach no other code */

struct text {
	char *at;
	size_t bytes, space;
};

static bool text_add(void *context, const char *piece, size_t bytes)
{
	struct text *t = context;

	if (t->bytes + bytes > t->space) {
		t->space = 2 * (t->bytes + bytes);
		t->at = realloc(t->at, t->space);
		assert(t->at);
	}
	memcpy(t->at + t->bytes, piece, bytes);
	t->bytes += bytes;
	return true;
}

static void schedule_run(const struct model_schedule *s)
{
	struct model_flat_network n = {.send_ps = 1,
				       .receive_ps = 1,
				       .latency_ps = 10,
				       .network = {.rendezvous_bytes = 64}};
	struct model_ranks_result r;

	model_flat_network(&n, s->ranks);
	int status = model_ranks_run(s, &n.network, 0, NULL, &r);
	assert(status == DXP_OK || status == DXP_EINVAL);
	if (status == DXP_OK)
		assert(r.first_ps >= 0 && r.first_ps <= r.last_ps);
}

static void schedule_try(const char *data, size_t bytes)
{
	struct text first = {0}, second = {0};
	struct model_text_schedule *s, *again;

	if (model_schedule_read(data, bytes, &s) != DXP_OK)
		return;
	if (s->schedule.ranks <= RANKS_MAX) {
		schedule_run(&s->schedule);
		assert(model_schedule_write(&s->schedule, text_add, &first) == DXP_OK);
		assert(model_schedule_read(first.at, first.bytes, &again) == DXP_OK);
		assert(model_schedule_write(&again->schedule, text_add, &second) == DXP_OK);
		assert(first.bytes == second.bytes);
		assert(memcmp(first.at, second.at, first.bytes) == 0);
		model_schedule_destroy(again);
	}
	model_schedule_destroy(s);
	free(first.at);
	free(second.at);
}

static void judge_try(const char *data, size_t bytes)
{
	struct model_allreduce of;
	struct model_judge j;
	double us;

	if (model_judge_read(data, bytes, &j) != DXP_OK)
		return;
	for (unsigned i = 0; i < j.count; i++) {
		const struct model_judged *line = &j.lines[i];
		assert(line->quantity[0] && strlen(line->quantity) < MODEL_JUDGE_QUANTITY);
		assert(strlen(line->x) < MODEL_ROW_X);
		assert(isfinite(line->value) && line->value >= 0);
		if (model_judged_case(line, &of, &us) == DXP_OK)
			assert(us > 0 && of.way < MODEL_WAYS);
	}
	model_judge_destroy(&j);
}

static void within_range(const struct model_parameters *p)
{
	const struct model_parameter *row;

	for (unsigned i = 0; (row = model_parameter_at(i)); i++) {
		struct model_parameters copy = *p;
		int64_t value = model_parameter_get(p, row);
		assert(model_parameter_put(&copy, row, value) == DXP_OK);
	}
}

static void config_try(const char *text)
{
	struct model_parameters p;

	model_parameters_default(&p);
	if (model_parameters_config(&p, text) != DXP_OK)
		return;
	within_range(&p);
	model_parameters_check(&p);
}

static void sweep_try(const char *text)
{
	static struct model_grid g;
	struct model_parameters p;

	g.count = 0;
	model_parameters_default(&p);
	if (model_grid_add(&g, text) != DXP_OK)
		return;
	assert(model_grid_points(&g) <= MODEL_SWEEP_VALUES);
	for (unsigned i = 0; i < model_grid_points(&g); i++)
		if (model_grid_apply(&g, i, &p) == DXP_OK)
			within_range(&p);
}

/* Passes the bytes as a text with a final zero. */
static void text_try(void (*try)(const char *text), const char *data, size_t bytes)
{
	char *text = strndup(data, bytes);

	assert(text);
	try(text);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *text = (const char *)data;

	if (bytes == 0)
		return 0;
	if (text[0] == 's')
		schedule_try(text + 1, bytes - 1);
	else if (text[0] == 'c')
		text_try(config_try, text + 1, bytes - 1);
	else if (text[0] == 'g')
		text_try(sweep_try, text + 1, bytes - 1);
	else
		judge_try(text + 1, bytes - 1);
	return 0;
}
