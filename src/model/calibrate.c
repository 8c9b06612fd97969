/* SPDX-License-Identifier: BSD-3-Clause */
/* Levenberg-Marquardt on logarithms of parameters and times. The prior adds a row per parameter, so
 * any number of samples suffices. Open settings are tried one by one. */
#include "model/calibrate.h"

#include <math.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"

#define ROUNDS 40
/* of a logarithm, for derivatives: 2 %, which is 600 ps of the smallest prior */
#define STEP 0.02
/* standard deviation: a factor of two each way */
#define PRIOR M_LN2
/* Standard deviation, as a logarithm: repetitions of such benchmarks differ by 5 %. */
#define MEASUREMENT 0.05
#define ENOUGH      1e-6 /* relative gain below which the search stops */
#define DAMPING_MAX 1e9
/* gain in cost of a clearly better setting: odds of 1.6 to 1 */
#define CLEARLY 1
/* with fewer rows, settings cannot be separated from parameters */
#define SETTINGS_LEAST 4

struct fit {
	const struct model_sample *samples;
	unsigned count, free_count;
	const struct model_parameter *rows[MODEL_FREE_MAX];
	double prior[MODEL_FREE_MAX]; /* logarithms before calibration */
	struct model_parameters *p;
	double residual[MODEL_SAMPLES_MAX];
	double slope[MODEL_SAMPLES_MAX][MODEL_FREE_MAX];
};

typedef double matrix[MODEL_FREE_MAX][MODEL_FREE_MAX];

static void free_find(struct fit *f)
{
	const struct model_parameter *row;

	for (unsigned i = 0; (row = model_parameter_at(i)); i++)
		if (strcmp(row->group, "allreduce") == 0 && row->mark == 'F' &&
		    f->free_count < MODEL_FREE_MAX) {
			f->prior[f->free_count] = log((double)model_parameter_get(f->p, row));
			f->rows[f->free_count++] = row;
		}
}

static int64_t value_of(const struct fit *f, unsigned i, double logarithm)
{
	double low = (double)f->rows[i]->low, high = (double)f->rows[i]->high;

	return (int64_t)llround(fmin(fmax(exp(logarithm), low), high));
}

/* Sets the parameters to exp(x). */
static int residuals_set(struct fit *f, const double *x, double *residual)
{
	int status = DXP_OK;

	for (unsigned i = 0; i < f->free_count && status == DXP_OK; i++)
		status = model_parameter_put(f->p, f->rows[i], value_of(f, i, x[i]));
	for (unsigned i = 0; i < f->count && status == DXP_OK; i++) {
		double ns;
		status = model_allreduce_ns(&f->samples[i].of, f->p, &ns);
		residual[i] = log(ns / f->samples[i].ns) / MEASUREMENT;
	}
	return status;
}

static double cost_of(const struct fit *f, const double *x, const double *residual)
{
	double sum = 0;

	for (unsigned i = 0; i < f->count; i++)
		sum += residual[i] * residual[i];
	for (unsigned i = 0; i < f->free_count; i++)
		sum += pow((x[i] - f->prior[i]) / PRIOR, 2);
	return sum;
}

static int slopes_set(struct fit *f, const double *x)
{
	double moved[MODEL_FREE_MAX], residual[MODEL_SAMPLES_MAX];

	for (unsigned k = 0; k < f->free_count; k++) {
		memcpy(moved, x, sizeof(moved));
		moved[k] += STEP;
		int status = residuals_set(f, moved, residual);
		if (status != DXP_OK)
			return status;
		for (unsigned i = 0; i < f->count; i++)
			f->slope[i][k] = (residual[i] - f->residual[i]) / STEP;
	}
	return DXP_OK;
}

static void normal_set(const struct fit *f, const double *x, matrix m, double *right)
{
	for (unsigned a = 0; a < f->free_count; a++) {
		right[a] = -(x[a] - f->prior[a]) / (PRIOR * PRIOR);
		for (unsigned b = 0; b < f->free_count; b++) {
			m[a][b] = a == b ? 1 / (PRIOR * PRIOR) : 0;
			for (unsigned i = 0; i < f->count; i++)
				m[a][b] += f->slope[i][a] * f->slope[i][b];
		}
		for (unsigned i = 0; i < f->count; i++)
			right[a] -= f->slope[i][a] * f->residual[i];
	}
}

