/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits the free parameters of allreduce (those with mark F) to measured rows. The method is least
 * squares of the logarithms. The prior allows a factor of two in each direction, so a few rows
 * suffice. */
#ifndef MODEL_CALIBRATE_H
#define MODEL_CALIBRATE_H

#include "model/allreduce.h"

#define MODEL_FREE_MAX 8
/* rows used for calibration, at most: the source's figure (N-11) has 189 */
#define MODEL_SAMPLES_MAX 256

struct model_sample {
	struct model_allreduce of;
	double ns; /* measured time in ns, above 0 */
};

struct model_free_value {
	const struct model_parameter *row;
	int64_t prior, value;
	/* remaining standard deviation, as a factor: one deviation below `value` is value / factor,
	 * one above is value * factor */
	double factor;
	double determined; /* share of the prior's variance that the rows have removed, 0 .. 1 */
};

struct model_calibration {
	struct model_free_value free[MODEL_FREE_MAX];
	unsigned count;
	bool settings; /* true: the rows have determined tor_hosts, spine and nic_service */
	/* root mean square of the rows' relative errors, before and after calibration */
	double before, after;
};

/* Sets the free parameters of *p, and writes *out. With four rows or more, it may also change
 * tor_hosts, spine and nic_service, if another setting fits clearly better than the named one.
 * DXP_EINVAL, and error_text() has the reason; DXP_ENOMEM. */
int model_calibrate(const struct model_sample *samples, unsigned count, struct model_parameters *p,
		    struct model_calibration *out);

#endif
