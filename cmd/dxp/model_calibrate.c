/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads measured rows, calibrates the free parameters, and reports the result. */
#include "cmd/dxp/model_calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "cmd/dxp/model.h"
#include "model/calibrate.h"
#include "model/judge.h"

#define FILE_BYTES_MOST (1u << 20)

static void emit(const struct model_sink *sink, const char *quantity, const char *x,
		 const char *unit, double value, double factor)
{
	struct model_row row = model_row_plain("N-11", quantity, unit, value);

	row.low = value / factor;
	row.high = value * factor;
	row.kind = MODEL_CALIBRATED_ON;
	snprintf(row.x, sizeof(row.x), "%s", x);
	model_emit(sink, &row);
}

static void result_emit(const struct model_calibration *c, const struct model_parameters *p,
			const struct model_sink *sink)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct model_free_value *f = &c->free[i];
		emit(sink, "calibrated", f->row->name, f->row->unit, (double)f->value, f->factor);
		emit(sink, "factor of its prior", f->row->name, "",
		     (double)f->value / (double)f->prior, 1);
		emit(sink, "determined by the rows", f->row->name, "%", 100 * f->determined, 1);
	}
	if (c->settings) {
		emit(sink, "setting chosen by the rows", "tor_hosts", "", (double)p->tor_hosts, 1);
		emit(sink, "setting chosen by the rows", "spine", "", (double)p->spine, 1);
		emit(sink, "setting chosen by the rows", "nic_service", "", (double)p->nic_service,
		     1);
	}
	emit(sink, "error of the rows", "before", "%", 100 * c->before, 1);
	emit(sink, "error of the rows", "after", "%", 100 * c->after, 1);
}

static int samples_set(const struct model_judge *j, struct model_sample *samples)
{
	if (j->count > MODEL_SAMPLES_MAX)
		return error_set(DXP_EINVAL, "%u rows; calibration needs 1 .. %d", j->count,
				 MODEL_SAMPLES_MAX);
	for (unsigned i = 0; i < j->count; i++) {
		int status = model_judged_case(&j->lines[i], &samples[i].of, &samples[i].ns);
		if (status != DXP_OK)
			return status;
		samples[i].ns *= 1000;
	}
	return DXP_OK;
}

int model_judge_load(const char *path, struct model_judge *out)
{
	char *text = model_text_load(path, FILE_BYTES_MOST);

	if (!text)
		return DXP_ENOENT;
	int status = model_judge_read(text, strlen(text), out);
	free(text);
	return status == DXP_OK ? status : model_file_error(status, path);
}

int model_calibrate_rows(const char *path, const struct model_judge *rows,
			 struct model_parameters *p, const struct model_sink *sink)
{
	static struct model_sample samples[MODEL_SAMPLES_MAX];
	struct model_calibration c;
	int status = samples_set(rows, samples);

	if (status == DXP_OK)
		status = model_calibrate(samples, rows->count, p, &c);
	if (status != DXP_OK)
		return model_file_error(status, path);
	result_emit(&c, p, sink);
	return DXP_OK;
}

int model_calibrate_file(const char *path, struct model_parameters *p,
			 const struct model_sink *sink)
{
	struct model_judge rows;
	int status = model_judge_load(path, &rows);

	if (status != DXP_OK)
		return status;
	status = model_calibrate_rows(path, &rows, p, sink);
	model_judge_destroy(&rows);
	return status;
}