/* Solves m x = right in place. m is symmetric and positive definite, so rows stay in order. */
static void solve(matrix m, double *right, unsigned count)
{
	for (unsigned c = 0; c < count; c++)
		for (unsigned r = 0; r < count; r++) {
			double factor = m[r][c] / m[c][c];
			if (r == c)
				continue;
			for (unsigned k = c; k < count; k++)
				m[r][k] -= factor * m[c][k];
			right[r] -= factor * right[c];
		}
	for (unsigned c = 0; c < count; c++)
		right[c] /= m[c][c];
}

/* Raises the damping until a step lowers the cost. Returns by how much; 0: no step does; negative:
 * a status. */
static double round_run(struct fit *f, double *x, double *cost, double *damping)
{
	int status = slopes_set(f, x);

	for (; status == DXP_OK && *damping < DAMPING_MAX; *damping *= 4) {
		double step[MODEL_FREE_MAX], residual[MODEL_SAMPLES_MAX], next[MODEL_FREE_MAX];
		matrix m;
		normal_set(f, x, m, step);
		for (unsigned i = 0; i < f->free_count; i++)
			m[i][i] *= 1 + *damping;
		solve(m, step, f->free_count);
		for (unsigned i = 0; i < f->free_count; i++)
			next[i] = x[i] + step[i];
		status = residuals_set(f, next, residual);
		if (status != DXP_OK)
			break;
		double gain = *cost - cost_of(f, next, residual);
		if (gain <= 0)
			continue;
		memcpy(x, next, f->free_count * sizeof(*x));
		memcpy(f->residual, residual, f->count * sizeof(*residual));
		*cost -= gain;
		*damping /= 10;
		return gain;
	}
	return status;
}

static double root_mean_square(const struct fit *f)
{
	double sum = 0;

	for (unsigned i = 0; i < f->count; i++)
		sum += pow(expm1(f->residual[i] * MEASUREMENT), 2);
	return sqrt(sum / f->count);
}

/* Sets uncertainties from the diagonal of the inverse of the normal equations. */
static int result_set(struct fit *f, const double *x, struct model_calibration *out)
{
	double right[MODEL_FREE_MAX];
	int status = slopes_set(f, x);

	if (status == DXP_OK)
		status = residuals_set(f, x, f->residual);
	for (unsigned i = 0; i < f->free_count && status == DXP_OK; i++) {
		matrix m;
		normal_set(f, x, m, right);
		memset(right, 0, sizeof(right));
		right[i] = 1;
		solve(m, right, f->free_count);
		out->free[i] = (struct model_free_value){
			.row = f->rows[i],
			.prior = (int64_t)llround(exp(f->prior[i])),
			.value = value_of(f, i, x[i]),
			.factor = exp(sqrt(right[i])),
			.determined = 1 - right[i] / (PRIOR * PRIOR),
		};
	}
	out->count = f->free_count;
	out->after = root_mean_square(f);
	return status;
}

/* Fits under the settings in f->p. */
static int fit_run(struct fit *f, struct model_calibration *out, double *cost)
{
	double x[MODEL_FREE_MAX] = {0}, damping = 1e-3;

	memcpy(x, f->prior, sizeof(x));
	int status = residuals_set(f, x, f->residual);
	if (status != DXP_OK)
		return status;
	out->before = root_mean_square(f);
	*cost = cost_of(f, x, f->residual);
	for (int i = 0; i < ROUNDS; i++) {
		double gain = round_run(f, x, cost, &damping);
		if (gain < 0)
			return (int)gain;
		if (gain <= ENOUGH * *cost)
			break;
	}
	return result_set(f, x, out);
}

int model_calibrate(const struct model_sample *samples, unsigned count, struct model_parameters *p,
		    struct model_calibration *out)
{
	const struct model_parameters named = *p;
	struct model_parameters trial = named;
	double least = 0;

	if (count < 1 || count > MODEL_SAMPLES_MAX)
		return error_set(DXP_EINVAL, "%u rows; calibration needs 1 .. %d", count,
				 MODEL_SAMPLES_MAX);
	for (unsigned number = 0; number <= MODEL_ALLREDUCE_SETTINGS; number++) {
		if (number > 0)
			model_allreduce_setting(&named, number - 1, &trial);
		struct fit f = {.samples = samples, .count = count, .p = &trial};
		struct model_calibration c = {0};
		double cost;
		free_find(&f);
		int status = fit_run(&f, &c, &cost);
		if (status != DXP_OK)
			return status;
		/* Only a clear gain replaces the named settings. */
		if (number > 0 && cost > least - CLEARLY)
			continue;
		least = cost;
		c.before = number > 0 ? out->before : c.before;
		c.settings = number > 0;
		*out = c;
		*p = trial;
		if (count < SETTINGS_LEAST)
			break;
	}
	return DXP_OK;
}
